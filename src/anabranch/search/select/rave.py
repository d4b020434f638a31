"""RAVE, rapid action value estimation: selection by AMAF values and Monte-Carlo values (Gelly & Silver 2011, sections 4 and 5).

An edge's value is  Q* = (1 - beta) Q + beta Q~  (12), where Q is the mean of its own simulations and Q~ its AMAF value
(`evaluate/amaf.py`), which rests on many more simulations but is biased. The schedule says how beta falls from 1 to 0 with
visits:

    MinimumMSE()      beta = n~ / (n + n~ + 4 n n~ b^2)                  (47), the default; b is the bias of Q~
    ExactMSE()        beta = n~ / (n + n~ + n n~ b^2 / (mu (1 - mu)))    (46), mu being Q* by (47)
    LearntBias()      (47) with the bias that the search estimates from its own edges
    HandSelected(k)   beta = sqrt(k / (3 N + k))                         (19)
    OnlyAmaf()        beta = 1: RAVE by itself; with `Expansion(depth=1)`, AMAF
    NoAmaf()          beta = 0: for heuristics without RAVE

n and n~ are the edge's own and its AMAF visits, N the visits of all edges of the node; all include a heuristic's. An edge
without visits of its own has its AMAF value. An action without AMAF values, because its meaning changes during the game (a pass
in Go), starts at the first-play value, weighted as ten visits. The paper's values, and so b, are on [0, 1]; ours are on
[-1, 1], with the same weights, since beta depends on counts alone, except through mu. Derivation and measurements:
docs/algorithms/rave.md.
"""

import math
from typing import Any, NamedTuple

from anabranch.errors import SearchError
from anabranch.jit import generic, helper
from anabranch.jit.options import NonNegative, Positive, Share, Whole
from anabranch.search.memory.layout import F4, slot
from anabranch.search.requirements import check_together, needed_columns
from anabranch.search.select.base import (
    ParentFPU,
    adapted_view,
    first_play,
    normal_total,
    parts_of,
    score,
    usual_parts,
    value_of,
)
from anabranch.search.select.edge_view import AmafEdge
from anabranch.search.select.visit_functions import inverse_root

__all__ = [
    "ExactMSE",
    "Grave",
    "HandSelected",
    "LearntBias",
    "MinimumMSE",
    "NoAmaf",
    "OnlyAmaf",
    "OwnAmaf",
    "Rave",
    "WithAncestors",
]

LEAST_BIAS = 1e-6  # squared: the floor of the estimate from the search
STAND_IN = F4(10.0)  # visits that the first-play value counts as without AMAF: else one lucky result would bring many more
EDGE_OF_MU = 0.02  # (46) divides by mu (1 - mu)


class MinimumMSE(NamedTuple):
    """The schedule of least mean squared error in even positions (47)."""


class ExactMSE(NamedTuple):
    """The same where positions are not even (46): one step of iteration from (47)."""


class LearntBias(NamedTuple):
    """Minimum MSE with a bias estimated from the search itself; `Rave.bias` counts as a prior of so many samples."""

    samples: Positive = 16.0


class HandSelected(NamedTuple):
    """The hand-selected schedule (19): both values count the same after k simulations."""

    k: Positive = 1000.0


class OnlyAmaf(NamedTuple):
    """AMAF values alone."""


class NoAmaf(NamedTuple):
    """An edge's own value alone."""


class OwnAmaf(NamedTuple):
    """A node's own AMAF values."""


class Grave(NamedTuple):
    """Generalised RAVE (Cazenave 2015): those of the closest ancestor of the same player that has so many visits."""

    visits: Whole = 50


class WithAncestors(NamedTuple):
    """A node's own and those of all its ancestors of the same player; each step up is discounted by `share`."""

    share: Share = 0.5


class Rave(NamedTuple):
    """MC-RAVE: the best Q*. With c > 0 it is UCT-RAVE (18); `puct` > 0 adds PUCT's bonus by an evaluator's priors."""

    bias: NonNegative = 0.009  # of AMAF values, on [0, 1]
    c: NonNegative = 0.0  # of UCT's bonus c sqrt(ln N / n); an edge without visits has that of one
    puct: NonNegative = 0.0  # of PUCT's bonus c P sqrt(N) / (1 + n)
    schedule: Any = MinimumMSE()
    source: Any = OwnAmaf()
    fpu: Any = ParentFPU(0.05)  # for an edge without any information: ranked after those as good as the node
    strict: bool = True  # an action counts for AMAF only if no other player has played it before


@score.register(Rave)
def score_rave(rule, parent, edge):
    if edge.amaf_visits > 0:
        value = both_values(rule.schedule, rule.bias, parent, edge, F4(edge.amaf_visits), F4(edge.amaf_total))
    else:
        value = F4(first_play(rule.fpu, parent))
        if edge.visits == 0:
            return value
        value = (normal_total(parent, edge) + STAND_IN * min(value, F4(1.0))) / (F4(edge.visits) + STAND_IN)
    if rule.c > 0.0:
        value += F4(rule.c) * parent.root_log_visits * inverse_root(max(edge.visits, 1))
    if rule.puct > 0.0:
        value += F4(rule.puct * edge.prior * math.sqrt(parent.visits) / (1 + edge.visits))
    return value


@generic(default=True)
def both_values(schedule, bias, parent, edge, amaf, amaf_total):
    """Q* of an edge (12), with `amaf` AMAF visits, more than 0, and the sum of their values."""
    own = F4(edge.visits)
    value = value_of(parent, edge) if own > F4(0.0) else F4(0.0)
    amaf_value = amaf_total / amaf
    return value + beta(schedule, bias, parent, value, own, amaf_value, amaf) * (amaf_value - value)


