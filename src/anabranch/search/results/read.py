"""Reading a search graph into a `Result`: the root's edges and their principal variations. Nothing here changes the graph."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from anabranch.games.rules import CHANCE, EVERYONE, FORBIDDEN
from anabranch.jit import generic, readable
from anabranch.search.backup.operators import value_of_node
from anabranch.search.backup.variance import standard_error
from anabranch.search.loops.steps import Rules
from anabranch.search.memory import graph as graphs
from anabranch.search.memory import tree as trees
from anabranch.search.memory.columns import NAMES
from anabranch.search.memory.graph import EXHAUSTED, HIGH, LOW, MOVED, Graph
from anabranch.search.memory.layout import FORWARDINGS, MERGES, NO_NODE, POSITIONS, On, sign_of
from anabranch.search.memory.tree import Tree
from anabranch.search.results.final import ByRegularized, Candidates, FinalChoice, adjusted, chosen_index
from anabranch.search.results.result import Move, Result, Stats
from anabranch.search.select.gumbel import Gumbel, urges_in_turn
from anabranch.search.select.limits import Limits, Scale
from anabranch.search.select.regularized import regularized_policy
from anabranch.search.select.target import target as target_of

LONGEST_LINE = 64  # actions of a principal variation that are read


def edge_records(graph: Tree | Graph, number: int) -> np.ndarray:
    """A node's edges as a view; on a graph, edges whose children have moved are updated first."""
    edges = graph.edges[number + 1 : number + 1 + int(graph.nodes["count"][number])]
    if isinstance(graph, Graph) and graph.used[FORWARDINGS]:
        children = edges["child"]
        for i in np.flatnonzero(graph.nodes["flags"][children] & MOVED):  # NO_NODE indexes the last slot, whose flags
            if children[i] != NO_NODE:  # do not matter, because of this check
                children[i] = graph.nodes["moved_to"][children[i]]
    return edges


def bytes_used(graph: Tree | Graph) -> int:
    """Bytes of memory that are filled."""
    return graphs.bytes_used(graph) if isinstance(graph, Graph) else trees.bytes_used(graph)


def line_from(graph: Tree | Graph, number: int) -> dict[int, int]:
    """The principal variation from this node, as the most visited action at each node; the better total breaks a tie."""
    return extended(graph, {}, number)


def line_after(graph: Tree | Graph, root: int, chosen: int) -> dict[int, int]:
    """The principal variation that begins with this edge of the root; empty if the edge was never tried."""
    edge = edge_records(graph, root)[chosen]
    return extended(graph, {root: int(edge["action"])}, int(edge["child"])) if edge["visits"] else {}


def extended(graph: Tree | Graph, line: dict[int, int], number: int) -> dict[int, int]:
    """A line to this node, continued by most visits until it comes to one of its nodes again."""
    while number != NO_NODE and number not in line and len(line) < LONGEST_LINE:
        edges = edge_records(graph, number)
        visits = edges["visits"]
        if not len(visits) or visits[best := int(visits.argmax())] == 0:
            break
        if np.count_nonzero(visits == visits[best]) > 1:
            tied = np.flatnonzero(visits == visits[best])
            best = tied[np.lexsort((edges["total"][tied, _column(graph, number)],))[-1]]
        edge = edges[best]
        line[number] = int(edge["action"])
        number = int(edge["child"])
    return line


def _column(graph: Tree | Graph, number: int) -> int:
    width = graph.edges["total"].shape[1]
    return max(int(graph.nodes["player"][number]), 0) if width > 1 else 0


def name_line(game: Any, graph: Tree | Graph, line: dict[int, int]) -> tuple[str, ...]:
    """The names of a line's actions; chance events in brackets."""
    return tuple(
        f"[{game.event_name(action)}]" if graph.nodes["player"][number] == CHANCE else game.edge_name(action)
        for number, action in line.items()
    )


