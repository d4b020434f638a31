"""Policy targets: what a policy should learn from a search, `Result.target`. Plain Python, once per search.

The target is the visit distribution, unless the selection rule defines another: `Gumbel` its improved policy, `Forced` the
visits without those it forced.
"""

from anabranch.jit import generic


@generic(default=True)
def target(rule, graph, root, limits):
    """One number for each of the root's edges, summing to 1; `graph` has the root and its edges, as kernels see them. By
    default a rule around another has that one's target."""
    if hasattr(rule, "rule"):
        return target(rule.rule, graph, root, limits)
    visits = graph.edges["visits"][root + 1 : root + 1 + int(graph.nodes["count"][root])].astype(float)
    return visits / max(visits.sum(), 1.0)
