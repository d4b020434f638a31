"""A search as plain data: every position that its root reaches, the same for both layouts; JSON, Graphviz text and a drawing.

`Search.graph` returns a `GraphView`: two arrays of records, fresh copies, with nodes numbered breadth first from the root.
Nothing here changes the search. See also `read.py`, which makes a `Result`. Next: `draw.py`, which places boxes and lines.
"""

import heapq
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from anabranch.games.rules import CHANCE
from anabranch.jit import kernel
from anabranch.search.backup.operators import value_of_node
from anabranch.search.checks import at_least_one
from anabranch.search.drivers.base import Driver
from anabranch.search.memory.graph import HIGH, LOW, MOVED, OVER, Graph
from anabranch.search.memory.layout import NO_NODE, SLOTS, On
from anabranch.search.memory.tree import Tree
from anabranch.search.results.draw import Box, Line, draw

FORMAT = 1  # of the JSON
NO_PLAYER = -2  # a node's player where the game is over, or not known to the search
MOST_NODES = 40  # in a drawing, by default
MOST_NAMES = 3  # of actions that lead to one node, in a drawing
LONGEST_NAME = 16  # letters
LONGEST_TITLE = 16  # letters of names in one line


def node_fields(width: int) -> np.dtype:
    """A node of a view."""
    return np.dtype(
        [
            ("visits", "i8"),  # N: simulations that reached it, by any path
            ("player", "i1"),  # who moves here, CHANCE or NOBODY
            ("value", "f8", (width,)),  # Q: player 0's, or one per player
            ("over", "?"),  # whether the game is over here
            ("low", "f8", (width,)),  # the proven lower bound, valid once the root was left; NaN without proofs
            ("high", "f8", (width,)),  # and the upper bound
            ("key", "u8", (2,)),  # of the position; zeros in compact trees
            ("depth", "i4"),  # fewest plies from the root
        ]
    )


EDGE_FIELDS = np.dtype(
    [
        ("source", "i4"),  # a node's number
        ("target", "i4"),  # likewise, or NO_NODE where the position has none
        ("action", "i4"),  # or chance event
        ("visits", "i8"),  # times it was chosen
        ("prior", "f8"),
        ("value", "f8"),  # Q, for the player to move at the source (at chance, player 0); NaN if untried
    ]
)


class Part(NamedTuple):
    """Some of a view's nodes, and the edges between them; several edges between two nodes are one link."""

    nodes: list[int]
    links: dict[tuple[int, int], list[int]]  # (source, target): numbers of edges, the most visited first


