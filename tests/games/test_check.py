"""`check` passes every game of ours and finds what is wrong in games made wrong on purpose."""

import random
import re

import numpy as np
import pytest
from tests.conftest import in_soak, when_compiled

import anabranch as ab
from anabranch.games.hex import Hex
from anabranch.games.nim import Nim
from anabranch.games.registry import load, names
from anabranch.games.symmetry import Symmetries, dihedral, mirror, on_points
from anabranch.games.tictactoe import TicTacToe


@when_compiled  # it compares plain and compiled itself
@pytest.mark.parametrize("name", [*names(), "hex:size=3"])
def test_every_game_keeps_its_contract(name):
    report = ab.check(load(name), games=10)
    assert report.ok, report
    assert report.games == 10 and report.positions > 10


class KeyIgnoresTheTurn(Nim):
    @ab.rule
    def key(state):
        return np.uint64(state.stones), np.uint64(0)


class PaysTooMuch(Nim):
    @ab.rule
    def returns(state, out):
        out[state.turn] = -3.0
        out[1 - state.turn] = 3.0


class IsNotZeroSum(Nim):
    @ab.rule
    def returns(state, out):
        out[0] = out[1] = 0.5


class ListsTooMuch(Nim):
    @ab.rule
    def legal_actions(state, out):
        for action in range(3):
            out[action] = action
        return 3


class DrawsTheIllegal(Nim):
    @ab.rule
    def random_action(state, random):
        return 2


class NeverEnds(Nim):
    @ab.rule
    def play(state, action):
        state.turn = 1 - state.turn


class GetsStuck(Nim):
    @ab.rule
    def is_legal(state, action):
        return state.stones > 10 and action < state.stones


NARROW = np.array([100], np.int8)


class WrapsAround(Nim):
    """An i1 in a table: 100 + 100 is 200 in a kernel, -56 in NumPy."""

    state = np.dtype([("stones", "i4"), ("turn", "i1"), ("sum", "i4")])

    @ab.rule
    def play(state, action):
        state.sum = NARROW[0] + NARROW[0]
        state.stones -= action + 1
        state.turn = 1 - state.turn


class ForgetsTheTurn(Nim):
    @ab.rule
    def play(state, action):
        state.stones -= action + 1


class DrawsFromNumPy(Nim):
    @ab.rule
    def play(state, action):
        state.stones -= min(state.stones, action + 1 + np.random.randint(2))
        state.turn = 1 - state.turn


@ab.helper
def some_more():
    return random.randint(0, 1)


class DrawsFromPythonByAHelper(Nim):
    @ab.rule
    def play(state, action):
        state.stones -= min(state.stones, action + 1 + some_more())
        state.turn = 1 - state.turn


class HasTwoNames(Nim):
    def name_of(self, action):
        return "take"


class DrawsBadly(Nim):
    def svg(self, state):
        return "<svg><circle></svg>"


class Crashes(Nim):
    @ab.rule
    def is_over(state):
        return 1 // (state.stones - 3) == 99 or state.stones == 0


class SeenNim(Nim):
    planes = 1, 1, 2

    @ab.rule
    def encode(state, planes):
        planes[0] = state.stones + state.turn / 2


class ShowsNothingFinite(SeenNim):
    @ab.rule
    def encode(state, planes):
        planes[0, 0, 0] = np.inf


class ShowsMoreThanTheKey(SeenNim):
    state = np.dtype([("stones", "i4"), ("turn", "i1"), ("last", "i1")])

    @ab.rule
    def play(state, action):
        state.stones -= action + 1
        state.turn = 1 - state.turn
        state.last = action

    @ab.rule
    def key(state):
        return np.uint64(state.stones), np.uint64(state.turn)

    @ab.rule
    def encode(state, planes):
        planes[0, 0, 0] = state.last


class ChangesWhatItShows(SeenNim):
    @ab.rule
    def encode(state, planes):
        planes[0] = state.stones
        state.stones += 1


class ShowsAnotherNumberCompiled(SeenNim):
    @ab.rule
    def encode(state, planes):
        planes[0] = NARROW[0] + NARROW[0]


class HasFlatPlanes(SeenNim):
    planes = 1, 2


class MirrorsHex(Hex):
    def __init__(self, size=3):
        super().__init__(size)

    def symmetries(self):
        return on_points(mirror(*self.planes[1:]), self.actions)


class SwapsActions(TicTacToe):
    def symmetries(self):
        return Symmetries(dihedral(3, 3), np.tile(np.arange(9), (8, 1)))


class LosesAPoint(TicTacToe):
    def symmetries(self):
        return on_points(np.array([range(9), [0] * 9]), 9)


class TurnsFirst(TicTacToe):
    def symmetries(self):
        return on_points(dihedral(3, 3)[::-1], 9)


