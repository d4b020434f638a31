"""Reading the amaf of searches, and nodes made by hand to ask the functions behind it one thing at a time."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from anabranch.games import TicTacToe
from anabranch.jit import kernel, readable
from anabranch.jit.random import generator
from anabranch.search.backup.operators import Mean
from anabranch.search.evaluate.playout_log import begin_descent, begin_playout, end_playout, log_action, new_playout_log
from anabranch.search.loops.graph import AT_EDGE, GraphRules, ascend, record_value
from anabranch.search.loops.steps import Work
from anabranch.search.memory import graph as graphs
from anabranch.search.memory.graph import HIGH, LOW, MOVED, Needs, add_edges, add_node, attach
from anabranch.search.memory.layout import NO_NODE
from anabranch.search.results.read import edge_records
from anabranch.search.select.limits import Limits, Scale
from tests.reference.rave import LoreEdge, ReferenceRave
from tests.reference.search import Node

# --- searches ----------------------------------------------------------------------------------------------------------


def child_at(graph: Any, edge: Any) -> int:
    """The node that an edge leads to, where it is now, or NO_NODE."""
    child = int(edge["child"])
    if child != NO_NODE and graph.nodes["flags"][child] & MOVED:
        child = int(graph.nodes["moved_to"][child])
    return child


def amaf_of(graph: Any, number: int) -> np.ndarray:
    """The amaf of a node's edges."""
    return graph.amaf[number + 1 : number + 1 + int(graph.nodes["count"][number])]


def hints_of(graph: Any, number: int) -> np.ndarray:
    """What a heuristic said of a node's edges."""
    return graph.hints[number + 1 : number + 1 + int(graph.nodes["count"][number])]


def amaf_means(amaf: np.ndarray) -> np.ndarray:
    """Mean AMAF values, 0 where there are none."""
    return amaf["amaf_total"] / np.maximum(amaf["amaf_visits"], 1)


def nodes_with_amaf(search: Any) -> Iterator[tuple[tuple[int, ...], int]]:
    """All nodes with edges that the root reaches, by the first path that leads there."""
    graph, wanted, met = search.rooted.graph, [((), search.rooted.root)], set()
    for line, number in wanted:
        if number not in met and graph.nodes["count"][number]:
            met.add(number)
            yield line, number
            for edge in edge_records(graph, number):
                child = child_at(graph, edge)
                if child != NO_NODE:
                    wanted.append(((*line, int(edge["action"])), child))


def amaf_facts(search: Any) -> dict[tuple[int, ...], Any]:
    """All that edges have, own values and amaf, by the path to their node; equal searches give equal facts."""
    graph = search.rooted.graph
    return {
        line: (
            graph.hints["visits"][number : number + 1].tolist(),
            [edge_records(graph, number)[field].tolist() for field in ("action", "visits", "total")],
            amaf_of(graph, number).tolist(),
            hints_of(graph, number).tolist(),
        )
        for line, number in nodes_with_amaf(search)
    }


def assert_same_amaf(search: Any, reference: Any) -> int:
    """Compare AMAF values and hints with a reference's, edge for edge; how many edges have an AMAF value."""
    graph, known, pairs, met = search.rooted.graph, 0, [(search.rooted.root, reference.root)], set()
    for number, expected in pairs:
        if number in met or not expected.edges:
            continue
        met.add(number)
        edges, amaf = edge_records(graph, number), amaf_of(graph, number)
        assert edges["action"].tolist() == [edge.action for edge in expected.edges]
        assert edges["visits"].tolist() == [edge.visits for edge in expected.edges]
        assert amaf["amaf_visits"].tolist() == [edge.amaf_visits for edge in expected.edges]
        assert amaf["amaf_total"].tolist() == [float(edge.amaf_total) for edge in expected.edges]
        if reference.heuristic is None:
            assert len(graph.hints) == 0
        else:
            hints = hints_of(graph, number)
            assert hints["visits"].tolist() == [edge.hint_visits for edge in expected.edges]
            assert hints["value"].tolist() == [float(edge.hint) for edge in expected.edges]
            assert graph.hints["visits"][number] == sum(edge.hint_visits for edge in expected.edges)
        known += int((amaf["amaf_visits"] > 0).sum())
        for edge, expected_edge in zip(edges, expected.edges, strict=True):
            if expected_edge.child is not None:
                pairs.append((child_at(graph, edge), expected_edge.child))
    assert graph.learnt[1] == len(reference.learnt)
    np.testing.assert_allclose(graph.learnt[0], sum(reference.learnt), rtol=1e-9, atol=1e-12)
    return known


