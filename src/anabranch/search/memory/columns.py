"""Optional statistics of nodes and edges of a graph: one table of columns, from which everything else follows.

A column is an array with one row per slot, for nodes, for edges or for both. Only searches that need it (`Needs.columns`) have
it; the others have an array of length 0. Column `cuts` is `graph.cuts`, and `graph.has_cuts` is its switch, On or Off.

    a new statistic   one `Column` in COLUMNS, and the module that reads and writes it
    what follows      memory that it costs (`bytes_per_slot`), allocation, what new nodes and edges hold, moving and collecting,
                      starting over, rows of many searches, saving and loading, views

The functions that kernels call are generated from the table when this module is imported, as `dataclasses` does, one `if` per
column: a kernel compiles nothing for columns whose switch is Off. Next: `graph.py`.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from anabranch.jit.written import written_out
from anabranch.search.memory.layout import Off, On, is_on, width_of

WIDTH = -1  # in a shape: the width of a value
EMPTY = -1  # the end of a list of links
STRATEGY_COLUMNS = 4

# Values in both are normalised, in the view of the player to move.
AMAF = np.dtype(
    [  # of an edge
        ("amaf_visits", "i4"),  # simulations in which the action was played here or later, with those a heuristic counts as
        ("amaf_total", "f4"),  # of their values; exact for some ten million that are all won
    ],
    align=True,
)
HINT = np.dtype(
    [  # of an edge; of a node, only `visits`, the sum over its edges
        ("visits", "i4"),  # simulations that a heuristic counts as
        ("amaf_visits", "i4"),  # and AMAF simulations
        ("value", "f4"),  # the heuristic's
    ],
    align=True,
)


class Column(NamedTuple):
    """A statistic. What is not written as declared here, the module that owns the column writes."""

    name: str
    dtype: Any
    shape: tuple[int, ...] = ()  # of one slot; WIDTH: see there
    of_nodes: bool = False
    of_edges: bool = False
    new: float | None = None  # what a new node or edge holds; None: its owner writes it at once
    resets: bool = False  # whether it returns to `new` when statistics are reset and evaluations are kept
    rebuilt: bool = False  # whether it is rebuilt after memory was collected, not copied
    asked_for: str = ""  # the options that need it, as written in code; none if the game itself does


COLUMNS = (
    # The reward of an edge.
    Column("rewards", "f8", (WIDTH,), of_edges=True),
    # Visits of an edge that ended in a repetition: see `repetition.py`.
    Column("cuts", "i4", of_edges=True, new=0, resets=True),
    # The next edge to the same child, or EMPTY, and the node that the edge leaves: see `backup/propagate.py`.
    Column("links", "i4", (2,), of_edges=True, rebuilt=True, asked_for="stale=Parents() or Ancestors()"),
    # The first edge that leads to a node, or EMPTY.
    Column("heads", "i4", of_nodes=True, new=EMPTY, rebuilt=True),
    # The lower and the upper bound of a node's value: see `backup/bounds.py`.
    Column("bounds", "f8", (2, WIDTH), of_nodes=True, asked_for="prove=True"),
    # Of a node, its level; of an edge, whether it leads to a higher one: only those count in proofs.
    Column("levels", "i4", of_nodes=True, of_edges=True, new=0),
    # A node's repetition key, where that is not its key.
    Column("repetition_keys", "u8", (2,), of_nodes=True),
    # All-moves-as-first values: see `evaluate/amaf.py`.
    Column("amaf", AMAF, of_edges=True, asked_for="select=Rave() or a heuristic"),
    # A heuristic's hint for an edge: see `evaluate/heuristic.py`.
    Column("hints", HINT, of_nodes=True, of_edges=True, asked_for="a heuristic"),
    # The sum of the squares of the values backed up through an edge: see `backup/variance.py`.
    Column("squares", "f8", of_edges=True, new=0.0, resets=True, asked_for="KataGoPUCT() or ByLowerBound()"),
    # The weight of a node's own evaluation, and the mean weight below it: see `backup/certainty.py`.
    Column("weights", "f8", (2,), of_nodes=True, new=0.0, asked_for="backup=ByCertainty()"),
    # What rules for simultaneous moves keep: see `simultaneous/strategies.py`.
    Column(
        "strategies",
        "f8",
        (STRATEGY_COLUMNS,),
        of_nodes=True,
        of_edges=True,
        new=0.0,
        resets=True,
        asked_for="a rule that keeps strategies",
    ),
)
NAMES = tuple(column.name for column in COLUMNS)
SWITCHES = tuple(f"has_{name}" for name in NAMES)


# --- memory ------------------------------------------------------------------------------------------------------------------


def bytes_per_slot(names: Iterable[str], width: int) -> int:
    """The bytes that these columns take for each slot."""
    return sum(np.dtype(column.dtype).itemsize * int(np.prod(_sizes(column, width))) for column in _named(names))


def allocate_columns(names: Iterable[str], slots: int, width: int) -> dict[str, Any]:
    """The fields of a graph that hold its columns and their switches."""
    wanted = set(names)
    arrays = {
        column.name: np.empty((slots if column.name in wanted else 0, *_sizes(column, width)), column.dtype)
        for column in COLUMNS
    }
    return arrays | {f"has_{name}": On() if name in wanted else Off() for name in NAMES}


def _named(names: Iterable[str]) -> list[Column]:
    wanted = set(names)
    assert wanted <= set(NAMES), wanted - set(NAMES)
    return [column for column in COLUMNS if column.name in wanted]


def _sizes(column: Column, width: int) -> tuple[int, ...]:
    return tuple(width if size == WIDTH else size for size in column.shape)


# --- what kernels call -----------------------------------------------------------------------------------------------------


def _for_each(columns: Iterable[Column], statement: str) -> list[str]:
    """The statement for each number of each column, behind its switch; `{at}` stands for the indices after the slot's."""
    lines = []
    for column in columns:
        lines.append(f"if is_on(graph.has_{column.name}):")
        indent = "    "
        for axis, size in enumerate(column.shape):
            lines.append(f"{indent}for i{axis} in range({'width_of(graph)' if size == WIDTH else size}):")
            indent += "    "
        indices = "".join(f", i{axis}" for axis in range(len(column.shape)))
        new = "0" if column.new is None else repr(column.new)
        lines.append(indent + statement.format(array=f"graph.{column.name}", at=indices, new=new))
    return lines or ["pass"]


