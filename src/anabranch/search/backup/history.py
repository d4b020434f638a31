"""When the root moves, the game's history changes: what depended on it is recomputed."""

from anabranch.jit import kernel
from anabranch.search.backup.bounds import derive
from anabranch.search.memory.graph import EXEMPT, EXHAUSTED, child_of, repetition_key_of
from anabranch.search.memory.layout import NO_NODE, edges_of, is_on, slot
from anabranch.search.memory.repetition import is_exhausted

# --- the root has moved ------------------------------------------------------------------------------------------------


@kernel
def change_history(graph, exhausted, limits, work, order):
    """Recompute what depends on the game's history, which has changed: mark the nodes that are exhausted now, count all visits
    of edges that lead to them, and no others, as cuts, and recompute bounds. `order` is all nodes, children first."""
    for k in range(len(order)):
        node = graph.nodes[order[k]]
        node.flags &= ~EXHAUSTED
        low, high = repetition_key_of(graph, order[k])
        if (node.flags & EXEMPT) == 0 and is_exhausted(exhausted, low, high):
            node.flags |= EXHAUSTED
    for k in range(len(order)):
        for e in edges_of(graph, order[k]):
            child = child_of(graph, e)
            exhausted_child = child != NO_NODE and (graph.nodes[slot(child)].flags & EXHAUSTED) != 0
            graph.cuts[e] = graph.edges[e].visits if exhausted_child else 0
    if is_on(graph.has_bounds):
        derive(graph, order, limits, work.states[0])
