"""A search graph in memory: every position is a node, found by its key, so that transpositions share it.

    table   [ . | 9 | . | 1 | 7 | ...]       node numbers, by the position's key, each with 32 bits of its hash
    slots   [head][node 1][edge][edge][edge][head][node 6][head][node 8]...
                             |                      ^
                             +------child = 6-------+

A node is created when its position is first met: a header, with rarely used fields, and the node itself. At first it is a leaf.
When a simulation goes on from there (at once, if the evaluator gave priors, which must be kept) it moves to a new
place, followed by its edges, so that a descent touches one place in memory. The old slot stays behind as a forwarding slot, and
every edge followed through it is redirected to the new place.

The edge visit is the primary count: N(n) is a node's own evaluations plus all visits of its edges, and Q(n), `mean`, follows
from these (`backup/graph_update.py`). Several edges may lead to the same node, so N(n) may exceed the visits of any of them.

With `merge` off the same layout is a tree, without a table. What only some searches need is in side arrays, of length 0 for
the others: rewards of edges, cuts (`repetition.py`), links back to parents (`backup/propagate.py`), bounds and levels
(`backup/bounds.py`), AMAF values and hints (`evaluate/amaf.py`), squares (`backup/variance.py`), weights
(`backup/certainty.py`), a plan for the root (`select/gumbel.py`), strategies (`simultaneous/strategies.py`). Memory is reserved
for the whole limit and taken from the system only as it is touched; `used[ROOM]` counts it down. Next: `loops/graph.py`, which
grows this; `collect.py`, which shrinks it.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from anabranch.jit import by_pointer, helper, kernel
from anabranch.jit.written import written_out
from anabranch.search.memory.columns import (
    NAMES,
    SWITCHES,
    allocate_columns,
    begin_edge,
    begin_node,
    bytes_per_slot,
    move_node,
)
from anabranch.search.memory.layout import (
    COUNTERS,
    F4,
    FORWARDINGS,
    LIMIT,
    MOST_SLOTS,
    NO_NODE,
    POSITION_COST,
    POSITIONS,
    REFUSED,
    ROOM,
    SIMULATION,
    SLOT_COST,
    SLOTS,
    TABLE,
    Off,
    On,
    clear_edge,
    edge_dtype,
    is_on,
    own_value,
    padded,
    slot,
)

FREE = np.uint64(2**64 - 1)  # a slot of the table
OVER = np.uint8(1)  # flags of nodes: the game is over here
EXHAUSTED = np.uint8(2)  # one more visit would be a repetition: see `repetition.py`
MOVED = np.uint8(4)  # only a forwarding slot, whose node is at `moved_to` now
EXEMPT = np.uint8(16)  # its last action may repeat any position
FOLDED = np.uint8(8)  # to be turned back into a leaf: see `collect.py`
WAITING = np.uint8(32)  # a leaf whose evaluation is under way: see `loops/batch.py`
NOT_WAITING = np.uint8(255) - WAITING
CACHED = np.uint8(64)  # evaluated and with edges, but not visited since: see `cached_evaluations.py`
LOCKED = np.uint8(128)  # a thread holds this node's lock: see `locks.py`
LOW, HIGH = 0, 1  # rows of `bounds`
NOISE, BEFORE = 0, 1  # rows of `plan`
OWN_WEIGHT, MEAN_WEIGHT = 0, 1  # columns of `weights`: of its own evaluation, and of all below; 0: the game is over
NEXT, SOURCE = 0, 1  # columns of `links`: the next edge to the same child; the node that the edge leaves
FIRST_TABLE = 1024  # slots
LARGEST_SIMULATION = 2**31 - 1
NO_VIRTUAL_LOSS = Off()  # is under way
TABLE_COST = 24  # bytes per position: the table is between 3/8 and 3/4 full


def node_dtype(width: int) -> np.dtype:
    """A node whose values have `width` numbers; see `rules.value_width`."""
    return padded(
        [
            ("mean", "f8", (width,)),  # Q: the node's value as of its last update; player 0's, or one per player
            ("visits", "i4"),  # N: own + visits of its edges
            ("own", "i4"),  # evaluations of the position itself; where the game is over, visits
            ("last_simulation", "i4"),  # the last one that visited this node; see `current_simulation`
            ("count", "u2"),  # how many edges follow; 0: a leaf, or over
            ("player", "i1"),  # who moves here, or CHANCE
            ("flags", "u1"),
        ],
        8 * width + 16,
        {
            "under_way": "last_simulation",  # with several threads: simulations under way through its edges
            "moved_to": "last_simulation",  # of a forwarding slot, MOVED: the node's new number
        },
    )


def header_dtype(width: int) -> np.dtype:
    """The header before a node."""
    return padded(
        [
            ("key", "u8", (2,)),
            ("value", "f8", (width,)),  # mean of the position's own evaluations, or the outcome; player 0's, or one per player
        ],
        8 * width + 16,
    )


class _Core(NamedTuple):
    """What kernels see of every search graph. `nodes`, `headers` and `edges` are views of the same slots."""

    nodes: Any
    headers: Any  # that of node n is headers[n - 1]
    edges: Any  # those of node n begin at edges[n + 1]
    table: Any  # u8: see FREE
    used: Any  # i8: counters, see `layout`
    learnt: Any  # f8 (2,): the estimate of the bias of AMAF values; see `select/rave.py`
    plan: Any  # f8 (2, actions): `Gumbel`'s draws for the root's actions, and the visits they had then; or (2, 0)
    merge: bool  # whether positions are found by their keys
    virtual: Any  # what simulations under way count as (`select/virtual_loss.py`); Off: there is never more than one
    shared: Any  # whether several threads use the graph: see `locks.py`


if TYPE_CHECKING:

    class Graph(_Core):
        """The same with the arrays and switches of `columns.py`."""

        def __getattr__(self, name: str) -> Any: ...
        def _replace(self, **fields: Any) -> "Graph": ...

else:
    Graph = by_pointer(NamedTuple("Graph", [(name, Any) for name in (*_Core._fields, *NAMES, *SWITCHES)]))
    Graph.__doc__ = "What kernels see of a search graph: `_Core`, and the arrays and switches of `columns.py`."

PER_SEARCH = ("nodes", "headers", "edges", "table", "used", "learnt", "plan", *NAMES)  # arrays, not switches
row_of = written_out(
    "row_of",
    "stack, s",
    "The graph of one of many searches, whose arrays stand in the rows of common ones.",
    ["return Graph(", *(f"    {name}=stack.{name}{'[s]' if name in PER_SEARCH else ''}," for name in Graph._fields), ")"],
    {"Graph": Graph},
)


_ALL_OFF = {name: Off() for name in ("virtual", "shared", *SWITCHES)}


def bare(graph: Graph) -> Graph:
    """The same graph with all switches off, for kernels that ask for none: one version serves all graphs of this width."""
    return graph._replace(**_ALL_OFF)


class Needs(NamedTuple):
    """What a search needs of its memory."""

    merge: bool = True
    columns: frozenset[str] = frozenset()  # of `columns.py`
    plan: int = 0  # for so many actions
    in_order: bool = False  # whether edges are sorted by action, which a compact tree cannot do


def allocate(width: int, memory: int, needs: Needs, virtual: Any = NO_VIRTUAL_LOSS) -> Graph:
    """An empty graph of at most `memory` bytes; `virtual`: see `Graph`."""
    cost = node_dtype(width).itemsize + bytes_per_slot(needs.columns, width)
    slots = min(memory // cost, MOST_SLOTS)
    table = FIRST_TABLE
    while needs.merge and 3 * table < 2 * slots:  # a position takes two slots, and the table is at most 3/4 full
        table *= 2
    nodes = np.empty(slots, node_dtype(width))
    graph = Graph(
        nodes=nodes,
        headers=nodes.view(header_dtype(width)),
        edges=nodes.view(edge_dtype(width)),
        table=np.empty(table if needs.merge else 1, np.uint64),
        used=np.zeros(COUNTERS, np.int64),
        learnt=np.zeros(2),
        plan=np.zeros((2, needs.plan)),
        merge=needs.merge,
        virtual=virtual,
        shared=Off(),
        **allocate_columns(needs.columns, slots, width),
    )
    graph.used[SLOT_COST], graph.used[POSITION_COST] = cost, TABLE_COST * needs.merge
    clear(graph, memory)
    return graph


def clear(graph: Graph, memory: int) -> None:
    """Empty the graph."""
    graph.used[:SLOT_COST] = 0
    graph.used[ROOM], graph.used[LIMIT] = memory, len(graph.nodes)
    graph.learnt[:] = 0.0
    if graph.merge:
        graph.used[TABLE] = FIRST_TABLE
        graph.used[ROOM] -= 8 * FIRST_TABLE
        graph.table[:FIRST_TABLE] = FREE


def bytes_used(graph: Graph) -> int:
    """The bytes of the slots in use and of the table."""
    table = 8 * int(graph.used[TABLE]) if graph.merge else 0
    return int(graph.used[SLOTS]) * int(graph.used[SLOT_COST]) + table


@own_value.register(Graph)
def own_value_graph(graph, number, i):
    return graph.headers[slot(number - 1)].value[i]


# --- growing ---------------------------------------------------------------------------------------------------------------


@helper
def take(graph, slots, positions):
    """The first of so many new slots, or NO_NODE if there is no room for them."""
    cost = slots * graph.used[SLOT_COST] + positions * graph.used[POSITION_COST]
    if graph.used[ROOM] < cost or graph.used[SLOTS] + slots > graph.used[LIMIT]:
        graph.used[REFUSED] += 1
        return np.int64(NO_NODE)
    first = graph.used[SLOTS]
    graph.used[ROOM] -= cost
    graph.used[SLOTS] = first + slots
    graph.used[POSITIONS] += positions
    return first


@helper
def add_node(graph, low, high):
    """Create a leaf without evaluations for the position with this key; returns its number, or NO_NODE if there is no room.
    Others cannot find it until it is published (`locks.publish`)."""
    first = take(graph, 2, 1)
    if first == NO_NODE:
        return first
    number = first + 1
    header = graph.headers[first]
    header.key[0] = low
    header.key[1] = high
    node = graph.nodes[number]
    node.visits = 0
    node.own = 0
    node.last_simulation = 0
    node.count = 0
    node.player = 0
    node.flags = 0
    for i in range(len(node.mean)):
        header.value[i] = 0.0
        node.mean[i] = 0.0
    begin_node(graph, number)
    return number


@helper
def weigh(graph, number, weight):
    """Set the weight of a node's evaluation, which is also its mean weight so far."""
    graph.weights[slot(number), OWN_WEIGHT] = weight
    graph.weights[slot(number), MEAN_WEIGHT] = weight