def moves_along(game: Any, graph: Tree | Graph, line: dict[int, int]) -> list[Any]:
    """A line as positions play it: actions and chance events, and pairs of actions where both players move."""
    players = graph.nodes["player"]
    return [divmod(action, game.actions) if players[number] == EVERYONE else action for number, action in line.items()]


def read_moves(
    game: Any, graph: Tree | Graph, root: int, bounds: np.ndarray | None, scale: Scale, lines: bool = True
) -> list[Move]:
    """The root's actions, most visits first, with their principal variations or, without `lines`, only the action itself."""
    amaf_stats = graph.amaf[root + 1 :] if isinstance(graph, Graph) and isinstance(graph.has_amaf, On) else None
    middle = sign_of(graph.edges["total"].shape[1], int(graph.nodes["player"][root])) * scale.middle
    edges, column = edge_records(graph, root), _column(graph, root)
    order = np.lexsort((edges["total"][:, column], edges["visits"]))[::-1]
    everything = max(int(edges["visits"].sum()), 1)
    chance = int(graph.nodes["player"][root]) == CHANCE
    moves = []
    for index in order:
        edge = edges[index]
        action, visits, child = int(edge["action"]), int(edge["visits"]), int(edge["child"])
        name = game.event_name(action) if chance else game.name_of(action)
        behind = name_line(game, graph, line_from(graph, child)) if lines and child != NO_NODE else ()
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
                **({} if amaf_stats is None else _amaf_of(amaf_stats[index], middle, scale)),
            )
        )
    return moves


def _amaf_of(amaf_stats: Any, middle: float, scale: Scale) -> dict[str, Any]:
    """The AMAF value of an edge in units of the game's returns; `middle` is in the view of the player to move."""
    visits = int(amaf_stats["amaf_visits"])
    value = middle + float(amaf_stats["amaf_total"]) / visits / scale.factor if visits else None
    return {"amaf_visits": visits, "amaf_value": value}


def _edge_value(edge: Any, column: int, bounds: np.ndarray | None) -> float | None:
    """Q of an edge for the player to move, or its proven value; None if it was never tried."""
    if bounds is not None and bounds[LOW] == bounds[HIGH]:
        return float(bounds[LOW])
    return float(edge["total"][column]) / int(edge["visits"]) if edge["visits"] else None


def root_value(operator: Any, graph: Tree | Graph, root: int) -> float | list[float]:
    """The root's value: for the player to move, or one number per player."""
    if isinstance(graph, Graph):
        values = graph.nodes["mean"][root]
    else:
        values = np.zeros(graph.edges["total"].shape[1])
        value_of_node(operator, readable(graph), root, values, values.copy())
    if len(values) > 1:
        return [float(value) for value in values]
    return float(-values[0] if int(graph.nodes["player"][root]) == 1 else values[0])


def with_proven(value: float | list[float], column: int, proven: float) -> float | list[float]:
    """The root's value, with the proven one for the player to move."""
    return [proven if i == column else number for i, number in enumerate(value)] if isinstance(value, list) else proven


