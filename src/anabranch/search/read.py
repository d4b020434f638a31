"""Reading a search graph for people: the root's edges, the lines behind them, a `Result`. Nothing here changes the graph."""

from typing import Any

import numpy as np

from anabranch.games.rules import CHANCE, FORBIDDEN
from anabranch.jit import readable
from anabranch.search import graph as graphs
from anabranch.search import tree as trees
from anabranch.search.backup import value_of_node
from anabranch.search.final import ByRegularized, Candidates, FinalChoice, choose_index
from anabranch.search.graph import EXHAUSTED, HIGH, LOW, MOVED, Graph
from anabranch.search.layout import MERGES, NO_NODE, POSITIONS, On, view
from anabranch.search.regularized import regularized_policy
from anabranch.search.result import Move, Result, Stats
from anabranch.search.select import Scale
from anabranch.search.steps import Limits
from anabranch.search.tree import Tree

LONGEST_LINE = 64  # actions of a principal variation that are read


def edges_of(graph: Tree | Graph, number: int) -> np.ndarray:
    """A node's edges as a view; those of a graph are set right first, should their children have moved."""
    edges = graph.edges[number + 1 : number + 1 + int(graph.nodes["count"][number])]
    if isinstance(graph, Graph):
        children = np.where(edges["child"] == NO_NODE, number, edges["child"])
        moved = graph.nodes["flags"][children] & MOVED != 0
        edges["child"][moved] = graph.nodes["stamp"][children][moved]
    return edges


def bytes_used(graph: Tree | Graph) -> int:
    """Bytes of memory that are filled."""
    return graphs.bytes_used(graph) if isinstance(graph, Graph) else trees.bytes_used(graph)


def line_from(graph: Tree | Graph, number: int) -> list[int]:
    """The most visited actions from a node on; the better total breaks a tie."""
    line: list[int] = []
    seen: set[int] = set()
    while number != NO_NODE and number not in seen and len(line) < LONGEST_LINE:
        seen.add(number)
        edges = edges_of(graph, number)
        if len(edges) == 0 or edges["visits"].max() == 0:
            break
        column = _column(graph, number)
        edge = edges[np.lexsort((edges["total"][:, column], edges["visits"]))[-1]]
        line.append(int(edge["action"]))
        number = int(edge["child"])
    return line


def _column(graph: Tree | Graph, number: int) -> int:
    width = graph.edges["total"].shape[1]
    return max(int(graph.nodes["player"][number]), 0) if width > 1 else 0


def name_line(game: Any, graph: Tree | Graph, number: int, line: list[int]) -> tuple[str, ...]:
    """The line from this node on in people's words; chance events in brackets."""
    names = []
    for action in line:
        if int(graph.nodes["player"][number]) == CHANCE:
            names.append(f"[{game.event_name(action)}]")
        else:
            names.append(game.name_of(action))
        edges = edges_of(graph, number)
        number = int(edges["child"][edges["action"] == action][0])
    return tuple(names)


def read_moves(game: Any, graph: Tree | Graph, root: int, bounds: np.ndarray | None, scale: Scale) -> list[Move]:
    """The root's actions, most visits first."""
    lore = graph.lore[root + 1 :] if isinstance(graph, Graph) and isinstance(graph.known, On) else None
    middle = view(graph.edges["total"].shape[1], int(graph.nodes["player"][root])) * scale.middle
    edges, column = edges_of(graph, root), _column(graph, root)
    order = np.lexsort((edges["total"][:, column], edges["visits"]))[::-1]
    everything = max(int(edges["visits"].sum()), 1)
    chance = int(graph.nodes["player"][root]) == CHANCE
    moves = []
    for index in order:
        edge = edges[index]
        action, visits, child = int(edge["action"]), int(edge["visits"]), int(edge["child"])
        name = game.event_name(action) if chance else game.name_of(action)
        behind = name_line(game, graph, child, line_from(graph, child)) if child != NO_NODE else ()
        moves.append(
            Move(
                action=action,
                name=name,
                visits=visits,
                share=visits / everything,
                value=_edge_value(edge, column, None if bounds is None else bounds[:, index]),
                prior=float(edge["prior"]),
                pv=(name, *behind),
                proven=bounds is not None and bool(bounds[LOW, index] == bounds[HIGH, index]),
                **({} if lore is None else _amaf_of(lore[index], middle, scale)),
            )
        )
    return moves


def _amaf_of(lore: Any, middle: float, scale: Scale) -> dict[str, Any]:
    """The AMAF value of an edge in units of the game's returns, `middle` being that of who moves."""
    visits = int(lore["amaf_visits"])
    value = middle + float(lore["amaf_mean"]) / scale.factor
    return {"amaf_visits": visits, "amaf_value": value if visits else None}


def _edge_value(edge: Any, column: int, bounds: np.ndarray | None) -> float | None:
    """Q of an edge for the player who moves, within what is proven; None if it was never tried."""
    if bounds is not None and bounds[LOW] == bounds[HIGH]:
        return float(bounds[LOW])
    return float(edge["total"][column]) / int(edge["visits"]) if edge["visits"] else None


