"""Selection rules as they are used with networks, from their formulas line by line, on the slow search of `search.py`.

All numbers are in double precision and in the view of who moves; values are normalised to [-1, 1] by the game's declared range.
"""

import math

import numpy as np

import anabranch as ab
from anabranch.games.rules import CHANCE
from tests.reference.search import Edge, Node, ReferenceSearch


class NetworkSearch(ReferenceSearch):
    def __init__(self, game, position=None, **options):
        self.samples: dict[int, list[float]] = {}  # of each edge, by its id: what came up, to who moves
        super().__init__(game, position, **options)
        self.plan(0, np.zeros(game.actions))

    def plan(self, simulations: int, noise) -> None:
        """What Gumbel's root goes by from now on."""
        self.simulations, self.noise = simulations, noise
        self.before = {edge.action: edge.visits for edge in self.root.edges}

    # --- what is known of a node ---

    def normal(self, player: int, value: float) -> float:
        middle, factor = self.scale(player)
        return (value - middle) * factor

    def q(self, node: Node, edge: Edge) -> float:
        return self.normal(node.player, edge.mean(node.player))

    def tried(self, node: Node) -> int:
        return sum(edge.visits for edge in node.edges)

    def back_up(self, path, values) -> None:
        now = list(values)
        for node, edge, rewards in reversed(path):
            now = [reward + self.game.discount * value for reward, value in zip(rewards, now, strict=True)]
            if node.player != CHANCE:
                self.samples.setdefault(id(edge), []).append(self.normal(node.player, now[node.player]))
        super().back_up(path, values)

    # --- rules ---

    def choose(self, node: Node) -> Edge:
        if node.player == CHANCE:
            return super().choose(node)
        rule = self.select
        if isinstance(rule, ab.select.Forced):
            for edge in node.edges:
                if node is self.root and 0 < edge.visits < math.sqrt(rule.k * edge.prior * self.tried(node)):
                    return edge
            rule = rule.rule
        if isinstance(rule, ab.select.Gumbel) and node is self.root:
            return self.choose_in_turn(rule, node)
        scores = self.scores(rule, node)
        return node.edges[scores.index(max(scores))]

    def scores(self, rule, node: Node) -> list[float]:
        if isinstance(rule, ab.select.MuZero):
            return self.muzero(rule, node)
        if isinstance(rule, ab.select.Gumbel):
            policy = self.improved_policy(rule, node)
            return [share - edge.visits / (1 + self.tried(node)) for share, edge in zip(policy, node.edges, strict=True)]
        if isinstance(rule, ab.select.SprlPUCT):
            return [self.sprl(rule, node, edge) for edge in node.edges]
        if isinstance(rule, ab.select.KataGoPUCT):
            return [self.katago(rule, node, edge, edge.visits) for edge in node.edges]
        return [self.score(rule, node, edge) for edge in node.edges]

    def sprl(self, rule, node: Node, edge: Edge) -> float:
        w, n, p = (self.q(node, edge) * edge.visits if edge.visits else 0.0), edge.visits, edge.prior
        q = w / (1 + n) if n else self.first_play(rule.fpu, node)
        return q + rule.c * p * math.sqrt(self.tried(node)) / (1 + n)

    def katago(self, rule, node: Node, edge: Edge, w: int) -> float:
        total = self.tried(node)
        q = self.q(node, edge) if edge.visits else self.first_play(rule.root_fpu if node is self.root else rule.fpu, node)
        c = rule.c + rule.growth * math.log((total + rule.base) / rule.base)
        factor = 1 + rule.scale * (self.deviation(rule, node) / rule.usual - 1)
        return q + c * math.sqrt(total + 0.01) * factor * edge.prior / (1 + w)

    def deviation(self, rule, node: Node) -> float:
        values = [self.normal(node.player, values[node.player]) for values in node.evaluations]
        for edge in node.edges:
            values += self.samples.get(id(edge), [])
        if len(values) == 1:
            return rule.usual
        mean, square = sum(values) / len(values), sum(value * value for value in values) / len(values)
        with_usual = (rule.weight * (mean**2 + rule.usual**2) + len(values) * square) / (rule.weight + len(values) - 1)
        return math.sqrt(max(with_usual - mean**2, 0.0))

    def muzero(self, rule, node: Node) -> list[float]:
        n = node.visits
        own = self.normal(node.player, node.mean(node.player))
        values = [self.q(node, edge) for edge in node.edges if edge.visits]
        if isinstance(rule.q, ab.select.BetweenBounds):
            low, high = rule.q.low, rule.q.high
        else:
            low, high = min([own, *values]), max([own, *values])
        scores = []
        for edge in node.edges:
            q = (self.q(node, edge) - low) / max(high - low, 1e-8) if edge.visits else rule.q.untried
            c = rule.c + math.log((n + rule.base + 1) / rule.base)
            scores.append(q + math.sqrt(n) * edge.prior / (1 + edge.visits) * c)
        return scores

    # --- Gumbel ---

    def logits(self, rule, node: Node) -> np.ndarray:
        """ln P + sigma(completed Q)."""
        raw = self.normal(node.player, node.own_mean(node.player))
        tried = [edge for edge in node.edges if edge.visits]
        value = raw
        if rule.mixed and tried:
            weighted = sum(edge.prior * self.q(node, edge) for edge in tried) / sum(edge.prior for edge in tried)
            value = (raw + self.tried(node) * weighted) / (1 + self.tried(node))
        completed = np.array([self.q(node, edge) if edge.visits else value for edge in node.edges])
        if rule.rescale:
            completed = (completed - completed.min()) / max(completed.max() - completed.min(), 1e-8)
        most = max(edge.visits for edge in node.edges)
        return np.log([edge.prior for edge in node.edges]) + (rule.visit_offset + most) * rule.value_scale * completed

    def improved_policy(self, rule, node: Node) -> np.ndarray:
        logits = self.logits(rule, node)
        weights = np.exp(logits - logits.max())
        return weights / weights.sum()

    def choose_in_turn(self, rule, node: Node) -> Edge:
        new = [edge.visits - self.before[edge.action] for edge in node.edges]
        wanted = halving(min(rule.considered, len(node.edges)), self.simulations)[sum(new)]
        scores = self.logits(rule, node) + [self.noise[edge.action] for edge in node.edges]
        in_turn = [score if count == wanted else -math.inf for score, count in zip(scores, new, strict=True)]
        return node.edges[int(np.argmax(in_turn))]

    # --- forced playouts ---

    def pruned_visits(self, rule) -> dict[int, int]:
        """By action: visits without those that were forced and that PUCT would not have made."""
        node = self.root
        inner = rule.rule

        def puct(edge: Edge, n: int) -> float:
            value = float(self.value(node, edge))
            return value + inner.c * edge.prior * math.sqrt(node.visits) / (1 + n)

        best = max(node.edges, key=lambda edge: edge.visits)
        kept = {best.action: best.visits}
        for edge in node.edges:
            if edge is not best:
                forced = math.sqrt(rule.k * edge.prior * self.tried(node))
                n = edge.visits
                while n > 1 and edge.visits - (n - 1) <= forced and puct(edge, n - 1) < puct(best, best.visits):
                    n -= 1
                kept[edge.action] = n if n > 1 else 0
        return kept


def halving(considered: int, simulations: int) -> list[int]:
    """Sequential halving, simulation by simulation: how many visits the action has whose turn it is."""
    if considered == 1:
        return list(range(simulations))
    phases = math.ceil(math.log2(considered))
    visits = [0] * considered
    sequence: list[int] = []
    left = considered
    while len(sequence) < simulations:
        for _ in range(max(1, simulations // (phases * left))):
            for action in range(left):
                sequence.append(visits[action])
                visits[action] += 1
        left = max(2, left // 2)
    return sequence[:simulations]