_COPY, _BEGIN = "{array}[target{at}] = {array}[source{at}]", "{array}[number{at}] = {new}"
_USED = {"is_on": is_on, "width_of": width_of}

begin_node = written_out(
    "begin_node", "graph, number", "What a new node holds.",
    _for_each((c for c in COLUMNS if c.of_nodes and c.new is not None), _BEGIN), _USED,
)  # fmt: skip
begin_edge = written_out(
    "begin_edge", "graph, number", "What a new edge holds.",
    _for_each((c for c in COLUMNS if c.of_edges and c.new is not None), _BEGIN), _USED,
)  # fmt: skip
reset_node = written_out(
    "reset_node", "graph, number", "A node whose statistics start over.",
    _for_each((c for c in COLUMNS if c.of_nodes and c.resets), _BEGIN), _USED,
)  # fmt: skip
reset_edge = written_out(
    "reset_edge", "graph, number", "An edge whose statistics start over.",
    _for_each((c for c in COLUMNS if c.of_edges and c.resets), _BEGIN), _USED,
)  # fmt: skip
move_node = written_out(
    "move_node", "graph, source, target", "Take what is kept beside a node to its new slot.",
    _for_each((c for c in COLUMNS if c.of_nodes), _COPY), _USED,
)  # fmt: skip
move_edge = written_out(
    "move_edge", "graph, source, target", "The same for an edge, when memory is collected.",
    _for_each((c for c in COLUMNS if c.of_edges and not c.rebuilt), _COPY), _USED,
)  # fmt: skip