@dataclass(frozen=True, eq=False)
class GraphView:
    """All positions that the root reaches; node 0 is the root. In compact trees leaves have no node."""

    nodes: np.ndarray  # see `node_fields`
    edges: np.ndarray  # see EDGE_FIELDS; grouped by source, in the order of nodes
    game: Any
    settings: dict[str, Any] = field(default_factory=dict)  # game, options, seed and version

    def name_of(self, edge: int) -> str:
        """The name of an edge's action; chance events in brackets."""
        action = int(self.edges["action"][edge])
        if self.nodes["player"][self.edges["source"][edge]] == CHANCE:
            return f"[{self.game.event_name(action)}]"
        return str(self.game.edge_name(action))

    def to_json(self) -> str:
        """Everything, with the settings; unknown values are null, and a key is 128 bits in hexadecimal digits."""
        nodes = _records(self.nodes)
        for node in nodes:
            low, high = node["key"]
            node["key"] = f"{high:016x}{low:016x}"
        edges = _records(self.edges)
        for number, edge in enumerate(edges):
            edge["name"] = self.name_of(number)
        whole = {"format": "anabranch graph", "version": FORMAT, "settings": self.settings, "nodes": nodes, "edges": edges}
        return json.dumps(whole, allow_nan=False)

    def to_dot(self, limit: int = MOST_NODES) -> str:
        """The most visited nodes as text for Graphviz."""
        part = self.most_visited(limit)
        shown = ["digraph anabranch {", '  node [shape=box, style="rounded,filled", fillcolor="white", fontname="sans-serif"];']
        for number, box in zip(part.nodes, self._boxes(part), strict=True):
            style = f'fillcolor="{"orange" if box.joined else "white"}"'
            if box.sure:
                style += ", color=darkgreen, penwidth=3"
            if box.over:
                style += ", peripheries=2"
            shown.append(f"  n{number} [label={_quoted(box.lines)}, {style}];")
        for (source, target), edges in part.links.items():
            names = [" or ".join(_unique(self.name_of(edge) for edge in edges))]
            width = 0.5 + 5.5 * self._weight(edges)
            shown.append(f"  n{source} -> n{target} [label={_quoted(names)}, penwidth={width:.2f}];")
        return "\n".join([*shown, "}", ""])

    def svg(self, limit: int = MOST_NODES) -> str:
        """The most visited nodes as a drawing."""
        part = self.most_visited(limit)
        place = {number: i for i, number in enumerate(part.nodes)}
        lines = [
            Line(place[source], place[target], self._weight(edges), self._edge_tip(source, target, edges))
            for (source, target), edges in part.links.items()
        ]
        single = self.nodes["value"].shape[1] == 1
        whose = self.game.player_name(0) if single else "each player"
        notes = [f"in a box: action, visits, value for {whose}", "width of lines: visits"]
        notes.append(f"{len(part.nodes):,} of {len(self.nodes):,} nodes")
        movers = {player: f"{self.game.player_name(player)} moves" for player in range(self.game.players)}
        return draw(self._boxes(part), lines, notes, movers)

    def _repr_svg_(self) -> str:
        return self.svg()

    def __repr__(self) -> str:
        return f"GraphView({len(self.nodes):,} nodes, {len(self.edges):,} edges of {self.game!r})"

    # --- what is drawn ---

    def most_visited(self, limit: int) -> Part:
        """The part grown from the root by repeatedly adding the most visited node that an edge leads to."""
        limit = at_least_one(limit, "limit")
        first = np.searchsorted(self.edges["source"], np.arange(len(self.nodes) + 1))
        chosen: list[int] = []
        waiting, seen = [(0, 0)], {0}
        while waiting and len(chosen) < limit:
            _, number = heapq.heappop(waiting)
            chosen.append(number)
            for target in self._tried(first[number], first[number + 1])[1]:
                if target not in seen:
                    seen.add(target)
                    heapq.heappush(waiting, (-int(self.nodes["visits"][target]), target))
        inside = set(chosen)
        links: dict[tuple[int, int], list[int]] = {}
        for source in chosen:
            for edge, target in zip(*self._tried(first[source], first[source + 1]), strict=True):
                if target in inside:
                    links.setdefault((source, target), []).append(edge)
        return Part(chosen, links)

    def _tried(self, start: int, end: int) -> tuple[list[int], list[int]]:
        """Those of these edges that were tried and lead to a node, the most visited first, and their targets."""
        edges = self.edges[start:end]
        kept = np.flatnonzero((edges["visits"] > 0) & (edges["target"] != NO_NODE))
        kept = kept[np.argsort(-edges["visits"][kept], kind="stable")]
        return (start + kept).tolist(), edges["target"][kept].tolist()

    def _boxes(self, part: Part) -> list[Box]:
        leading: dict[int, list[int]] = {number: [] for number in part.nodes}
        parents = dict.fromkeys(part.nodes, 0)
        for (_, target), edges in part.links.items():
            leading[target] += edges
            parents[target] += 1
        return [self._box(number, leading[number], parents[number] > 1) for number in part.nodes]

    def _box(self, number: int, leading: list[int], joined: bool) -> Box:
        node = self.nodes[number]
        ranked = sorted(leading, key=lambda edge: -int(self.edges["visits"][edge]))
        names = _unique(self.name_of(edge) for edge in ranked)
        titles = ["root"] if number == 0 else _titles(names)
        digits = 3 if len(node["value"]) == 1 else 2
        sure = self.is_proven(number)
        value = ("=" if sure else "") + " ".join(f"{value:+.{digits}f}" for value in node["value"])
        visits = f"{node['visits']:,}"
        tip = f"node {number}, depth {node['depth']}: {visits} visits, value {value}" + f"\nby {' or '.join(names)}" * bool(
            names
        )
        return Box([*titles, visits, value], int(node["player"]), joined, sure, bool(node["over"]), tip, len(titles))

    def is_proven(self, number: int) -> bool:
        """Whether a node's value is proven, at least for the player to move."""
        node = self.nodes[number]
        closed = node["low"] == node["high"]
        player = int(node["player"])
        return bool(closed[player] if len(closed) > 1 and player >= 0 else closed.all())

    def _weight(self, edges: list[int]) -> float:
        """The square root of these edges' share of the root's visits, which gives the thickness of a line."""
        share = float(self.edges["visits"][edges].sum()) / max(int(self.nodes["visits"][0]), 1)
        return min(share, 1.0) ** 0.5

    def _edge_tip(self, source: int, target: int, edges: list[int]) -> str:
        status = (
            f"{self.name_of(edge)}: {self.edges['visits'][edge]:,} visits, prior {self.edges['prior'][edge]:.3f}, "
            f"value {self.edges['value'][edge]:+.3f} for who moves"
            for edge in edges
        )
        return "\n".join([f"node {source} to node {target}", *status])


# --- reading the slots -----------------------------------------------------------------------------------------------------


def graph_view(driver: Driver, game: Any, settings: dict[str, Any]) -> GraphView:
    """A view of what the root of a search reaches."""
    graph, root = driver.with_bounds_of_actions(), driver.root
    numbers, depths = _reached(graph, root)
    nodes = _nodes(graph, numbers, depths, driver.rules.backup)
    if isinstance(driver.graph, Graph) and isinstance(driver.graph.has_bounds, On):
        nodes["low"][0], nodes["high"][0] = driver.graph.bounds[root]
    return GraphView(nodes, _edges(graph, numbers), game, dict(settings))


