"""Gumbel MuZero (Danihelka et al. 2022): a policy that is better than the priors even after very few simulations.

**The improved policy** of a node is softmax(ln P + Q^): the priors, shifted by the search's values. Q^ = scale (offset + most
visits of an edge) Q', where Q' is Q rescaled to [0, 1] over the node's edges. Untried edges get the mixed value: the node's own
evaluation, mixed, as visits come in, with the mean of the tried edges' Q weighted by their priors.

**Below the root** selection follows the edge that lags most behind that policy:  pi(a) - n(a) / (1 + sum n).

**At the root** a Gumbel variable g(a) is drawn for each action, and the `considered` actions with the largest g + ln P get the
simulations by sequential halving: first all of them equally many, then the better half by g + ln P + Q^, and so on, so that the
last two share the rest. This requires the number of simulations in advance: `run(visits=...)` or `run(total=...)`.
`ByGumbel`, the matching final choice, plays the best of the most visited; `Result.target` is the improved policy.

`Graph.plan` holds the Gumbel variables. Earlier visits of the root are not part of the halving, but their values count.
Read first: `base.py`, `muzero.py`. Docs: docs/algorithms/puct.md.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from anabranch.errors import SearchError
from anabranch.jit import helper, kernel
from anabranch.jit.options import Count, NonNegative
from anabranch.search.memory.graph import BEFORE, NOISE, Graph
from anabranch.search.memory.layout import PLANNED, edges_of, is_open, slot
from anabranch.search.requirements import check_inside, needed_columns
from anabranch.search.select.base import (
    at_node,
    candidate_edges,
    check_limits_of_run,
    exact_value_of,
    highest_scored,
    own_value_of,
    parent_view,
    plan_simulations,
    prefer,
    score,
)
from anabranch.search.select.muzero import NARROWEST
from anabranch.search.select.target import target
from anabranch.search.select.virtual_loss import edge_view

__all__ = ["Gumbel"]

LEAST_PRIOR = 1e-38  # so that every prior has a logarithm


class Gumbel(NamedTuple):
    """At the root, sequential halving among actions drawn with Gumbel variables; below, the improved policy.

    Requires `run(visits=...)` or `run(total=...)`. The defaults are those of mctx.
    """

    considered: Count = 16  # the maximum number of actions tried at the root
    scale: NonNegative = 1.0  # of the Gumbel variables; 0 makes the choice deterministic
    value_scale: NonNegative = 0.1
    visit_offset: NonNegative = 50.0
    rescale: bool = True  # whether Q is rescaled to [0, 1]
    mixed: bool = True  # whether untried edges get the mixed value, or the node's own evaluation alone


class GumbelHere(NamedTuple):
    """The rule at one node."""

    low: float  # the value that is mapped to 0
    slope: float  # what one unit of value above `low` adds to ln P
    untried: float  # the value of an edge without visits
    peak: float  # the largest ln P + Q^
    mass: float  # the sum over all edges of exp(ln P + Q^ - peak)
    tried: float  # visits of all edges


@at_node.register(Gumbel)
def at_node_gumbel(rule, parent, graph, number, depth):
    untried, most = completion(rule, parent, graph, number)
    low = math.inf
    high = -math.inf
    for e in edges_of(graph, number):
        edge = edge_view(graph, e, parent)
        value = exact_value_of(parent, edge) if edge.visits > 0 else untried
        low = min(low, value)
        high = max(high, value)
    slope = rule.value_scale * (rule.visit_offset + most)
    if rule.rescale:
        slope /= max(high - low, NARROWEST)
    here = GumbelHere(low, slope, untried, 0.0, 1.0, float(parent.tried))
    peak = -math.inf
    for e in edges_of(graph, number):
        peak = max(peak, urge(here, parent, edge_view(graph, e, parent)))
    mass = 0.0
    for e in edges_of(graph, number):
        mass += math.exp(urge(here, parent, edge_view(graph, e, parent)) - peak)
    return GumbelHere(low, slope, untried, peak, mass, float(parent.tried))


@helper
def completion(rule, parent, graph, number):
    """The value of a node's untried edges, and the largest number of visits of one edge."""
    value = own_value_of(parent, graph, number)
    most = 0.0
    prior = 0.0
    total = 0.0
    for e in edges_of(graph, number):
        edge = edge_view(graph, e, parent)
        if edge.visits > 0:
            most = max(most, float(edge.visits))
            prior += max(float(edge.prior), LEAST_PRIOR)
            total += max(float(edge.prior), LEAST_PRIOR) * exact_value_of(parent, edge)
    if rule.mixed and prior > 0.0:
        value = (value + parent.tried * (total / prior)) / (parent.tried + 1.0)
    return value, most


@helper
def urge(here, parent, edge):
    """ln P + Q^ of an edge."""
    value = exact_value_of(parent, edge) if edge.visits > 0 else here.untried
    return math.log(max(float(edge.prior), LEAST_PRIOR)) + here.slope * (value - here.low)


@helper
def improved(here, parent, edge):
    """The improved policy's probability of an edge."""
    return math.exp(urge(here, parent, edge) - here.peak) / here.mass


