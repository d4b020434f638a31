"""The loop: descend, evaluate, back up.

`simulate` runs whole simulations inside one kernel. Where Python must evaluate, `descend_to_leaf` and `finish` are its two
halves, with the evaluator between them (`drive.py`). A simulation adds one visit to one edge of the root.
Read first: `graph.py`.
"""

from typing import Any, NamedTuple

from anabranch.games import rules
from anabranch.games.rules import CHANCE
from anabranch.jit import helper, kernel
from anabranch.jit.prefetch import prefetch
from anabranch.jit.random import below
from anabranch.search.backup import back_up
from anabranch.search.evaluate import LEAF_STATE, ROOT_STATE, evaluate
from anabranch.search.graph import EVALUATIONS, NO_NODE, POSITIONS, add_node, edges_of, slot, view
from anabranch.search.select import Scale, choose

PATH_FULL = -1  # a depth: the path is longer than its buffer; Python enlarges it and tries again
LINES_AHEAD = 3  # cache lines: a node and seven edges of 24 bytes
OUT_OF_ROOM = -2  # a node: the game is over at the leaf, but there is no room to keep that


class Limits(NamedTuple):
    """What bounds the growth of the graph, and the units of its values."""

    depth: int  # positions this many actions below the root stay leaves
    expand_after: int  # evaluations of a leaf before it gets a node
    scale: Scale
    discount: float


class Work(NamedTuple):
    """Scratch memory of one thread."""

    states: Any  # records: ROOT_STATE, LEAF_STATE, PLAYOUT_STATE
    random: Any  # u8 (1,): the generator
    path_nodes: Any  # i4 (depth,): nodes from the root down
    path_edges: Any  # i4 (depth,): the edge taken at each
    path_rewards: Any  # f8 (depth, width): what each edge paid
    values: Any  # f8 (width,): the leaf's value
    actions: Any  # i8 (largest number of edges,)
    probabilities: Any  # f8 (events,)
    rewards: Any  # f8 (players,)
    returns: Any  # f8 (players,)


@kernel
def simulate(graph, root, select, evaluator, operator, limits, work, count):
    """Run up to `count` simulations; gives the root and the number done, fewer only if the path buffer is full.

    If the root is NO_NODE, its node is made and evaluated first, and not counted: the graph is empty then, the game is not
    over in ROOT_STATE, and there is room.
    """
    done = 0
    while done < count or root == NO_NODE:
        depth = 0
        leaf = NO_NODE
        if root == NO_NODE:
            work.states[LEAF_STATE] = work.states[ROOT_STATE]
        else:
            depth, leaf = descend(graph, root, select, limits, work)
            if depth == PATH_FULL:
                break
            if leaf == NO_NODE:
                leaf = settle(graph, depth, work)
        if leaf == NO_NODE:
            evaluate(evaluator, work, limits.scale, limits.discount)
            graph.used[EVALUATIONS] += 1
        if root == NO_NODE:
            root = plant(graph, work)
        else:
            back_up(operator, graph, depth, limits.discount, work)
            done += 1
    return root, done


@helper
def plant(graph, work):
    """Make the root's node, with `work.values` as its evaluation."""
    graph.used[POSITIONS] += 1
    root = grow(graph, work.states[LEAF_STATE], work)
    own_evaluations(graph.nodes[root], 1, work.values)
    return root


# --- the same in halves, for evaluators in Python -----------------------------------------------------------------------


@kernel
def descend_to_leaf(graph, root, select, limits, work):
    """The first half of a simulation: its depth, and NO_NODE if the leaf wants an evaluation (else `work.values` has it)."""
    depth, leaf = descend(graph, root, select, limits, work)
    if leaf == NO_NODE and depth != PATH_FULL:
        leaf = settle(graph, depth, work)
    return depth, leaf


@kernel
def survey(work):
    """Who moves at LEAF_STATE and how many actions are legal, or events possible; they are in `work.actions`."""
    state = work.states[LEAF_STATE]
    player = rules.to_play(state)
    if rules.has_chance(state) and player == CHANCE:
        return player, possible_events(state, work)
    return player, rules.legal_actions(state, work.actions)


@kernel
def adopt(graph, depth, player, count, priors, limits, work):
    """Make the leaf at the end of the path (the root, if that is empty) a node with `count` edges, their `work.actions` and
    `priors`, and `work.values` as its evaluation; with no edges it is one where the game is over. Its number or NO_NODE."""
    shuffle_both(work.actions, priors, count, work.random)
    number = add_node(graph, player, work.actions, count)
    if number != NO_NODE:
        node = graph.nodes[number]
        own_evaluations(node, 1, work.values)
        for i in range(count):
            graph.edges[number + 1 + i].prior = priors[i]
        if depth > 0:
            edge = graph.edges[work.path_edges[depth - 1]]
            edge.child = number
            if edge.visits > 0:  # there was no room for it before
                node.visits += edge.visits
                for i in range(len(work.values)):
                    before = leaf_mean(graph, depth, limits.discount, work, i)
                    node.value[i] = (edge.visits * before + node.value[i]) / node.visits
    return number


@kernel
def finish(graph, depth, operator, limits, work):
    """The second half: back up `work.values`."""
    back_up(operator, graph, depth, limits.discount, work)


# --- what both are made of ------------------------------------------------------------------------------------------------


