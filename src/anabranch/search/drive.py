"""Drivers: who plays and evaluates during a simulation.

    KernelDriver     a compiled game, an evaluator inside the kernel: whole batches of simulations in one call
    CallableDriver   a compiled game, a Python callable f(states) -> (priors, values) between two kernels
    ObjectDriver     a game of Python objects: kernels walk the tree, Python plays and evaluates

All three grow the same graph by the same rules. Above: `searcher.py`, the face. Below: `simulate.py`, the kernels.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from anabranch.errors import EvaluatorError
from anabranch.games.objects import ObjectGame
from anabranch.games.rules import CHANCE
from anabranch.jit import readable
from anabranch.jit.random import below, generator, uniform
from anabranch.search.evaluate import LEAF_STATE, Rollout, Uniform
from anabranch.search.graph import EVALUATIONS, NO_NODE, POSITIONS, Graph
from anabranch.search.simulate import (
    PATH_FULL,
    Limits,
    Work,
    adopt,
    descend_to_leaf,
    finish,
    simulate,
    survey,
)

NEVER = 2**31 - 1  # a leaf that Python evaluated without room for a node stays a leaf: only its evaluator knows its priors
FIRST_PATH = 256  # length of the path buffer to begin with; it doubles when a simulation goes deeper


class Rules(NamedTuple):
    """The options that kernels are compiled for."""

    select: Any
    evaluate: Any
    backup: Any


class Driver:
    """Runs simulations from a root; one a search tree."""

    def __init__(self, game: Any, options: Rules, limits: Limits, graph: Graph, record: np.ndarray, seed: int) -> None:
        self.game, self.options, self.limits, self.graph = game, options, limits, graph
        width = graph.nodes["value"].shape[1]
        self.work = Work(
            states=np.concatenate([record] * 3),
            random=generator(seed),
            path_nodes=np.zeros(FIRST_PATH, np.int32),
            path_edges=np.zeros(FIRST_PATH, np.int32),
            path_rewards=np.zeros((FIRST_PATH, width)),
            values=np.zeros(width),
            actions=np.zeros(max(game.actions, game.events), np.int64),
            probabilities=np.zeros(game.events),
            rewards=np.zeros(game.players),
            returns=np.zeros(game.players),
        )

    def plant(self) -> int:
        """Make and evaluate the root's node; its number."""
        raise NotImplementedError

    def run(self, root: int, count: int) -> int:
        """Run up to `count` simulations; the number done, fewer only after `lengthen_path` was needed."""
        raise NotImplementedError

    def move_root(self, record: np.ndarray) -> None:
        """The root's state is now this one."""
        self.work.states[0] = record[0]

    def renumber(self, new_numbers: np.ndarray) -> None:
        """Nodes have moved: `new_numbers[old]` is where to, or NO_NODE."""

    def lengthen_path(self) -> None:
        """Make room for simulations twice as deep."""
        depth, width = self.work.path_rewards.shape
        self.work = self.work._replace(
            path_nodes=np.zeros(2 * depth, np.int32),
            path_edges=np.zeros(2 * depth, np.int32),
            path_rewards=np.zeros((2 * depth, width)),
        )


class KernelDriver(Driver):
    """All in one kernel."""

    def plant(self) -> int:
        return self._simulate(NO_NODE, 0)[0]

    def run(self, root: int, count: int) -> int:
        _, done = self._simulate(root, count)
        if done < count:
            self.lengthen_path()
        return done

    def _simulate(self, root: int, count: int) -> tuple[int, int]:
        select, evaluate, backup = self.options
        return simulate(self.graph, root, select, evaluate, backup, self.limits, self.work, count)


class PythonDriver(Driver):
    """What the two that evaluate in Python share."""

    slice_limit = 16  # simulations between two looks at the clock

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.limits = self.limits._replace(expand_after=NEVER)
        self.priors = np.zeros(len(self.work.actions), np.float32)

    def plant(self) -> int:
        self.work.states[LEAF_STATE] = self.work.states[0]
        player, count = self.evaluate_leaf(0)
        self.graph.used[POSITIONS] += 1
        root = self.adopt(0, player, count)
        descend_to_leaf.compile(self.graph, root, self.options.select, self.limits, self.work)
        finish.compile(self.graph, 1, self.options.backup, self.limits, self.work)
        return root

    def run(self, root: int, count: int) -> int:
        for done in range(min(count, self.slice_limit)):
            depth, leaf = descend_to_leaf(self.graph, root, self.options.select, self.limits, self.work)
            if depth == PATH_FULL:
                self.lengthen_path()
                return done
            if leaf == NO_NODE:
                player, edges = self.evaluate_leaf(depth)
                if edges == 0 or depth < self.limits.depth:
                    self.adopt(depth, player, edges)
            finish(self.graph, depth, self.options.backup, self.limits, self.work)
        return min(count, self.slice_limit)

    def adopt(self, depth: int, player: int, count: int) -> int:
        """Make the leaf a node."""
        return int(adopt(self.graph, depth, player, count, self.priors, self.limits, self.work))

    def evaluate_leaf(self, depth: int) -> tuple[int, int]:
        """Fill `work.values`, `work.actions` and `priors`; who moves at the leaf, and how many edges it has."""
        raise NotImplementedError

    def keep_answer(self, answer: Any, player: int, count: int) -> None:
        """Check an evaluator's answer for the leaf and take it over."""
        priors, values = read_answer(answer, self.game.actions, len(self.work.values))
        self.work.values[:] = -values if len(values) == 1 and player == 1 else values
        actions = self.work.actions[:count]
        if player == CHANCE:
            self.priors[:count] = self.work.probabilities[actions]
        elif priors is None:
            self.priors[:count] = 1.0 / count
        else:
            legal = priors[actions]
            if not legal.sum() > 0.0:
                raise EvaluatorError(
                    "the evaluator gave every legal action the prior 0; give legal actions some weight, "
                    "or return None instead of priors for uniform ones"
                )
            self.priors[:count] = legal / legal.sum()
        self.graph.used[EVALUATIONS] += 1


