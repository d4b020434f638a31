"""Reading a search graph for people: the root's edges, the lines behind them, a `Result`. Nothing here changes the graph."""

from typing import Any

import numpy as np

from anabranch.games.rules import CHANCE
from anabranch.jit import readable
from anabranch.search.backup import value_of_node
from anabranch.search.final import FinalChoice, choose_index
from anabranch.search.graph import NO_NODE, POSITIONS, Graph, bytes_used
from anabranch.search.result import Move, Result, Stats

LONGEST_LINE = 64  # actions of a principal variation that are read


def edges_of(graph: Graph, number: int) -> np.ndarray:
    """A node's edges as a view."""
    return graph.edges[number + 1 : number + 1 + int(graph.nodes["count"][number])]


def line_from(graph: Graph, number: int) -> list[int]:
    """The most visited actions from a node on; the better total breaks a tie."""
    line: list[int] = []
    while number != NO_NODE and len(line) < LONGEST_LINE:
        edges = edges_of(graph, number)
        if len(edges) == 0 or edges["visits"].max() == 0:
            break
        column = _column(graph, number)
        edge = edges[np.lexsort((edges["total"][:, column], edges["visits"]))[-1]]
        line.append(int(edge["action"]))
        number = int(edge["child"])
    return line


def _column(graph: Graph, number: int) -> int:
    width = graph.nodes["value"].shape[1]
    return max(int(graph.nodes["player"][number]), 0) if width > 1 else 0


def name_line(game: Any, graph: Graph, number: int, line: list[int]) -> tuple[str, ...]:
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


def read_moves(game: Any, graph: Graph, root: int) -> list[Move]:
    """The root's actions, most visits first."""
    edges, column = edges_of(graph, root), _column(graph, root)
    order = np.lexsort((edges["total"][:, column], edges["visits"]))[::-1]
    everything = max(int(edges["visits"].sum()), 1)
    chance = int(graph.nodes["player"][root]) == CHANCE
    moves = []
    for edge in edges[order]:
        action, visits, child = int(edge["action"]), int(edge["visits"]), int(edge["child"])
        name = game.event_name(action) if chance else game.name_of(action)
        behind = name_line(game, graph, child, line_from(graph, child)) if child != NO_NODE else ()
        moves.append(
            Move(
                action=action,
                name=name,
                visits=visits,
                share=visits / everything,
                value=float(edge["total"][column]) / visits if visits else None,
                prior=float(edge["prior"]),
                pv=(name, *behind),
            )
        )
    return moves


def root_value(operator: Any, graph: Graph, root: int) -> float | list[float]:
    """What the root is worth: to the player who moves, or one number a player."""
    values = np.zeros(graph.nodes["value"].shape[1])
    value_of_node(operator, readable(graph), root, values)
    if len(values) > 1:
        return [float(value) for value in values]
    return float(-values[0] if int(graph.nodes["player"][root]) == 1 else values[0])


def read_result(
    game: Any,
    graph: Graph,
    root: int,
    operator: Any,
    final: FinalChoice,
    random: np.random.Generator,
    cost: dict[str, Any],
    **facts: Any,
) -> Result:
    """The whole result; `cost` and `facts` are what only the searcher knows."""
    edges, column = edges_of(graph, root), _column(graph, root)
    size = max(game.actions, game.events)
    visits = np.zeros(size, np.int64)
    visits[edges["action"]] = edges["visits"]
    with np.errstate(invalid="ignore", divide="ignore"):
        values = np.where(edges["visits"] > 0, edges["total"][:, column] / edges["visits"], -np.inf)
    best = int(edges["action"][choose_index(final, edges["visits"].astype(float), values, random)])
    line = line_from(graph, root)
    return Result(
        best=best,
        policy=visits / max(visits.sum(), 1),
        visits=visits,
        value=root_value(operator, graph, root),
        pv=line,
        stats=Stats(nodes=int(graph.used[POSITIONS]), merges=0, bytes=bytes_used(graph), depth=len(line), **cost),
        moves=read_moves(game, graph, root),
        **facts,
    )
