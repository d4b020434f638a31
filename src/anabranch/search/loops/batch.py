"""Simulations in batches: many descents under way, their leaves evaluated together by one call of Python.

`process_batch` backs up the waiting leaves with their evaluations, then descends until new leaves wait. It works on many
searches at once, whose memory is in the rows of common arrays (a `stack`), so that hundreds of games fill one batch and a call
from Python costs the same for all of them as for one.

A descent has a **lane**: its own path and states. A leaf waits in its lane; a position that already waits is not evaluated
twice: the second descent to it becomes a **duplicate**, which keeps its virtual loss, so that the next one goes elsewhere, and
is withdrawn with the batch. A simulation that needs no evaluation is backed up at once, but a batch takes no more of these than
it has room for leaves, so that they do not outrun the waiting ones. Read first: `graph.py`, `select/virtual_loss.py`. Above:
`drivers/batch.py`.
"""

from typing import Any, NamedTuple

import numpy as np

from anabranch.games.rules import CHANCE
from anabranch.jit import by_pointer, helper, kernel, refer
from anabranch.jit.written import replacing
from anabranch.search.backup.bounds import is_proven
from anabranch.search.backup.path import withdraw
from anabranch.search.evaluate.no_legal_action import is_stuck
from anabranch.search.evaluate.rollout import LEAF_STATE
from anabranch.search.loops.graph import (
    AT_EDGE,
    MEMORY_FULL,
    PATH_FULL,
    PROVEN,
    STUCK,
    WANTS_VALUE,
    ascend,
    descend,
    reach_root,
    record_value,
)
from anabranch.search.loops.graph_stages import adopt, survey_leaf
from anabranch.search.loops.steps import Work, choices
from anabranch.search.memory.graph import NOT_WAITING, WAITING, row_of, weigh
from anabranch.search.memory.layout import NO_NODE, REFUSED, is_on, slot
from anabranch.search.memory.locks import lock, lock_in_place, unlock

# The fields of `status` for each search.
DONE = 0  # simulations that were backed up
WAIT = 1  # leaves that wait
DUPLICATES = 2  # descents to leaves that already waited
WHY = 3  # why no more simulations start: GOES_ON, PATH_FULL, PROVEN, MEMORY_FULL, STUCK
COLLISIONS = 4  # duplicates so far
STATUS_FIELDS = 5
GOES_ON = 0
LEFT_OUT = -1  # in `counts`: this search does not even get a root
NO_FAULT = -1


@by_pointer
class Lanes(NamedTuple):
    """Room for descents under way. The first axis is the search, the second the lane: leaves from the front, duplicates from
    the back."""

    states: Any  # records (searches, lanes, 3): see `rollout.ROOT_STATE`
    random: Any  # u8 (searches, 1)
    path_nodes: Any  # i4 (searches, lanes, depth)
    path_edges: Any
    path_rewards: Any  # f8 (searches, lanes, depth, width)
    depths: Any  # i4 (searches, lanes)
    leaves: Any  # i4 (searches, lanes): the leaf's node, or NO_NODE
    exhausted: Any  # u8 (searches, keys, 2)
    status: Any  # i8 (searches, STATUS_FIELDS)


@kernel
def process_batch(
    stack, roots, select, operator, graph_rules, limits, work, lanes, counts, refusals, priors, values, weights, forget
):
    """Back up the waiting leaves with these priors, values and weights, in the order of searches and lanes; then start up to
    `counts` simulations in each search. Returns NO_FAULT; or, having done nothing, the first leaf whose legal actions all have
    prior 0.

    With `forget`, withdraw everything under way instead, as if there had been no descents."""
    if forget:
        withdraw_all(stack, work, lanes)
        return NO_FAULT
    fault = check(lanes, priors, work)
    if fault != NO_FAULT:
        return fault
    row = 0
    for s in range(len(roots)):
        graph = refer(row_of(stack, s))
        lanes.status[s, DONE] = 0
        for leaf in range(lanes.status[s, WAIT]):
            lane = refer(lane_of(work, lanes, s, leaf))
            if is_on(graph.has_weights) and lanes.leaves[s, leaf] != NO_NODE:
                weigh(graph, lanes.leaves[s, leaf], weights[row])
            number = receive_answers(graph, operator, graph_rules, limits, lane, lanes, s, leaf, priors[row], values[row])
            if lanes.depths[s, leaf] > 0:
                lanes.status[s, DONE] += 1
            else:
                roots[s] = number
            row += 1
        lanes.status[s, WAIT] = 0
        drop_duplicates(graph, lanes, s, work)
        gather(graph, roots[s], select, operator, graph_rules, limits, work, lanes, s, counts[s], refusals[s])
    return NO_FAULT