# --- nodes made by hand ------------------------------------------------------------------------------------------------

LETTERS = 26  # actions: black's are small letters, white's are large


class Edge(NamedTuple):
    """What became of an edge; values are wins of who moves, from 0 to 1."""

    visits: int
    value: float | None
    amaf_visits: int
    amaf_value: float | None


class Simulation(NamedTuple):
    """A simulation that was played elsewhere: 'a B | c D' is a path of two actions in the tree and a playout of two."""

    text: str
    black_wins: bool

    def parts(self) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """Players and actions of the path, and of the playout."""
        path, playout = ([read(letter) for letter in part.split()] for part in self.text.split("|"))
        return path, playout

    @property
    def value(self) -> float:
        return 1.0 if self.black_wins else -1.0


def read(letter: str) -> tuple[int, int]:
    """Player and action."""
    return int(letter.isupper()), ord(letter.lower()) - ord("a")


@kernel
def finish(graph, depth, manner, limits, work):
    """The second half of a simulation that has just evaluated a leaf without a node."""
    record_value(graph, NO_NODE, 1, work)
    ascend(graph, depth, Mean(), manner, AT_EDGE, limits, work)


class HandMade:
    """A tree as kernels have it. `nodes`: legal actions by the path to the node, such as {"": "ab", "a": "CD"}."""

    def __init__(self, nodes: dict[str, str], strict: bool = True, playouts: int = 1, prove: bool = False) -> None:
        self.graph = graphs.allocate(
            1, 1_000_000, Needs(merge=False, columns=frozenset({"amaf", "hints", *({"bounds"} if prove else ())}))
        )
        self.graph.amaf[:] = 0
        self.graph.hints[:] = 0
        self.graph.bounds[:, LOW], self.graph.bounds[:, HIGH] = -1.0, 1.0
        self.limits = Limits(depth=100, expand_after=1, scale=Scale(), discount=1.0)
        self.work = Work(
            states=np.concatenate([TicTacToe().start().record()] * 3),
            random=generator(0),
            path_nodes=np.zeros(9, np.int32),
            path_edges=np.zeros(9, np.int32),
            path_rewards=np.zeros((9, 1)),
            values=np.zeros(1),
            sums=np.zeros(1),
            actions=np.zeros(LETTERS, np.int64),
            priors=np.zeros(LETTERS, np.float32),
            probabilities=np.zeros(0),
            rewards=np.zeros(2),
            returns=np.zeros(2),
            exhausted=np.zeros((0, 2), np.uint64),
            ancestry=np.zeros((4, 0), np.int32),
            playout_log=new_playout_log(True, 2, LETTERS, 1, playouts, strict),
            grid=np.zeros((2, 4, 0)),
            tableau=np.zeros((0, 0)),
            stuck=np.zeros(1, np.int64),
            stuck_state=TicTacToe().start().record(),
        )
        self.numbers: dict[str, int] = {}
        plain = readable(self.graph)
        for path, legal in sorted(nodes.items(), key=lambda item: len(item[0])):
            player = read(legal[0])[0]
            number = int(add_node(plain, np.uint64(0), np.uint64(0)))
            number = int(add_edges(plain, number, player, [read(letter)[1] for letter in legal], len(legal)))
            self.numbers[path] = number
            if path:
                attach(plain, self.numbers[path[:-1]], self.edge(path[:-1], path[-1]), number)

    def edge(self, path: str, letter: str) -> int:
        """The number of an edge."""
        number = self.numbers[path]
        return number + 1 + edge_records(self.graph, number)["action"].tolist().index(read(letter)[1])

    def simulate(self, simulation: Simulation, compiled: bool = False) -> None:
        """Count a simulation."""
        path, playout = simulation.parts()
        letters = simulation.text.split("|")[0].split()
        trail, place = self.work.playout_log, 0
        begin_descent(trail)
        self.work.values[0] = 0.0
        place = begin_playout(trail, self.work.values)
        for player, action in playout:
            place = log_action(trail, place, player, action)
        self.work.values[0] = simulation.value
        end_playout(trail, place, self.work.values)
        for depth, letter in enumerate(letters):
            above = "".join(letters[:depth])
            self.work.path_nodes[depth], self.work.path_edges[depth] = self.numbers[above], self.edge(above, letter)
        call = finish if compiled else finish.plain
        call(self.graph, len(path), GraphRules(), self.limits, self.work)

    def read(self) -> dict[str, Edge]:
        """All edges, by the path that ends with them."""
        found = {}
        for path, number in self.numbers.items():
            for edge, amaf in zip(edge_records(self.graph, number), amaf_of(self.graph, number), strict=True):
                letter = "aA"[int(self.graph.nodes["player"][number])]
                letter = chr(ord(letter) + int(edge["action"]))
                own = None if not edge["visits"] else rounded(edge["total"][0] / edge["visits"])
                value = None if not amaf["amaf_visits"] else rounded(amaf["amaf_total"] / amaf["amaf_visits"])
                found[path + letter] = Edge(int(edge["visits"]), own, int(amaf["amaf_visits"]), value)
        return found