def read_result(
    game: Any,
    graph: Tree | Graph,
    root: int,
    rules: Rules,
    final: FinalChoice,
    random: np.random.Generator,
    limits: Limits,
    priors: np.ndarray | None,
    is_forbidden: Callable[[int], bool],
    cost: dict[str, Any],
    allowed: np.ndarray | None = None,
    lines: bool = True,
    **facts: Any,
) -> Result:
    """The whole result; `priors` are the root's as the search saw them, if there was noise on them; `is_forbidden` says whether
    an action repeats a position that may not occur again; `allowed`: the actions that the search was restricted to; `cost` and
    `facts` are what only the searcher knows."""
    bounds = edge_bounds(graph, root, limits)
    edges, column = edge_records(graph, root), _column(graph, root)
    size = game.edge_actions
    visits, target = np.zeros(size, np.int64), np.zeros(size)
    visits[edges["action"]] = edges["visits"]
    value = root_value(rules.backup, graph, root)
    rule = None if int(graph.nodes["player"][root]) == CHANCE else rules.select
    alone = cut_out(graph, root, priors)
    target[edges["action"]] = target_of(rule, *alone, limits)
    seen = candidates(graph, root, value, limits)
    if isinstance(rule, Gumbel):
        seen = seen._replace(urges=urges_in_turn(rule, *alone, limits))
    exact = final if isinstance(final, ByRegularized) else ByRegularized()
    wanted = np.ones(len(edges), bool) if allowed is None else allowed[edges["action"]]
    chosen = first = choose_best(final, graph, root, limits, bounds, wanted, seen, random)
    while rule is not None and limits.repetition == FORBIDDEN and is_forbidden(int(edges["action"][chosen])):
        wanted[chosen] = False
        if not wanted.any():  # every action repeats a position
            chosen = first
            break
        chosen = choose_best(final, graph, root, limits, bounds, wanted, seen, random)
    best = int(edges["action"][chosen])
    proven = bounds is not None and bool(bounds[LOW].max() == bounds[HIGH].max())
    if bounds is not None and proven:  # the root's own value may not reflect it yet
        value = with_proven(value, column, float(bounds[LOW].max()))
    line = moves_along(game, graph, line_after(graph, root, chosen)) if lines else [best]
    return Result(
        best=best,
        policy=visits / max(visits.sum(), 1),
        visits=visits,
        target=target,
        regularizing=partial(regularized_of, seen, edges["action"].astype(int), size, exact),
        value=value,
        pv=line,
        stats=stats_of(graph, len(line), cost),
        moves=read_moves(game, graph, root, bounds, limits.scale, lines),
        proven=proven,
        **facts,
    )


def regularized_of(seen: Candidates, actions: np.ndarray, size: int, exact: ByRegularized) -> np.ndarray:
    """The exact regularised policy over `size` actions, of which these are the root's."""
    policy = np.zeros(size)
    policy[actions] = regularized_policy(seen.priors, seen.values, seen.visits, seen.value, exact.c, exact.floor)
    return policy


@generic(default=True)
def reader_of(game, position):
    """The function that reads the result of a search of a game at this root, called like `read_result`."""
    return read_result


@generic(default=True)
def adjusted_priors(game, noise, actions, priors, random):
    """The priors of the root's edges as `noise` adjusts them; `actions` are those of the edges."""
    return adjusted(noise, priors, random)


def stats_of(graph: Tree | Graph, depth: int, cost: dict[str, Any]) -> Stats:
    """What the search cost; `cost` is what only the searcher knows."""
    return Stats(nodes=int(graph.used[POSITIONS]), merges=int(graph.used[MERGES]), bytes=bytes_used(graph), depth=depth, **cost)


def cut_out(graph: Tree | Graph, root: int, priors: np.ndarray | None) -> tuple[Any, int]:
    """The graph with other priors at the root: a copy of only that and its edges, and its number there."""
    if priors is None:
        return graph, root
    first = root - 1 if isinstance(graph, Graph) else root  # a header comes before it
    slots = slice(first, root + 1 + int(graph.nodes["count"][root]))
    nodes = graph.nodes[slots].copy()
    edges = nodes.view(graph.edges.dtype)
    edges["prior"][root - first + 1 :] = priors
    alone: Tree | Graph = graph._replace(nodes=nodes, edges=edges)
    if isinstance(alone, Graph):
        beside = {name: getattr(alone, name)[slots] for name in NAMES}
        alone = alone._replace(headers=nodes.view(alone.headers.dtype), **beside)
    return alone, root - first


