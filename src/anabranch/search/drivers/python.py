"""Drivers that run part of a simulation in Python.

    CallableDriver   a compiled game; an evaluator f(states) -> (priors, values) or a heuristic f(state) between two kernels
    ObjectDriver     a game of Python objects: kernels walk the graph, Python plays and evaluates

Read first: `base.py`. Below: `loops/graph_stages.py`, the kernels; `evaluate/python.py`, checks of evaluators' answers.
"""

from typing import Any

import numpy as np

from anabranch.errors import GameError
from anabranch.games.objects import ObjectGame
from anabranch.games.rules import CHANCE
from anabranch.interrupts import released
from anabranch.jit import readable
from anabranch.jit.options import is_option
from anabranch.jit.random import below, uniform
from anabranch.search.drivers.base import NEVER, OnGraph
from anabranch.search.evaluate.heuristic import ask_heuristic, check_advice
from anabranch.search.evaluate.no_legal_action import check_stuck, stuck_error
from anabranch.search.evaluate.playout_log import begin_evaluation, begin_playout, end_playout, log_action
from anabranch.search.evaluate.python import ask, priors_of, read_answer
from anabranch.search.evaluate.rollout import LEAF_STATE, Rollout, Uniform
from anabranch.search.loops.graph import AT_EDGE, PATH_FULL, UNKNOWN, WANTS_VALUE
from anabranch.search.loops.graph_stages import (
    adopt_graph,
    advise_graph,
    descend_graph,
    descend_on,
    end_here,
    evaluate_graph,
    find_or_add,
    finish_graph,
    note_value,
    survey,
)
from anabranch.search.memory.layout import NO_NODE, On


class PythonDriver(OnGraph):
    """What the two that evaluate in Python share."""

    slice_limit = 16  # simulations between two checks of the clock

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.limits = self.limits._replace(expand_after=NEVER)  # only the evaluator knows a leaf's priors

    def run(self, count: int, most: int) -> int:
        for done in range(min(count, self.slice_limit)):
            if self.root_is_proven():
                self.proven = True
                return done
            if not self.simulate():
                self.lengthen_path()
                return done
            self.make_room()
        return min(count, self.slice_limit)

    def simulate(self) -> bool:
        """One simulation; False if the path's buffer is full."""
        depth, leaf, end = self.descend()
        if end == PATH_FULL:
            return False
        if end == WANTS_VALUE:
            player, count = self.evaluate_leaf(leaf, depth)
            grows = leaf != NO_NODE and depth < self.limits.depth and count > 0
            if grows:
                self.ask_advice(player, count, depth)
            # Nothing of the simulation was counted so far, and nothing below runs user code.
            note_value(self.graph, leaf, int(count > 0), self.work)
            end = AT_EDGE if leaf == NO_NODE else end
            if grows:
                self.give_edges(leaf, player, count)
        finish_graph(self.graph, depth, self.rules.backup, self.graph_rules, end, self.limits, self.work)
        return True

    def plant_leaf(self, low: int, high: int) -> None:
        """Create, evaluate and expand the root's node, whose position is LEAF_STATE (or `leaf`)."""
        if self.root == NO_NODE:
            key = np.uint64(low), np.uint64(high)
            self.root = int(find_or_add(self.graph, 0, *key, self.limits, self.work)[0])
        if self.root != NO_NODE and self.graph.nodes["count"][self.root] == 0:
            player, count = self.evaluate_leaf(self.root, 0)
            self.ask_advice(player, count, 0)
            if self.graph.nodes["own"][self.root] == 0:
                note_value(self.graph, self.root, 1, self.work)
            self.root = self.give_edges(self.root, player, count)
        if self.root != NO_NODE:
            finish_graph.compile(self.graph, 1, self.rules.backup, self.graph_rules, 0, self.limits, self.work)

    def descend(self) -> tuple[int, int, int]:
        """The first half of a simulation."""
        return descend_graph(self.graph, self.root, self.rules.select, self.graph_rules, self.limits, self.work)

    def give_edges(self, leaf: int, player: int, count: int) -> int:
        """Expand the leaf; returns its new number, or NO_NODE if there is no room."""
        return int(adopt_graph(self.graph, leaf, player, count, self.graph_rules, self.work))

    def ask_advice(self, player: int, count: int, depth: int) -> None:
        """Ask the heuristic for hints on the leaf's actions, where hints are stored."""
        if not isinstance(self.graph.has_amaf, On):
            return
        heuristic = self.setting.heuristic
        if player == CHANCE or heuristic is None:
            self.work.playout_log.hints[:count], self.work.playout_log.worth[:count] = 0.0, 0
        elif is_option(heuristic):
            advise_graph(self.graph, count, depth, self.graph_rules, self.limits, self.work)
            check_advice(heuristic, self.work.playout_log)
        else:
            ask_heuristic(
                heuristic, self.leaf_for_python(), self.work.actions[:count], self.game.actions, self.work.playout_log
            )

    def leaf_for_python(self) -> Any:
        """The leaf as Python functions see it."""
        raise NotImplementedError

    def evaluate_leaf(self, leaf: int, depth: int) -> tuple[int, int]:
        """Fill `work.values`, `work.actions` and `work.priors`; returns who moves at the leaf, and how many edges it has."""
        raise NotImplementedError

    def keep_answer(self, answer: Any, player: int, count: int) -> None:
        """Check an evaluator's answer for the leaf and store it."""
        all_priors, all_values, _ = read_answer(answer, 1, self.game, self.work.values.shape[0], np.array([player]))
        values, actions = all_values[0], self.work.actions[:count]
        self.work.values[:] = -values if len(values) == 1 and player == 1 else values
        priors = None if all_priors is None else all_priors[0]
        self.work.priors[:count] = self.work.probabilities[actions] if player == CHANCE else priors_of(priors, actions)


