"""Whether what was read from a file is a valid search: nothing in it may make a kernel misbehave, whoever wrote it.

Kernels trust what is in memory. So before one of them sees a file's slots,

    lay_out    goes through the used slots from node to node and marks where nodes start;
    walk       follows all edges from the root, plays their actions, and compares every node with the position reached there:
               its key, who moves, what is legal, whether the game is over; counts must add up, and values be finite.

The position of a node that is not reached is unknown. On graphs a simulation may find it by its key, so there it must be
reached from an earlier position of the game, or it is dropped; elsewhere nothing leads to it, and it stays as waste.
The table is not in the file. After this a file is safe, not necessarily true: values and proofs are whatever its writer put in.
Read first: `memory/tree.py`, `memory/graph.py`. Above: `save.py`.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from anabranch.games import rules
from anabranch.games.position import Position
from anabranch.jit import generic, helper, kernel
from anabranch.search.evaluate.rollout import LEAF_STATE, ROOT_STATE
from anabranch.search.loops.steps import Work
from anabranch.search.memory.collect import KEPT, slide
from anabranch.search.memory.columns import EMPTY
from anabranch.search.memory.graph import (
    CACHED,
    EXEMPT,
    EXHAUSTED,
    FIRST_TABLE,
    FREE,
    MOVED,
    NEXT,
    OVER,
    SOURCE,
    Graph,
    after,
    bare,
    child_of,
)
from anabranch.search.memory.layout import (
    END,
    EVALUATED,
    FORWARDINGS,
    MERGES,
    NO_NODE,
    PLANNED,
    POSITION_COST,
    POSITIONS,
    REFUSED,
    SIMULATION,
    SLOT_COST,
    SLOTS,
    SPARE,
    TABLE,
    On,
    slot,
)
from anabranch.search.memory.table import look_up, place, where
from anabranch.search.memory.tree import Tree
from anabranch.search.results.archive import Damaged
from anabranch.search.results.check_nodes import fits_edge, is_place_of, is_sound

NODE, FORWARDING, REACHED, LINKED = range(
    1, 5
)  # marks of slots: the start of a node; one that was walked to; an edge of a list
AT_REST = OVER | EXHAUSTED | EXEMPT | CACHED  # flags that a node may have between simulations
FAULT = -1  # instead of a count
MOST_COUNTED = 2**56  # by a counter of `used`: far below what drivers take for "never"
STATES = 2**24  # bytes of the states that a walk keeps of its path; beyond that, states are replayed


# --- counters ------------------------------------------------------------------------------------------------------------


def check_counters(graph: Tree | Graph, used: np.ndarray) -> None:
    """Raise unless `used`, which is not the graph's yet, counts what fits into this memory."""
    fine = all(0 <= used[i] <= MOST_COUNTED for i in (EVALUATED, REFUSED, MERGES, SIMULATION, FORWARDINGS, PLANNED))
    fine = fine and 1 <= used[POSITIONS] <= used[SLOTS] <= len(graph.nodes) and used[END] == used[SPARE] == 0
    fine = fine and all(used[i] == graph.used[i] for i in (SLOT_COST, POSITION_COST))
    if isinstance(graph, Graph) and graph.merge:
        table = int(used[TABLE])
        fine = (
            fine and FIRST_TABLE <= table <= len(graph.table) and table & (table - 1) == 0 and 8 * used[POSITIONS] <= 7 * table
        )
    else:
        fine = fine and used[TABLE] == 0
    if not fine:
        raise Damaged("counters")


def room_left(graph: Graph, memory: int) -> int:
    """How many of so many bytes a graph with these counters may still use; negative if threads used some more."""
    used = graph.used
    taken = used[SLOTS] * used[SLOT_COST] + used[POSITIONS] * used[POSITION_COST] + 8 * FIRST_TABLE * graph.merge
    return memory - int(taken)


# --- the whole -------------------------------------------------------------------------------------------------------------


