"""A typing error in a user's rule is told by the rule's name and line."""

import inspect
import os
import subprocess
import sys

import numpy as np
import pytest

import anabranch as ab
from anabranch.jit import COMPILED

pytestmark = pytest.mark.skipif(not COMPILED, reason="nothing is compiled")


class Stones(ab.Game):
    """Right in all its rules; the games below spoil one each."""

    players, actions = 2, 3
    state = np.dtype([("stones", "i4"), ("turn", "i1"), ("pile", "i4", (3,))])

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


CASES = {
    CallsAPlainFunction: ("play", "`forgotten` is a plain function; write @anabranch.helper above it"),
    AddsText: ("is_legal", "no such operation: add"),
    MissesAField: ("is_over", "the state has no field 'stonez'"),
    MakesAnArray: ("play", "rules cannot make arrays"),
    MistypesAName: ("is_legal", "name 'actoin' is not defined"),
}


@pytest.mark.parametrize("game", CASES, ids=lambda game: game.__name__)
def test_the_error_names_rule_line_and_reason(game):
    rule, reason = CASES[game]
    lines, first = inspect.getsourcelines(game._rules[rule])
    line = first + next(i for i, text in enumerate(lines) if "# here" in text)
    with pytest.raises(ab.RuleError) as caught:
        ab.Search(game()).run(visits=1)
    text = str(caught.value)
    assert text.startswith(f"rule `{rule}` of {game.__name__}, line {line}: ")
    assert reason in text
    assert len(text.splitlines()) == 2


def test_the_same_error_is_told_again_and_by_other_kernels():
    told = []
    for _ in range(2):
        with pytest.raises(ab.RuleError) as caught:
            ab.Search(MistypesAName()).run(visits=1)
        told.append(str(caught.value))
    with pytest.raises(ab.RuleError) as caught:
        ab.Search(MistypesAName(), select=ab.PUCT()).run(visits=1)
    assert told[0] == told[1] == str(caught.value)


def test_a_search_of_another_game_still_works_after_it():
    with pytest.raises(ab.RuleError):
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
