"""Slow, obvious RAVE and heuristics, after Gelly & Silver (2011), sections 4 and 5: equations in the comments are theirs.

`WithLore` adds them to the reference tree search and to the reference graph search. A simulation is written down as one list
of actions, and every rule about which of them count is read off that list, node by node and edge by edge.

Where the paper slips, its text is followed and not its pseudocode: Algorithm 2 updates Q~(s_t, a_u) with the difference to, and
the count of, (s_t, a_t), where (17) has a_u; "t = u mod 2" means that both have the same parity, and here that the same player
moves, since turns need not alternate; (19) has lost its root's bar: it is sqrt(k / (3 N(s) + k)), as (20) to (22) show. The
values of the paper are on [0, 1], ours on [-1, 1]. Like the kernels, this computes in single precision where `F4` stands.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

import anabranch as ab
from anabranch.games.rules import CHANCE
from anabranch.jit.random import uniform
from tests.reference.graph import ReferenceGraph
from tests.reference.search import F4, Edge, Node, ReferenceSearch

ZERO = F4(0)
SAMPLED_FROM = 32  # visits of an edge from which on it tells something about the bias of AMAF values
STAND_IN = 10  # visits that the value of first play is worth where there are no AMAF values


@dataclass
class LoreEdge(Edge):
    hint: F4 = ZERO  # 2 H - 1
    hint_visits: int = 0  # C
    amaf_visits: int = 0  # N~, with C~
    amaf_total: F4 = ZERO  # N~ Q~, normalised

    @property
    def amaf_mean(self) -> float:
        """Q~"""
        return float(self.amaf_total) / self.amaf_visits if self.amaf_visits else 0.0


# --- schedules ---


def minimum_mse(n, n_amaf, x):
    """(46) with x = b~^2 / (mu (1 - mu)), (47) with x = 4 b~^2."""
    return n_amaf / (n + n_amaf + n * n_amaf * x)


def beta(rule, n, n_amaf, all_n, q, q_amaf, learnt) -> F4:
    """The weight of the AMAF value. `all_n` is N(s), the sum of N(s, a); `learnt` are samples of the squared bias."""
    n, n_amaf = F4(n), F4(n_amaf)
    schedule = rule.schedule
    even = F4(4.0 * rule.bias * rule.bias)
    if isinstance(schedule, ab.select.MinimumMSE):
        return minimum_mse(n, n_amaf, even)
    if isinstance(schedule, ab.select.ExactMSE):  # mu* is what (47) says
        mu = F4(0.5) * (q + minimum_mse(n, n_amaf, even) * (q_amaf - q) + F4(1))
        mu = min(max(mu, F4(0.02)), F4(0.98))
        return minimum_mse(n, n_amaf, F4(rule.bias * rule.bias) / (mu * (F4(1) - mu)))
    if isinstance(schedule, ab.select.LearntBias):
        known = float(np.cumsum(learnt)[-1]) / len(learnt) if learnt else 0.0
        total = schedule.samples * rule.bias * rule.bias + len(learnt) * known
        return minimum_mse(n, n_amaf, F4(4.0 * max(total / (schedule.samples + len(learnt)), 1e-6)))
    if n == 0:
        return F4(1)
    if n_amaf == 0:
        return F4(0)
    if isinstance(schedule, ab.select.HandSelected):
        return F4(math.sqrt(schedule.k / (3.0 * all_n + schedule.k)))  # (19)
    return F4(1) if isinstance(schedule, ab.select.OnlyAmaf) else F4(0)


class WithLore:
    """What RAVE, heuristics and the rules around rules add to a reference search."""

    def __init__(self, *arguments: Any, heuristic: Any = None, **options: Any) -> None:
        self.heuristic = heuristic
        self.playouts: list[tuple[list[tuple[int, int]], list[float]]] = []  # of the last evaluation: actions and values
        self.learnt: list[float] = []
        super().__init__(*arguments, **options)

    @property
    def evaluates_in_python(self) -> bool:
        """A heuristic in Python is asked, and leaves get their edges, when they are evaluated."""
        is_function = self.heuristic is not None and not isinstance(self.heuristic, tuple)
        return super().evaluates_in_python or is_function

    # --- a simulation ---

    def simulate(self) -> None:
        self.playouts = []
        super().simulate()

    def play_out(self, state) -> list[float]:
        self.actions: list[tuple[int, int]] = []
        values = super().play_out(state)
        self.playouts.append((self.actions, values))
        return values

    def random_action(self, state) -> int:
        action = super().random_action(state)
        player = self.game.rule("to_play")(state[0])
        if player != CHANCE:
            self.actions.append((int(player), int(action)))
        return action

    # --- AMAF ---

    def learn(self, path, values) -> None:
        """Every playout is a simulation to AMAF values; an outcome in the tree is one without a playout."""
        for actions, found in self.playouts or [([], values)]:
            self.update_amaf(path, actions, found)

    def update_amaf(self, path, actions, values) -> None:
        played = [(node.player, edge.action) for node, edge, _ in path] + actions
        values = list(values)
        for t in reversed(range(len(path))):
            node, taken, rewards = path[t]
            values = [value * self.game.discount + reward for value, reward in zip(values, rewards, strict=True)]
            if node.player == CHANCE:
                continue
            middle, factor = self.scale(node.player)
            z = F4((values[node.player] - middle) * factor)
            for edge in node.edges:  # an action that is not legal here has no edge
                if self.counts(played[t:], node.player, edge.action):
                    edge.amaf_visits += 1  # (16)
                    edge.amaf_total += z  # (17), whose Q~ is the mean of all z
            self.learn_bias(node, taken)

    def counts(self, played, player, action) -> bool:
        """Whether the player plays the action from here on. Strict: and is the first to do so."""
        if not self.keeps_meaning(action):
            return False
        who = [someone for someone, what in played if what == action and someone != CHANCE]
        strict = getattr(innermost(self.select), "strict", True)
        return who[:1] == [player] if strict else player in who

    def keeps_meaning(self, action) -> bool:
        """Whether the game lets AMAF learn about this action."""
        return not isinstance(self.game, ab.Game) or bool(self.game.ask("keeps_meaning", self.game.start().record()[0], action))

    def learn_bias(self, node, edge) -> None:
        """At 32, 64, 128... visits: the squared difference of Q~ and Q on [0, 1], less the variance that chance alone gives it.

        The edge's own visits are a part of its AMAF visits; with p the share of the others, whose mean is M, the difference
        is p (M - Q), and chance makes that vary by p^2 mu (1 - mu) (1 / n + 1 / (n~ - n))."""
        n, n_amaf = edge.visits, edge.amaf_visits
        if n < SAMPLED_FROM or n.bit_count() != 1 or n_amaf <= n:
            return
        middle, factor = self.scale(node.player)
        q, q_amaf = (edge.mean(node.player) - middle) * factor, edge.amaf_mean
        p = (n_amaf - n) / n_amaf
        mu = 0.25 * (q + 1.0) + 0.25 * (q_amaf + 1.0)
        chance = mu * (1.0 - mu) * (1.0 / n + 1.0 / (n_amaf - n))
        self.learnt.append((0.5 * (q_amaf - q)) ** 2 - p * p * chance)

    # --- heuristics ---

    def new_edges(self, state, player, actions, priors) -> list[Edge]:
        edges = [LoreEdge(action, float(F4(priors[action])), self.game.players) for action in actions]
        if player != CHANCE and self.heuristic is not None:
            for edge in edges:
                edge.hint, edge.hint_visits, edge.amaf_visits = self.advice(state, player, edge.action)  # (48), (49), (51)
                if not self.keeps_meaning(edge.action):
                    edge.amaf_visits = 0
                edge.amaf_total = F4(edge.amaf_visits) * edge.hint  # (50)
        if player != CHANCE and any(isinstance(rule, ab.select.Widening) for rule in nested(self.select)):
            edges.sort(key=lambda edge: (-edge.hint, -edge.prior))
        return edges

    def advice(self, state, player, action) -> tuple[F4, int, int]:
        """H on [-1, 1], C and C~."""
        if isinstance(self.heuristic, ab.evaluate.Grandfather):
            return self.grandfather(player, action), *self.heuristic
        if isinstance(self.heuristic, tuple):
            h, c, c_amaf = ab.evaluate.advise(self.heuristic, state[0], action)
        else:
            h, c, c_amaf = (np.broadcast_to(part, self.game.actions)[action] for part in self.heuristic(state[0]))
        return F4(2.0 * float(h) - 1.0), int(c), int(c_amaf)

    def grandfather(self, player, action) -> F4:
        """Q(s, a) of the last state of the path in which the same player moved."""
        for node, _, _ in reversed(self.path):
            if node.player == player:
                middle, factor = self.scale(player)
                tried = [edge for edge in node.edges if edge.action == action and edge.visits]
                return F4((tried[0].mean(player) - middle) * factor) if tried else F4(0)
        return F4(0)

    def visits_of(self, edge) -> int:
        return edge.visits + edge.hint_visits

    def visits_at(self, node) -> int:
        return node.visits + sum(edge.hint_visits for edge in node.edges)

    def total_of(self, node, edge) -> float:
        middle, factor = self.scale(node.player)
        return edge.total[node.player] + edge.hint_visits * (middle + float(edge.hint) / factor)

    # --- selection ---

    def choose(self, node) -> Edge:
        if node.player == CHANCE:
            return super().choose(node)
        return self.prefer(self.select, node, node.edges)

    def prefer(self, rule, node, edges) -> Edge:
        """The best of these edges, which are those in sight."""
        if isinstance(rule, ab.select.Widening):
            return self.prefer(rule.rule, node, edges[: in_sight(rule, node.visits)])
        if isinstance(rule, ab.select.Pruning):
            return self.prefer(rule.rule, node, self.not_inferior(rule, node, edges))
        return max(edges, key=lambda edge: self.score(rule, node, edge))

    def not_inferior(self, rule, node, edges) -> list[Edge]:
        """Without those that are clearly worse than the best one."""
        if rule.leak and uniform(self.random) < rule.leak:
            return edges
        known = [edge for edge in edges if self.visits_of(edge) >= rule.least]
        if not known:
            return edges
        best = max(known, key=lambda edge: self.value(node, edge))

        def is_inferior(edge) -> bool:
            if self.visits_of(edge) < rule.least:
                return False
            error, best_error = (float(np.sqrt(F4(1) / F4(self.visits_of(one)))) for one in (edge, best))
            bar = float(self.value(node, best)) - rule.deviations * math.sqrt(error * error + best_error * best_error)
            return float(self.value(node, edge)) < bar

        return [edge for edge in edges if not is_inferior(edge)]

    def score(self, rule, node, edge):
        if isinstance(rule, ab.select.ProgressiveBias):
            bonus = rule.weight * 0.5 * (float(edge.hint) + 1.0) / (self.visits_of(edge) + 1)
            return float(self.score(rule.rule, node, edge)) + bonus
        if not isinstance(rule, ab.Rave):
            return super().score(rule, node, edge)
        n = self.visits_of(edge)
        n_amaf, t_amaf = self.amaf_of(rule.source, [*self.path, (node, edge, None)])
        if n + n_amaf == 0:
            return F4(self.first_play(rule.fpu, node))
        if n_amaf == 0:  # of an action that does not keep its meaning
            first = F4(self.first_play(rule.fpu, node))
            value = (self.normal_total(node, edge) + F4(STAND_IN) * min(first, F4(1))) / (F4(n) + F4(STAND_IN))
        else:
            value = self.both_values(rule, node, edge, n, F4(n_amaf), F4(t_amaf))
        if rule.c:
            value += F4(rule.c) * np.sqrt(F4(math.log(self.visits_at(node)))) * np.sqrt(F4(1) / F4(max(n, 1)))  # (18)
        if rule.puct:
            value += F4(rule.puct * edge.prior * math.sqrt(self.visits_at(node)) / (1 + n))
        return value

    def both_values(self, rule, node, edge, n, n_amaf, t_amaf) -> F4:
        """Q* (12). Which of two equal ones is taken hangs on how it is rounded, so (47) is put in here as it is in kernels;
        that this is the same as (12) with (47) is tested apart."""
        if isinstance(rule.schedule, ab.select.MinimumMSE):
            x = n_amaf * F4(4.0 * rule.bias * rule.bias)
            return (self.normal_total(node, edge) * (F4(1) + x) + t_amaf) / (F4(n) + n_amaf + F4(n) * x)
        q = self.value(node, edge) if n else F4(0)
        q_amaf = t_amaf / n_amaf
        all_n = sum(self.visits_of(other) for other in node.edges)  # (52)
        return q + beta(rule, n, n_amaf, all_n, q, q_amaf, self.learnt) * (q_amaf - q)

    def normal_total(self, node, edge) -> F4:
        """The sum of an edge's values, each on [-1, 1]."""
        middle, factor = self.scale(node.player)
        return (F4(self.total_of(node, edge)) - F4(self.visits_of(edge)) * F4(middle)) * F4(factor)

    def amaf_of(self, source, path) -> tuple[float, float]:
        """N~ and N~ Q~ of the last edge of a path, with those of the same action of the same player above it."""
        node, edge, _ = path[-1]
        own = edge.amaf_visits, float(edge.amaf_total)
        above = [t for t in range(len(path) - 1) if path[t][0].player == node.player and same_action(path[t][0], edge)]
        if isinstance(source, ab.select.Grave):
            above = [t for t in above if path[t][0].visits >= source.visits]
            if node.visits >= source.visits or not above:
                return own
            same = same_action(path[above[-1]][0], edge)
            return same.amaf_visits, float(same.amaf_total)
        if isinstance(source, ab.select.OwnAmaf) or not above:
            return own
        last = path[above[-1]][0]
        visits, total = self.amaf_of(source, [*path[: above[-1]], (last, same_action(last, edge), None)])
        return own[0] + source.share * visits, own[1] + source.share * total


class ReferenceRave(WithLore, ReferenceSearch):
    """On a tree."""


class ReferenceRaveGraph(WithLore, ReferenceGraph):
    """On a graph."""


def same_action(node: Node, edge: Edge) -> Any:
    """A node's edge for the same action, if it is legal there."""
    return next((other for other in node.edges if other.action == edge.action), None)


def in_sight(widening, visits: int) -> int:
    """How many edges: the first ones, and one more each time that the node has as many visits as that takes."""
    count, step, needed = widening.first, widening.base, widening.base
    while visits >= needed - 1e-6:
        count += 1
        step *= widening.growth
        needed += step
    return count


def nested(rule: Any) -> list[Any]:
    """A rule and those inside it."""
    return [rule, *(nested(rule.rule) if hasattr(rule, "rule") else [])]


def innermost(rule: Any) -> Any:
    return nested(rule)[-1]