@helper
def withdraw_all(stack, work, lanes):
    """Withdraw everything under way."""
    for s in range(len(lanes.status)):
        graph = refer(row_of(stack, s))
        for leaf in range(lanes.status[s, WAIT]):
            number = lanes.leaves[s, leaf]
            if number != NO_NODE:
                release(graph, number)
            withdraw(graph, 0, lanes.depths[s, leaf], refer(lane_of(work, lanes, s, leaf)))
        lanes.status[s, WAIT] = 0
        drop_duplicates(graph, lanes, s, work)


# --- down -----------------------------------------------------------------------------------------------------------------


@helper
def gather(graph, root, select, operator, graph_rules, limits, work, lanes, s, count, refusals):
    """Start simulations until `count` of them are done or wait, or the batch is full."""
    status = lanes.status[s]
    status[WHY] = GOES_ON
    if count == LEFT_OUT:
        return
    if root == NO_NODE or graph.nodes[slot(root)].count == 0:
        await_root(graph, root, limits, work, lanes, s)
        return
    most = lanes.states.shape[1] // 2
    settled = 0
    while status[WAIT] < most and settled < most and status[DUPLICATES] < most and settled + status[WAIT] < count:
        if graph.used[REFUSED] >= refusals:
            status[WHY] = MEMORY_FULL
            break
        if is_on(graph.has_bounds) and is_proven(graph, root):
            status[WHY] = PROVEN
            break
        leaf_lane = status[WAIT]
        lane = refer(lane_of(work, lanes, s, leaf_lane))
        depth, leaf, end = descend(graph, root, select, graph_rules, limits, lane)
        if end == PATH_FULL:
            withdraw(graph, 0, depth, lane)
            status[WHY] = PATH_FULL
            break
        lanes.depths[s, leaf_lane] = depth
        lanes.leaves[s, leaf_lane] = leaf
        if end == WANTS_VALUE and leaf != NO_NODE and not claim(graph, leaf):
            make_duplicate(lanes, s, leaf_lane, depth)
        elif end == WANTS_VALUE and survey_leaf(lane)[1] > 0:
            status[WAIT] += 1
        elif is_stuck(lane):
            if leaf != NO_NODE:
                release(graph, leaf)
            withdraw(graph, 0, depth, lane)
            status[WHY] = STUCK
            break
        else:
            if end == WANTS_VALUE:  # over, but without room for a node to record it
                end = AT_EDGE
            ascend(graph, depth, operator, graph_rules, end, limits, lane)
            settled += 1
    status[DONE] += settled
    if (
        status[WAIT] == 0
    ):  # the leaves wait in other threads, or the search cannot go on: nothing would withdraw these duplicates later
        drop_duplicates(graph, lanes, s, work)


@helper
def claim(graph, leaf):
    """Mark a leaf as waiting; False if it already waits, or another thread has just expanded it."""
    leaf = lock_in_place(graph, leaf)
    node = graph.nodes[slot(leaf)]
    is_free = (node.flags & WAITING) == 0 and node.count == 0
    if is_free:
        node.flags |= WAITING
    unlock(graph, leaf)
    return is_free


@helper
def release(graph, leaf):
    """Mark the leaf as no longer waiting."""
    lock(graph, leaf)
    graph.nodes[slot(leaf)].flags &= NOT_WAITING
    unlock(graph, leaf)