def root_value(operator: Any, graph: Tree | Graph, root: int) -> float | list[float]:
    """What the root is worth: to the player who moves, or one number a player."""
    if isinstance(graph, Graph):
        values = graph.nodes["mean"][root]
    else:
        values = np.zeros(graph.edges["total"].shape[1])
        value_of_node(operator, readable(graph), root, values)
    if len(values) > 1:
        return [float(value) for value in values]
    return float(-values[0] if int(graph.nodes["player"][root]) == 1 else values[0])


def read_result(
    game: Any,
    graph: Tree | Graph,
    root: int,
    operator: Any,
    final: FinalChoice,
    random: np.random.Generator,
    limits: Limits,
    cost: dict[str, Any],
    **facts: Any,
) -> Result:
    """The whole result; `cost` and `facts` are what only the searcher knows."""
    bounds = edge_bounds(graph, root, limits)
    edges, column = edges_of(graph, root), _column(graph, root)
    size = max(game.actions, game.events)
    visits, regularized = np.zeros(size, np.int64), np.zeros(size)
    visits[edges["action"]] = edges["visits"]
    value = root_value(operator, graph, root)
    seen = candidates(graph, root, value, limits)
    rule = final if isinstance(final, ByRegularized) else ByRegularized()
    regularized[edges["action"]] = regularized_policy(seen.priors, seen.values, seen.visits, seen.value, rule.c, rule.floor)
    chosen = choose_among(final, possible(graph, root, limits, bounds), seen, random)
    if bounds is not None and edges["total"][chosen, column] < bounds[LOW].max() * max(int(edges["visits"][chosen]), 1):
        chosen = int(bounds[LOW].argmax())  # another action is proven to be better than this one seems
    best = int(edges["action"][chosen])
    line = line_from(graph, root)
    return Result(
        best=best,
        policy=visits / max(visits.sum(), 1),
        visits=visits,
        regularized=regularized,
        value=value,
        pv=line,
        stats=Stats(
            nodes=int(graph.used[POSITIONS]),
            merges=int(graph.used[MERGES]),
            bytes=bytes_used(graph),
            depth=len(line),
            **cost,
        ),
        moves=read_moves(game, graph, root, bounds, limits.scale),
        proven=bounds is not None and bool(bounds[LOW].max() == bounds[HIGH].max()),
        **facts,
    )


def candidates(graph: Tree | Graph, root: int, value: float | list[float], limits: Limits) -> Candidates:
    """The root's edges with values from -1 to 1, for the player who moves."""
    edges, column = edges_of(graph, root), _column(graph, root)
    turned = graph.edges["total"].shape[1] == 1 and int(graph.nodes["player"][root]) == 1
    middle = -limits.scale.middle if turned else limits.scale.middle
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(edges["visits"] > 0, edges["total"][:, column] / edges["visits"], -np.inf)
    own = value[column] if isinstance(value, list) else value
    priors = edges["prior"].astype(float)
    return Candidates(
        visits=edges["visits"].astype(float),
        values=(means - middle) * limits.scale.factor,
        priors=priors / priors.sum(),
        value=(own - middle) * limits.scale.factor,
    )


def edge_bounds(graph: Tree | Graph, root: int, limits: Limits) -> np.ndarray | None:
    """What each of the root's actions is worth at least and at most to the player who moves; None without proofs."""
    player = int(graph.nodes["player"][root])
    if not isinstance(graph, Graph) or not isinstance(graph.prove, On) or player == CHANCE:
        return None
    edges, column = edges_of(graph, root), _column(graph, root)
    half = np.inf if len(graph.rewards) else 1.0 / limits.scale.factor
    found = np.tile([[limits.scale.middle - half], [limits.scale.middle + half]], len(edges))
    for i, child in enumerate(edges["child"]):
        if child != NO_NODE and not graph.nodes["flags"][child] & EXHAUSTED:
            found[:, i] = limits.discount * graph.bounds[child, :, column]
            if len(graph.rewards):
                found[:, i] += graph.rewards[root + 1 + i, column]
    return -found[::-1] if graph.bounds.shape[2] == 1 and player == 1 else found


def possible(graph: Tree | Graph, root: int, limits: Limits, bounds: np.ndarray | None) -> np.ndarray:
    """Which of the root's edges may be chosen: what is proven worse than another is not, nor what the past forbids."""
    edges = edges_of(graph, root)
    mask = np.ones(len(edges), bool)
    if limits.repetition == FORBIDDEN and isinstance(graph, Graph):
        known = edges["child"] != NO_NODE
        mask[known] = graph.nodes["flags"][edges["child"][known]] & EXHAUSTED == 0
    if bounds is not None:
        best = bounds[LOW].max()
        mask &= (bounds[HIGH] > best) | (bounds[LOW] == bounds[HIGH].max())
    return mask if mask.any() else np.ones(len(edges), bool)


def choose_among(final: FinalChoice, mask: np.ndarray, edges: Candidates, random: np.random.Generator) -> int:
    """The index of the edge to play, of those that the mask allows."""
    allowed = np.flatnonzero(mask)
    some = Candidates(edges.visits[allowed], edges.values[allowed], edges.priors[allowed], edges.value)
    return int(allowed[choose_index(final, some, random)])
