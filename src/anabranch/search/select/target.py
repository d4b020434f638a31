"""Targets: what a policy should learn from a search, `Result.target`. Plain Python, once a search.

The share of visits, unless the selection rule knows better: `Gumbel` has its improved policy, `Forced` takes away what it
forced.
"""

import numpy as np

from anabranch.jit import generic
from anabranch.search.memory.layout import edges_of


@generic(default=True)
def target(rule, graph, root, limits):
    """One number for each of the root's edges, summing to 1; `graph` is readable (`jit.readable`). A rule around another one
    leaves it to that."""
    if hasattr(rule, "rule"):
        return target(rule.rule, graph, root, limits)
    visits = np.array([float(graph.edges[e].visits) for e in edges_of(graph, root)])
    return visits / max(visits.sum(), 1.0)
