"""A typing error in a user's rule is told by the rule's name and line."""

import inspect
import os
import subprocess
import sys

import numpy as np
import pytest

import anabranch as ab

pytestmark = pytest.mark.when_compiled


class Stones(ab.Game):
    """Right in all its rules; the games below spoil one each."""

    players, actions = 2, 3
    state = np.dtype([("stones", "i4"), ("turn", "i1"), ("pile", "i4", (3,)), ("rows", "i4", (2, 3))])

    @ab.rule
    def setup(state):
        state.stones, state.turn = 9, 0

    @ab.rule
    def to_play(state):
        return state.turn

    @ab.rule
    def is_legal(state, action):
        return action < state.stones

    @ab.rule
    def play(state, action):
        state.stones -= action + 1
        state.turn = 1 - state.turn

    @ab.rule
    def is_over(state):
        return state.stones == 0

    @ab.rule
    def returns(state, out):
        out[state.turn] = -1.0
        out[1 - state.turn] = 1.0


def forgotten(x):
    return 1 - x


class CallsAPlainFunction(Stones):
    @ab.rule
    def play(state, action):
        state.stones -= action + 1
        state.turn = forgotten(state.turn)  # here


class AddsText(Stones):
    @ab.rule
    def is_legal(state, action):
        return action + "1" < state.stones  # here


class MissesAField(Stones):
    @ab.rule
    def is_over(state):
        return state.stonez == 0  # here


class MakesAnArray(Stones):
    @ab.rule
    def play(state, action):
        scratch = np.zeros(3)  # here
        state.stones -= action + 1 + int(scratch[0])
        state.turn = 1 - state.turn


class MistypesAName(Stones):
    @ab.rule
    def is_legal(state, action):
        return actoin < state.stones  # noqa: F821  # here


PRICES = {0: 1, 1: 2, 2: 3}
STEPS = [1, 2, 3]


class Point:
    def __init__(self, x):
        self.x = x


HOME = Point(3)


class ReadsADict(Stones):
    @ab.rule
    def is_legal(state, action):
        return PRICES[action] <= state.stones  # here


class ReadsAList(Stones):
    @ab.rule
    def is_legal(state, action):
        return STEPS[action] <= state.stones  # here


class UsesAClass(Stones):
    @ab.rule
    def is_legal(state, action):
        return Point(action).x < state.stones  # here


class UsesAnObject(Stones):
    @ab.rule
    def is_legal(state, action):
        return HOME.x + action < state.stones  # here


class CallsARule(Stones):
    @ab.rule
    def is_over(state):
        return not is_legal(state, 0)  # noqa: F821  # here


class CallsAClassForARule(Stones):
    @ab.rule
    def is_over(state):
        return not Stones.is_legal(state, 0)  # here


class MakesText(Stones):
    @ab.rule
    def play(state, action):
        state.stones -= action + 1
        state.turn = len(f"{action}")  # here


class StoresText(Stones):
    @ab.rule
    def play(state, action):
        state.stones -= action + 1
        state.turn = "white"  # here


class StoresAList(Stones):
    @ab.rule
    def play(state, action):
        state.pile = [0, 0, 0]  # here
        state.stones -= action + 1
        state.turn = 1 - state.turn


class AddsToAnArray(Stones):
    @ab.rule
    def play(state, action):
        state.pile += 0.5  # here
        state.stones -= action + 1
        state.turn = 1 - state.turn


class CopiesAnArray(Stones):
    @ab.rule
    def play(state, action):
        state.rows[0] = state.pile  # here
        state.stones -= action + 1
        state.turn = 1 - state.turn


class CatchesAnError(Stones):
    @ab.rule
    def play(state, action):
        try:
            state.stones -= action + 1
        except ValueError:  # here
            state.stones = 0
        state.turn = 1 - state.turn


class Imports(Stones):
    @ab.rule
    def play(state, action):
        import math  # here

        state.stones -= math.floor(action + 1)
        state.turn = 1 - state.turn


class ReadsItsClass(Stones):
    TURNS = 2

    @ab.rule
    def play(state, action):
        state.stones -= action + 1
        state.turn = (state.turn + 1) % TURNS  # noqa: F821  # here


class ComprehendsAList(Stones):
    @ab.rule
    def is_legal(state, action):
        return action in [a for a in range(3) if a < state.stones]  # here


class ComprehendsADict(Stones):
    @ab.rule
    def is_legal(state, action):
        return {a: a < state.stones for a in range(3)}[action]  # here


class AsksAnyOfAGenerator(Stones):
    @ab.rule
    def is_legal(state, action):
        return any(a < state.stones for a in range(action, 3))  # here


class ComparesAnArray(Stones):
    @ab.rule
    def is_over(state):
        return np.all(state.pile == 1) or state.stones == 0  # here


class TakesTheLargest(Stones):
    @ab.rule
    def is_over(state):
        return state.pile.max() > 1 or state.stones == 0  # here


class SortsAnArray(Stones):
    @ab.rule
    def is_over(state):
        return sorted(state.pile)[0] > 1 or state.stones == 0  # here


@ab.helper
def factorial(n):
    return 1 if n <= 1 else n * factorial(n - 1)


class CallsWhatCallsItself(Stones):
    @ab.rule
    def is_over(state):
        return state.stones % factorial(3) == 0  # here


class ChangesAGlobal(Stones):
    @ab.rule
    def is_over(state):
        global HOME
        HOME = 1  # here
        return state.stones == 0