@helper
def descend(graph, root, select, limits, work):
    """Follow the selection rule from the root, playing on LEAF_STATE and noting the path.

    Gives its depth (or PATH_FULL) and the leaf: a node where the game is over, its outcome then in `work.values`, or
    NO_NODE for a position that wants an evaluation.
    """
    work.states[LEAF_STATE] = work.states[ROOT_STATE]
    state = work.states[LEAF_STATE]
    number = root
    depth = 0
    while graph.nodes[slot(number)].count > 0:
        if depth == len(work.path_edges):
            return PATH_FULL, NO_NODE
        chosen = choose(select, graph, number, limits.scale, work.random)
        edge = graph.edges[chosen]
        expect(graph, edge.child)
        step(state, edge.action, depth, work)
        work.path_nodes[depth] = number
        work.path_edges[depth] = chosen
        depth += 1
        number = edge.child
        if number == NO_NODE:
            if edge.visits < limits.expand_after or depth >= limits.depth or rules.is_over(state):
                return depth, NO_NODE
            number = promote(graph, depth, limits.discount, work)
            if number == NO_NODE:
                return depth, NO_NODE
    node = graph.nodes[slot(number)]
    node.visits += 1
    for i in range(len(node.value)):
        work.values[i] = node.value[i]
    return depth, number


@helper
def expect(graph, number):
    """Have a node and its first edges fetched while the action that leads there is played: trees outgrow the caches."""
    if number != NO_NODE:
        for line in range(LINES_AHEAD):
            prefetch(graph.nodes, number, line)


@helper
def step(state, action, depth, work):
    """Play an edge's action and note what it pays."""
    if rules.has_rewards(state):
        work.rewards[:] = 0.0
    rules.play(state, action, work.rewards)
    if rules.has_rewards(state):
        for i in range(rules.value_width(state)):
            work.path_rewards[depth, i] = work.rewards[i]


@helper
def promote(graph, depth, discount, work):
    """Make the leaf at the end of the path a node with edges; NO_NODE if there is no room."""
    number = grow(graph, work.states[LEAF_STATE], work)
    if number != NO_NODE:
        edge = graph.edges[work.path_edges[depth - 1]]
        for i in range(len(edge.total)):
            work.values[i] = leaf_mean(graph, depth, discount, work, i)
        own_evaluations(graph.nodes[number], edge.visits, work.values)
        edge.child = number
    return number


@helper
def leaf_mean(graph, depth, discount, work, i):
    """The mean of the evaluations that the leaf at the end of the path has had: its edge's, less the reward."""
    edge = graph.edges[work.path_edges[depth - 1]]
    mean = view(len(edge.total), graph.nodes[work.path_nodes[depth - 1]].player) * edge.total[i] / edge.visits
    if rules.has_rewards(work.states[LEAF_STATE]):
        mean -= work.path_rewards[depth - 1, i]
    return mean / discount


@helper
def own_evaluations(node, count, values):
    """Note how often a new node was evaluated, and the mean."""
    node.visits = count
    for i in range(len(node.value)):
        node.value[i] = values[i]


@helper
def grow(graph, state, work):
    """A new node for a state that is not over: edges with uniform priors in random order, or a chance event's with their
    probabilities. NO_NODE if there is no room."""
    player = rules.to_play(state)
    if rules.has_chance(state) and player == CHANCE:
        count = possible_events(state, work)
        number = add_node(graph, player, work.actions, count)
        if number != NO_NODE:
            for e in edges_of(graph, number):
                graph.edges[e].prior = work.probabilities[graph.edges[e].action]
        return number
    count = rules.legal_actions(state, work.actions)
    shuffle(work.actions, count, work.random)
    return add_node(graph, player, work.actions, count)


@helper
def possible_events(state, work):
    """Write the chance events that can happen into `work.actions`, their probabilities beside; how many there are."""
    work.probabilities[:] = 0.0
    rules.chance(state, work.probabilities)
    count = 0
    for event in range(len(work.probabilities)):
        if work.probabilities[event] > 0.0:
            work.actions[count] = event
            count += 1
    return count


@helper
def shuffle(actions, count, random):
    """Fisher-Yates: the order of a node's edges breaks ties between them."""
    for i in range(count - 1, 0, -1):
        j = below(random, i + 1)
        actions[i], actions[j] = actions[j], actions[i]


@helper
def shuffle_both(actions, priors, count, random):
    """The same for actions and their priors together."""
    for i in range(count - 1, 0, -1):
        j = below(random, i + 1)
        actions[i], actions[j] = actions[j], actions[i]
        priors[i], priors[j] = priors[j], priors[i]


@helper
def settle(graph, depth, work):
    """If the game is over at the leaf, write the outcome into `work.values` and keep it in a node (if there is room);
    that node, or NO_NODE if the leaf wants an evaluation."""
    state = work.states[LEAF_STATE]
    if not rules.is_over(state):
        return NO_NODE
    rules.returns(state, work.returns)
    for i in range(rules.value_width(state)):
        work.values[i] = work.returns[i]
    number = add_node(graph, CHANCE, work.actions, 0)
    if number == NO_NODE:
        return OUT_OF_ROOM
    edge = graph.edges[work.path_edges[depth - 1]]
    own_evaluations(graph.nodes[number], edge.visits + 1, work.values)
    edge.child = number
    return number