FAULTS = {
    ShowsNothingFinite: "rule `encode` writes NaN or infinity",
    ShowsMoreThanTheKey: "rule `encode` shows what rule `key` does not tell",
    ChangesWhatItShows: "rule `encode` changes the state",
    ShowsAnotherNumberCompiled: "rule `encode` differs between plain and compiled, in channel 0",
    HasFlatPlanes: "`planes` must be (channels, height, width)",
    MirrorsHex: "number 1 is not a symmetry; after the same moves seen through it the game ends otherwise",
    SwapsActions: "number 1 is not a symmetry; after the same moves seen through it the planes differ",
    LosesAPoint: "each row of points must be a permutation of 0 to 8",
    TurnsFirst: "the first one must be the identity",
    KeyIgnoresTheTurn: "rule `key` is too weak",
    PaysTooMuch: "leave the declared `value_range`",
    IsNotZeroSum: "do not sum to 0",
    ListsTooMuch: "but `is_legal` allows",
    DrawsTheIllegal: "rule `random_action` gives 2, which is not legal",
    NeverEnds: "did not end within",
    GetsStuck: "no action is legal, but the game is not over",
    WrapsAround: "`sum` is 200 compiled and -56 plain\n    they can differ where a number is computed of narrow constants",
    ForgetsTheTurn: "player 1 never moved in 10 games: does rule `play` hand over the turn",
    DrawsFromNumPy: "draws from np.random, but the same action must always do the same; luck has a turn of its own",
    DrawsFromPythonByAHelper: "draws from random, but the same action must always do the same",
    HasTwoNames: "two actions have the same name, 'take'",
    DrawsBadly: "svg is not well-formed",
    Crashes: "rule `is_over` of Crashes, line",
}


ONLY_COMPILED = (WrapsAround, ShowsAnotherNumberCompiled)  # without the compiler there is one kind of arithmetic


@pytest.mark.parametrize(
    "game",
    [
        *(pytest.param(game, marks=when_compiled) for game in ONLY_COMPILED),
        *(pytest.param(game, marks=in_soak) for game in FAULTS if game not in ONLY_COMPILED),
    ],
    ids=lambda game: game.__name__,
)
def test_a_fault_is_found_and_named(game, monkeypatch):
    monkeypatch.setattr("anabranch.games.check.MOST_PLIES", 100)
    report = ab.check(game(), games=10)
    assert not report.ok
    assert FAULTS[game] in str(report)


def test_a_problem_comes_with_the_moves_that_lead_there_and_the_board():
    (problem,) = ab.check(DrawsTheIllegal(), games=10).problems
    first, after, *board = problem.splitlines()
    assert first == "rule `random_action` gives 2, which is not legal"
    moves = after.strip().removeprefix("after ").removesuffix(":").split()
    position = DrawsTheIllegal().position(moves)
    assert [line.strip() for line in board] == str(position).splitlines()
    assert 2 not in position.legal_actions


def stones(game, position):
    """Who has each cell of tic-tac-toe."""
    mover, other = int(position.state.mover), int(position.state.other)
    sign = 1 if position.state.turn == 0 else -1
    return np.array([sign * ((mover >> cell & 1) - (other >> cell & 1)) for cell in range(9)])


@pytest.mark.parametrize(
    ("name", "method", "problem"),
    [
        ("final_ownership", stones, ""),
        ("final_ownership", lambda game, position: stones(game, position)[:8], "must give 1, -1 or 0 for each of 9 points"),
        ("final_ownership", lambda game, position: 2 * stones(game, position), "must give 1, -1 or 0 for each of 9 points"),
        ("final_ownership", lambda game, position: np.sort(stones(game, position)), "seen through it other points are owned"),
        ("final_score", lambda game, position: stones(game, position).sum(), ""),
        ("final_score", lambda game, position: stones(game, position)[0], "seen through it the score differs"),
        ("final_score", lambda game, position: np.nan, "`final_score` must give a number, not nan"),
    ],
)
def test_what_is_said_of_the_end_keeps_its_shape_and_turns_with_the_board(monkeypatch, name, method, problem):
    monkeypatch.setattr(TicTacToe, name, method)
    report = ab.check(TicTacToe(), games=5)
    assert problem in str(report) if problem else report.ok, report


def test_the_report_says_which_symmetries_could_be_followed():
    report = ab.check(load("othello"), games=1)
    assert "4 of 8 symmetries" in str(report)


def test_a_rule_that_does_not_exist_is_told_with_the_nearest_one():
    with pytest.raises(ab.errors.GameError, match="there is no rule `is_legall`; did you mean `is_legal`"):
        type("Wrong", (Nim,), {"is_legall": ab.rule(lambda state, action: True)})


