"""A slow, obvious tree search: what the kernels of `anabranch.search` should compute, written from the definitions.

Nodes and edges are objects, and a node holds its position. A value is always a list with one number a player, so that no
sign is ever flipped: in a zero-sum game of two, the second number is the first one negated. It draws the same random
numbers in the same order as the kernels, so that trees can be compared node for node (`tests/search/trees.py`).
"""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import anabranch as ab
from anabranch.games.rules import CHANCE, random_event
from anabranch.jit import readable
from anabranch.jit.random import below, generator, uniform

F4 = np.float32  # the kernels' selection rules compute in single precision where `F4` stands
UCT, ROLLOUT, MEAN = ab.UCT(), ab.Rollout(), ab.backup.Mean()  # the defaults of `Search`


@dataclass
class Edge:
    action: int  # or chance event
    prior: float
    players: int
    visits: int = 0
    total: list[float] = field(default_factory=list)  # of what followed, the edge's own reward included
    evaluations: list[list[float]] = field(default_factory=list)  # of the position it leads to, while that is a leaf
    child: "Node | None" = None

    def __post_init__(self) -> None:
        self.total = [0.0] * self.players

    def mean(self, player: int) -> float:
        return self.total[player] / self.visits


@dataclass(eq=False)
class Node:
    state: Any  # an array of one record
    player: int  # who moves, or CHANCE
    evaluations: list[list[float]]  # the position's own; once the game is over, its outcome, as often as it was met
    edges: list[Edge]  # none: the game is over

    @property
    def visits(self) -> int:
        return len(self.evaluations) + sum(edge.visits for edge in self.edges)

    def own_mean(self, player: int) -> float:
        return sum(values[player] for values in self.evaluations) / len(self.evaluations)

    def mean(self, player: int) -> float:
        """Q(n): of its own evaluations and of all that came up through its edges."""
        through_edges = sum(edge.total[player] for edge in self.edges)
        return (through_edges + len(self.evaluations) * self.own_mean(player)) / self.visits


