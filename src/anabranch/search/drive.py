"""Drivers: who plays and evaluates during a simulation, and what is kept when the root moves.

    TreeDriver       a compiled game, an evaluator inside the kernel, a compact tree: whole batches of simulations in one call
    GraphDriver      the same on a graph (or a tree with proofs or repetitions)
    CallableDriver   a compiled game, a Python callable f(states) -> (priors, values) between two kernels, or a heuristic in
                     Python
    ObjectDriver     a game of Python objects: kernels walk the graph, Python plays and evaluates

Above: `searcher.py`, the face. Below: `simulate.py` and `simulate_graph.py`, the kernels; `answers.py`, what evaluators say.
"""

import threading
from typing import Any, NamedTuple

import numpy as np

from anabranch.games.objects import ObjectGame
from anabranch.games.rules import CHANCE
from anabranch.jit import readable
from anabranch.jit.options import is_option
from anabranch.jit.random import below, generator, uniform
from anabranch.search.answers import ask, priors_of, read_answer
from anabranch.search.collect import Forget, KeepReached, collect, forget, turn_page
from anabranch.search.evaluate import LEAF_STATE, Rollout, Uniform
from anabranch.search.graph import Graph, card_dtype, numbers
from anabranch.search.heuristic import ask_heuristic, check_advice
from anabranch.search.layout import NO_NODE, REFUSED, SIGNPOSTS, SLOTS, On, edge_dtype
from anabranch.search.prune import innermost
from anabranch.search.reuse import reroot
from anabranch.search.simulate import simulate
from anabranch.search.simulate_graph import (
    PATH_FULL,
    PROVEN,
    UNKNOWN,
    WANTS_VALUE,
    Manner,
    adopt_graph,
    advise_graph,
    descend_graph,
    descend_on,
    end_here,
    evaluate_graph,
    find_or_add,
    finish_graph,
    note_value,
    simulate_graph,
    survey,
)
from anabranch.search.stale import Ancestors, Staleness, measure, sort_children_first, sweep
from anabranch.search.steps import Limits, Work
from anabranch.search.trail import Trail, add_to_trail, begin_playout, end_playout, new_trail
from anabranch.search.tree import Tree

NEVER = 2**62  # a count that is not reached
WORTHWHILE = 0.05  # share of the slots that must be waste for memory to be collected
FIRST_PATH = 256  # length of the path buffer to begin with; it doubles when a simulation goes deeper


class Rules(NamedTuple):
    """The options that kernels are compiled for."""

    select: Any
    evaluate: Any
    backup: Any


class Setting(NamedTuple):
    """Everything that a driver is told."""

    game: Any
    rules: Rules
    limits: Limits
    manner: Manner
    collect: KeepReached | Forget
    memory: int
    heuristic: Any  # an option, a Python function, or None


class Driver:
    """Runs simulations from a root; one a search."""

    graph: Tree | Graph
    root = NO_NODE
    proven = False  # whether the root's value is known

    def __init__(self, setting: Setting, graph: Any, record: np.ndarray, exhausted: np.ndarray, seed: int) -> None:
        self.setting, self.game, self.rules, self.limits = setting, setting.game, setting.rules, setting.limits
        self.graph = graph
        width = graph.edges["total"].shape[1]
        ancestry = len(graph.nodes) if isinstance(setting.manner.stale, Ancestors) else 0
        self.work = Work(
            states=np.concatenate([record] * 3),
            random=generator(seed),
            path_nodes=np.zeros(FIRST_PATH, np.int32),
            path_edges=np.zeros(FIRST_PATH, np.int32),
            path_rewards=np.zeros((FIRST_PATH, width)),
            values=np.zeros(width),
            actions=np.zeros(max(self.game.actions, self.game.events), np.int64),
            probabilities=np.zeros(self.game.events),
            rewards=np.zeros(self.game.players),
            returns=np.zeros(self.game.players),
            exhausted=exhausted,
            ancestry=np.zeros((4, ancestry), np.int32),
            trail=trail_of(setting, isinstance(graph, Graph) and isinstance(graph.known, On), width),
        )

    def plant(self) -> None:
        """Make, evaluate and expand the root's node."""
        raise NotImplementedError

    def run(self, count: int) -> int:
        """Run up to `count` simulations; the number done. Fewer than one only if the root is proven or a buffer was full."""
        raise NotImplementedError

    def advance(self, child: int, position: Any, exhausted: np.ndarray) -> None:
        """The root's child becomes the root; what else is reached from there is kept."""
        raise NotImplementedError

    def lengthen_path(self) -> None:
        """Make room for simulations twice as deep."""
        depth, width = self.work.path_rewards.shape
        self.work = self.work._replace(
            path_nodes=np.zeros(2 * depth, np.int32),
            path_edges=np.zeros(2 * depth, np.int32),
            path_rewards=np.zeros((2 * depth, width)),
        )