def check(graph: Tree | Graph, root: int, work: Work, before: Iterable[Position]) -> int:
    """Raise unless a tree or graph that was read is sound; returns its root's new number. `work` has the root's position;
    `before`: the earlier positions of the game, the last one first."""
    slots = int(graph.used[SLOTS])
    marks = np.zeros(slots, np.uint8)
    live, forwardings = lay_out(graph, marks)
    if live == FAULT or not 0 <= root < slots or marks[root] != NODE or graph.nodes["count"][root] == 0:
        raise Damaged("slots")
    if isinstance(graph, Tree):
        _walk(graph, root, work, marks, live)
        return root
    if live != graph.used[POSITIONS] or forwardings < graph.used[FORWARDINGS] or not np.isfinite(graph.learnt).all():
        raise Damaged("counts")
    if graph.merge and not fill_table(bare(graph)):
        raise Damaged("keys")
    reached = _walk(graph, root, work, marks, live)
    if graph.merge and reached < live:
        reached += _walk_from(graph, before, work, marks, live - reached)
    if graph.merge and reached < live:
        return _drop(graph, root, marks)
    if isinstance(graph.has_links, On) and not has_sound_lists(bare(graph), marks):
        raise Damaged("links")
    return root


def _walk(graph: Any, number: int, work: Work, marks: np.ndarray, most: int) -> int:
    """Walk from a node at ROOT_STATE; returns how many nodes were newly reached, at most `most`."""
    states = np.empty(max(STATES // work.states.itemsize, 2), work.states.dtype)
    trip = Trip(states, np.empty((2, most), np.int32), np.zeros(len(work.actions), np.int64), marks)
    found = int(walk(graph, number, trip, work))
    if found == FAULT:
        raise Damaged("a node that is not a position of this game")
    return found


def _walk_from(graph: Graph, positions: Iterable[Position], work: Work, marks: np.ndarray, most: int) -> int:
    """Walk from all of these positions that have nodes, until all `most` are reached; returns how many were."""
    own, found = work.states[ROOT_STATE].copy(), 0
    for position in positions:
        if found == most:
            break
        low, high = position.key
        number = int(look_up(bare(graph), np.uint64(low), np.uint64(high)))
        if number != NO_NODE and marks[number] == NODE:
            work.states[ROOT_STATE] = position.record()[0]
            found += _walk(graph, number, work, marks, most - found)
    work.states[ROOT_STATE] = own
    return found


def _drop(graph: Graph, root: int, marks: np.ndarray) -> int:
    """Keep only nodes that were reached; returns the root's new number."""
    new_numbers = np.full(len(marks), NO_NODE, np.int32)
    new_numbers[marks == REACHED] = KEPT
    slide(graph, new_numbers)
    return int(new_numbers[root])


# --- slots -----------------------------------------------------------------------------------------------------------------


@generic
def ahead(graph):
    """How many slots before a node belong to it."""


@ahead.register(Tree)
def _ahead_in_tree(graph):
    return 0


@ahead.register(Graph)
def _ahead_in_graph(graph):
    return 1  # its header


@generic
def mark_of(graph, number):
    """What is at a slot where a node may start: NODE, FORWARDING or FAULT."""


@mark_of.register(Tree)
def _mark_in_tree(graph, number):
    return NODE


@mark_of.register(Graph)
def _mark_in_graph(graph, number):
    flags = graph.nodes[slot(number)].flags
    if flags == MOVED:
        return FORWARDING
    return NODE if (flags | AT_REST) == AT_REST else FAULT


@kernel
def lay_out(graph, marks):
    """Mark nodes and forwardings; returns how many there are of each. FAULT if they do not fill the used slots."""
    live = 0
    forwardings = 0
    number = np.int64(ahead(graph))
    while number < len(marks):
        mark = mark_of(graph, number)
        if mark == FAULT:
            return FAULT, FAULT
        marks[number] = mark
        if mark == NODE:
            live += 1
        else:
            forwardings += 1
        number += 1 + ahead(graph) + np.int64(graph.nodes[slot(number)].count)
    return (live, forwardings) if number == len(marks) + ahead(graph) else (FAULT, FAULT)


@kernel
def fill_table(graph):
    """Enter all nodes of a bare graph into the table; False if two have the same key."""
    for i in range(graph.used[TABLE]):
        graph.table[i] = FREE
    number = 1
    while number < graph.used[SLOTS]:
        if (graph.nodes[slot(number)].flags & MOVED) == 0:
            key = graph.headers[slot(number - 1)].key
            if graph.table[where(graph, key[0], key[1])] != FREE:
                return False
            place(graph, number)
        number = after(graph, number)
    return True


@kernel
def has_sound_lists(graph, marks):
    """Whether the lists of edges to each reached node of a bare graph are valid: each edge leads there, and is in one list
    once."""
    for number in range(len(marks)):
        if marks[number] == REACHED:
            e = np.int64(graph.heads[slot(number)])
            while e != EMPTY:
                if not 0 < e < len(marks) or marks[e] != 0:
                    return False
                marks[e] = LINKED
                source = np.int64(graph.links[slot(e), SOURCE])
                if not 0 < source < e or marks[source] != REACHED or e > source + np.int64(graph.nodes[slot(source)].count):
                    return False
                if child_of(graph, e) != number:
                    return False
                e = np.int64(graph.links[slot(e), NEXT])
    return True


# --- the walk ----------------------------------------------------------------------------------------------------------------


class Trip(NamedTuple):
    """What a walk needs. Levels are those of its path; the root's is 0."""

    states: Any  # records: a ring buffer, with the state of level d at d modulo its length
    path: Any  # i4 (2, nodes): a level's node, and how many of its edges were followed
    legal: Any  # i8 (edges,): one more than the last node at which an action was found to be legal
    marks: Any  # u1 (slots,)


@kernel
def walk(graph, root, trip, work):
    """Walk from a node at ROOT_STATE to all nodes below it, depth first; returns how many were newly reached, or FAULT."""
    states, marks = trip.states, trip.marks
    nodes, followed = trip.path[0], trip.path[1]
    size = len(states)
    states[0] = work.states[ROOT_STATE]
    found = 0
    level = -1
    oldest = 0  # the first level whose state is in the buffer
    child = np.int64(root)  # the node that the walk has just reached, or NO_NODE
    while True:
        if child != NO_NODE:
            state = states[(level + 1) % size]
            if not is_place_of(graph, child, state):
                return FAULT
            if marks[child] != REACHED:
                if found == len(nodes) or not is_sound(graph, child, state, trip.legal, work):
                    return FAULT
                marks[child] = REACHED
                found += 1
                level += 1
                nodes[level] = child
                followed[level] = 0
            elif not is_shared(graph):
                return FAULT
        number = np.int64(nodes[level])
        child = np.int64(NO_NODE)
        if followed[level] == np.int64(graph.nodes[slot(number)].count):
            level -= 1
            if level < 0:
                return found
            if level < oldest:
                oldest = play_anew(graph, level, trip, work)
            continue
        followed[level] += 1
        e = number + followed[level]
        if graph.edges[slot(e)].child != NO_NODE:
            child = target_of(graph, e, marks)
            if child == NO_NODE or not fits_edge(graph, e, child):
                return FAULT
            states[(level + 1) % size] = states[level % size]
            oldest = max(oldest, level + 2 - size)
            play_edge(graph, e, states[(level + 1) % size], work)


@helper
def play_edge(graph, e, state, work):
    """Play an edge's action, which is legal."""
    work.rewards[:] = 0.0
    rules.play(state, np.int64(graph.edges[slot(e)].action), work.rewards)


@helper
def play_anew(graph, level, trip, work):
    """Replay the states of the path down to this level into the buffer; returns the first level that it holds."""
    size = len(trip.states)
    work.states[LEAF_STATE] = work.states[ROOT_STATE]
    for d in range(level):
        if d > level - size:
            trip.states[d % size] = work.states[LEAF_STATE]
        play_edge(graph, np.int64(trip.path[0, d]) + trip.path[1, d], work.states[LEAF_STATE], work)
    trip.states[level % size] = work.states[LEAF_STATE]
    return max(level + 1 - size, 0)


@generic
def is_shared(graph):
    """Whether several edges may lead to one node."""


@is_shared.register(Tree)
def _is_shared_in_tree(graph):
    return False


@is_shared.register(Graph)
def _is_shared_in_graph(graph):
    return graph.merge


@generic
def target_of(graph, e, marks):
    """The node that an edge leads to, following forwardings, or NO_NODE if there is none where it should be."""


@target_of.register(Tree)
def _target_in_tree(graph, e, marks):
    child = np.int64(graph.edges[slot(e)].child)
    return child if 0 <= child < len(marks) and marks[child] in (NODE, REACHED) else np.int64(NO_NODE)


@target_of.register(Graph)
def _target_in_graph(graph, e, marks):
    child = np.int64(graph.edges[slot(e)].child)
    if 0 <= child < len(marks) and marks[child] in (NODE, REACHED, FORWARDING):
        child = np.int64(graph.nodes[slot(child)].moved_to) if marks[child] == FORWARDING else child
        if 0 <= child < len(marks) and marks[child] in (NODE, REACHED):
            return child_of(graph, e)
    return np.int64(NO_NODE)
