"""Graph search where both players move at once, slowly: the specification's playout, line by line, over `Position`s.

A playout recurses: it ends at a node that was not evaluated before, and every node that it came through computes its two values
anew from all its children. Nodes are found by the key of their position, a node has n1 x n2 lists, and rewards lie on edges.
What the specification left open or got wrong is as follows:

    a child at which the game is over is evaluated when it is made: it is worth what the end pays
    the bonus has sqrt(max(1, N)), so that priors count on the first choice too
    a pair is played once, when its edge is made
    the key is the game's, with scores where the end depends on them
    values are seen as shares of the stake, unless `scaled` is off: then of half the game's declared range
    chance draws an event where the game has some; ties are broken by the lowest outcome, or drawn

It draws the same random numbers in the same order as the kernels, so that graphs can be compared node for node.
"""

import math
from typing import Any

import numpy as np
from pytest import approx

import anabranch as ab
from anabranch.games.rules import CHANCE
from anabranch.jit.random import below, generator, uniform
from anabranch.search.memory.graph import LOCKED, WAITING
from anabranch.search.memory.layout import NO_NODE
from anabranch.search.results.read import edge_records
from anabranch.search.simultaneous.read import read_node

F4 = np.float32  # priors of pairs are kept in single precision
DECOUPLED, UNIFORM, CONTINUE = ab.Decoupled(), ab.Uniform(), ab.graphs.Continue()


class PairNode:
    """A position, what each player can do there, and what came of every pair. Values are lists of one number a player."""

    def __init__(self, position: Any) -> None:
        self.position = position
        self.over = position.is_over
        self.evaluated = False
        self.U: list[float] = []  # what the evaluator says
        self.Q: list[float] = []
        self.ends = 0  # visits, if the game is over here
        self.chance = not self.over and position.to_play == CHANCE
        if self.over:
            self.evaluated, self.U, self.Q = True, list(position.returns), list(position.returns)
            self.outcomes: list[list[int]] = [[], []]
        elif self.chance:  # one row, a column for each event that can happen
            self.outcomes = [[0], position.legal_actions]
        else:
            self.outcomes = [sorted(position.outcomes(player)) for player in range(2)]
        n1, n2 = self.shape = len(self.outcomes[0]), len(self.outcomes[1])
        self.priors: list[list[float]] = [[1.0] * n2 for _ in range(n1)]  # of pairs; of events, their probabilities
        self.edge_visits = [[0] * n2 for _ in range(n1)]
        self.edge_rewards = [[[0.0, 0.0] for _ in range(n2)] for _ in range(n1)]
        self.children: list[list[PairNode | None]] = [[None] * n2 for _ in range(n1)]

    @property
    def total(self) -> int:
        return sum(sum(row) for row in self.edge_visits)

    @property
    def visits(self) -> int:
        """Its own evaluation, or its ends, and all visits of its edges."""
        return self.ends if self.over else int(self.evaluated) + self.total

    def pairs(self, player: int, i: int) -> list[tuple[int, int]]:
        """The edges of a player's outcome i, one for each reply."""
        n1, n2 = self.shape
        return [(i, j) for j in range(n2)] if player == 0 else [(j, i) for j in range(n1)]

    def marginal_visits(self, player: int, i: int) -> int:
        return sum(self.edge_visits[a][b] for a, b in self.pairs(player, i))

    def marginal_prior(self, player: int, i: int) -> float:
        return sum(self.priors[a][b] for a, b in self.pairs(player, i))

    def worth(self, a: int, b: int, player: int) -> float:
        """r + Q(child) of a pair, now."""
        child = self.children[a][b]
        assert child is not None and child.evaluated, "a visited edge has an evaluated child"
        return self.edge_rewards[a][b][player] + child.Q[player]

    def recompute(self) -> None:
        """Q = (U + sum of visits times worth) / (1 + N)."""
        for player in range(2):
            total = 0.0
            for a, row in enumerate(self.edge_visits):
                for b, visits in enumerate(row):
                    if visits > 0:
                        total += visits * self.worth(a, b, player)
            self.Q[player] = (self.U[player] + total) / (1 + self.total)


