"""Policy targets: what a policy should learn from a search, `Result.target`. Plain Python, once per search.

The target is the visit distribution, unless the selection rule defines another: `Gumbel` its improved policy, `Forced` the
visits without those it forced.
"""

import numpy as np

from anabranch.jit import generic
from anabranch.search.memory.layout import edges_of


@generic(default=True)
def target(rule, graph, root, limits):
    """One number for each of the root's edges, summing to 1; `graph` is readable (`jit.readable`). By default a rule around
    another has that one's target."""
    if hasattr(rule, "rule"):
        return target(rule.rule, graph, root, limits)
    visits = np.array([float(graph.edges[e].visits) for e in edges_of(graph, root)])
    return visits / max(visits.sum(), 1.0)