def trail_of(setting: Setting, used: bool, width: int) -> Trail:
    """The scratch memory that AMAF values and heuristics need."""
    game, evaluator, rule = setting.game, setting.rules.evaluate, innermost(setting.rules.select)
    playouts = evaluator.playouts if isinstance(evaluator, Rollout) else 1
    return new_trail(used, game.players, max(game.actions, game.events), width, playouts, getattr(rule, "strict", True))


class TreeDriver(Driver):
    """All in one kernel, on a compact tree."""

    graph: Tree

    def plant(self) -> None:
        self.root = int(self._simulate(NO_NODE, 0)[0])

    def run(self, count: int) -> int:
        _, done = self._simulate(self.root, count)
        if done < count:
            self.lengthen_path()
        return done

    def _simulate(self, root: int, count: int) -> tuple[int, int]:
        select, evaluate, backup = self.rules
        return simulate(self.graph, root, select, evaluate, backup, self.limits, self.work, count)

    def advance(self, child: int, position: Any, exhausted: np.ndarray) -> None:
        reroot(self.graph, child)
        self.root = 0
        self.work.states[0] = position.record()[0]


class OnGraph(Driver):
    """What all drivers on graphs share: moving the root, making room, staleness."""

    graph: Graph

    def __init__(self, setting: Setting, *arguments: Any) -> None:
        super().__init__(setting, *arguments)
        self.manner = setting.manner
        self.resting = threading.Lock()  # held by whoever moves nodes, or sweeps over them
        self.waste = False  # whether there may be nodes that the root does not reach
        self.refused = 0

    def advance(self, child: int, position: Any, exhausted: np.ndarray) -> None:
        self.root = child
        self.waste = True
        self.proven = False
        self.enter_position(position)
        self.work = self.work._replace(exhausted=exhausted)
        if isinstance(self.graph.repeat, On) and self.graph.merge:
            order = sort_children_first(self.graph, numbers(self.graph))
            turn_page(self.graph, exhausted, self.limits, self.work, order)
            sweep(self.graph, self.rules.backup, self.limits, self.work, order)
        self.plant()
        if self.root == NO_NODE and child != NO_NODE:  # no room for its edges
            self.root = child
            self._renumber(collect(self.graph, child))
            self.plant()

    def enter_position(self, position: Any) -> None:
        """The root's position is this one."""
        self.work.states[0] = position.record()[0]

    def has_waste(self) -> bool:
        """Whether collecting is worth its while: the root has moved, or signposts fill a good part of the slots."""
        used = self.graph.used
        return self.waste or 2 * int(used[SIGNPOSTS]) > WORTHWHILE * int(used[SLOTS])

    def make_room(self) -> None:
        """Collect what can go, if memory was asked for in vain."""
        refused = int(self.graph.used[REFUSED])
        if refused == self.refused:
            return
        self.refused = refused
        with self.resting:
            if self.has_waste():
                self._renumber(collect(self.graph, self.root))
                self.waste = False
            elif isinstance(self.setting.collect, Forget):
                self._renumber(forget(self.graph, self.root, self.setting.collect.share))

    def _renumber(self, new_numbers: np.ndarray) -> None:
        self.root = int(new_numbers[self.root])
        self.renumbered(new_numbers)

    def renumbered(self, new_numbers: np.ndarray) -> None:
        """Nodes have moved: `new_numbers[old]` is where to, or NO_NODE."""

    def sweep(self) -> int:
        """Bring the graph to rest; the number of passes it took."""
        with self.resting:
            scratch = self.work._replace(values=self.work.values.copy(), rewards=self.work.rewards.copy())
            return int(sweep(self.graph, self.rules.backup, self.limits, scratch, self._reached()))

    def _reached(self) -> np.ndarray:
        """All nodes that the root reaches, children first."""
        return sort_children_first(self.graph, np.array([self.root], np.int32))

    def staleness(self) -> Staleness:
        """How far nodes are from what their children say."""
        width = self.work.values.shape[0]
        slots = self.graph.nodes[: int(self.graph.used[SLOTS])].copy()
        copy = self.graph._replace(
            nodes=slots,
            cards=slots.view(card_dtype(width)),
            edges=slots.view(edge_dtype(width)),
            bounds=self.graph.bounds[: len(slots)].copy(),
        )
        return Staleness(*map(float, measure(copy, self._reached(), self.rules.backup, self.limits, self.work)))


