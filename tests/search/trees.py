"""Reading the trees of searches, to compare them with one another and with the reference."""

import hashlib
from collections import deque
from typing import Any, NamedTuple

import numpy as np
import pytest

from anabranch.games.rules import CHANCE
from anabranch.search.memory.graph import OVER, Graph
from anabranch.search.memory.layout import NO_NODE
from anabranch.search.results.read import edge_records


class EdgeFacts(NamedTuple):
    action: int
    prior: float
    visits: int
    total: tuple[float, ...]  # as stored: width 1 in the view of who moves
    child: "NodeFacts | None"


class NodeFacts(NamedTuple):
    player: int
    visits: int
    value: tuple[float, ...]
    edges: tuple[EdgeFacts, ...]

    @property
    def own(self) -> int:
        """Visits that are evaluations of the position itself."""
        return self.visits - sum(edge.visits for edge in self.edges)


def read_tree(search: Any) -> list[NodeFacts]:
    """All nodes below a search's root, parents first; two equal trees give equal lists."""
    return read_graph(search.rooted.graph, search.rooted.root)


def read_graph(graph: Any, root: int) -> list[NodeFacts]:
    numbers = [root]
    for number in numbers:
        numbers.extend(
            int(child) for child in edge_records(graph, number)["child"] if child != NO_NODE and not is_leaf(graph, child)
        )
    facts: dict[int, NodeFacts] = {}
    for number in reversed(numbers):
        node = graph.nodes[number]
        edges = tuple(
            EdgeFacts(
                action=int(edge["action"]),
                prior=float(edge["prior"]),
                visits=int(edge["visits"]),
                total=tuple(float(total) for total in edge["total"]),
                child=facts.get(int(edge["child"])),
            )
            for edge in edge_records(graph, number)
        )
        holder = graph.headers[number - 1] if isinstance(graph, Graph) else node
        value = tuple(float(value) for value in holder["value"])
        facts[number] = NodeFacts(int(node["player"]), int(node["visits"]), value, edges)
    return [facts[number] for number in numbers]


def is_leaf(graph: Any, number: int) -> bool:
    """Whether a node has nothing but its own evaluations, which a tree keeps on the edge above."""
    node = graph.nodes[number]
    return isinstance(graph, Graph) and node["count"] == 0 and not node["flags"] & OVER


def digest(search: Any) -> str:
    """A short text that is equal for trees that are equal bit for bit."""
    sha = hashlib.sha256()
    for node in read_tree(search):
        sha.update(repr((node.player, node.visits, node.value)).encode())
        for edge in node.edges:
            sha.update(repr((edge.action, edge.prior, edge.visits, edge.total, edge.child is None)).encode())
    return sha.hexdigest()


def assert_same_tree(search: Any, reference: Any) -> int:
    """Compare a search's tree with a `ReferenceSearch`'s, node for node; how many nodes were compared."""
    game = search.game
    wide = game.value_width() > 1
    pairs = deque([(read_tree(search)[0], reference.root, ())])
    compared = 0
    while pairs:
        node, expected, line = pairs.popleft()
        compared += 1
        what = f"after the actions {line}"
        assert node.player == expected.player, what
        assert node.visits == expected.visits, what
        assert [edge.action for edge in node.edges] == [edge.action for edge in expected.edges], what
        assert [edge.visits for edge in node.edges] == [edge.visits for edge in expected.edges], what
        assert [edge.prior for edge in node.edges] == [edge.prior for edge in expected.edges], what
        viewers = range(game.players) if wide else [0]
        np.testing.assert_allclose(node.value, [expected.own_mean(player) for player in viewers], rtol=1e-12, atol=1e-12)
        for edge, expected_edge in zip(node.edges, expected.edges, strict=True):
            mover = 0 if expected.player == CHANCE else expected.player
            total = expected_edge.total if wide else [expected_edge.total[mover]]
            np.testing.assert_allclose(edge.total, total, rtol=1e-12, atol=1e-12, err_msg=what)
            assert (edge.child is None) == (expected_edge.child is None), what
            if edge.child is not None:
                pairs.append((edge.child, expected_edge.child, (*line, edge.action)))
    return compared


def assert_rules_hold(search: Any) -> None:
    """Walk down the tree and the game together: movers, legal actions, ends and their outcomes, and all counts agree."""
    root = read_tree(search)[0]
    pairs = deque([(root, search.position, None)])
    while pairs:
        node, position, above = pairs.popleft()
        assert above is None or node.visits == above.visits, repr(position)
        if position.is_over:
            assert node.edges == (), repr(position)
            np.testing.assert_allclose(node.value, position.returns[: len(node.value)])
            continue
        assert node.player == position.to_play, repr(position)
        assert sorted(edge.action for edge in node.edges) == position.legal_actions, repr(position)
        assert node.own >= 1, repr(position)
        assert sum(edge.prior for edge in node.edges) == pytest.approx(1.0, abs=1e-6)
        pairs.extend((edge.child, position.play(edge.action), edge) for edge in node.edges if edge.child is not None)
