"""Reading a node at which both players move: two policies, two tables, a `PairResult`; and noise on its priors."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from anabranch.games.rules import EVERYONE
from anabranch.games.simultaneous import SimultaneousGame
from anabranch.search.loops.steps import Rules
from anabranch.search.memory.graph import Graph
from anabranch.search.memory.layout import NO_NODE
from anabranch.search.results.final import Candidates, FinalChoice, adjusted, chosen_index
from anabranch.search.results.read import (
    adjusted_priors,
    edge_records,
    line_from,
    moves_along,
    name_line,
    read_result,
    reader_of,
    stats_of,
)
from anabranch.search.results.result import Move
from anabranch.search.select.base import first_play
from anabranch.search.select.limits import Limits, Scale
from anabranch.search.simultaneous.decoupled import Decoupled, Seat
from anabranch.search.simultaneous.result import PairResult
from anabranch.search.simultaneous.strategies import keeps_strategies, read_strategies


class Node(NamedTuple):
    """A node's grid in plain arrays, (rows, columns)."""

    actions: tuple[np.ndarray, np.ndarray]  # of each player's outcomes
    visits: np.ndarray
    totals: np.ndarray  # (players, rows, columns), each in the player's own view
    priors: np.ndarray
    children: np.ndarray
    values: tuple[float, float]  # of the node, for each player

    def marginal(self, player: int, what: np.ndarray) -> np.ndarray:
        """Sums over the other player's outcomes."""
        return what.sum(axis=1 - player)


def read_node(game: SimultaneousGame, graph: Graph, number: int, priors: np.ndarray | None = None) -> Node:
    """A node at which both move; `priors`: of its edges, if the search saw others than those stored."""
    edges = edge_records(graph, number)
    first, second = np.divmod(edges["action"].astype(int), game.actions)
    columns = int((first == first[0]).sum())
    shape = len(edges) // columns, columns
    totals = np.moveaxis(edges["total"], -1, 0).reshape(-1, *shape)
    mean = graph.nodes["mean"][number]
    if len(totals) == 1:
        totals, mean = np.concatenate([totals, -totals]), np.array([mean[0], -mean[0]])
    return Node(
        actions=(first[::columns], second[:columns]),
        visits=edges["visits"].astype(np.int64).reshape(shape),
        totals=totals,
        priors=np.array(edges["prior"] if priors is None else priors, float).reshape(shape),
        children=edges["child"].reshape(shape),
        values=(float(mean[0]), float(mean[1])),
    )


def policies_of(rule: Any, graph: Graph, number: int, node: Node) -> tuple[np.ndarray, np.ndarray]:
    """Each player's policy: its average strategy, or the share of its visits; without visits, its prior."""
    found = read_strategies(graph, number, *node.visits.shape) if keeps_strategies(rule) else None
    if found is not None:
        return found[0], found[1]
    weights = node.visits if node.visits.any() else node.priors
    first, second = (node.marginal(player, weights) for player in range(2))
    return first / first.sum(), second / second.sum()