def rounded(value: float) -> float:
    """A value on [-1, 1] as a share of wins."""
    return round(0.5 * (float(value) + 1.0), 6)


class HandMadeReference:
    """The same tree as the reference has it."""

    def __init__(self, nodes: dict[str, str], rule: Any) -> None:
        self.search = ReferenceRave(TicTacToe(), select=rule)
        self.nodes = {}
        for path, legal in nodes.items():
            edges = [LoreEdge(read(letter)[1], 1.0, 2) for letter in legal]
            self.nodes[path] = Node(None, read(legal[0])[0], [], edges)

    def simulate(self, simulation: Simulation) -> None:
        letters = simulation.text.split("|")[0].split()
        path = []
        for depth, letter in enumerate(letters):
            node = self.nodes["".join(letters[:depth])]
            path.append((node, next(edge for edge in node.edges if edge.action == read(letter)[1]), [0.0, 0.0]))
        values = [simulation.value, -simulation.value]
        self.search.playouts = [(simulation.parts()[1], values)]
        self.search.learn(path, values)
        self.search.back_up(path, values)

    def read(self) -> dict[str, Edge]:
        found = {}
        for path, node in self.nodes.items():
            for edge in node.edges:
                own = None if not edge.visits else rounded(edge.mean(node.player))
                amaf = None if not edge.amaf_visits else rounded(edge.amaf_mean)
                found[path + chr(ord("aA"[node.player]) + edge.action)] = Edge(edge.visits, own, edge.amaf_visits, amaf)
        return found


def by_all(nodes: dict[str, str], simulations: list[Simulation], rule: Any) -> dict[str, Edge]:
    """What becomes of the edges: the kernel, the same as plain Python, and the reference agree on it."""
    reference = HandMadeReference(nodes, rule)
    compiled, plain = (HandMade(nodes, rule.strict) for _ in range(2))
    for simulation in simulations:
        reference.simulate(simulation)
        compiled.simulate(simulation, compiled=True)
        plain.simulate(simulation)
    assert compiled.read() == plain.read() == reference.read()
    return plain.read()
