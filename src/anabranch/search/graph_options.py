"""Options of graphs, which `Search` takes together: `graph=True`, or `graph=GraphOptions(update=..., ahead=..., stale=...)`.

`grouped` is for those who write options one by one, as players in the arena do. Above: `configure.py`.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from anabranch.errors import SearchError
from anabranch.jit.options import coerce
from anabranch.search.backup.graph_update import Incremental, Stop
from anabranch.search.backup.propagate import PathOnly
from anabranch.search.memory.collect import KeepReached
from anabranch.search.select.limits import Expansion


class GraphOptions(NamedTuple):
    """How a graph is searched: `Search(graph=GraphOptions(...))`; `graph=True` is `GraphOptions()`.

    With `merge=False` this is a tree, as with `graph=False`, and `collect` alone has a meaning: for a tree in the layout of
    graphs, which has proofs, repetitions, AMAF values or an evaluator in Python. A compact tree keeps what it has.
    """

    update: Any = Incremental()  # when a parent looks at its children; or Idempotent(), CatchUp()
    ahead: Any = Stop()  # what to do at a child with more visits than the edge to it; or Continue()
    stale: Any = PathOnly()  # who else learns of a value; or Parents(), Ancestors(), Sweeping()
    collect: Any = KeepReached()  # what goes if memory is full: all that the root does not reach; or still more, Forget()
    merge: bool = True  # whether positions that are reached by several paths share one node


TREE = GraphOptions(merge=False)  # what `graph=False` means


GROUPED = {  # options that stand in one of another name: where they are written one by one, as in the text of a player
    **dict.fromkeys(("update", "ahead", "stale", "collect"), "graph"),
    **dict.fromkeys(("depth", "expand_after"), "expand"),
}


def grouped(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of `Search` from those and others written one by one (`GROUPED`); None is the default of each."""
    found = {name: given for name, given in options.items() if name not in GROUPED}
    for name in GROUPED:
        if options.get(name) is None:
            continue
        if GROUPED[name] == "graph":
            found["graph"] = graph_options(found.get("graph", False))._replace(**{name: options[name]})
        else:
            field = name.removeprefix("expand_")
            found["expand"] = (found.get("expand") or Expansion())._replace(**{field: options[name]})
    return found


def graph_options(graph: Any) -> GraphOptions:
    """What `Search(graph=...)` says: True, False, or all of it."""
    if isinstance(graph, (bool, np.bool_)):
        return GraphOptions() if graph else TREE
    if not isinstance(graph, GraphOptions):
        raise SearchError(f"graph={graph!r}: give True, False, or GraphOptions(update=..., ahead=..., stale=..., collect=...)")
    return coerce(graph)
