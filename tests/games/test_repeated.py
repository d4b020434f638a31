"""Games of two actions, several rounds: what they pay, and what backward induction says."""

import itertools

import pytest
from tests.conftest import when_compiled

import anabranch as ab
from anabranch.errors import GameError
from anabranch.games import Repeated
from anabranch.games.registry import load
from anabranch.games.repeated import STAGES, Stage


@pytest.mark.parametrize(("pair", "paid"), [((0, 0), (3, 3)), ((0, 1), (0, 5)), ((1, 0), (5, 0)), ((1, 1), (1, 1))])
def test_a_round_of_the_dilemma_pays_at_once(pair, paid):
    assert Repeated(2).start().play(pair).rewards == paid


def test_rounds_add_up_and_the_end_pays_nothing():
    position = Repeated(3).position(["cooperate/cooperate", "cooperate/defect", "defect/defect"])
    assert position.is_over and position.returns == [0.0, 0.0] and position.rewards == (4.0, 9.0)


def test_only_the_number_of_rounds_makes_a_position():
    game = Repeated(3)
    pairs = list(itertools.product(range(2), repeat=2))
    assert len({game.position([pair]).key for pair in pairs}) == 1
    assert len({game.position([(0, 0)] * rounds).key for rounds in range(4)}) == 4


@pytest.mark.parametrize("name", STAGES)
def test_stages_are_what_they_are_called(name):
    reward, sucker, temptation, punishment = STAGES[name][:4]
    if name == "dilemma":
        assert temptation > reward > punishment > sucker and 2 * reward > temptation + sucker
    elif name == "stag":
        assert reward > temptation >= punishment > sucker
    else:
        assert temptation > reward > sucker > punishment


@pytest.mark.parametrize(
    ("name", "equilibria"), [("dilemma", {(1, 1)}), ("stag", {(0, 0), (1, 1)}), ("chicken", {(0, 1), (1, 0)})]
)
def test_in_the_last_round_these_pairs_leave_nobody_a_better_action(name, equilibria):
    start = Repeated(1, name).start()
    pays = {pair: start.play(pair).rewards for pair in itertools.product(range(2), repeat=2)}
    stable = {(a, b) for a, b in pays if pays[a, b][0] >= pays[1 - a, b][0] and pays[a, b][1] >= pays[a, 1 - b][1]}
    assert stable == equilibria


def test_values_span_all_rounds_and_the_stake_those_that_are_left():
    game = Repeated(4)
    assert game.value_range == (0.0, 20.0)
    assert game.start()._ask("stake") == 10.0 and game.position([(0, 0)] * 3)._ask("stake") == 2.5


def test_payoffs_may_be_given():
    game = Repeated(2, (1, -1, 2, 0))
    assert game.position(["cooperate/defect"]).rewards == (-1.0, 2.0)
    assert Repeated(2, Stage(1, -1, 2, 0, ("share", "keep"))).position(["keep/share"]).rewards == (2.0, -1.0)
    assert load("repeated:rounds=3,stage=stag") == Repeated(3, "stag")
    assert repr(Repeated(3, "stag")) == "Repeated(rounds=3, stage='stag')"


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"rounds": 0}, "repeated 1 to 1,000 times"),
        ({"rounds": 1001}, "repeated 1 to 1,000 times"),
        ({"rounds": 2.5}, "repeated 1 to 1,000 times"),
        ({"stage": "golf"}, "stage='golf': give one of 'dilemma', 'stag', 'chicken', or four payoffs"),
        ({"stage": (1, 2, 3)}, "or four payoffs"),
        ({"stage": (1, 2, 3, float("nan"))}, "or four payoffs"),
        ({"stage": 7}, "or four payoffs"),
    ],
)
def test_a_game_that_cannot_be_is_refused(options, complaint):
    with pytest.raises(GameError, match=complaint):
        Repeated(**options)


@when_compiled
@pytest.mark.parametrize("game", [Repeated(5), Repeated(3, "stag"), Repeated(2, (1, 1, 1, 1))], ids=repr)
def test_repeated_games_keep_their_contract(game):
    report = ab.check(game)
    assert report.ok, report