@both_values.register(MinimumMSE)
def both_values_minimum_mse(schedule, bias, parent, edge, amaf, amaf_total):
    # The same with (47) substituted, so that no mean is needed: one division instead of three, and no branch. This runs for
    # every edge of every node on the path.
    own = F4(edge.visits)
    weight = amaf * F4(4.0 * bias * bias)
    return (normal_total(parent, edge) * (F4(1.0) + weight) + amaf_total) / (own + amaf + own * weight)


# --- schedules ----------------------------------------------------------------------------------------------------------------


@generic
def beta(schedule, bias, parent, value, own, amaf_value, amaf):
    """The weight of an AMAF value of `amaf` visits against a value of `own` visits; not both are 0."""


@beta.register(MinimumMSE)
def beta_minimum_mse(schedule, bias, parent, value, own, amaf_value, amaf):
    return minimum_mse(own, amaf, F4(4.0 * bias * bias))


@beta.register(ExactMSE)
def beta_exact_mse(schedule, bias, parent, value, own, amaf_value, amaf):
    rough = minimum_mse(own, amaf, F4(4.0 * bias * bias))
    mu = F4(0.5) * (value + rough * (amaf_value - value) + F4(1.0))
    mu = min(max(mu, F4(EDGE_OF_MU)), F4(1.0 - EDGE_OF_MU))
    return minimum_mse(own, amaf, F4(bias * bias) / (mu * (F4(1.0) - mu)))


@beta.register(LearntBias)
def beta_learnt_bias(schedule, bias, parent, value, own, amaf_value, amaf):
    total = schedule.samples * bias * bias + parent.bias_samples * parent.bias
    square = max(total / (schedule.samples + parent.bias_samples), LEAST_BIAS)
    return minimum_mse(own, amaf, F4(4.0 * square))


@beta.register(HandSelected)
def beta_hand_selected(schedule, bias, parent, value, own, amaf_value, amaf):
    return either_or(own, amaf, F4(math.sqrt(schedule.k / (3.0 * parent.tried + schedule.k))))


@beta.register(OnlyAmaf)
def beta_only_amaf(schedule, bias, parent, value, own, amaf_value, amaf):
    return either_or(own, amaf, F4(1.0))


@beta.register(NoAmaf)
def beta_no_amaf(schedule, bias, parent, value, own, amaf_value, amaf):
    return either_or(own, amaf, F4(0.0))


@helper
def minimum_mse(own, amaf, per_product):
    """n~ / (n + n~ + n n~ times a number)."""
    return amaf / (own + amaf + own * amaf * per_product)


@helper
def either_or(own, amaf, share):
    """The weight `share`, or 1 or 0 where only one of the two values exists."""
    if own <= F4(0.0):
        return F4(1.0)
    return share if amaf > F4(0.0) else F4(0.0)


# --- AMAF values of ancestors -------------------------------------------------------------------------------------------------


@adapted_view.register(Rave)
def graph_view_rave(rule, edge, graph, number, work):
    return with_amaf_of(rule.source, edge, graph, number, work)


@generic
def with_amaf_of(source, edge, graph, number, work):
    """An edge with the AMAF value that this source gives it, which is also recorded for the nodes below."""


@with_amaf_of.register(OwnAmaf)
def with_amaf_of_own_amaf(source, edge, graph, number, work):
    return edge


@with_amaf_of.register(Grave)
def with_amaf_of_grave(source, edge, graph, number, work):
    node = graph.nodes[slot(number)]
    player, action = int(node.player), int(edge.action)
    visits, total = float(edge.amaf_visits), float(edge.amaf_total)
    if node.visits < source.visits:
        if is_pooled(work.playout_log, player, action):
            visits, total = work.playout_log.pool_visits[player, action], work.playout_log.pool_totals[player, action]
    else:
        pool(work.playout_log, player, action, visits, total)
    return replaced(edge, visits, total)


@with_amaf_of.register(WithAncestors)
def with_amaf_of_with_ancestors(source, edge, graph, number, work):
    player, action = int(graph.nodes[slot(number)].player), int(edge.action)
    visits, total = float(edge.amaf_visits), float(edge.amaf_total)
    if is_pooled(work.playout_log, player, action):
        visits += source.share * work.playout_log.pool_visits[player, action]
        total += source.share * work.playout_log.pool_totals[player, action]
    pool(work.playout_log, player, action, visits, total)
    return replaced(edge, visits, total)


@helper
def is_pooled(playout_log, player, action):
    """Whether an ancestor in this descent has recorded an AMAF value of an action."""
    return playout_log.pooled[player, action] == playout_log.descents[0]


@helper
def pool(playout_log, player, action, visits, total):
    """Record an action's AMAF value for the nodes below."""
    playout_log.pooled[player, action] = playout_log.descents[0]
    playout_log.pool_visits[player, action] = visits
    playout_log.pool_totals[player, action] = total


@helper
def replaced(edge, visits, total):
    """An edge with another AMAF value."""
    return AmafEdge(edge.visits, edge.total, edge.prior, edge.action, edge.hint, visits, total)


# --- what `Search` calls ------------------------------------------------------------------------------------------------------


@parts_of.register(Rave)
def parts_of_rave(rule):
    return {**usual_parts(rule), "schedule": (beta,), "source": (with_amaf_of,)}


@needed_columns.register(Rave)
def needed_columns_rave(rule):
    return ("amaf",)


@check_together.register(Rave)
def check_rave(rule, chosen):
    if not chosen.game.actions_keep_meaning:
        raise SearchError(
            f"{rule!r} learns about an action from whenever it is played, but {chosen.game!r} says that its actions change "
            "their meaning (actions_keep_meaning = False): use UCT() or PUCT()"
        )