class CallableDriver(PythonDriver):
    """A compiled game with an evaluator or a heuristic in Python."""

    def make_root(self) -> None:
        self.work.states[LEAF_STATE] = self.work.states[0]
        with np.errstate(over="ignore"):
            low, high = self.game.rule("key")(readable(self.work.states)[LEAF_STATE])
        self.plant_leaf(int(low), int(high))
        if self.root != NO_NODE:
            descend_graph.compile(self.graph, self.root, self.rules.select, self.graph_rules, self.limits, self.work)

    def evaluate_leaf(self, leaf: int, depth: int) -> tuple[int, int]:
        player, count = survey(self.work)
        check_stuck(self.game, self.work)
        if count == 0:
            return player, count
        if not is_option(self.rules.evaluate):
            self.keep_answer(ask(self.rules.evaluate, self.leaf_states()), player, count)
            return player, count
        evaluate_graph(self.rules.evaluate, self.limits, self.work)
        check_stuck(self.game, self.work)
        actions = self.work.actions[:count]
        self.work.priors[:count] = self.work.probabilities[actions] if player == CHANCE else 1.0 / count
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

    def enter(self, position: Any, exhausted: np.ndarray) -> None:
        self.work = self.work._replace(exhausted=exhausted)
        self.root_object = position

    def make_root(self) -> None:
        self.leaf = self.root_object
        self.plant_leaf(*self.key(self.leaf))
        if self.root != NO_NODE:
            self.objects[self.root] = self.leaf

    def key(self, position: Any) -> tuple[int, int]:
        """The position's key, where it is needed."""
        return self.game.key(position) if self.graph.merge or isinstance(self.graph.has_cuts, On) else (0, 0)

    def renumbered(self, new_numbers: np.ndarray) -> None:
        kept = ((int(new_numbers[old]), position) for old, position in self.objects.items())
        self.objects = {new: position for new, position in kept if new != NO_NODE}

    def leaf_for_python(self) -> Any:
        return self.leaf

    def give_edges(self, leaf: int, player: int, count: int) -> int:
        number = super().give_edges(leaf, player, count)
        if number not in (leaf, NO_NODE):
            self.objects[number] = self.objects.pop(leaf, self.leaf)
        return number

    def descend(self) -> tuple[int, int, int]:
        depth, leaf, end = super().descend()
        while end == UNKNOWN:
            self.meet(depth)
            depth, leaf, end = descend_on(self.graph, depth, self.rules.select, self.graph_rules, self.limits, self.work)
        if leaf != NO_NODE and end == WANTS_VALUE:
            self.leaf = self.objects[int(leaf)]
        return depth, leaf, end

    def meet(self, depth: int) -> None:
        """Play the path's last action, and give its edge a node if there is room."""
        game: ObjectGame = self.game
        width = len(self.work.values)
        parent = self.objects[int(self.work.path_nodes[depth - 1])]
        with released():
            self.leaf = game.play(parent, int(self.graph.edges["action"][self.work.path_edges[depth - 1]]))
            paid = game.paid(self.leaf)[:width] if game.has_rewards else None
            low, high = self.key(self.leaf)
            returns = game.returns(self.leaf)[:width] if game.is_over(self.leaf) else None
        if paid is not None:
            self.work.path_rewards[depth - 1] = self.graph.rewards[self.work.path_edges[depth - 1]] = paid
        child, new = find_or_add(self.graph, depth, np.uint64(low), np.uint64(high), self.limits, self.work)
        if new and child != NO_NODE:
            self.objects[int(child)] = self.leaf
            if returns is not None:
                self.work.values[:] = returns
                end_here(self.graph, child, self.limits, self.work)

    def evaluate_leaf(self, leaf: int, depth: int) -> tuple[int, int]:
        with released():
            return self._evaluate_leaf()

    def _evaluate_leaf(self) -> tuple[int, int]:
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
        if len(actions) == 0:
            raise nothing_to_play(game, self.leaf)
        self.work.actions[: len(actions)] = actions
        self.keep_answer(self.answer(player), player, len(actions))
        return player, len(actions)

    def answer(self, player: int) -> Any:
        """The evaluator's answer for the leaf, in the form that a callable returns."""
        evaluator = self.rules.evaluate
        if isinstance(evaluator, Uniform):
            values = np.full(len(self.work.values), self.limits.scale.middle)
        elif isinstance(evaluator, Rollout):
            values = np.zeros(len(self.work.values))
            begin_evaluation(self.work.playout_log)
            for _ in range(evaluator.playouts):
                self.play_out(self.leaf, evaluator.cutoff, values)
            values /= evaluator.playouts
        else:
            return ask(evaluator, [self.leaf])
        return None, (-values if len(values) == 1 and player == 1 else values)[None]

    def play_out(self, position: Any, cutoff: int, values: np.ndarray) -> None:
        """Play a random game from here and add its return, or the middle of the range if it is cut off, to `values`."""
        game: ObjectGame = self.game
        playout_log = self.work.playout_log
        is_noted = isinstance(playout_log.used, On)
        place = begin_playout(playout_log, values) if is_noted else 0
        weight = 1.0
        for _ in range(cutoff):
            action, player = self.random_action(position), game.to_play(position)
            if is_noted and player != CHANCE:
                place = log_action(playout_log, place, player, action)
            position = game.play(position, action)
            if game.has_rewards:
                values += weight * np.asarray(game.paid(position), float)[: len(values)]
            weight *= self.limits.discount
            if game.is_over(position):
                returns = np.asarray(game.returns(position), float)
                break
        else:
            returns = np.full(game.players, self.limits.scale.middle)
        values += weight * returns[: len(values)]
        if is_noted:
            end_playout(playout_log, place, values)

    def random_action(self, position: Any) -> int:
        """A legal action, uniformly at random, or a chance event by its probability."""
        at_chance = self.game.to_play(position) == CHANCE
        choices = self.game.probabilities(position) if at_chance else self.game.legal_actions(position)
        if not any(choices) if at_chance else not choices:
            raise nothing_to_play(self.game, position)
        with np.errstate(over="ignore"):  # random numbers wrap around
            if not at_chance:
                return int(choices[below(self.work.random, len(choices))])
            sums = np.cumsum(choices)
            return int(np.searchsorted(sums, uniform(self.work.random) * sums[-1], "right"))


def nothing_to_play(game: ObjectGame, position: Any) -> GameError:
    """The error for a position that is not over and has no legal action, or no chance event."""
    what = "no chance event has a probability above 0" if game.to_play(position) == CHANCE else "no action is legal"
    return stuck_error(game, what, str(position))
