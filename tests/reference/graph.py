"""A slow, obvious graph search, after the pseudocode of "Monte-Carlo Graph Search from First Principles".

Nodes are found by their key; N and Q of a node are computed anew from its children whenever a simulation has passed. It draws
the same random numbers in the same order as the kernels, so that graphs can be compared node for node.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

import anabranch as ab
from anabranch.games.rules import CHANCE
from anabranch.jit.random import uniform
from tests.reference.search import Edge, Node, ReferenceSearch

INCREMENTAL, STOP = ab.graphs.Incremental(), ab.graphs.Stop()


@dataclass(eq=False)
class GraphNode(Node):
    over: bool
    q: list[float] = field(default_factory=list)  # as of the last update


class ReferenceGraph(ReferenceSearch):
    """The same games, rules and evaluators as the reference tree search, on a graph."""

    def __init__(self, *arguments: Any, update: Any = INCREMENTAL, ahead: Any = STOP, **options: Any) -> None:
        self.nodes: dict[tuple[int, int], GraphNode] = {}
        self.merges = 0
        self.evaluations = 0
        self.update, self.ahead = update, ahead
        super().__init__(*arguments, **options)

    def new_node(self, state, evaluations, priors=None) -> GraphNode:
        """The root, which always has edges."""
        node = self.find_or_add(state)[0]
        node.evaluations.extend(evaluations)
        node.q = self.worth(node)
        self.evaluations += 1
        self.expand(node)
        return node

    def find_or_add(self, state) -> tuple[GraphNode, bool]:
        with np.errstate(over="ignore"):
            key = tuple(int(half) for half in self.game.rule("key")(state[0]))
        new = key not in self.nodes
        if new:
            over = self.is_over(state)
            self.nodes[key] = GraphNode(state, CHANCE if over else self.game.rule("to_play")(state[0]), [], [], over)
        return self.nodes[key], new

    def expand(self, node: GraphNode) -> None:
        node.edges = super().new_node(node.state, []).edges

    def simulate(self) -> None:
        node, path, on_path = self.root, [], []
        self.path, values = path, None
        while True:
            on_path.append(node)
            if node.over:
                values = self.returns(node.state)
                node.evaluations.append(values)
                node.q = self.worth(node)
                break
            if not node.edges:
                if len(node.evaluations) < self.expand_after or len(path) >= self.depth:
                    values = self.evaluate(node.state)[1]
                    node.evaluations.append(values)
                    node.q = self.worth(node)
                    self.evaluations += 1
                    break
                self.expand(node)
            if isinstance(self.update, ab.graphs.Idempotent):
                for edge in node.edges:
                    self.look(edge)
            edge = self.choose(node)
            if edge.child is None:
                state, edge.rewards = self.play(node.state, edge.action)
                edge.child, new = self.find_or_add(state)
                self.merges += not new
            path.append((node, edge, edge.rewards))
            if edge.child in on_path or self.has_enough(edge):
                break
            node = edge.child
        if values is not None:  # one that was stopped has found nothing
            self.learn(path, values)
        for node, edge, _ in reversed(path):
            edge.visits += 1
            if isinstance(self.update, ab.graphs.Idempotent):
                for any_edge in node.edges:
                    self.look(any_edge)
            else:
                self.look(edge)
            node.q = self.worth(node)

    def look(self, edge: Edge) -> None:
        """Q(n, a) = r + gamma Q(child), now."""
        if edge.child is not None and edge.visits:
            worth = [r + self.game.discount * q for r, q in zip(edge.rewards, edge.child.q, strict=True)]
            edge.total = [edge.visits * value for value in worth]

    def has_enough(self, edge: Edge) -> bool:
        child = edge.child
        if child.over or child.visits == 0 or isinstance(self.ahead, ab.graphs.Continue):
            return False
        if child.visits <= self.ahead.factor * edge.visits + self.ahead.number:
            return False
        return self.ahead.leak == 0 or uniform(self.random) >= self.ahead.leak


def exact(moves: dict[int, list[int]], ends: dict[int, float], maximises: dict[int, bool]) -> dict[int, float]:
    """Values of all positions of a game without cycles, by dynamic programming; positions are numbered parents first."""
    values: dict[int, float] = {}
    for position in sorted({*moves, *ends}, reverse=True):
        if position in ends:
            values[position] = ends[position]
        else:
            best = max if maximises[position] else min
            values[position] = best(values[child] for child in moves[position])
    return values
