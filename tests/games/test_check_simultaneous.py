"""`check` finds what is wrong in simultaneous games made wrong on purpose, and classes that cannot be are refused at once."""

import re

import numpy as np
import pytest
from tests.conftest import in_soak

import anabranch as ab
from anabranch.games.simultaneous import SimultaneousGame


class Duel(SimultaneousGame):
    """Three rounds of heads or tails; action 2 shows heads too. Who shows the same as the other wins a point, or loses it."""

    actions = 3
    zero_sum = True
    value_range = (-3.0, 3.0)
    state = np.dtype([("round", "i4"), ("points", "i4")])

    @ab.rule
    def setup(state):
        state.round = state.points = 0

    @ab.rule
    def is_legal(state, player, action):
        return True

    @ab.rule
    def outcome(state, player, action):
        return action % 2

    @ab.rule
    def play(state, first, second, rewards):
        won = 1 if first % 2 == second % 2 else -1
        state.points += won
        rewards[0] += won
        rewards[1] -= won
        state.round += 1

    @ab.rule
    def is_over(state):
        return state.round == 3

    @ab.rule
    def returns(state, out):
        out[0] = out[1] = 0.0


class CallsDifferentThingsTheSame(Duel):
    @ab.rule
    def outcome(state, player, action):
        return 0


class CallsThemSoForOnePlayer(Duel):
    @ab.rule
    def outcome(state, player, action):
        return 0 if player == 1 and action == 1 else action


class StandsForNoneOfThem(Duel):
    @ab.rule
    def outcome(state, player, action):
        return 1 if action == 2 else 2 if action == 1 else 0


class LeavesOneWithoutActions(Duel):
    @ab.rule
    def is_legal(state, player, action):
        return player == 0 or state.round < 2


class PaysTheWinnerAlone(Duel):
    @ab.rule
    def play(state, first, second, rewards):
        rewards[0] += 1 if first % 2 == second % 2 else 0
        state.round += 1


class EndsWithAGift(Duel):
    @ab.rule
    def returns(state, out):
        out[0] = out[1] = 1.0


class PaysTooMuch(Duel):
    @ab.rule
    def play(state, first, second, rewards):
        won = 5 if first % 2 == second % 2 else -5
        rewards[0] += won
        rewards[1] -= won
        state.round += 1


class KeyForgetsTheRound(Duel):
    @ab.rule
    def key(state):
        return np.uint64(state.points + 10), np.uint64(0)


class NeverEnds(Duel):
    @ab.rule
    def is_over(state):
        return False


class SaysThatOneMoves(Duel):
    events = 1

    @ab.rule
    def to_play(state):
        return 1

    @ab.rule
    def chance(state, probabilities):
        probabilities[0] = 1.0

    @ab.rule
    def happen(state, event):
        state.round += 0


class IsUnlikely(Duel):
    events = 2
    state = np.dtype([("round", "i4"), ("points", "i4"), ("drawn", "i4")])

    @ab.rule
    def to_play(state):
        return ab.CHANCE if state.drawn <= state.round else ab.simultaneous.EVERYONE

    @ab.rule
    def chance(state, probabilities):
        probabilities[0], probabilities[1] = 0.5, 0.4

    @ab.rule
    def happen(state, event):
        state.drawn = state.round + 1

    @ab.rule
    def setup(state):
        state.round = state.points = state.drawn = 0


def test_the_game_without_faults_passes():
    report = ab.check(Duel(), games=10)
    assert report.ok, report
    assert report.games == 10 and report.positions == 40


@pytest.mark.parametrize(
    ("game", "problem"),
    [
        (CallsDifferentThingsTheSame, r"rule `outcome` takes player 0's actions \[0, 1, 2\] for the same, but they are not"),
        (CallsThemSoForOnePlayer, r"rule `outcome` takes player 1's actions \[0, 1\] for the same, but they are not"),
        (StandsForNoneOfThem, "it must be one of them"),
        (LeavesOneWithoutActions, "player 1 has no legal action, and the game is not over"),
        (PaysTheWinnerAlone, r"rewards .* do not sum to 0, but the game is declared zero-sum"),
        (EndsWithAGift, r"returns \[1.0, 1.0\] do not sum to 0, but the game is declared zero-sum"),
        (PaysTooMuch, "leave the declared `value_range`"),
        (KeyForgetsTheRound, "rule `key` is too weak"),
        (NeverEnds, "a random game did not end"),
        (SaysThatOneMoves, "`to_play` says 1; where both move at once it is EVERYONE, or CHANCE"),
        (IsUnlikely, "the probabilities of rule `chance` sum to 0.9, not 1"),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else None,
)
@in_soak
def test_faults_are_reported(game, problem, monkeypatch):
    monkeypatch.setattr("anabranch.games.check.MOST_PLIES", 30)
    report = ab.check(game(), games=10)
    assert not report.ok
    assert any(re.search(problem, told) for told in report.problems), report


def even(state, probabilities):
    probabilities[:] = 0.5


def declare(**changes):
    """A class like `Duel`, with other declarations."""
    return type("Changed", (Duel,), changes)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"players": 3}, "both of two players move at once; `players` is 3"),
        ({"players": 1}, "both of two players move at once; `players` is 1"),
        ({"repetition": "draw"}, "a repetition means nothing; `repetition` must say so"),
        ({"events": 2}, "a game with chance has both a rule `chance` and a number of `events`"),
        ({"events": 2, "chance": ab.rule(even)}, "a game with chance has rules `to_play`, `chance` and `happen`, and `events`"),
    ],
)
def test_classes_that_cannot_be_are_refused(changes, complaint):
    with pytest.raises(ab.errors.GameError, match=complaint):
        declare(**changes)


def test_rules_that_are_missing_are_named():
    with pytest.raises(ab.errors.GameError, match="play"):

        class Incomplete(SimultaneousGame):
            """No way to play."""

            actions = 2
            state = np.dtype([("x", "i4")])

            @ab.rule
            def setup(state):
                state.x = 0