CASES = {
    CallsAPlainFunction: ("play", "`forgotten` is a plain function; write @anabranch.helper above it"),
    AddsText: ("is_legal", "no such operation: add"),
    MissesAField: ("is_over", "the state has no field 'stonez'; did you mean 'stones'?"),
    MakesAnArray: ("play", "rules cannot make arrays, lists or dicts while they run, as `np.zeros` does"),
    MistypesAName: ("is_legal", "name 'actoin' is not defined"),
    ReadsADict: (
        "is_legal",
        "`PRICES` is a dict, and rules can only read numbers, tuples and arrays; write PRICES = np.array(...)",
    ),
    ReadsAList: (
        "is_legal",
        "`STEPS` is a list, and rules can only read numbers, tuples and arrays; write STEPS = np.array(...)",
    ),
    UsesAClass: ("is_legal", "`Point` is a Python class, and rules know only numbers and arrays; keep its data in fields"),
    UsesAnObject: ("is_legal", "`HOME` is a Point, and rules can only read numbers, tuples and arrays"),
    CallsARule: ("is_over", "the rule of that name is `rules.is_legal(state, ...)` after `from anabranch.games import rules`"),
    CallsAClassForARule: ("is_over", "`Stones` is a game's class; call a rule as rules.NAME(state, ...)"),
    MakesText: ("play", "rules cannot make text; names for people belong in `name_of` and `text`"),
    StoresText: ("play", "text cannot be stored in a state; use numbers, such as 0 and 1"),
    StoresAList: ("play", "set the elements one by one, or all at once: state.pile[:] = 0"),
    AddsToAnArray: ("play", "`state.pile += 0.5` changes a whole array; write a loop over the elements"),
    CopiesAnArray: ("play", "`state.rows[0] = state.pile` copies a whole array; write a loop over the elements"),
    CatchesAnError: ("play", "rules cannot catch exceptions; test beforehand, with `if`, what could go wrong"),
    Imports: ("play", "rules cannot import; write the import at the top of the file"),
    ReadsItsClass: ("play", "rules see the names of their module, not of their class: write it above the class"),
    ComprehendsAList: ("is_legal", "write a loop"),
    ComprehendsADict: ("is_legal", "write a loop"),
    AsksAnyOfAGenerator: ("is_legal", "generators do not compile; write a loop"),
    ComparesAnArray: ("is_over", "`state.pile == 1` would make a new array; write a loop over the elements"),
    TakesTheLargest: ("is_over", "no such operation: max(array of i4); for arrays write a loop over the elements"),
    SortsAnArray: ("is_over", "as `sorted` does; write a loop"),
    CallsWhatCallsItself: ("is_over", "`factorial` calls itself, and recursion does not compile; write a loop"),
    ChangesAGlobal: ("is_over", "rules cannot change global variables; what they remember is a field of the state"),
}


@pytest.mark.parametrize("game", CASES, ids=lambda game: game.__name__)
def test_the_error_names_rule_line_and_reason(game):
    rule, reason = CASES[game]
    lines, first = inspect.getsourcelines(game._rules[rule])
    line = first + next(i for i, text in enumerate(lines) if "# here" in text)
    text = ab.check(game()).problems[0]
    assert text.startswith(f"rule `{rule}` of {game.__name__}, line {line}: ")
    assert reason in text
    assert len(text.splitlines()) == 2


def test_the_same_error_is_told_again_and_by_other_kernels():
    told = []
    for _ in range(2):
        with pytest.raises(ab.errors.RuleError) as caught:
            ab.Search(MistypesAName()).run(visits=1)
        told.append(str(caught.value))
    with pytest.raises(ab.errors.RuleError) as caught:
        ab.Search(MistypesAName(), select=ab.PUCT()).run(visits=1)
    assert told[0] == told[1] == str(caught.value)


def test_a_search_of_another_game_still_works_after_it():
    with pytest.raises(ab.errors.RuleError):
        ab.Search(AddsText()).run(visits=1)
    assert ab.Search(Stones()).run(visits=10).stats.simulations == 10


def test_checking_mode_finds_an_index_out_of_bounds(tmp_path):
    (tmp_path / "outside.py").write_text(
        inspect.getsource(sys.modules[__name__]).split("pytestmark")[0].split('"""')[2]
        + inspect.getsource(Stones)
        + "\n\nclass Outside(Stones):\n    @ab.rule\n    def is_over(state):\n        return state.pile[state.stones] != 0\n"
    )
    script = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from outside import *; ab.Search(Outside()).run(visits=1)"
    environment = {**os.environ, "ANABRANCH_CHECK": "1", "ANABRANCH_CACHE": str(tmp_path)}
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment)
    assert "IndexError" in run.stderr


PRINTS = """
import anabranch as ab
from anabranch.games.nim import Nim


class Prints(Nim):
    @ab.rule
    def play(state, action):
        print("takes", action + 1, "of", state.stones)
        state.stones -= action + 1
        state.turn = 1 - state.turn
"""


def test_print_in_a_rule_prints_after_a_cold_compilation_and_from_the_cache(tmp_path):
    (tmp_path / "prints.py").write_text(PRINTS)
    (tmp_path / "cache").mkdir(mode=0o700)
    script = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from prints import *; import numpy as np\n"
        "from anabranch.games.check import play_compiled\n"
        "play_compiled(Prints().start().record(), 2, np.zeros(2)); print('done')"
    )
    environment = {**os.environ, "ANABRANCH_CACHE": str(tmp_path / "cache")}
    for _ in range(2):
        run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment, timeout=300)
        assert run.stdout.splitlines() == ["takes 3 of 21", "done"], run.stderr