@helper
def add_edges(graph, number, player, actions, count):
    """Give a leaf edges for the first `count` actions; returns its new number, or NO_NODE if there is no room."""
    if number + 1 == graph.used[SLOTS]:  # it is the last one, and can stay where it is
        if take(graph, count, 0) == NO_NODE:
            return np.int64(NO_NODE)
    else:
        first = take(graph, 2 + count, 0)
        if first == NO_NODE:
            return first
        move(graph, number, first + 1)
        number = first + 1
    node = graph.nodes[number]
    for i in range(count):
        clear_edge(graph.edges[number + 1 + i], actions[i], 1.0 / count)
        begin_edge(graph, number + 1 + i)
    node.player = player
    node.count = count
    return np.int64(number)


@helper
def move(graph, number, target):
    """Move a leaf and leave a forwarding slot."""
    graph.headers[target - 1] = graph.headers[number - 1]
    graph.nodes[target] = graph.nodes[number]
    move_node(graph, number, target)
    node = graph.nodes[number]
    node.moved_to = target
    node.flags = MOVED | (node.flags & LOCKED)
    graph.used[FORWARDINGS] += 1


@helper
def repetition_key_of(graph, number):
    """A node's repetition key."""
    if is_on(graph.has_repetition_keys):
        return graph.repetition_keys[slot(number), 0], graph.repetition_keys[slot(number), 1]
    key = graph.headers[slot(number - 1)].key
    return key[0], key[1]