def _reached(graph: Tree | Graph, root: int) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of all nodes that the root reaches, breadth first, and the depth of each."""
    seen = np.zeros(int(graph.used[SLOTS]), bool)
    levels = [np.array([root])]
    seen[root] = True
    while len(levels[-1]):
        children = _children(graph, _edge_numbers(graph, levels[-1]))
        children = children[children != NO_NODE]
        children = children[~seen[children]]
        first = np.unique(children, return_index=True)[1]
        levels.append(children[np.sort(first)])
        seen[levels[-1]] = True
    return np.concatenate(levels), np.repeat(np.arange(len(levels)), [len(level) for level in levels])


def _edge_numbers(graph: Tree | Graph, numbers: np.ndarray) -> np.ndarray:
    """The numbers of all edges of these nodes, in their order."""
    counts = graph.nodes["count"][numbers].astype(np.int64)
    before = np.cumsum(counts) - counts
    return np.repeat(numbers + 1 - before, counts) + np.arange(counts.sum())


def _children(graph: Tree | Graph, edges: np.ndarray) -> np.ndarray:
    """The current numbers of the nodes that edges lead to, or NO_NODE."""
    children = graph.edges["child"][edges]
    if isinstance(graph, Graph):
        known = np.maximum(children, 0)
        moved = (children != NO_NODE) & (graph.nodes["flags"][known] & MOVED != 0)
        children = np.where(moved, graph.nodes["moved_to"][known], children)
    return children


def _nodes(graph: Tree | Graph, numbers: np.ndarray, depths: np.ndarray, operator: Any) -> np.ndarray:
    width = graph.edges["total"].shape[1]
    found = np.zeros(len(numbers), node_fields(width))
    found["visits"] = graph.nodes["visits"][numbers]
    found["depth"] = depths
    found["low"] = found["high"] = np.nan
    bare = graph.nodes["count"][numbers] == 0
    found["player"] = np.where(bare, NO_PLAYER, graph.nodes["player"][numbers])
    if isinstance(graph, Graph):
        found["value"] = graph.nodes["mean"][numbers]
        found["over"] = graph.nodes["flags"][numbers] & OVER != 0
        found["key"] = graph.headers["key"][numbers - 1]
        if isinstance(graph.has_bounds, On):
            found["low"], found["high"] = graph.bounds[numbers, LOW], graph.bounds[numbers, HIGH]
    else:
        values = np.empty((len(numbers), width))
        value_of_nodes(operator, graph, numbers, values, np.empty(width))
        found["value"] = values
        found["over"] = bare
    return found


@kernel
def value_of_nodes(operator, graph, numbers, out, sums):
    """Write the values of nodes under this operator into the rows of `out`; `sums` is scratch memory as wide as a value."""
    for k in range(len(numbers)):
        value_of_node(operator, graph, numbers[k], out[k], sums)


def _edges(graph: Tree | Graph, numbers: np.ndarray) -> np.ndarray:
    edges = _edge_numbers(graph, numbers)
    slots = graph.edges[edges]
    children = _children(graph, edges)
    place = np.full(int(graph.used[SLOTS]), NO_NODE, np.int32)
    place[numbers] = np.arange(len(numbers))
    found = np.zeros(len(edges), EDGE_FIELDS)
    found["source"] = np.repeat(np.arange(len(numbers)), graph.nodes["count"][numbers])
    found["target"] = np.where(children == NO_NODE, NO_NODE, place[np.maximum(children, 0)])
    for name in ("action", "visits", "prior"):
        found[name] = slots[name]
    movers = np.maximum(graph.nodes["player"][numbers[found["source"]]], 0)
    totals = slots["total"]
    own = totals[np.arange(len(edges)), movers if totals.shape[1] > 1 else 0]
    with np.errstate(invalid="ignore", divide="ignore"):
        found["value"] = np.where(found["visits"] > 0, own / found["visits"], np.nan)
    return found


# --- small things ----------------------------------------------------------------------------------------------------------


def _records(array: np.ndarray) -> list[dict[str, Any]]:
    """The records as plain Python dictionaries; None for numbers that are not finite."""
    columns = []
    for name in array.dtype.names or ():
        column = array[name]
        if column.dtype.kind == "f":
            finite = np.isfinite(column)
            column = column.astype(object)
            column[~finite] = None
        columns.append(column.tolist())
    return [dict(zip(array.dtype.names or (), row, strict=True)) for row in zip(*columns, strict=True)]


def _unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _titles(names: list[str]) -> list[str]:
    """The first few names, shortened: in one line if they fit, otherwise one per line."""
    short = [name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 3] + "..." for name in names[:MOST_NAMES]]
    if len(names) > MOST_NAMES:
        short.append(f"{len(names) - MOST_NAMES} more")
    line = " or ".join(short)
    return [line] if len(line) <= LONGEST_TITLE else [short[0], *(f"or {name}" for name in short[1:])]


def _quoted(lines: Iterable[str]) -> str:
    r"""A text of several lines for Graphviz, where \n is a new one."""
    return '"' + r"\n".join(line.replace("\\", r"\\").replace('"', r"\"") for line in lines) + '"'