class ReferencePairs:
    """A search; `nodes` has one node a position, or on a tree all of them."""

    @np.errstate(over="ignore")
    def __init__(
        self,
        game: Any,
        position: Any = None,
        *,
        select: Any = DECOUPLED,
        evaluate: Any = UNIFORM,
        graph: bool = True,
        ahead: Any = CONTINUE,
        ties: str = "seed",
        seed: int = 0,
    ) -> None:
        self.game, self.select, self.evaluator, self.graph = game, select, evaluate, graph
        self.ahead, self.ties, self.random = ahead, ties, generator(seed)
        self.nodes: dict[Any, PairNode] = {}
        self.merges = 0
        self.root = self.find_or_add(position or game.start())
        self.playout(self.root)  # evaluates it, and is not counted

    @np.errstate(over="ignore")
    def run(self, simulations: int) -> None:
        for _ in range(simulations):
            self.playout(self.root)

    def find_or_add(self, position: Any) -> PairNode:
        key = position.key if self.graph else len(self.nodes)
        if key in self.nodes:
            self.merges += 1
        else:
            self.nodes[key] = PairNode(position)
        return self.nodes[key]

    # --- one playout ---

    def playout(self, node: PairNode) -> None:
        if node.over:
            node.ends += 1
            return
        if not node.evaluated:
            self.evaluate(node)
            return
        a, b = self.select_pair(node)
        if node.children[a][b] is None:
            self.expand(node, a, b)
        child = node.children[a][b]
        assert child is not None
        if not self.has_enough(child, node.edge_visits[a][b]):
            self.playout(child)
        node.edge_visits[a][b] += 1
        node.recompute()

    def expand(self, node: PairNode, a: int, b: int) -> None:
        first, second = node.outcomes[0][a], node.outcomes[1][b]
        after = node.position.play(second if node.chance else (first, second))
        before = node.position.rewards
        node.edge_rewards[a][b] = [now - then for now, then in zip(after.rewards, before, strict=True)]
        node.children[a][b] = self.find_or_add(after)

    def has_enough(self, child: PairNode, edge_visits: int) -> bool:
        """Whether a child that other paths know better is not entered."""
        if isinstance(self.ahead, ab.graphs.Continue) or child.over or not child.evaluated:
            return False
        return child.visits > self.ahead.factor * edge_visits + self.ahead.number

    # --- evaluation ---

    def evaluate(self, node: PairNode) -> None:
        priors, node.U = self.ask(node)
        node.Q, node.evaluated = list(node.U), True
        if node.chance:
            likely = node.position.probabilities
            node.priors = [[float(F4(likely[event])) for event in node.outcomes[1]]]
            return
        each = [self.folded(node, player, priors) for player in range(2)]
        node.priors = [[float(F4(p * q)) for q in each[1]] for p in each[0]]

    def ask(self, node: PairNode) -> tuple[Any, list[float]]:
        """The evaluator's priors of both players' actions, if it has any, and its values."""
        low, high = self.game.value_range
        if isinstance(self.evaluator, ab.Uniform):
            paid = bool(self.game.rule("has_rewards")(None))
            values = [0.0 if paid else (low + high) / 2]
            priors = None
        else:
            given, found = self.evaluator(node.position.record())
            priors, values = None if given is None else given[0], [float(value) for value in np.ravel(found)]
        if self.game.value_width() == 1:
            return priors, [values[0], -values[0]]
        return priors, values * 2 if len(values) == 1 else values

    def folded(self, node: PairNode, player: int, priors: Any) -> list[float]:
        """A player's priors of its outcomes: those of all legal actions with the same outcome, added up."""
        if priors is None:
            return [1.0 / len(node.outcomes[player])] * len(node.outcomes[player])
        same = node.position.outcomes(player)
        sums = [sum(float(priors[player][action]) for action in same[outcome]) for outcome in node.outcomes[player]]
        return [each / sum(sums) for each in sums]

    # --- selection ---

    def select_pair(self, node: PairNode) -> tuple[int, int]:
        if node.chance:
            left = uniform(self.random)
            for event, likely in enumerate(node.priors[0]):
                left -= likely
                if left < 0.0:
                    return 0, event
            return 0, len(node.priors[0]) - 1
        first, second = (self.select_outcome(node, player) for player in range(2))
        return first, second

    def select_outcome(self, node: PairNode, player: int) -> int:
        """The highest score; of equal ones the first, or one drawn."""
        chosen, met, best = 0, 0, -math.inf
        for i, score in enumerate(self.scores(node, player)):
            if score > best:
                chosen, met, best = i, 1, score
            elif score == best and self.ties == "seed":
                met += 1
                if below(self.random, met) == 0:
                    chosen = i
        return chosen

    def scores(self, node: PairNode, player: int) -> list[float]:
        """Q_p[i] + c P_p[i] sqrt(max(1, N)) / (1 + n_p[i])."""
        rule = self.select
        count, total = node.shape[player], node.total
        low, high = self.game.value_range
        unit = 1.0 / node.position._ask("stake") if rule.scaled else 2.0 / (high - low)
        priors = [node.marginal_prior(player, i) for i in range(count)]
        visits = [node.marginal_visits(player, i) for i in range(count)]
        bonus = rule.c * math.sqrt(max(1, total))
        found = []
        for i in range(count):
            if visits[i] > 0:  # the same with one division, as the kernels have it, so that ties are ties in both
                share = self.marginal_total(node, player, i) * unit
                score = (share * (1 + visits[i]) + bonus * priors[i] * visits[i]) / (visits[i] * (1 + visits[i]))
            else:
                score = self.first_play(node.Q[player] * unit, priors, visits) + bonus * priors[i]
            if node is self.root and 0 < visits[i] ** 2 < rule.forced * total * priors[i]:
                score = math.inf
            found.append(score)
        return found

    def first_play(self, value: float, priors: list[float], visits: list[int]) -> float:
        fpu = self.select.fpu
        if isinstance(fpu, ab.select.ConstantFPU):
            return fpu.value
        if isinstance(fpu, ab.select.ParentFPU):
            return value - fpu.offset
        return value - fpu.offset * math.sqrt(sum(p for p, n in zip(priors, visits, strict=True) if n > 0))

    def marginal_total(self, node: PairNode, player: int, i: int) -> float:
        """n_p[i] Q_p[i]: what a player's outcome brought on average over replies, weighed by one of the options A to D."""
        tried = [(a, b) for a, b in node.pairs(player, i) if node.edge_visits[a][b] > 0]
        if isinstance(self.select.replies, ab.simultaneous.ByReplies):  # D
            return sum(node.edge_visits[a][b] * node.worth(a, b, player) for a, b in tried)
        total, weight = 0.0, 0.0
        for a, b in tried:
            share = self.weight(node, 1 - player, b if player == 0 else a)
            total += share * node.worth(a, b, player)
            weight += share
        return total / weight * node.marginal_visits(player, i)

    def weight(self, node: PairNode, other: int, reply: int) -> float:
        """What a reply of the other player weighs, against whatever outcome."""
        prior, visits = node.marginal_prior(other, reply), node.marginal_visits(other, reply)
        if isinstance(self.select.replies, ab.simultaneous.ByPriors):  # A
            return prior
        return float(visits) if isinstance(self.select.replies, ab.simultaneous.ByVisits) else prior + visits  # B, C