@helper
def attach(graph, number, e, child):
    """Let edge `e` of a node lead to `child`."""
    graph.edges[e].child = child
    if is_on(graph.has_links):
        graph.links[e, SOURCE] = number
        graph.links[e, NEXT] = graph.heads[child]
        graph.heads[child] = e


@helper
def child_of(graph, e):
    """The node that an edge leads to, or NO_NODE; if it has moved, the edge is updated."""
    edge = graph.edges[slot(e)]
    if edge.child != NO_NODE:
        node = graph.nodes[slot(edge.child)]
        if (node.flags & MOVED) != 0:
            edge.child = node.moved_to
    return np.int64(edge.child)


@helper
def current_simulation(graph):
    """The current simulation's number, as nodes store it. A node that has it is on the path."""
    return graph.used[SIMULATION] & LARGEST_SIMULATION


@helper
def after(graph, number):
    """The number of what follows a node and its edges in memory: a node or a forwarding slot, or beyond the last slot."""
    return number + 2 + graph.nodes[number].count


@kernel
def all_nodes(graph, out):
    """Of a bare graph, write the numbers of all nodes into `out`, in memory order; returns how many there are."""
    count = 0
    number = 1
    while number < graph.used[SLOTS]:
        if (graph.nodes[number].flags & MOVED) == 0:
            out[count] = number
            count += 1
        number = after(graph, number)
    return count