def read_pairs(
    game: SimultaneousGame,
    graph: Graph,
    root: int,
    rules: Rules,
    final: FinalChoice,
    random: np.random.Generator,
    limits: Limits,
    priors: np.ndarray | None,
    is_forbidden: Any,
    cost: dict[str, Any],
    allowed: None,
    stake: float,
    lines: bool = True,
    **facts: Any,
) -> PairResult:
    """The whole result; see `results/read.py`. `stake`: what can still be won at the root. With simultaneous moves no search is
    restricted, so `allowed` is None, and no position is forbidden."""
    node = read_node(game, graph, root, priors)
    policies = policies_of(rules.select, graph, root, node)
    best, moves = [], []
    for player, policy in enumerate(policies):
        seen = candidates(node, player, policy, limits.scale)
        best.append(int(node.actions[player][chosen_index(final, seen, random)]))
        moves.append(read_moves(game, graph, node, player, policy, lines))
    targets = [target_of(rules.select, node, player, policy, stake, limits) for player, policy in enumerate(policies)]
    line = moves_along(game, graph, line_from(graph, root)) if lines else [(best[0], best[1])]
    where = np.ix_(*node.actions)
    pairs = np.zeros((game.actions, game.actions), np.int64)
    pairs[where] = node.visits
    payoffs = np.full((2, game.actions, game.actions), np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        payoffs[:, where[0], where[1]] = node.totals / node.visits
    spread = [_over_actions(game, node, player, policy) for player, policy in enumerate(policies)]
    return PairResult(
        best=(best[0], best[1]),
        policy=(spread[0], spread[1]),
        visits=(pairs.sum(axis=1), pairs.sum(axis=0)),
        target=(_over_actions(game, node, 0, targets[0]), _over_actions(game, node, 1, targets[1])),
        regularizing=partial(np.stack, spread),
        value=list(node.values),
        pv=line,
        stats=stats_of(graph, len(line), cost),
        moves=(moves[0], moves[1]),
        pairs=pairs,
        payoffs=payoffs,
        **facts,
    )


def _over_actions(game: SimultaneousGame, node: Node, player: int, numbers: np.ndarray) -> np.ndarray:
    found = np.zeros(game.actions)
    found[node.actions[player]] = numbers
    return found


def candidates(node: Node, player: int, policy: np.ndarray, scale: Scale) -> Candidates:
    """A player's outcomes for the final choice, with visits in proportion to the policy."""
    visits, totals = node.marginal(player, node.visits), node.marginal(player, node.totals[player])
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(visits > 0, totals / visits, -np.inf)
    priors = node.marginal(player, node.priors)
    return Candidates(
        visits=policy * max(float(visits.sum()), 1.0),
        values=means * scale.factor,
        priors=priors / priors.sum(),
        value=node.values[player] * scale.factor,
    )


def read_moves(game: SimultaneousGame, graph: Graph, node: Node, player: int, policy: np.ndarray, lines: bool) -> list[Move]:
    """A player's outcomes, the most probable first."""
    visits, totals = node.marginal(player, node.visits), node.marginal(player, node.totals[player])
    priors = node.marginal(player, node.priors)
    moves = []
    for i in sorted(range(len(policy)), key=lambda i: (-policy[i], -visits[i], i)):
        row = node.visits[i] if player == 0 else node.visits[:, i]
        j = int(row.argmax())
        pair = (i, j) if player == 0 else (j, i)
        child = int(node.children[pair])
        behind = name_line(game, graph, line_from(graph, child)) if lines and child != NO_NODE else ()
        names = game.pair_name((int(node.actions[0][pair[0]]), int(node.actions[1][pair[1]])))
        moves.append(
            Move(
                action=int(node.actions[player][i]),
                name=game.name_of(int(node.actions[player][i])),
                visits=int(visits[i]),
                share=float(visits[i] / max(visits.sum(), 1)),
                value=float(totals[i] / visits[i]) if visits[i] else None,
                prior=float(priors[i]),
                pv=(names, *behind) if row[j] else (),
            )
        )
    return moves


def target_of(rule: Any, node: Node, player: int, policy: np.ndarray, stake: float, limits: Limits) -> np.ndarray:
    """The policy without forced visits (KataGo's policy target pruning, for each player separately): every outcome but the most
    visited one loses visits, at most as many as were forced, as long as its score stays below that one's."""
    if not isinstance(rule, Decoupled) or rule.forced == 0.0 or not node.visits.any():
        return policy
    visits = node.marginal(player, node.visits).astype(float)
    totals, priors = node.marginal(player, node.totals[player]), node.marginal(player, node.priors)
    unit = 1.0 / stake if rule.scaled else limits.scale.factor
    everything, best = visits.sum(), int(visits.argmax())
    seat = Seat(node.values[player] * unit, float(priors[visits > 0].sum()))

    def score(i: int, count: float) -> float:
        value = totals[i] / visits[i] * unit if visits[i] else float(first_play(rule.fpu, seat))
        return float(value + rule.c * priors[i] * np.sqrt(everything) / (1.0 + count))

    bar, kept = score(best, visits[best]), visits.copy()
    for i in range(len(visits)):
        least = visits[i] - np.sqrt(rule.forced * priors[i] * everything)
        while i != best and kept[i] > 0 and kept[i] - 1 >= least and score(i, kept[i] - 1) < bar:
            kept[i] -= 1
        if i != best and kept[i] <= 1:
            kept[i] = 0.0
    return np.asarray(kept / kept.sum())


@adjusted_priors.register(SimultaneousGame)
def adjusted_priors_of_pairs(game, noise, actions, priors, random):
    """Noise on each player's own priors."""
    first = actions.astype(int) // game.actions
    columns = int((first == first[0]).sum())
    pairs = priors.astype(float).reshape(-1, columns)
    rows = adjusted(noise, pairs.sum(axis=1), random)
    across = adjusted(noise, pairs.sum(axis=0), random)
    return np.outer(rows, across).ravel()


@reader_of.register(SimultaneousGame)
def reader_of_pairs(game, position):
    """`read_pairs` where both move; at a chance node the root is like any other."""
    return partial(read_pairs, stake=float(game.ask("stake", position.state))) if position.to_play == EVERYONE else read_result
