"""How far from an equilibrium a policy is: known numbers, equilibria found in other ways, and what is refused."""

import numpy as np
import pytest

import anabranch as ab
from anabranch.games import ConnectFour, Goofspiel, MatrixGame, PyRat, Repeated
from anabranch.search.simultaneous import exact
from anabranch.search.simultaneous.exact import Gains, Solver

RPS = MatrixGame.rock_paper_scissors()
THIRDS = np.full(3, 1 / 3)
ROCK, PAPER, SCISSORS = np.eye(3)


@pytest.mark.parametrize(
    ("first", "second", "gains"),
    [
        (THIRDS, THIRDS, (0.0, 0.0)),
        (ROCK, ROCK, (1.0, 1.0)),
        (ROCK, PAPER, (2.0, 0.0)),  # loses 1, could win 1
        (PAPER, ROCK, (0.0, 2.0)),
        (ROCK, THIRDS, (0.0, 1.0)),
        (THIRDS, 0.5 * ROCK + 0.5 * PAPER, (0.5, 0.0)),  # paper wins half
    ],
)
def test_gains_in_rock_paper_scissors(first, second, gains):
    found = ab.simultaneous.exploitability(RPS.start(), (first, second))
    assert found == pytest.approx(gains)
    assert found.both == pytest.approx(sum(gains)) and found.exploitability == pytest.approx(sum(gains) / 2)


def test_a_result_can_be_given_as_it_is():
    result = ab.Search(RPS, select=ab.simultaneous.Equilibrium(), evaluate=ab.Uniform(), memory="1MB").run(visits=30)
    assert ab.simultaneous.exploitability(RPS.start(), result.policy).exploitability == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    "game",
    [
        MatrixGame.biased_rock_paper_scissors(),
        Goofspiel(3),
        Goofspiel(3, returns="points"),
        Goofspiel(3, [5, 1, 1]),
    ],
    ids=repr,
)
def test_an_equilibrium_leaves_nothing_to_gain(game):
    solver, start = Solver(game), game.start()
    assert ab.simultaneous.exploitability(start, solver.equilibrium(start), solver).both == pytest.approx(0.0, abs=1e-9)
    plan = ab.simultaneous.exploitability(start, solver.equilibrium)
    assert plan.both == pytest.approx(0.0, abs=1e-9)


def test_with_prizes_that_are_drawn():
    game = Goofspiel(3, "random")
    solver = Solver(game)
    assert solver.value(game.start()) == pytest.approx(0.0, abs=1e-9)  # the game is fair
    drawn = game.start().play("2")
    assert ab.simultaneous.exploitability(drawn, solver.equilibrium).both == pytest.approx(0.0, abs=1e-9)
    lead = game.position(["3", "3/1", "2"])  # three points ahead of 2 + 1 that are left, with cards 1 2 against 2 3
    assert solver.payoffs(lead) == pytest.approx(np.array([[0.0, 1.0], [1.0, 0.0]]))  # all of them lost is a draw
    assert solver.value(lead) == pytest.approx(0.5)
    lazy = ab.simultaneous.exploitability(drawn, lambda position: [_lowest(actions) for actions in position.legal_actions])
    assert lazy.first == pytest.approx(lazy.second) and lazy.first > 0.4  # both bid their lowest card


def _lowest(actions):
    policy = np.zeros(3)
    policy[min(actions)] = 1.0
    return policy


def test_the_gain_against_a_whole_plan_adds_up_over_rounds():
    game = Repeated(3)  # Axelrod's payoffs: 5 for whoever alone defects, 3 for both that cooperate
    cooperate = ab.simultaneous.exploitability(game.start(), lambda position: (np.array([1.0, 0.0]), np.array([1.0, 0.0])))
    assert cooperate == pytest.approx((6.0, 6.0))  # two more in each of three rounds
    defect = ab.simultaneous.exploitability(game.start(), lambda position: (np.array([0.0, 1.0]), np.array([0.0, 1.0])))
    assert defect == pytest.approx((0.0, 0.0))
    even = ab.simultaneous.exploitability(game.start(), lambda position: (np.array([0.5, 0.5]), np.array([0.5, 0.5])))
    assert even == pytest.approx((2.25, 2.25))  # (5 + 1) / 2 against (3 + 0 + 5 + 1) / 4, three times
    from_the_second_round = ab.simultaneous.exploitability(game.position([(0, 0)]), lambda position: ([1.0, 0.0], [1.0, 0.0]))
    assert from_the_second_round == pytest.approx((4.0, 4.0))