class GraphDriver(OnGraph):
    """All in one kernel."""

    def plant(self) -> None:
        self.root = int(simulate_graph(*self._arguments(0))[0])
        check_advice(self.manner.heuristic, self.work.trail)

    def run(self, count: int) -> int:
        _, done, why = simulate_graph(*self._arguments(count))
        self.proven = why == PROVEN
        check_advice(self.manner.heuristic, self.work.trail)
        if why == PATH_FULL:
            self.lengthen_path()
        self.make_room()
        return done

    def _arguments(self, count: int) -> tuple[Any, ...]:
        select, evaluate, backup = self.rules
        can_make_room = self.has_waste() or isinstance(self.setting.collect, Forget)
        refusals = int(self.graph.used[REFUSED]) + 1 if can_make_room else NEVER
        return self.graph, self.root, select, evaluate, backup, self.manner, self.limits, self.work, count, refusals


class PythonDriver(OnGraph):
    """What the two that evaluate in Python share."""

    slice_limit = 16  # simulations between two looks at the clock

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.limits = self.limits._replace(expand_after=NEVER)  # only the evaluator knows a leaf's priors
        self.priors = np.zeros(len(self.work.actions), np.float32)

    def run(self, count: int) -> int:
        for done in range(min(count, self.slice_limit)):
            if self.root_is_proven():
                self.proven = True
                return done
            if not self.simulate():
                self.lengthen_path()
                return done
            self.make_room()
        return min(count, self.slice_limit)

    def root_is_proven(self) -> bool:
        """Whether nothing is left to find out."""
        if not isinstance(self.graph.prove, On):
            return False
        player = max(int(self.graph.nodes["player"][self.root]), 0)
        low, high = self.graph.bounds[self.root, :, player if self.graph.bounds.shape[2] > 1 else 0]
        return bool(low == high)

    def simulate(self) -> bool:
        """One simulation; False if the path's buffer is full."""
        depth, leaf, end = self.descend()
        if end == PATH_FULL:
            return False
        if end == WANTS_VALUE:
            player, count = self.evaluate_leaf(leaf, depth)
            note_value(self.graph, leaf, depth, int(count > 0), self.limits, self.work)
            if leaf != NO_NODE and depth < self.limits.depth:
                self.give_edges(leaf, player, count, depth)
        finish_graph(self.graph, depth, self.rules.backup, self.manner, end, self.limits, self.work)
        return True

    def plant_leaf(self, low: int, high: int) -> None:
        """Make, evaluate and expand the root's node, LEAF_STATE (or `leaf`) being its position."""
        if self.root == NO_NODE:
            key = np.uint64(low), np.uint64(high)
            self.root = int(find_or_add(self.graph, 0, *key, self.limits, self.work)[0])
        if self.root != NO_NODE and self.graph.nodes["count"][self.root] == 0:
            player, count = self.evaluate_leaf(self.root, 0)
            if self.graph.nodes["own"][self.root] == 0:
                note_value(self.graph, self.root, 0, 1, self.limits, self.work)
            self.root = self.give_edges(self.root, player, count, 0)
        if self.root != NO_NODE:
            finish_graph.compile(self.graph, 1, self.rules.backup, self.manner, 0, self.limits, self.work)

    def descend(self) -> tuple[int, int, int]:
        """The first half of a simulation."""
        return descend_graph(self.graph, self.root, self.rules.select, self.manner, self.limits, self.work)

    def give_edges(self, leaf: int, player: int, count: int, depth: int) -> int:
        """Make the leaf one that simulations go on from; its number from now on, or NO_NODE if there is no room."""
        if isinstance(self.graph.known, On):
            self.ask_advice(player, count, depth)
        return int(adopt_graph(self.graph, leaf, player, count, self.priors, self.manner, self.work))

    def ask_advice(self, player: int, count: int, depth: int) -> None:
        """Have the heuristic say what it thinks of the leaf's actions."""
        heuristic = self.setting.heuristic
        if player == CHANCE or heuristic is None:
            self.work.trail.hints[:count], self.work.trail.worth[:count] = 0.0, 0
        elif is_option(heuristic):
            advise_graph(self.graph, count, depth, self.manner, self.limits, self.work)
            check_advice(heuristic, self.work.trail)
        else:
            ask_heuristic(heuristic, self.leaf_for_python(), self.work.actions[:count], self.game.actions, self.work.trail)

    def leaf_for_python(self) -> Any:
        """The leaf as functions in Python see it."""
        raise NotImplementedError

    def evaluate_leaf(self, leaf: int, depth: int) -> tuple[int, int]:
        """Fill `work.values`, `work.actions` and `priors`; who moves at the leaf, and how many edges it has."""
        raise NotImplementedError

    def keep_answer(self, answer: Any, player: int, count: int) -> None:
        """Check an evaluator's answer for the leaf and take it over."""
        priors, values = read_answer(answer, self.game.actions, len(self.work.values))
        self.work.values[:] = -values if len(values) == 1 and player == 1 else values
        actions = self.work.actions[:count]
        self.priors[:count] = self.work.probabilities[actions] if player == CHANCE else priors_of(priors, actions)