# --- the fast search beside it ------------------------------------------------------------------------------------------------


def assert_same_pairs(search: Any, reference: ReferencePairs) -> int:
    """Walk both graphs in parallel from their roots: pairs, visits, rewards, priors and values of every node; how many there
    are."""
    graph = search.rooted.graph
    wide = graph.edges["total"].shape[1] > 1
    numbers: dict[int, int] = {}  # of the search's nodes, by the reference's
    new = [(int(search.rooted.root), reference.root, ())]
    while new:
        number, node, line = new.pop()
        what = f"after {line}"
        if id(node) in numbers:
            assert numbers[id(node)] == number, what  # one node there, one node here
            continue
        numbers[id(node)] = number
        assert int(graph.nodes["visits"][number]) == node.visits, what
        values = [float(value) for value in graph.nodes["mean"][number]]
        np.testing.assert_allclose(values, node.Q if wide else node.Q[:1], rtol=1e-12, atol=1e-12, err_msg=what)
        edges = edge_records(graph, number)
        if len(edges) == 0:
            assert node.over or node.total == 0, what
            continue
        pairs = [(a, b) for a in range(node.shape[0]) for b in range(node.shape[1])]
        each = 0 if node.chance else search.game.actions
        assert edges["action"].tolist() == [each * node.outcomes[0][a] + node.outcomes[1][b] for a, b in pairs], what
        assert edges["visits"].tolist() == [node.edge_visits[a][b] for a, b in pairs], what
        np.testing.assert_allclose(edges["prior"], [node.priors[a][b] for a, b in pairs], rtol=1e-6, err_msg=what)
        for e, (a, b) in enumerate(pairs):
            child, expected = int(edges["child"][e]), node.children[a][b]
            assert (child == NO_NODE) == (expected is None), what
            if expected is not None:
                if len(graph.rewards):
                    paid = node.edge_rewards[a][b] if wide else node.edge_rewards[a][b][:1]
                    assert graph.rewards[number + 1 + e].tolist() == paid, what
                move = node.outcomes[1][b] if node.chance else (node.outcomes[0][a], node.outcomes[1][b])
                new.append((child, expected, (*line, move)))
    assert len(set(numbers.values())) == len(numbers) == len(reference.nodes)
    return len(numbers)