class ReferenceSearch:
    @np.errstate(over="ignore")  # random numbers wrap around
    def __init__(
        self,
        game,
        position=None,
        *,
        select=UCT,
        evaluate=ROLLOUT,
        backup=MEAN,
        depth=math.inf,
        expand_after=1,
        seed=0,
    ) -> None:
        self.game = game
        self.select, self.evaluator, self.backup = select, evaluate, backup
        self.depth, self.expand_after = depth, expand_after
        self.random = generator(seed)
        self.path: list[Any] = []  # of the running simulation: nodes, the edges taken there, and what these paid
        state = readable((position or game.start()).record())
        priors, values = self.evaluate(state)
        self.root = self.new_node(state, [values], priors)

    @np.errstate(over="ignore")
    def run(self, simulations: int) -> None:
        for _ in range(simulations):
            self.simulate()

    # --- one simulation ---

    def simulate(self) -> None:
        node, path = self.root, []
        self.path = path
        while True:
            edge = self.choose(node)
            state, rewards = self.play(node.state, edge.action)
            path.append((node, edge, rewards))
            if edge.child is None:
                if self.is_over(state):
                    edge.child = Node(state, CHANCE, [], [])
                elif edge.visits >= self.expand_after and len(path) < self.depth:
                    edge.child = self.new_node(state, edge.evaluations)
                else:
                    priors, values = self.evaluate(state)
                    edge.evaluations.append(values)
                    if self.evaluates_in_python and len(path) < self.depth:  # its priors must be kept
                        edge.child = self.new_node(state, edge.evaluations, priors)
                    break
            node = edge.child
            if not node.edges:
                values = self.returns(node.state)
                node.evaluations.append(values)
                break
        self.learn(path, values)
        self.back_up(path, values)

    def learn(self, path, values) -> None:
        """What a simulation that found `values` at its end teaches besides; nothing here (see `select/rave.py`)."""

    def new_node(self, state, evaluations, priors=None) -> Node:
        """A node for a position that is not over; its edges in random order, which breaks ties."""
        player = self.game.rule("to_play")(state[0])
        if player == CHANCE:
            priors = self.probabilities(state)
            actions = [event for event, probability in enumerate(priors) if probability > 0]
        else:
            actions = self.legal_actions(state)
            weights = np.array([1.0 if priors is None else priors[action] for action in actions])
            priors = dict(zip(actions, weights / weights.sum(), strict=True))
        if player != CHANCE or self.evaluates_in_python:
            for last in range(len(actions) - 1, 0, -1):  # Fisher-Yates
                other = below(self.random, last + 1)
                actions[last], actions[other] = actions[other], actions[last]
        return Node(state, player, evaluations, self.new_edges(state, player, actions, priors))

    def new_edges(self, state, player, actions, priors) -> list[Edge]:
        return [Edge(action, float(F4(priors[action])), self.game.players) for action in actions]

    def back_up(self, path, values) -> None:
        """Add the outcome to all edges of the path, and let the operator say what goes on upwards."""
        values = list(values)
        replaces = False  # whether `values` are all that the node below is worth, and not one more sample of it
        for node, edge, rewards in reversed(path):
            edge.visits += 1
            for player in range(self.game.players):
                values[player] = values[player] * self.game.discount + rewards[player]
                edge.total[player] = values[player] * edge.visits if replaces else edge.total[player] + values[player]
            if not isinstance(self.backup, ab.backup.Mean):
                values = self.worth(node)
                replaces = True

    def worth(self, node: Node) -> list[float]:
        """A node's value by the backup operator."""
        mean = [node.mean(player) for player in range(self.game.players)]
        if isinstance(self.backup, ab.backup.Mean) or node.player == CHANCE:
            return mean
        weight = 1.0 if isinstance(self.backup, ab.backup.Max) else self.backup.weight
        tried = [edge for edge in node.edges if edge.visits]
        if not tried:
            return mean
        best = max(tried, key=lambda edge: edge.mean(node.player))
        return [(1.0 - weight) * mean[player] + weight * best.mean(player) for player in range(self.game.players)]

    # --- selection ---

    def choose(self, node: Node) -> Edge:
        if node.player != CHANCE:
            return max(node.edges, key=lambda edge: self.score(self.select, node, edge))  # the first of equals
        left = uniform(self.random)
        for edge in node.edges:
            left -= edge.prior
            if left < 0:
                return edge
        return node.edges[-1]

    def score(self, rule, node: Node, edge: Edge) -> float:
        n, all_n = self.visits_of(edge), self.visits_at(node)
        if isinstance(rule, ab.UCT):
            if not n:
                return F4(self.first_play(rule.fpu, node))
            return self.value(node, edge) + F4(rule.c) * np.sqrt(F4(math.log(all_n))) * np.sqrt(F4(1) / F4(n))
        value = float(self.value(node, edge)) if n else self.first_play(rule.fpu, node)
        if isinstance(rule, ab.Greedy):
            return value
        c = rule.c + rule.growth * math.log((all_n + rule.base) / rule.base)
        return value + c * edge.prior * math.sqrt(all_n) / (1 + n)

    def value(self, node: Node, edge: Edge) -> F4:
        """Q of an edge for the player who moves, from the declared range to [-1, 1]."""
        middle, factor = self.scale(node.player)
        return (F4(self.total_of(node, edge)) * (F4(1) / F4(self.visits_of(edge))) - F4(middle)) * F4(factor)

    # Visits and totals as rules see them: a heuristic adds to them (`select/rave.py`).

    def visits_of(self, edge: Edge) -> int:
        return edge.visits

    def visits_at(self, node: Node) -> int:
        return node.visits

    def total_of(self, node: Node, edge: Edge) -> float:
        return edge.total[node.player]

    def first_play(self, fpu, node: Node) -> float:
        """The value of an edge that was never tried."""
        if isinstance(fpu, ab.select.ConstantFPU):
            return fpu.value
        middle, factor = self.scale(node.player)
        parent = (node.mean(node.player) - middle) * factor
        if isinstance(fpu, ab.select.ParentFPU):
            return parent - fpu.offset
        visited_prior = sum(edge.prior for edge in node.edges if edge.visits)
        return parent - fpu.offset * math.sqrt(visited_prior)

    def scale(self, player: int) -> tuple[float, float]:
        """The middle of what the player can get, and the factor that makes half of the range 1."""
        low, high = self.game.value_range
        if self.is_duel and player == 1:
            low, high = -high, -low
        return (low + high) / 2, 2 / (high - low)

    # --- evaluation ---

    @property
    def evaluates_in_python(self) -> bool:
        return not isinstance(self.evaluator, ab.Uniform | ab.Rollout)

    def evaluate(self, state) -> tuple[Any, list[float]]:
        """Priors over all actions (None: uniform), and values."""
        if isinstance(self.evaluator, ab.Uniform):
            return None, self.middles()
        if isinstance(self.evaluator, ab.Rollout):
            playouts = [self.play_out(state) for _ in range(self.evaluator.playouts)]
            sums = [sum(values[player] for values in playouts) for player in range(self.game.players)]
            return None, [total / len(playouts) for total in sums]
        priors, values = self.evaluator(state)
        if self.is_duel:  # it gave the value for the player to move
            own = float(values[0])
            values = [[-own, own]] if self.game.rule("to_play")(state[0]) == 1 else [[own, -own]]
        return None if priors is None else priors[0], [float(value) for value in np.ravel(values)]

    def play_out(self, state) -> list[float]:
        """The discounted sum of all that a random game pays from here."""
        values = [0.0] * self.game.players
        weight = 1.0
        for _ in range(self.evaluator.cutoff):
            state, rewards = self.play(state, self.random_action(state))
            values = [value + weight * reward for value, reward in zip(values, rewards, strict=True)]
            weight *= self.game.discount
            if self.is_over(state):
                end = self.returns(state)
                break
        else:
            end = self.guess(state)
        return [value + weight * last for value, last in zip(values, end, strict=True)]

    def guess(self, state) -> list[float]:
        """The game's heuristic where a playout is cut off."""
        out = np.array(self.middles())
        self.game.rule("heuristic")(state[0], out)
        return [float(out[0]), -float(out[0])] if self.is_duel else [float(value) for value in out]

    def middles(self) -> list[float]:
        return [self.scale(player)[0] for player in range(self.game.players)]

    # --- the game ---

    @property
    def is_duel(self) -> bool:
        return self.game.players == 2 and self.game.zero_sum

    def play(self, state, action) -> tuple[Any, list[float]]:
        following = state.copy()
        rewards = np.zeros(self.game.players)
        self.game.rule("play")(following[0], action, rewards)
        return following, [float(reward) for reward in rewards]

    def is_over(self, state) -> bool:
        return bool(self.game.rule("is_over")(state[0]))

    def returns(self, state) -> list[float]:
        out = np.zeros(self.game.players)
        self.game.rule("returns")(state[0], out, self.random)
        return [float(value) for value in out]

    def legal_actions(self, state) -> list[int]:
        return [action for action in range(self.game.actions) if self.game.rule("is_legal")(state[0], action)]

    def probabilities(self, state) -> list[float]:
        out = np.zeros(self.game.events)
        self.game.rule("chance")(state[0], out)
        return [float(probability) for probability in out]

    def random_action(self, state) -> int:
        if self.game.rule("to_play")(state[0]) == CHANCE:
            return random_event(state[0], np.zeros(self.game.events), self.random)
        return self.game.rule("random_action")(state[0], self.random)