class CallableDriver(PythonDriver):
    """A compiled game with an evaluator or a heuristic in Python."""

    def plant(self) -> None:
        self.work.states[LEAF_STATE] = self.work.states[0]
        with np.errstate(over="ignore"):
            low, high = self.game.rule("key")(readable(self.work.states)[LEAF_STATE])
        self.plant_leaf(int(low), int(high))
        if self.root != NO_NODE:
            descend_graph.compile(self.graph, self.root, self.rules.select, self.manner, self.limits, self.work)

    def evaluate_leaf(self, leaf: int, depth: int) -> tuple[int, int]:
        player, count = survey(self.work)
        if count == 0:
            return player, count
        if not is_option(self.rules.evaluate):
            self.keep_answer(ask(self.rules.evaluate, self.leaf_states()), player, count)
            return player, count
        evaluate_graph(self.rules.evaluate, self.limits, self.work)
        actions = self.work.actions[:count]
        self.priors[:count] = self.work.probabilities[actions] if player == CHANCE else 1.0 / count
        return player, count

    def leaf_states(self) -> Any:
        """LEAF_STATE, copied, in an array."""
        return readable(self.work.states[LEAF_STATE : LEAF_STATE + 1].copy())

    def leaf_for_python(self) -> Any:
        return self.leaf_states()[0]