class CallableDriver(PythonDriver):
    """A compiled game and a Python evaluator."""

    def evaluate_leaf(self, depth: int) -> tuple[int, int]:
        player, count = survey(self.work)
        states = self.work.states[LEAF_STATE : LEAF_STATE + 1].copy()
        self.keep_answer(ask(self.options.evaluate, readable(states)), player, count)
        return player, count


class ObjectDriver(PythonDriver):
    """A game of Python objects."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.root_object: Any = None
        self.objects: dict[int, Any] = {}  # of each node
        self.leaf: Any = None

    def adopt(self, depth: int, player: int, count: int) -> int:
        number = super().adopt(depth, player, count)
        if number != NO_NODE:
            self.objects[number] = self.leaf
        return number

    def renumber(self, new_numbers: np.ndarray) -> None:
        kept = ((int(new_numbers[old]), position) for old, position in self.objects.items())
        self.objects = {new: position for new, position in kept if new != NO_NODE}

    def evaluate_leaf(self, depth: int) -> tuple[int, int]:
        game: ObjectGame = self.game
        if depth == 0:
            self.leaf = self.root_object
        else:
            parent = self.objects[int(self.work.path_nodes[depth - 1])]
            action = int(self.graph.edges["action"][self.work.path_edges[depth - 1]])
            self.leaf = game.play(parent, action)
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
        evaluator = self.options.evaluate
        if isinstance(evaluator, Uniform):
            values = np.full(len(self.work.values), self.limits.scale.middle)
        elif isinstance(evaluator, Rollout):
            playouts = [self.play_out(self.leaf, evaluator.cutoff) for _ in range(evaluator.playouts)]
            values = np.mean(playouts, axis=0)[: len(self.work.values)]
        else:
            return ask(evaluator, [self.leaf])
        return None, (-values if len(values) == 1 and player == 1 else values)[None]

    def play_out(self, position: Any, cutoff: int) -> np.ndarray:
        """A random game from here; its returns, or the middle of the range if it is cut off."""
        game: ObjectGame = self.game
        weight = 1.0
        for _ in range(cutoff):
            position = game.play(position, self.random_action(position))
            weight *= self.limits.discount
            if game.is_over(position):
                return weight * np.asarray(game.returns(position), float)
        return np.full(game.players, weight * self.limits.scale.middle)

    def random_action(self, position: Any) -> int:
        """A legal action, each equally likely, or a chance event by its probability."""
        at_chance = self.game.to_play(position) == CHANCE
        choices = self.game.probabilities(position) if at_chance else self.game.legal_actions(position)
        with np.errstate(over="ignore"):  # random numbers wrap around
            if not at_chance:
                return int(choices[below(self.work.random, len(choices))])
            sums = np.cumsum(choices)
            return int(np.searchsorted(sums, uniform(self.work.random) * sums[-1], "right"))


def ask(evaluator: Callable[..., Any], states: Any) -> Any:
    """Call a user's evaluator; what it raises is told as its own fault."""
    try:
        return evaluator(states)
    except Exception as error:
        name = getattr(evaluator, "__name__", type(evaluator).__name__)
        raise EvaluatorError(f"the evaluator {name} raised {type(error).__name__}: {error}") from error


def read_answer(answer: Any, actions: int, width: int) -> tuple[np.ndarray | None, np.ndarray]:
    """The priors (or None) and values of one position out of f's answer for a batch of one."""
    try:
        priors, values = answer
    except (TypeError, ValueError):
        raise EvaluatorError(f"an evaluator returns (priors, values), but this one returned {type(answer).__name__}") from None
    values = _array(values, "values", (1,) if width == 1 else (1, width), (1, width))
    if priors is not None:
        priors = _array(priors, "priors", (1, actions), (1, actions))
        if (priors < 0.0).any():
            raise EvaluatorError("the evaluator gave a negative prior; priors are probabilities (logits want a softmax first)")
        priors = priors[0]
    return priors, values.reshape(-1)


def _array(data: Any, what: str, shape: tuple[int, ...], also: tuple[int, ...]) -> np.ndarray:
    """Numbers of the wanted shape, without NaN or infinity."""
    try:
        array = np.asarray(data, np.float64)
    except (TypeError, ValueError):
        raise EvaluatorError(f"the evaluator's {what} are not numbers") from None
    if array.shape not in (shape, also):
        batch = f"(positions{''.join(f', {size}' for size in shape[1:])})"
        raise EvaluatorError(f"the evaluator's {what} have the shape {array.shape}; for one position it is {shape}: {batch}")
    if not np.isfinite(array).all():
        raise EvaluatorError(f"the evaluator's {what} hold NaN or infinity; check its input and its last layer")
    return array
