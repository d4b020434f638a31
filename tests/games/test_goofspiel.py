"""Goofspiel: its rules, and random games against OpenSpiel's.

OpenSpiel plays the last round itself, as nobody has a choice there, and pays the points above the mean: half of the difference.
"""

import os
import random

import numpy as np
import pytest
from tests.conftest import needs, when_compiled

import anabranch as ab
from anabranch.errors import GameError, IllegalMove
from anabranch.games import Goofspiel, rules
from anabranch.games.goofspiel import GoofspielRandom
from anabranch.games.registry import load
from anabranch.games.rules import CHANCE, EVERYONE
from anabranch.jit import kernel

GAMES = int(os.environ.get("ANABRANCH_RULE_GAMES", "300"))


def test_the_higher_card_takes_the_prize():
    position = Goofspiel(4).position(["3/1"])
    assert position.state.points.tolist() == [4, 0]
    assert position.play("1/4").state.points.tolist() == [4, 3]


def test_equal_cards_discard_the_prize():
    position = Goofspiel(4).position(["3/3"])
    assert position.state.points.tolist() == [0, 0] and position.state.left == 6


def test_a_card_is_played_once():
    position = Goofspiel(4).position(["3/1"])
    assert position.legal_actions == ([0, 1, 3], [1, 2, 3])
    with pytest.raises(IllegalMove, match="player 0: 3 is not legal here; legal: 1 2 4"):
        position.play("3/2")


@pytest.mark.parametrize(
    ("prizes", "first"), [("descending", [4, 3, 2, 1]), ("ascending", [1, 2, 3, 4]), ([7, 7], [7, 7]), ((3, 1, 2), [3, 1, 2])]
)
def test_prizes_come_in_this_order(prizes, first):
    state = Goofspiel(4, prizes).start().state
    assert state.prizes[: state.rounds].tolist() == first


def test_fewer_rounds_leave_cards_in_the_hands():
    position = Goofspiel(4, rounds=2).position(["4/1", "3/2"])
    assert position.is_over and position.returns == [1.0, -1.0] and position.state.hands.tolist() == [0b11, 0b1100]


def test_the_end_pays_the_win_and_points_are_paid_when_they_are_won():
    moves = ["4/1", "1/3", "2/2", "3/4"]  # 4 to 0, 4 to 3, 4 to 3, 4 to 4
    assert Goofspiel(4).position(moves).returns == [0.0, 0.0]
    assert Goofspiel(4).position(["4/1", "3/2", "1/3", "2/4"]).returns == [1.0, -1.0]
    paid = [Goofspiel(4, returns="points").position(moves[:count]).rewards for count in range(5)]
    assert paid == [(0, 0), (4, -4), (1, -1), (1, -1), (0, 0)]
    assert Goofspiel(4, returns="points").position(moves).returns == [0.0, 0.0]


def test_a_random_prize_is_a_chance_event_before_each_bid():
    position = Goofspiel(3, "random").start()
    assert position.to_play == CHANCE and position.legal_actions == [0, 1, 2]
    assert position.probabilities[:3] == pytest.approx([1 / 3] * 3)
    position = position.play("2")
    assert position.to_play == EVERYONE and str(position).startswith("prize 2\n")
    position = position.play("3/1")
    assert position.to_play == CHANCE and position.legal_actions == [0, 2]
    assert position.probabilities[:3] == pytest.approx([1 / 2, 0, 1 / 2])
    assert position.state.points.tolist() == [2, 0]
    with pytest.raises(IllegalMove, match="event 2 cannot happen here"):
        position.play("2")


def test_positions_are_the_same_whatever_the_order_in_which_the_cards_went():
    game = Goofspiel(5, [2, 2, 2, 2, 2])
    assert game.position(["5/1", "4/2"]).key == game.position(["4/1", "5/2"]).key != game.position(["4/5", "5/4"]).key
    drawn = Goofspiel(3, "random")
    assert drawn.position(["1", "2/2", "2", "3/3"]).key == drawn.position(["2", "3/3", "1", "2/2"]).key
    assert drawn.position(["1", "2/2", "2"]).key != drawn.position(["1", "2/2", "3"]).key


def test_the_stake_is_a_win_or_the_prizes_that_are_left():
    assert Goofspiel(4).start()._ask("stake") == 1.0
    points = Goofspiel(4, returns="points")
    assert points.value_range == (-10.0, 10.0)
    assert points.start()._ask("stake") == 10.0 and points.position(["1/1", "2/2"])._ask("stake") == 3.0