class ObjectDriver(PythonDriver):
    """A game of Python objects."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.root_object: Any = None
        self.objects: dict[int, Any] = {}  # of each node
        self.leaf: Any = None

    def enter_position(self, position: Any) -> None:
        self.root_object = position

    def plant(self) -> None:
        self.leaf = self.root_object
        self.plant_leaf(*self.key(self.leaf))
        if self.root != NO_NODE:
            self.objects[self.root] = self.leaf

    def key(self, position: Any) -> tuple[int, int]:
        """The position's key, where it is asked for."""
        return self.game.key(position) if self.graph.merge or isinstance(self.graph.repeat, On) else (0, 0)

    def renumbered(self, new_numbers: np.ndarray) -> None:
        kept = ((int(new_numbers[old]), position) for old, position in self.objects.items())
        self.objects = {new: position for new, position in kept if new != NO_NODE}

    def leaf_for_python(self) -> Any:
        return self.leaf

    def give_edges(self, leaf: int, player: int, count: int, depth: int) -> int:
        number = super().give_edges(leaf, player, count, depth)
        if number not in (leaf, NO_NODE):
            self.objects[number] = self.objects.pop(leaf, self.leaf)
        return number

    def descend(self) -> tuple[int, int, int]:
        depth, leaf, end = super().descend()
        while end == UNKNOWN:
            self.meet(depth)
            depth, leaf, end = descend_on(self.graph, depth, self.rules.select, self.manner, self.limits, self.work)
        if leaf != NO_NODE and end == WANTS_VALUE:
            self.leaf = self.objects[int(leaf)]
        return depth, leaf, end

    def meet(self, depth: int) -> None:
        """Play the path's last action, and give its edge a node if there is room."""
        game: ObjectGame = self.game
        parent = self.objects[int(self.work.path_nodes[depth - 1])]
        self.leaf = game.play(parent, int(self.graph.edges["action"][self.work.path_edges[depth - 1]]))
        low, high = self.key(self.leaf)
        child, new = find_or_add(self.graph, depth, np.uint64(low), np.uint64(high), self.limits, self.work)
        if new and child != NO_NODE:
            self.objects[int(child)] = self.leaf
            if game.is_over(self.leaf):
                self.work.values[:] = game.returns(self.leaf)[: len(self.work.values)]
                end_here(self.graph, child, self.limits, self.work)

    def evaluate_leaf(self, leaf: int, depth: int) -> tuple[int, int]:
        game: ObjectGame = self.game
        if game.is_over(self.leaf):
            self.work.values[:] = game.returns(self.leaf)[: len(self.work.values)]
            return CHANCE, 0
        player = game.to_play(self.leaf)
        if player == CHANCE:
            self.work.probabilities[:] = game.probabilities(self.leaf)
            actions = np.flatnonzero(self.work.probabilities)
        else:
            actions = np.asarray(game.legal_actions(self.leaf), np.int64)
        self.work.actions[: len(actions)] = actions
        self.keep_answer(self.answer(player), player, len(actions))
        return player, len(actions)

    def answer(self, player: int) -> Any:
        """What the evaluator says of the leaf, in the form of a callable's answer."""
        evaluator = self.rules.evaluate
        if isinstance(evaluator, Uniform):
            values = np.full(len(self.work.values), self.limits.scale.middle)
        elif isinstance(evaluator, Rollout):
            values = np.zeros(len(self.work.values))
            for _ in range(evaluator.playouts):
                self.play_out(self.leaf, evaluator.cutoff, values)
            values /= evaluator.playouts
        else:
            return ask(evaluator, [self.leaf])
        return None, (-values if len(values) == 1 and player == 1 else values)[None]

    def play_out(self, position: Any, cutoff: int, values: np.ndarray) -> None:
        """A random game from here; its returns, or the middle of the range if it is cut off, are added to `values`."""
        game: ObjectGame = self.game
        trail = self.work.trail
        is_noted = isinstance(trail.used, On)
        place = begin_playout(trail, values) if is_noted else 0
        weight = 1.0
        for _ in range(cutoff):
            action, player = self.random_action(position), game.to_play(position)
            if is_noted and player != CHANCE:
                place = add_to_trail(trail, place, player, action)
            position = game.play(position, action)
            weight *= self.limits.discount
            if game.is_over(position):
                returns = np.asarray(game.returns(position), float)
                break
        else:
            returns = np.full(game.players, self.limits.scale.middle)
        values += weight * returns[: len(values)]
        if is_noted:
            end_playout(trail, place, values)

    def random_action(self, position: Any) -> int:
        """A legal action, each equally likely, or a chance event by its probability."""
        at_chance = self.game.to_play(position) == CHANCE
        choices = self.game.probabilities(position) if at_chance else self.game.legal_actions(position)
        with np.errstate(over="ignore"):  # random numbers wrap around
            if not at_chance:
                return int(choices[below(self.work.random, len(choices))])
            sums = np.cumsum(choices)
            return int(np.searchsorted(sums, uniform(self.work.random) * sums[-1], "right"))
