"""The specification's own wish: a 3x3 maze with two pieces of cheese, six simulations worked out by hand.

Each player has two outcomes at first (right or stay, left or stay), all priors are uniform, and an evaluation says 0. With two
pieces of cheese values go from 0 to 2, so that half of the range is 1: unscaled, scores are in pieces of cheese. c is 1, and an
outcome that was never tried is worth 0.1 less than the node. docs/algorithms/simultaneous.md quotes this."""

from typing import NamedTuple

import numpy as np
import pytest

import anabranch as ab
from anabranch.games import PyRat
from anabranch.search.memory.layout import NO_NODE
from anabranch.search.simultaneous.read import read_node
from tests.conftest import when_plain
from tests.reference.simultaneous import ReferencePairs

GAME = PyRat.drawn("""
+---+---+---+
|          B|
+   +   +---+
|     *     |
+---+   +   +
|A    *     |
+---+---+---+
""")
RULE = ab.Decoupled(c=1.0, fpu=ab.select.ParentFPU(0.1), replies=ab.simultaneous.ByReplies(), scaled=False)
RIGHT, LEFT, STAY = 1, 3, 4


class Worked(NamedTuple):
    first: list[float]  # scores of right and stay, before the simulation
    second: list[float]  # of left and stay
    chosen: str
    below: str | None  # what was chosen at the child, if that was known already
    child: float  # what the child of the chosen pair is worth to the first player afterwards
    root: float  # and the root; to the second player both are worth 0 throughout


WORKED = [
    # N = 0: all -0.1 + 1/2 sqrt(1) = 0.4, and the lowest is taken. It pays 1; (0 + 1) / 2
    Worked([0.4, 0.4], [0.4, 0.4], "right/left", None, 0.0, 0.5),
    # N = 1: right 1 + 1/2 / 2, stay 0.5 - 0.1 + 1/2; left 0 + 1/2 / 2, stay 0 - 0.1 + 1/2. It pays 1; (0 + 1 + 1) / 3
    Worked([1.25, 0.9], [0.25, 0.4], "right/stay", None, 0.0, 2 / 3),
    # N = 2: right 1 + 1/2 sqrt(2) / 3, stay 2/3 - 0.1 + 1/2 sqrt(2); left and stay 1/2 sqrt(2) / 2.
    # It pays nothing; (0 + 1 + 1 + 0) / 4
    Worked([1.235702, 1.273773], [0.353553, 0.353553], "stay/left", None, 0.0, 0.5),
    # N = 3: right 1 + 1/2 sqrt(3) / 3, stay 0 + 1/2 sqrt(3) / 2; left 1/2 sqrt(3) / 3, stay 1/2 sqrt(3) / 2. The child is
    # known: there up takes the second piece, which ends the game: (0 + 1) / 2. The root: (0 + 1 + 2 * (1 + 0.5) + 0) / 5
    Worked([1.288675, 0.433013], [0.288675, 0.433013], "right/stay", "up/left", 0.5, 0.8),
    # N = 4: right (1 + 2 * 1.5) / 3 + 1/2 * 2 / 4, stay 0 + 1/2 * 2 / 2; left and stay 1/2 * 2 / 3.
    # The child: (0 + 1) / 2. The root: (0 + 2 * 1.5 + 2 * 1.5 + 0) / 6
    Worked([1.583333, 0.5], [0.333333, 0.333333], "right/left", "up/right", 0.5, 1.0),
    # N = 5: right 1.5 + 1/2 sqrt(5) / 5, stay 1/2 sqrt(5) / 2; left 1/2 sqrt(5) / 4, stay 1/2 sqrt(5) / 3.
    # There up has 1 + 1/4 / 2, the others 0.5 - 0.1 + 1/4; left 1/2 / 2, stay -0.1 + 1/2: (0 + 1 + 1) / 3.
    # The root: (0 + 2 * 1.5 + 3 * (1 + 2/3) + 0) / 7
    Worked([1.723607, 0.559017], [0.279508, 0.372678], "right/stay", "up/stay", 2 / 3, 8 / 7),
]


def test_the_reference_does_what_was_worked_out_by_hand():
    reference = ReferencePairs(GAME, select=RULE, ties="lowest")
    root = reference.root
    assert root.outcomes == [[RIGHT, STAY], [LEFT, STAY]]
    for expected in WORKED:
        assert reference.scores(root, 0) == pytest.approx(expected.first, abs=1e-6)
        assert reference.scores(root, 1) == pytest.approx(expected.second, abs=1e-6)
        before = [row[:] for row in root.edge_visits]
        reference.run(1)
        (pair,) = [(a, b) for a in range(2) for b in range(2) if root.edge_visits[a][b] > before[a][b]]
        chosen = GAME.pair((root.outcomes[0][pair[0]], root.outcomes[1][pair[1]]))
        assert GAME.pair_name(chosen) == expected.chosen
        assert pytest.approx([expected.child, 0.0]) == root.children[pair[0]][pair[1]].Q
        assert pytest.approx([expected.root, 0.0]) == root.Q


@when_plain
def test_the_search_does_what_was_worked_out_by_hand():
    graph = ab.graphs.GraphOptions(ab.graphs.Idempotent(), ab.graphs.Continue())
    options = {"graph": graph, "ties": "lowest", "memory": "1MB"}
    search = ab.Search(GAME, select=RULE, evaluate=ab.Uniform(), **options)
    visits = {}
    for count, expected in enumerate(WORKED, start=1):
        visits[expected.chosen] = visits.get(expected.chosen, 0) + 1
        result = search.run(GAME.start(), total=count)
        assert result.value == pytest.approx([expected.root, 0.0])
        found = {GAME.pair_name((int(a), int(b))): int(result.pairs[a, b]) for a, b in np.argwhere(result.pairs)}
        assert found == visits
        first, second = GAME.pair(expected.chosen)
        node = read_node(GAME, search.rooted.graph, search.rooted.root)
        place = list(node.actions[0]).index(first), list(node.actions[1]).index(second)
        child = int(node.children[place])
        assert child != NO_NODE and search.rooted.graph.nodes["mean"][child].tolist() == pytest.approx([expected.child, 0.0])
        if expected.below is not None:
            below = read_node(GAME, search.rooted.graph, child)
            first, second = GAME.pair(expected.below)
            assert below.visits[list(below.actions[0]).index(first), list(below.actions[1]).index(second)] == 1
    assert [policy[policy > 0].tolist() for policy in result.policy] == [
        pytest.approx([5 / 6, 1 / 6]),
        pytest.approx([0.5, 0.5]),
    ]