@score.register(GumbelHere)
def score_gumbel_here(rule, parent, edge):
    return improved(rule, parent, edge) - edge.visits / (1.0 + rule.tried)


# --- the root ----------------------------------------------------------------------------------------------------------------


@prefer.register(Gumbel)
def prefer_gumbel(rule, graph, number, depth, limits, work):
    parent = parent_view(graph, number, limits.scale)
    here = at_node(rule, parent, graph, number, depth)
    if depth > 0:
        return highest_scored(here, parent, graph, number, limits, work)
    done = np.int64(0)
    choices = np.int64(0)
    for e in edges_of(graph, number):
        done += new_visits(graph, e)
        if not limits.some or limits.allowed[graph.edges[e].action]:
            choices += 1
    wanted = visits_in_turn(min(rule.considered, choices), graph.used[PLANNED], done)
    best = slot(number + 1)
    best_urge = -math.inf
    is_in_turn = False
    for e in candidate_edges(graph, number, limits):
        if not is_open(graph, number, e, limits):
            continue
        edge = edge_view(graph, e, parent)
        in_turn = new_visits(graph, e) == wanted
        with_noise = graph.plan[NOISE, edge.action] + urge(here, parent, edge)
        # Proofs and withdrawn simulations can leave no edge whose turn it is: then any edge will do.
        if (in_turn and not is_in_turn) or (in_turn == is_in_turn and with_noise > best_urge):
            best = e
            best_urge = with_noise
            is_in_turn = in_turn
    return best


@helper
def new_visits(graph, e):
    """Visits of a root edge since the plan was made; each simulation under way counts as one."""
    edge = graph.edges[e]
    return np.int64(edge.visits) + np.int64(edge.pending) - np.int64(graph.plan[BEFORE, edge.action])


@helper
def visits_in_turn(considered, simulations, done):
    """Sequential halving: how many visits the edge whose turn it is has, after `done` of so many simulations.

    A phase gives each remaining action the same number of visits, at least one; then the number of actions is halved, down
    to two. There are as many phases as halvings, plus any that rounding adds.
    """
    if considered <= 1:
        return np.int64(done)
    phases = np.int64(math.ceil(math.log2(considered)))
    left = np.int64(considered)
    base = np.int64(0)
    rest = np.int64(done)
    while True:
        rounds = max(np.int64(1), np.int64(simulations) // (phases * left))
        if rest < rounds * left:
            return base + rest // left
        rest -= rounds * left
        base += rounds
        left = max(np.int64(2), left // 2)


@plan_simulations.register(Gumbel)
def plan_simulations_gumbel(rule, graph, root, simulations, random):
    """Draw the Gumbel variables of the root's actions, and record the visits that the halving starts from."""
    edges = graph.edges[root + 1 : root + 1 + int(graph.nodes["count"][root])]
    graph.plan[NOISE] = rule.scale * random.gumbel(size=graph.plan.shape[1])
    graph.plan[BEFORE] = 0.0
    graph.plan[BEFORE, edges["action"]] = edges["visits"]
    graph.used[PLANNED] = simulations


@kernel
def write_urges(rule, graph, root, limits, out):
    """Write ln P + Q^ of each of a root's edges."""
    parent = parent_view(graph, root, limits.scale)
    here = at_node(rule, parent, graph, root, 0)
    for i, e in enumerate(edges_of(graph, root)):
        out[i] = urge(here, parent, edge_view(graph, e, parent))


def urges(rule: Gumbel, graph: Graph, root: int, limits: Any) -> np.ndarray:
    """ln P + Q^ of the root's edges."""
    found = np.empty(int(graph.nodes["count"][root]))
    write_urges(rule, graph, root, limits, found)
    return found


@target.register(Gumbel)
def target_gumbel(rule, graph, root, limits):
    weights = urges(rule, graph, root, limits)
    weights = np.exp(weights - weights.max())
    return weights / weights.sum()


def urges_in_turn(rule: Gumbel, graph: Graph, root: int, limits: Any) -> np.ndarray:
    """What `ByGumbel` maximises: g + ln P + Q^ of the root's edges with the most visits of this search, -inf for the others."""
    edges = graph.edges[root + 1 : root + 1 + int(graph.nodes["count"][root])]
    noise, before = graph.plan[NOISE, edges["action"]], graph.plan[BEFORE, edges["action"]]
    new = edges["visits"] - before
    return np.where(new == new.max(), noise + urges(rule, graph, root, limits), -np.inf)


# --- what `Search` calls ------------------------------------------------------------------------------------------------------


@needed_columns.register(Gumbel)
def needed_columns_gumbel(rule):
    return ("plan",)


@check_inside.register(Gumbel)
def check_inside_gumbel(part, rule):
    raise SearchError(f"{rule!r}: Gumbel() has its own way at the root and stands by itself: select={part!r}")


@check_limits_of_run.register(Gumbel)
def check_limits_of_gumbel(rule, visits, total):
    if visits is None and total is None:
        raise SearchError(
            "Gumbel() halves the actions by a plan and must know how many simulations there will be: give visits= or total= "
            "(seconds= may end it before), or search with MuZero() or PUCT()"
        )
