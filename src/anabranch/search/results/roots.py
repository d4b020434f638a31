"""The roots of many searches at once, as arrays with a row for each: what self-play learns from and plays by.

A `Result` names moves and lines of play, and reading one takes longer than thirty simulations. `read_roots` reads all searches
by `Gumbel` with one kernel. Where more is to be told (proofs, forbidden repetitions, noise), and for other rules, `of_results`
takes the same numbers out of results. Above: `Fleet.roots`.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from anabranch.games.rules import CHANCE, FORBIDDEN
from anabranch.jit import kernel, refer
from anabranch.search.drivers.batch import Stack
from anabranch.search.memory.graph import BEFORE, NOISE, row_of
from anabranch.search.memory.layout import On, edges_of, sign_of, slot, width_of
from anabranch.search.results.final import ByGumbel
from anabranch.search.results.result import Result
from anabranch.search.select.base import at_node, parent_view
from anabranch.search.select.gumbel import urge
from anabranch.search.select.virtual_loss import edge_view


class Roots(NamedTuple):
    """What n searches found. Policies are over all actions; where both move at once, the second player's follow the first's."""

    best: Sequence[Any]  # the move to play in each, like `Result.best`
    policy: np.ndarray  # f8 (n, policy size): the share of visits
    target: np.ndarray  # f8 (n, policy size): the policy target
    regularized: np.ndarray | None  # f8 (n, policy size): the exact regularised policy, if it was asked for
    priors: np.ndarray  # f4 (n, policy size): the evaluator's
    certain: np.ndarray  # f8 (n, policy size): the proven values of actions; NaN where nothing is proven
    values: np.ndarray  # f8 (n, value width): for the player to move, or one number per player
    proven: np.ndarray  # bool (n,): whether these values are proven
    simulations: np.ndarray  # i8 (n,): that were run


def read_roots(game: Any, final: Any, stack: Stack, simulations: list[int]) -> Roots | None:
    """The roots of all searches of a stack, which have run so many simulations; None if only their results can tell."""
    graph, leader, roots = stack.graph, stack.leader, stack.roots
    rows = np.arange(len(roots))
    if (
        not isinstance(final, ByGumbel)
        or isinstance(graph.has_bounds, On)
        or leader.limits.repetition == FORBIDDEN
        or any(driver.root_priors is not None for driver in stack.drivers)
        or (graph.nodes["player"][rows, roots] == CHANCE).any()
    ):
        return None
    shape = len(roots), game.edge_actions
    visits, priors, urges = np.zeros(shape, np.int64), np.zeros(shape, np.float32), np.full(shape, -np.inf)
    values = np.zeros((len(roots), graph.nodes["mean"].shape[2]))
    write_roots(graph, roots, leader.rules.select, leader.limits, visits, priors, urges, values)
    noise, before = graph.plan[:, NOISE], graph.plan[:, BEFORE]
    new = np.where(urges > -np.inf, visits - before, -np.inf)
    in_turn = new == new.max(axis=1, keepdims=True)
    weights = np.exp(urges - urges.max(axis=1, keepdims=True))
    count = game.actions  # chance may have more events than that
    return Roots(
        best=np.where(in_turn, noise + urges, -np.inf).argmax(axis=1).tolist(),
        policy=(visits / np.maximum(visits.sum(axis=1, keepdims=True), 1))[:, :count],
        target=(weights / weights.sum(axis=1, keepdims=True))[:, :count],
        regularized=None,
        priors=priors[:, :count],
        certain=np.full((len(roots), count), np.nan),
        values=values,
        proven=np.zeros(len(roots), np.bool_),
        simulations=np.array(simulations),
    )


@kernel
def write_roots(stack, roots, rule, limits, visits, priors, urges, values):
    """Write visits, priors and ln P + Q^ of all root edges by their actions, and the values of the roots."""
    for s in range(len(roots)):
        graph = refer(row_of(stack, s))
        root = slot(roots[s])
        parent = parent_view(graph, root, limits.scale)
        here = at_node(rule, parent, graph, root, 0)
        for e in edges_of(graph, root):
            edge = graph.edges[e]
            visits[s, edge.action] = edge.visits
            priors[s, edge.action] = edge.prior
            urges[s, edge.action] = urge(here, parent, edge_view(graph, e, parent))
        node = graph.nodes[root]
        sign = sign_of(width_of(graph), node.player)
        for i in range(values.shape[1]):
            values[s, i] = sign * node.mean[i]


def of_results(game: Any, results: Sequence[Result], with_regularized: bool) -> Roots:
    """The same from results."""
    priors = np.zeros((len(results), math.prod(game.policy_shape)), np.float32)
    certain = np.full(priors.shape, np.nan)
    for s, result in enumerate(results):
        for player, moves in enumerate(result.moves if isinstance(result.moves, tuple) else (result.moves,)):
            for move in moves:
                place = player * game.actions + move.action
                priors[s, place] = move.prior
                certain[s, place] = move.value if move.proven and move.value is not None else np.nan
    width = game.value_width()
    return Roots(
        best=[result.best for result in results],
        policy=_over_actions(game, [result.policy for result in results]),
        target=_over_actions(game, [result.target for result in results]),
        regularized=_over_actions(game, [result.regularized for result in results]) if with_regularized else None,
        priors=priors,
        certain=certain,
        values=np.stack([np.ravel(result.value)[:width] for result in results]),
        proven=np.array([result.proven for result in results]),
        simulations=np.array([result.stats.simulations for result in results]),
    )


def _over_actions(game: Any, policies: list[Any]) -> np.ndarray:
    """Policies without the places that they have for chance events, where there are more of them than actions."""
    return np.stack([np.atleast_2d(policy)[:, : game.actions].ravel() for policy in policies])
