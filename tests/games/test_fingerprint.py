"""The fingerprint of a game's rules: it follows everything that decides what is played, and nothing else."""

import itertools

import pytest

from anabranch.games import Go, Hex, PyRat
from anabranch.games.fingerprint import rules_fingerprint
from anabranch.games.registry import load, names

GAME = '''
import numpy as np
import anabranch as ab

TABLE = np.array([0, 1, 2, 3])
LEAST = 1

@ab.helper
def taken(action):
    return TABLE[action + LEAST]

class Stones(ab.Game):
    """Whoever takes the last stone wins."""

    players, actions = 2, 3
    state = np.dtype([("stones", "i4"), ("turn", "i1")], align=True)

    @ab.rule
    def setup(state):
        state.stones, state.turn = 9, 0

    @ab.rule
    def to_play(state):
        return state.turn

    @ab.rule
    def is_legal(state, action):
        return taken(action) <= state.stones

    @ab.rule
    def play(state, action):
        state.stones -= taken(action)  # helpers are rules too
        state.turn = 1 - state.turn

    @ab.rule
    def is_over(state):
        return state.stones == 0

    @ab.rule
    def returns(state, out):
        out[state.turn], out[1 - state.turn] = -1.0, 1.0
'''
MATTERS = {
    "a rule": ("state.stones == 0", "state.stones <= 0"),
    "a helper": ("TABLE[action + LEAST]", "TABLE[action + LEAST] + 0"),
    "a table": ("[0, 1, 2, 3]", "[0, 1, 2, 4]"),
    "a global number": ("LEAST = 1", "LEAST = 0"),
    "where it begins": ("9, 0", "10, 0"),
    "a fact": ("players, actions = 2, 3", "players, actions, discount = 2, 3, 0.5"),
}
DOES_NOT = {
    "a comment": ("# helpers are rules too", "# and tables"),
    "its documentation": ("takes the last stone", "is left the last stone"),
    "a method for people": (
        "    @ab.rule\n    def setup",
        "    def name_of(self, action): return 'x' * action\n\n    @ab.rule\n    def setup",
    ),
}
numbers = itertools.count()


def fingerprint(folder, change=("", "")):
    path = folder / f"stones{next(numbers)}.py"
    path.write_text(GAME.replace(*change) if change[0] else GAME)
    return rules_fingerprint(load(f"{path}:Stones"))


@pytest.mark.parametrize("change", MATTERS.values(), ids=MATTERS)
def test_it_changes_with(change, tmp_path):
    assert change[0] in GAME and fingerprint(tmp_path, change) != fingerprint(tmp_path)


@pytest.mark.parametrize("change", DOES_NOT.values(), ids=DOES_NOT)
def test_it_does_not_change_with(change, tmp_path):
    assert change[0] in GAME and fingerprint(tmp_path, change) == fingerprint(tmp_path)


def test_data_of_an_instance_count():
    games = [
        Go(9),
        Go(9, komi=5.5),
        Go(7),
        Go(13),
        Go(9, rules="japanese"),
        Hex(size=5),
        Hex(size=6),
        PyRat(seed=1),
        PyRat(seed=2),
    ]
    assert len({rules_fingerprint(game) for game in games}) == len(games)
    assert rules_fingerprint(Go(9)) == rules_fingerprint(Go(9))


def test_every_game_has_one_of_its_own():
    found = [rules_fingerprint(load(name)) for name in names()]
    assert len(set(found)) == len(found)