def test_a_game_prints_as_it_is_written():
    for game in (Goofspiel(), Goofspiel(5, "random", "points"), Goofspiel(4, [3, 9, 9], rounds=2)):
        assert eval(repr(game), {"Goofspiel": Goofspiel}) == game
    assert type(Goofspiel(5, "random")) is GoofspielRandom
    assert load("goofspiel:cards=3,prizes=random") == Goofspiel(3, "random")


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"cards": 0}, "with 1 to 16 cards each"),
        ({"cards": 17}, "with 1 to 16 cards each"),
        ({"cards": "four"}, "with 1 to 16 cards each"),
        (
            {"prizes": "shuffled"},
            r"prizes='shuffled': give one of 'descending', 'ascending', 'random', or a list of 1 to 4 prizes",
        ),
        ({"prizes": []}, "a list of 1 to 4 prizes"),
        ({"prizes": [1, 2, 3, 4, 5]}, "a list of 1 to 4 prizes"),
        ({"prizes": [0, 1]}, "from 1 to 100"),
        ({"prizes": 3}, "a list of 1 to 4 prizes"),
        ({"returns": "money"}, "played for one of 'win', 'points'"),
        ({"rounds": 5}, "rounds=5: there are prizes for 1 to 4"),
        ({"prizes": [5, 6], "rounds": 3}, "rounds=3: there are prizes for 1 to 2"),
    ],
)
def test_a_game_that_cannot_be_is_refused(options, complaint):
    with pytest.raises(GameError, match=complaint):
        Goofspiel(**options)


@when_compiled
@pytest.mark.parametrize(
    "game",
    [Goofspiel(4), Goofspiel(16, "ascending"), Goofspiel(5, "random"), Goofspiel(4, "random", "points", 3), Goofspiel(1)],
    ids=repr,
)
def test_goofspiel_keeps_its_contract(game):
    report = ab.check(game, games=5 if game.actions > 8 else 20)
    assert report.ok, report


# --- OpenSpiel ----------------------------------------------------------------------------------------------------------------


@kernel
def replay(states, moves, points, rewards, counts, listed, random):
    """Play pairs and events from states[0]; what there is to bid before each of them, and what the end pays."""
    states[1] = states[0]
    state = states[1]
    for i in range(len(moves)):
        if rules.to_play(state) != CHANCE:
            counts[i] = rules.legal_actions(state, listed[i])
        points[i, 0], points[i, 1] = state.points[0], state.points[1]
        rules.play(state, moves[i], rewards)
    if not rules.is_over(state):
        return False
    points[len(moves), 0], points[len(moves), 1] = state.points[0], state.points[1]
    rules.returns(state, rewards, random)
    return True


@pytest.mark.parametrize("order", ["descending", "ascending", "random"])
@pytest.mark.parametrize(("cards", "turns"), [(4, -1), (6, 4), (13, -1)])
@pytest.mark.parametrize("returns", ["win", "points"])
def test_random_games_are_those_of_openspiel(order, cards, turns, returns):
    needs("pyspiel")
    import pyspiel

    kind = {"win": "win_loss", "points": "point_difference"}[returns]
    options = f"imp_info=False,num_cards={cards},num_turns={turns},points_order={order},returns_type={kind}"
    theirs = pyspiel.load_game(f"goofspiel({options})")
    game = Goofspiel(cards, order, returns, rounds=None if turns < 0 else turns)
    assert theirs.num_distinct_actions() == game.actions
    states = np.concatenate([game.start().record()] * 2)
    chooser = random.Random(options)
    rounds = cards if turns < 0 else turns
    for _ in range(GAMES // 10 + 1):
        state, moves, told, hands = theirs.new_initial_state(), [], [], [set(range(cards)), set(range(cards))]
        while not state.is_terminal():
            told.append([] if state.is_chance_node() else [state.legal_actions(player) for player in range(2)])
            if state.is_chance_node():
                moves.append(chooser.choice([event for event, _ in state.chance_outcomes()]))
                state.apply_action(moves[-1])
            else:
                bids = [chooser.choice(state.legal_actions(player)) for player in range(2)]
                for hand, bid in zip(hands, bids, strict=True):
                    hand.remove(bid)
                moves.append(bids[0] * cards + bids[1])
                state.apply_actions(bids)
        if rounds == cards:  # the last one is forced, and OpenSpiel has played it
            if order == "random":
                told.append([])
                drawn = {move for move, legal in zip(moves, told, strict=False) if not legal}
                moves.append((set(range(cards)) - drawn).pop())
            told.append([sorted(hand) for hand in hands])
            moves.append(hands[0].pop() * cards + hands[1].pop())
        points, rewards = np.zeros((len(moves) + 1, 2), np.int64), np.zeros(2)
        counts, listed = np.zeros(len(moves), np.int64), np.zeros((len(moves), cards * cards), np.int64)
        assert replay(states, np.array(moves), points, rewards, counts, listed, np.zeros(1, np.uint64))
        if returns == "points":  # those were paid on the way, and `returns` overwrites them with nothing
            rewards = np.array([0.5, -0.5]) * (points[-1, 0] - points[-1, 1])
        assert rewards.tolist() == state.returns(), moves
        for i, legal in enumerate(told):
            if legal:
                assert listed[i, : counts[i]].tolist() == [a * cards + b for a in legal[0] for b in legal[1]]