def largest_counts(graph: Graph) -> tuple[int, int]:
    """The largest visit count and the largest AMAF visit count. If half of the simulation numbers are used up, numbering
    restarts; several threads do not number simulations."""
    is_shared, has_amaf = not isinstance(graph.shared, Off), isinstance(graph.has_amaf, On)
    visits, amaf_visits = scan_counts(graph.nodes, graph.amaf, graph.used, is_shared, has_amaf)
    return int(visits), int(amaf_visits)


@kernel
def scan_counts(nodes, amaf, used, is_shared, has_amaf):
    """What `largest_counts` does."""
    again = used[SIMULATION] > LARGEST_SIMULATION // 2
    visits = np.int64(0)
    amaf_visits = np.int64(0)
    number = 1
    while number < used[SLOTS]:
        node = nodes[number]
        after_edges = number + 1 + node.count
        if (node.flags & MOVED) == 0:
            visits = max(visits, np.int64(node.visits))
            if again and not is_shared:
                node.last_simulation = 0
            if has_amaf:
                for e in range(number + 1, after_edges):
                    amaf_visits = max(amaf_visits, np.int64(amaf[e].amaf_visits))
        number = after_edges + 1
    if again:
        used[SIMULATION] = 0
    return visits, amaf_visits


def numbers(graph: Graph) -> np.ndarray:
    """The numbers of all nodes, in memory order."""
    out = np.empty(int(graph.used[POSITIONS]), np.int32)
    assert all_nodes(bare(graph), out) == len(out)
    return out


@helper
def begin_amaf(graph, e):
    """Initialise an edge's AMAF value from its hint, or to none."""
    amaf_stats = graph.amaf[e]
    amaf_stats.amaf_visits = 0
    amaf_stats.amaf_total = 0.0
    if is_on(graph.has_hints):
        hint = graph.hints[e]
        amaf_stats.amaf_visits = hint.amaf_visits
        amaf_stats.amaf_total = F4(hint.amaf_visits) * hint.value