def test_missing_rules_are_named():
    body = {"state": np.dtype([("turn", "i1")]), "actions": 1}
    body |= {name: ab.rule(lambda state: 0) for name in ("setup", "to_play")}
    with pytest.raises(ab.errors.GameError, match="lacks the rules is_legal, play, is_over, returns"):
        type("Half", (ab.Game,), body)


def nothing(state):
    state.turn  # noqa: B018


def sometimes(state, action):
    if action < state.stones:
        return True


def a_list(state, out):
    return [1.0, -1.0]


def a_tuple(state, action):
    return state.stones - action - 1, 1 - state.turn


def some_text(state):
    return "white"


def replaces_out(state, out):
    out = (1.0, -1.0)  # noqa: F841


def replaces_state(state, action):
    state = state.stones - action - 1


def without_out(state):
    return 1.0, -1.0


def with_self(self, state, action):
    state.stones -= action + 1


@pytest.mark.parametrize(
    ("rule", "function", "complaint"),
    [
        ("to_play", nothing, "it has no `return`, so it returns None; write `return state.turn`"),
        ("is_over", nothing, "it has no `return`, so it returns None; it must return True, or False"),
        ("to_play", some_text, "it returns text; write `return state.turn`"),
        ("is_over", some_text, "it returns text; it must return True, or False"),
        ("returns", replaces_out, "`out = ...` gives the name to something else, and nobody sees it; it must write into `out`"),
        ("play", replaces_state, "`state = ...` gives the name to something else, and nobody sees it; it must change"),
        ("returns", without_out, "it takes 2 arguments, not 1; write def returns(state, out)"),
        ("is_legal", sometimes, "there is a way through it without `return`; it must return True, or False, on every way"),
        (
            "returns",
            a_list,
            "nobody reads what it returns; it must write into `out`, one number a player: out[0], out[1] = 1.0, -1.0",
        ),
        ("play", a_tuple, "nobody reads what it returns; it must change the fields of `state`"),
        ("play", with_self, "rules have no `self`; write def play(state, action)"),
        ("is_legal", with_self, "rules have no `self`; write def is_legal(state, action)"),
    ],
)
def test_a_rule_that_answers_wrongly_or_has_a_self_is_refused_when_the_class_is_made(rule, function, complaint):
    first = function.__code__.co_firstlineno
    with pytest.raises(ab.errors.GameError) as refused:
        type("Wrong", (Nim,), {rule: ab.rule(function)})
    text = str(refused.value)
    line = int(re.match(rf"Wrong: rule `{rule}`, line (\d+): ", text).group(1))
    assert first <= line <= first + 1
    assert complaint in text


def test_a_rule_that_lacks_its_mark_is_told_although_the_class_inherits_one():
    with pytest.raises(
        ab.errors.GameError, match=r"the method `play`, line \d+, is not a rule yet: write @anabranch.rule above it"
    ):

        class Unmarked(Nim):
            def play(state, action):
                state.stones -= action + 1


def test_fields_that_cannot_be_compiled_are_refused_when_the_class_is_made():
    with pytest.raises(ab.errors.GameError, match=r"the field `seen` of `state` is an array of bool, .* use i1 \(0 and 1\)"):
        type("Wrong", (Nim,), {"state": np.dtype([("stones", "i4"), ("turn", "i1"), ("seen", "?", (3,))])})
    with pytest.raises(
        ab.errors.GameError, match="the field `name` of `state` is object, which rules cannot read; use whole numbers"
    ):
        type("Wrong", (Nim,), {"state": np.dtype([("stones", "i4"), ("turn", "i1"), ("name", "O")])})


def test_a_rule_with_the_wrong_number_of_arguments_is_refused():
    with pytest.raises(
        ab.errors.GameError,
        match=r"rule `is_legal`, line \d+: it takes 2 arguments, not 1; write def is_legal\(state, action\)",
    ):
        type("Short", (Nim,), {"is_legal": ab.rule(lambda state: True)})


def test_instance_data_that_setup_overwrites_is_told():
    with pytest.raises(ab.errors.GameError, match="rule `setup` changes `stones`, which was given"):
        Nim(stones=5).start()


@pytest.mark.parametrize(
    ("facts", "complaint"),
    [
        ({"players": 0}, "`players` must be 1 or more"),
        ({"repetition": "maybe"}, "`repetition` must be one of nothing, draw, loss, forbidden"),
        ({"value_range": (1.0, -1.0)}, "low < high"),
        ({"discount": 0.0}, "`discount` must be above 0"),
        ({"events": 6}, "both a rule `chance` and a number of `events`"),
        ({"state": np.dtype("i4")}, "must be a structured dtype"),
    ],
)
def test_impossible_facts_are_refused_when_the_class_is_made(facts, complaint):
    with pytest.raises(ab.errors.GameError, match=complaint):
        type("Wrong", (Nim,), facts)
