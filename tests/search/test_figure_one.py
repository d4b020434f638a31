"""Figure 1 of Gelly & Silver (2011): five simulations, each adds one node, and every node on the way counts wins / visits.

The caption says: "Each simulation has an outcome of 1 for a black win or 0 for a white win (square). At each simulation a new
node (star) is added into the search tree. The value of each node in the search tree (circles and star) is then updated to count
the number of black wins, and the total number of visits (wins/visits)." The drawing itself is not reproduced here: the
outcomes 1, 0, 1, 0, 1 are this test's own script, and so are the trees below, worked out by hand from the caption. As in the
paper's Algorithm 1, the first simulation adds the root; in Anabranch that is the evaluation of a new root.
"""

from textwrap import dedent

import numpy as np
import pytest

import anabranch as ab
from anabranch.search.memory.layout import NO_NODE
from anabranch.search.results.read import edge_records
from tests.conftest import in_soak

OUTCOMES = [1, 0, 1, 0, 1]

# Black moves at the root, white below it. Children stand below their parent in the order in which they were added.
TREES = [
    """
    1/1
    """,
    """
    1/2
      0/1
    """,
    """
    2/3
      0/1
      1/1
    """,
    # Black goes where it has won. White's two answers are untried.
    """
    2/4
      0/1
      1/2
        0/1
    """,
    # One win in two is still better for black than none in one; white tries its other answer.
    """
    3/5
      0/1
      2/3
        0/1
        1/1
    """,
]


class BlackAndWhite(ab.Game):
    """Two moves at every turn and nothing ever decided; a black win counts 1, a white win 0."""

    players, actions = 2, 2
    value_range = (0.0, 1.0)
    state = np.dtype([("turn", "i4")])

    @ab.rule
    def setup(state):
        state.turn = 0

    @ab.rule
    def to_play(state):
        return state.turn

    @ab.rule
    def is_legal(state, action):
        return True

    @ab.rule
    def play(state, action):
        state.turn = 1 - state.turn

    @ab.rule
    def is_over(state):
        return False

    @ab.rule
    def returns(state, out):
        pass


def draw(search, number=None, indent=""):
    """The tree as wins/visits, a line a node."""
    number = search.rooted.root if number is None else number
    node, edges = search.rooted.graph.nodes[number], edge_records(search.rooted.graph, number)
    sign = -1 if node["player"] == 1 else 1  # totals at white's nodes are in white's view
    own = node["visits"] - edges["visits"].sum()
    wins = own * search.rooted.graph.headers["value"][number - 1, 0] + sign * edges["total"].sum()
    lines = [f"{indent}{round(wins)}/{node['visits']}"]
    for child in sorted(edges["child"][edges["visits"] > 0]):
        lines.append(draw(search, child, indent + "  "))
    return "\n".join(lines)


@in_soak
@pytest.mark.parametrize("select", [ab.UCT(), ab.Greedy()], ids=["UCT", "Greedy"])
def test_five_simulations_add_a_node_each_and_count_wins_and_visits(select):
    drawn = []

    def scripted(states):
        """The next outcome of the script, for the player to move. Draws what the simulations before have left."""
        if search.rooted.root != NO_NODE:
            drawn.append(draw(search))
        black = OUTCOMES[len(drawn)]
        return None, [black if states["turn"][0] == 0 else -black]

    search = ab.Search(BlackAndWhite(), select=select, evaluate=scripted)
    result = search.run(visits=len(OUTCOMES) - 1)
    drawn.append(draw(search))

    assert drawn == [dedent(tree).strip() for tree in TREES]
    assert result.stats.nodes == result.stats.evaluations == len(OUTCOMES)
    assert result.value == pytest.approx(3 / 5)
