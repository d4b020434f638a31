"""Parts of a search that somebody outside the package wrote: an option class and a function for each."""

from typing import NamedTuple

import numpy as np

import anabranch as ab


class Stubborn(NamedTuple):
    """Selection: always the lowest action."""


@ab.select.score.register(Stubborn)
def score_stubborn(rule, parent, edge):
    return -1.0 * edge.action


class Says(NamedTuple):
    """Evaluation: everything is worth this to player 0."""

    value: float = 0.25


@ab.evaluate.evaluate.register(Says)
def evaluate_says(evaluator, work, scale, discount):
    work.values[0] = evaluator.value


class Affine(NamedTuple):
    """Backup: every node passes on `slope` times what comes up, plus `offset`."""

    slope: float = 0.5
    offset: float = 0.0


@ab.backup.carry.register(Affine)
def carry_affine(operator, graph, number, values):
    for i in range(len(values)):
        values[i] = operator.slope * values[i] + operator.offset
    return False


class Gloomy(NamedTuple):
    """Backup: a node is worth what the worst action that was tried brings the player who moves."""


@ab.backup.carry.register(Gloomy)
def carry_gloomy(operator, graph, number, values):
    ab.backup.node_mean(graph, number, values)
    sign = ab.backup.sign_of(len(values), graph.nodes[number].player)
    worst = np.inf
    for e in ab.graphs.edges_of(graph, number):
        edge = graph.edges[e]
        if edge.visits > 0 and edge.total[0] / edge.visits < worst:
            worst = edge.total[0] / edge.visits
            values[0] = sign * worst
    return True


class LeastVisits(NamedTuple):
    """Final choice: of the actions that were tried, the one with the fewest visits."""


@ab.final.choose.register(LeastVisits)
def choose_least_visits(final, candidates, random):
    return int(np.where(candidates.visits > 0, candidates.visits, np.inf).argmin())


class Unsure(NamedTuple):
    """Final choice: the action whose value is least certain."""


@ab.final.choose.register(Unsure)
def choose_unsure(final, candidates, random):
    return int(candidates.errors.argmax())


class Index(NamedTuple):
    """A final choice that always says the same."""

    says: object


@ab.final.choose.register(Index)
def choose_index(final, candidates, random):
    return final.says


@ab.final.wants_errors.register(Unsure)
def wants_errors_unsure(final):
    return True


class Frozen(NamedTuple):
    """Update: nodes never learn from their children."""


@ab.graphs.after_visit.register(Frozen)
def after_visit_frozen(update, operator, graph, number, e, limits, work):
    if ab.graphs.child_of(graph, e) != ab.graphs.NO_NODE:
        ab.graphs.pull_edge(graph, number, e, limits, work.states[0])


class Always(NamedTuple):
    """Update: as `Idempotent`."""


@ab.graphs.after_visit.register(Always)
def after_visit_always(update, operator, graph, number, e, limits, work):
    ab.graphs.renew(operator, graph, number, limits, work)


@ab.graphs.before_choice.register(Always)
def before_choice_always(update, graph, number, limits, state):
    ab.graphs.pull_all(graph, number, limits, state)


class AtMost(NamedTuple):
    """Ahead: a child with so many visits has had enough."""

    visits: int = 1


@ab.graphs.has_enough.register(AtMost)
def has_enough_at_most(ahead, edge, child, random):
    return child.visits >= ahead.visits


class Upwards(NamedTuple):
    """Propagation: to everything above the leaf, as `Ancestors`."""


@ab.graphs.spread.register(Upwards)
def spread_upwards(stale, operator, graph, depth, limits, work):
    leaf = ab.graphs.child_of(graph, work.path_edges[depth - 1])
    if leaf != ab.graphs.NO_NODE:
        ab.graphs.renew_ancestors(operator, graph, leaf, limits, work)


@ab.graphs.needs_ancestry.register(Upwards)
def needs_ancestry_upwards(stale):
    return True


class Beside(NamedTuple):
    """Propagation: by a thread beside the search, and nothing on the way."""


@ab.graphs.spread.register(Beside)
def spread_beside(stale, operator, graph, depth, limits, work):
    pass


@ab.graphs.sweep_pause.register(Beside)
def sweep_pause_beside(stale):
    return 0.001


class Busiest(NamedTuple):
    """Collection: the nodes with most visits go first, so many of them."""

    count: int = 1


@ab.graphs.to_forget.register(Busiest)
def to_forget_busiest(collect, nodes):
    return np.argsort(-nodes.visits)[: collect.count]


class Hoarder(NamedTuple):
    """Collection: nothing goes, as with `KeepReached`."""


@ab.graphs.to_forget.register(Hoarder)
def to_forget_hoarder(collect, nodes):
    return []


class VirtualWin(NamedTuple):
    """Virtual loss: simulations under way count as won."""


@ab.select.virtual_value.register(VirtualWin)
def virtual_value_virtual_win(virtual, value, parent):
    return parent.middle + parent.unit


class Triple(NamedTuple):
    """Virtual loss: as `VirtualLoss(visits=3, loss=0.5)`."""


@ab.select.virtual_value.register(Triple)
def virtual_value_triple(virtual, value, parent):
    return 0.5 * value + 0.5 * (parent.middle - parent.unit)


@ab.select.virtual_visits.register(Triple)
def virtual_visits_triple(virtual, pending):
    return 3 * np.int64(pending)