def candidates(graph: Tree | Graph, root: int, value: float | list[float], limits: Limits) -> Candidates:
    """The root's edges with values from -1 to 1, for the player to move."""
    edges, column = edge_records(graph, root), _column(graph, root)
    middle = sign_of(graph.edges["total"].shape[1], int(graph.nodes["player"][root])) * limits.scale.middle
    tried = edges["visits"] > 0
    means = np.divide(edges["total"][:, column], edges["visits"], out=np.full(len(edges), -np.inf), where=tried)
    own = value[column] if isinstance(value, list) else value
    priors, visits = edges["prior"].astype(float), edges["visits"].astype(float)
    values, errors = (means - middle) * limits.scale.factor, None
    if isinstance(graph, Graph) and isinstance(graph.has_squares, On):
        squares = graph.squares[root + 1 : root + 1 + len(edges)]
        facts = zip(visits, values, squares, strict=True)
        errors = np.array([standard_error(n, value, square) if n else 0.0 for n, value, square in facts])
    return Candidates(
        visits=visits,
        values=values,
        priors=priors / priors.sum(),
        value=(own - middle) * limits.scale.factor,
        errors=errors,
    )


def edge_bounds(graph: Tree | Graph, root: int, limits: Limits) -> np.ndarray | None:
    """The lower and upper bounds of the root's actions for the player to move; None without proofs."""
    player = int(graph.nodes["player"][root])
    if not isinstance(graph, Graph) or not isinstance(graph.has_bounds, On) or player == CHANCE:
        return None
    edges, column = edge_records(graph, root), _column(graph, root)
    half = np.inf if isinstance(graph.has_rewards, On) else 1.0 / limits.scale.factor
    found = np.tile([[limits.scale.middle - half], [limits.scale.middle + half]], len(edges))
    counts = (edges["child"] != NO_NODE) & (graph.nodes["flags"][edges["child"]] & EXHAUSTED == 0)
    if len(graph.levels):
        counts &= graph.levels[root + 1 : root + 1 + len(edges)] != 0  # see `bounds.counts`
    for i, child in enumerate(edges["child"]):
        if counts[i]:
            found[:, i] = limits.discount * graph.bounds[child, :, column]
            if isinstance(graph.has_rewards, On):
                found[:, i] += graph.rewards[root + 1 + i, column]
    return -found[::-1] if graph.bounds.shape[2] == 1 and player == 1 else found


def choose_best(
    final: FinalChoice,
    graph: Tree | Graph,
    root: int,
    limits: Limits,
    bounds: np.ndarray | None,
    wanted: np.ndarray,
    seen: Candidates,
    random: np.random.Generator,
) -> int:
    """The index of the edge to play, among the wanted ones: the final choice's, unless another action is proven to be better
    than the estimate of that one."""
    edges = edge_records(graph, root)
    chosen = choose_among(final, possible(graph, root, limits, bounds, wanted), seen, random)
    if bounds is None:
        return chosen
    lowest = np.where(wanted, bounds[LOW], -np.inf)
    seems = edges["total"][chosen, _column(graph, root)]
    return int(lowest.argmax()) if seems < lowest.max() * max(int(edges["visits"][chosen]), 1) else chosen


def possible(graph: Tree | Graph, root: int, limits: Limits, bounds: np.ndarray | None, wanted: np.ndarray) -> np.ndarray:
    """Which of the wanted root edges may be chosen: not those proven worse than another, nor those known to repeat a forbidden
    position."""
    edges = edge_records(graph, root)
    mask = wanted.copy()
    if limits.repetition == FORBIDDEN and isinstance(graph, Graph):
        known = edges["child"] != NO_NODE
        mask[known] &= graph.nodes["flags"][edges["child"][known]] & EXHAUSTED == 0
    if not mask.any():
        mask = wanted.copy()
    if bounds is None:
        return mask
    low, high = bounds[LOW], bounds[HIGH]
    not_worse = mask & ((high > low[mask].max()) | (low == high[mask].max()))
    return not_worse if not_worse.any() else mask


def choose_among(final: FinalChoice, mask: np.ndarray, edges: Candidates, random: np.random.Generator) -> int:
    """The index of the edge to play, among those that the mask allows."""
    allowed = np.flatnonzero(mask)
    some: list[Any] = [numbers[allowed] if isinstance(numbers, np.ndarray) else numbers for numbers in edges]
    return int(allowed[chosen_index(final, Candidates(*some), random)])
