"""Options of graphs, which `Search` takes together: `graph=True`, or `graph=GraphOptions(update=..., ahead=..., stale=...)`.

`grouped` is for callers that write options one by one, as players in the arena do. Above: `configure.py`.
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

    With `merge=False` this is a tree, as with `graph=False`, and only `collect` has an effect: on a tree in the layout of
    graphs, which has proofs, repetitions, AMAF values or an evaluator in Python. A compact tree is not collected.
    """

    update: Any = Incremental()  # when a parent is updated from its children; or Idempotent(), CatchUp()
    ahead: Any = Stop()  # what to do at a child with more visits than the edge to it; or Continue()
    stale: Any = PathOnly()  # which other nodes are updated; or Parents(), Ancestors(), Sweeping()
    collect: Any = KeepReached()  # what is dropped when memory is full: what the root does not reach; or more, Forget()
    merge: bool = True  # whether transpositions share one node


TREE = GraphOptions(merge=False)  # what `graph=False` means


GROUPED = {  # fields of one option that may be written as options by themselves, as in the text of a player
    **dict.fromkeys(("update", "ahead", "stale", "collect"), "graph"),
    **dict.fromkeys(("depth", "expand_after"), "expand"),
}


def grouped(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of `Search`, from a mapping that may also have `GROUPED` ones written one by one; None stands for the default."""
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
    """The options that `Search(graph=...)` stands for: True, False, or a `GraphOptions`."""
    if isinstance(graph, (bool, np.bool_)):
        return GraphOptions() if graph else TREE
    if not isinstance(graph, GraphOptions):
        raise SearchError(f"graph={graph!r}: give True, False, or GraphOptions(update=..., ahead=..., stale=..., collect=...)")
    return coerce(graph)