@helper
def await_root(graph, root, limits, work, lanes, s):
    """Let the root itself be the leaf that waits; its node is created if there is none."""
    lane = refer(lane_of(work, lanes, s, 0))
    number = reach_root(graph, root, limits, lane)[1]
    if number == NO_NODE:
        lanes.status[s, WHY] = MEMORY_FULL
        return
    if survey_leaf(lane)[1] == 0:
        lanes.status[s, WHY] = STUCK
        return
    lanes.depths[s, 0] = 0
    lanes.leaves[s, 0] = number
    claim(graph, number)
    lanes.status[s, WAIT] = 1


@helper
def make_duplicate(lanes, s, lane, depth):
    """Move a descent to a lane at the back."""
    lanes.status[s, DUPLICATES] += 1
    lanes.status[s, COLLISIONS] += 1
    back = lanes.states.shape[1] - lanes.status[s, DUPLICATES]
    lanes.depths[s, back] = depth
    for d in range(depth):
        lanes.path_nodes[s, back, d] = lanes.path_nodes[s, lane, d]
        lanes.path_edges[s, back, d] = lanes.path_edges[s, lane, d]


@helper
def drop_duplicates(graph, lanes, s, work):
    """Withdraw the descents that found their leaf waiting."""
    last = lanes.states.shape[1] - 1
    for i in range(lanes.status[s, DUPLICATES]):
        withdraw(graph, 0, lanes.depths[s, last - i], refer(lane_of(work, lanes, s, last - i)))
    lanes.status[s, DUPLICATES] = 0


# --- up --------------------------------------------------------------------------------------------------------------------


@helper
def check(lanes, priors, work):
    """The first row whose legal actions all have the prior 0, or NO_FAULT."""
    row = 0
    for s in range(len(lanes.status)):
        for leaf in range(lanes.status[s, WAIT]):
            player, count = choices(lanes.states[s, leaf, LEAF_STATE], work)
            if player != CHANCE and not mass_of(priors[row], work.actions, count) > 0.0:
                return row
            row += 1
    return NO_FAULT


@helper
def mass_of(priors, actions, count):
    """The sum of the priors of legal actions."""
    mass = 0.0
    for i in range(count):
        mass += priors[actions[i]]
    return mass


@helper
def receive_answers(graph, operator, graph_rules, limits, work, lanes, s, lane, priors, values):
    """Back up a leaf with its evaluation and expand it; returns its new number."""
    depth, leaf = np.int64(lanes.depths[s, lane]), np.int64(lanes.leaves[s, lane])
    player, count = choices(work.states[LEAF_STATE], work)
    mass = mass_of(priors, work.actions, count) if player != CHANCE else 1.0
    for i in range(count):
        action = work.actions[i]
        work.priors[i] = work.probabilities[action] if player == CHANCE else priors[action] / mass
    for i in range(len(work.values)):
        work.values[i] = -values[i] if len(work.values) == 1 and player == 1 else values[i]
    if depth > 0 or graph.nodes[slot(leaf)].own == 0:
        record_value(graph, leaf, 1, work)
    number = leaf
    if leaf != NO_NODE:
        if depth < limits.depth:
            number = adopt(graph, leaf, player, count, depth, graph_rules, limits, work)
        else:
            release(graph, leaf)
    if depth > 0:
        ascend(graph, depth, operator, graph_rules, WANTS_VALUE if leaf != NO_NODE else AT_EDGE, limits, work)
    return number


# --- rows -------------------------------------------------------------------------------------------------------------------


_in_lane = replacing(Work, "states", "random", "path_nodes", "path_edges", "path_rewards", "exhausted")


@helper
def lane_of(work, lanes, s, lane):
    """The scratch memory of a descent: its own path and states, and the parts that all descents share."""
    return _in_lane(
        work,
        lanes.states[s, lane],
        lanes.random[s],
        lanes.path_nodes[s, lane],
        lanes.path_edges[s, lane],
        lanes.path_rewards[s, lane],
        lanes.exhausted[s],
    )
