"""The fast search builds the same tree as the slow one of `tests/reference/search.py`, node for node."""

import zlib

import numpy as np
import pytest

import anabranch as ab
from anabranch.games import ConnectFour, Pig, TicTacToe, Treasure, TriNim
from anabranch.jit import COMPILED
from anabranch.search.graph_options import grouped
from tests.conftest import in_soak
from tests.reference.search import ReferenceSearch
from tests.search.games import Percent
from tests.search.trees import assert_same_tree

GAMES = [TicTacToe(), ConnectFour(), TriNim(), Pig(), Treasure()]
FULL, SHORT = (400, 200) if COMPILED else (40, 25)  # simulations

OTHER_OPTIONS = [
    (Treasure(), {"backup": ab.backup.Max()}),
    (TriNim(), {"backup": ab.backup.Mix(weight=0.3)}),
    (TicTacToe(), {"select": ab.Greedy(fpu=ab.select.ConstantFPU(value=0.3))}),
    (TicTacToe(), {"select": ab.UCT(c=0.7, fpu=ab.select.ParentFPU(offset=-0.5))}),
    (Treasure(), {"select": ab.PUCT(fpu=ab.select.ReducedFPU())}),
    (TicTacToe(), {"evaluate": ab.Uniform()}),
    (ConnectFour(), {"depth": 1}),
    (Pig(), {"depth": 3}),
    (Treasure(), {"expand_after": 4}),
    (TriNim(), {"select": ab.PUCT(), "expand_after": 4}),
    (Pig(), {"evaluate": ab.Rollout(playouts=3)}),
    (Treasure(), {"evaluate": ab.Rollout(playouts=3, cutoff=4), "select": ab.PUCT()}),
    (ConnectFour(), {"evaluate": ab.Rollout(cutoff=5)}),
    *(
        pytest.param(*case, marks=in_soak)
        for case in [
            (Pig(), {"backup": ab.backup.Max()}),
            (TicTacToe(), {"select": ab.PUCT(c=0.5, growth=2.0, base=10.0), "backup": ab.backup.Mix(weight=0.7)}),
            (TriNim(), {"select": ab.Greedy(fpu=ab.select.ParentFPU(offset=0.1))}),
            (Percent(), {"select": ab.PUCT(fpu=ab.select.ReducedFPU(offset=0.8))}),
            (Percent(), {"select": ab.PUCT(fpu=ab.select.ConstantFPU(value=0.1))}),
            (Percent(), {"evaluate": ab.Rollout(cutoff=5)}),
            (TriNim(), {"select": ab.PUCT(fpu=ab.select.ConstantFPU(value=-1.0))}),
            (Treasure(), {"evaluate": ab.Uniform(), "select": ab.PUCT()}),
            (TicTacToe(), {"select": ab.UCT(c=0.5, fpu=ab.select.ReducedFPU(offset=1.5))}),
        ]
    ),
]


def describe(value):
    """A short name of a test case."""
    options = value.values() if isinstance(value, dict) else [value]
    return ",".join(repr(option).replace(" ", "") for option in options)


def both(game, simulations, seed, **options):
    """A search and the reference after so many simulations, the first one run in three parts."""
    search = ab.Search(game, seed=seed, memory="100MB", **grouped(options))
    position = game.start()
    for total in (1, simulations // 3, simulations):
        search.run(position, total=total)
    reference = ReferenceSearch(game, seed=seed, **options)
    reference.run(simulations)
    return search, reference


@pytest.mark.parametrize("seed", [0, 1, 20260301])
@pytest.mark.parametrize("select", [ab.UCT(), ab.PUCT()], ids=["UCT", "PUCT"])
@pytest.mark.parametrize("game", GAMES, ids=describe)
def test_the_fast_search_builds_the_same_tree_as_the_reference(game, select, seed):
    search, reference = both(game, FULL, seed, select=select)
    assert assert_same_tree(search, reference) > FULL / 10


@pytest.mark.parametrize(("game", "options"), OTHER_OPTIONS, ids=describe)
def test_it_does_so_with_other_options(game, options):
    search, reference = both(game, SHORT, 7, **options)
    assert_same_tree(search, reference)


def opinion(states):
    """A Python evaluator without sense but with opinions: they depend on every byte of the state."""
    mixed = zlib.crc32(states.tobytes())
    game = next(game for game in GAMES if game.record == states.dtype)
    priors = np.array([[(mixed >> action) % 7 + 1 for action in range(game.actions)]], float)
    values = [mixed % (97 + player) / 97 - 0.5 for player in range(game.value_width())]
    return priors, np.array(values if len(values) == 1 else [values])


@pytest.mark.parametrize(
    "game", [pytest.param(game, marks=in_soak if isinstance(game, Treasure) else ()) for game in GAMES], ids=describe
)
def test_it_does_so_with_an_evaluator_in_python(game):
    search, reference = both(game, SHORT, 5, select=ab.PUCT(), evaluate=opinion)
    assert_same_tree(search, reference)


@pytest.mark.parametrize("position", [ConnectFour().position("ddc"), Pig().position(["roll"])], ids=["second player", "chance"])
def test_it_does_so_from_the_middle_of_a_game(position):
    search = ab.Search(position.game, seed=3)
    search.run(position, visits=SHORT)
    reference = ReferenceSearch(position.game, position, seed=3)
    reference.run(SHORT)
    assert assert_same_tree(search, reference) > SHORT / 10