def test_a_plan_sees_the_position():
    game = Repeated(2)
    seen = []

    def plan(position):
        seen.append(len(position.moves))
        return np.array([0.0, 1.0]), np.array([0.0, 1.0])

    ab.simultaneous.exploitability(game.start(), plan)
    assert sorted(seen) == [0, 1]  # the history does not matter to the dilemma, so its position comes once


CORNERS = """
+---+---+---+
|     *    B|
+   +   +   +
|           |
+   +   +   +
|A    *     |
+---+---+---+
"""


def test_actions_with_the_same_outcome_count_together():
    game = PyRat.drawn(CORNERS, max_turns=2)  # not zero-sum: a plan
    right, left = np.eye(5)[1], np.eye(5)[3]
    stay = np.array([0.0, 0.0, 0.5, 0.5, 0.0])  # into the walls below and to the left: to stay
    still = np.array([0.5, 0.5, 0.0, 0.0, 0.0])

    def plan(position):
        return (right, left) if len(position.moves) == 0 else (np.eye(5)[4], np.eye(5)[4])

    assert ab.simultaneous.exploitability(game.start(), plan) == pytest.approx((0.0, 0.0))
    lazy = ab.simultaneous.exploitability(game.start(), lambda position: (stay, still))
    assert lazy == pytest.approx((1.0, 1.0))


# --- what is refused ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "policies",
    [
        (THIRDS, np.array([0.5, 0.5])),
        (THIRDS, np.array([0.5, 0.5, 0.5])),
        (np.array([1.5, -0.5, 0.0]), THIRDS),
        (THIRDS, np.full(4, 0.25)),
    ],
    ids=["short", "sum", "negative", "long"],
)
def test_what_is_no_distribution_is_refused(policies):
    with pytest.raises(ab.errors.GameError, match="is not a distribution over the legal actions"):
        ab.simultaneous.exploitability(RPS.start(), policies)


def test_one_policy_is_not_enough():
    for policies in ((THIRDS,), (THIRDS, THIRDS, THIRDS), THIRDS):
        with pytest.raises(ab.errors.GameError, match="give two policies, one a player"):
            ab.simultaneous.exploitability(RPS.start(), policies)


@pytest.mark.parametrize(
    "position",
    [ConnectFour().start(), RPS.position(["rock/paper"]), Goofspiel(3, "random").start()],
    ids=["turns", "over", "chance"],
)
def test_positions_in_which_not_both_move_are_refused(position):
    with pytest.raises(ab.errors.GameError, match="wants a position in which both players move"):
        ab.simultaneous.exploitability(position, (THIRDS, THIRDS))


def test_a_general_sum_game_wants_a_plan():
    with pytest.raises(ab.errors.GameError, match="not zero-sum: what follows has no exact value; give a plan"):
        ab.simultaneous.exploitability(Repeated(2).start(), ([0.0, 1.0], [0.0, 1.0]))
    with pytest.raises(ab.errors.GameError, match="is not a game in which both move at once"):
        Solver(ConnectFour())
    with pytest.raises(ab.errors.GameError, match="nobody moves in this position"):
        Solver(RPS).equilibrium(RPS.position(["rock/paper"]))


def test_a_game_that_is_too_large_is_refused(monkeypatch):
    monkeypatch.setattr(exact, "MOST_POSITIONS", 5)
    with pytest.raises(ab.errors.GameError, match="more than 5 positions from here on: too many to solve"):
        Solver(Goofspiel(3)).value(Goofspiel(3).start())
    with pytest.raises(ab.errors.GameError, match="more than 5 positions from here on: too many to go through"):
        ab.simultaneous.exploitability(
            Goofspiel(3).start(), lambda position: [_lowest(actions) for actions in position.legal_actions]
        )


def test_gains_print_as_they_are():
    assert Gains(0.5, 0.25).both == 0.75 and Gains(0.5, 0.25).exploitability == 0.375