def assert_pairs_add_up(search: Any) -> int:
    """What holds of every node at rest: counts and values follow from its edges, visited edges have evaluated children, and
    players' own priors sum to 1; how many nodes there are. `search` backs up means."""
    graph, game = search.rooted.graph, search.game
    if search.rooted.needs.merge:
        search.sweep()
    wide = graph.edges["total"].shape[1] > 1
    found: set[int] = set()
    new = [int(search.rooted.root)]
    while new:
        number = new.pop()
        if number in found:
            continue
        found.add(number)
        node, edges = graph.nodes[number], edge_records(graph, number)
        assert not node["flags"] & (LOCKED | WAITING)
        assert node["visits"] == node["own"] + edges["visits"].sum()
        if len(edges) == 0:
            continue
        assert not edges["pending"].any()
        assert node["own"] >= 1
        assert edges["prior"].sum() == approx(1.0, abs=1e-6)
        mean = (node["own"] * graph.headers["value"][number - 1] + edges["total"].sum(axis=0)) / node["visits"]
        np.testing.assert_allclose(node["mean"], mean, rtol=1e-9, atol=1e-9)
        assert (np.diff(edges["action"].astype(int)) > 0).all()
        tried = edges["visits"] > 0
        assert (edges["child"][tried] != NO_NODE).all()
        for e in np.flatnonzero(tried):
            child = int(edges["child"][e])
            assert graph.nodes["own"][child] >= 1  # evaluated, or over
            paid = graph.rewards[number + 1 + e] if len(graph.rewards) else np.zeros(2 if wide else 1)
            worth = paid + game.discount * graph.nodes["mean"][child]
            np.testing.assert_allclose(edges["total"][e] / edges["visits"][e], worth, rtol=1e-9, atol=1e-9)
        if node["player"] != CHANCE:
            grid = read_node(game, graph, number)
            assert grid.marginal(0, grid.visits).sum() == grid.marginal(1, grid.visits).sum() == edges["visits"].sum()
            np.testing.assert_allclose(np.outer(*(grid.marginal(p, grid.priors) for p in range(2))), grid.priors, atol=1e-6)
        new += [int(child) for child in edges["child"] if child != NO_NODE]
    return len(found)
