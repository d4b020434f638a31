"""What a KataGo network says of whole searches: a search's mean of win rate, lead, score and ownership, for its root and moves.

A search only keeps values. The other numbers of every evaluated position are in the network's cache; averaged over the graph,
each node's own evaluation once and each child as often as its edge was visited, they are what KataGo reports. Positions that
the cache has lost, and ends of games, which are not evaluated, are left out of points and ownership; ends count for win rates.
All numbers are black's here.
"""

from typing import NamedTuple

import numpy as np

from anabranch.jit import kernel
from anabranch.nets.katago.columns import LEAD, LOSS, NO_RESULT, SCORE_MEAN, SCORE_SQUARE, WIN
from anabranch.nets.katago.evaluator import KataGoNet
from anabranch.search.memory.layout import NO_NODE
from anabranch.search.results.export import GraphView

WHITE = 1
KEPT = (WIN, NO_RESULT, SCORE_MEAN, SCORE_SQUARE, LEAD)  # columns that are averaged, in this order, before the last one
A_WIN, A_NO_RESULT, A_MEAN, A_SQUARE, A_LEAD, A_RATE_SQUARE = range(len(KEPT) + 1)


class Averages(NamedTuple):
    """Means below one node, black's; NaN where nothing is known."""

    winrate: float  # no result is half a win
    no_result: float
    lead: float
    score: float  # at the end of a game of self-play
    spread: float  # its standard deviation
    rate_spread: float  # the standard deviation of win rates over the evaluations


class SearchAverages:
    """The averages of a search."""

    def __init__(self, view: GraphView, net: KataGoNet, win: float = 1.0) -> None:
        """view   the search's graph
        net    its evaluator
        win    what a win pays in the search's game
        """
        is_known, numbers, self._owned = net.recall(view.nodes["key"])
        self._view, self._own = view, is_known.astype(np.float64)
        self._sign = np.where(view.nodes["player"] == WHITE, -1.0, 1.0)
        tried = (view.edges["visits"] > 0) & (view.edges["target"] != NO_NODE)
        edges = view.edges[tried]
        self._first = np.searchsorted(edges["source"], np.arange(len(view.nodes) + 1))
        self._targets = edges["target"].astype(np.int64)
        self._visits = edges["visits"].astype(np.float64)
        self._actions = edges["action"].astype(np.int64)
        self._order = np.empty(len(view.nodes), np.int64)
        sort_parents_first(self._first, self._targets, np.zeros(len(view.nodes), np.int64), self._order)
        self._means = self._columns(is_known, numbers, win)
        average(self._order, self._first, self._targets, self._visits, self._means)

    def _columns(self, is_known: np.ndarray, numbers: np.ndarray, win: float) -> np.ndarray:
        """The evaluations of all nodes, black's; NaN where there is none."""
        own = np.full((len(numbers), len(KEPT) + 1), np.nan)
        own[is_known, :-1] = numbers[is_known][:, KEPT]
        flipped = self._sign < 0
        own[flipped, A_WIN] = numbers[flipped, LOSS]
        own[~is_known, A_WIN] = np.nan
        own[:, [A_MEAN, A_LEAD]] *= self._sign[:, None]
        over = self._view.nodes["over"]
        paid = self._view.nodes["value"][over, 0]
        own[over, A_WIN] = (1.0 + np.sign(paid) * (np.abs(paid) > win / 2.0)) / 2.0  # a draw may pay for points
        own[over, A_NO_RESULT] = 0.0
        own[:, A_RATE_SQUARE] = (own[:, A_WIN] + own[:, A_NO_RESULT] / 2) ** 2
        return own

    @property
    def points(self) -> int:
        """Of the board."""
        return self._owned.shape[1]

    @property
    def root(self) -> Averages:
        """Of the root."""
        return self._of(0)

    @property
    def moves(self) -> dict[int, Averages]:
        """Of each move that was visited, by action."""
        children = range(int(self._first[0]), int(self._first[1]))
        return {int(self._actions[edge]): self._of(int(self._targets[edge])) for edge in children}

    def ownership(self, action: int | None = None) -> tuple[np.ndarray, np.ndarray] | None:
        """Mean and standard deviation of the ownership of each point, bottom row first, 1 for black: of the root, or after a
        move; None if nothing is known."""
        start = 0
        if action is not None:
            edges = range(int(self._first[0]), int(self._first[1]))
            start = next((int(self._targets[edge]) for edge in edges if self._actions[edge] == action), -1)
        if start < 0:
            return None
        share = np.zeros(len(self._order))
        share[start] = 1.0
        reaches = ~np.isnan(self._means[:, A_LEAD])
        spread_down(self._order, self._first, self._targets, self._visits, self._own, reaches, share)
        total = share.sum()
        if not total > 0.0:
            return None
        weights = share / total
        used = weights > 0.0
        black = self._owned[used] * self._sign[used, None]
        mean = weights[used] @ black
        return mean, np.sqrt(np.maximum(weights[used] @ (black - mean) ** 2, 0.0))

    def _of(self, node: int) -> Averages:
        win, no_result, mean, square, lead, rate_square = (float(number) for number in self._means[node])
        rate = win + no_result / 2
        return Averages(rate, no_result, lead, mean, _root(square - mean * mean), _root(rate_square - rate * rate))


def _root(variance: float) -> float:
    """A standard deviation; rounding may take a variance below 0, and NaN stays NaN."""
    return variance**0.5 if variance > 0.0 else variance * 0.0


@kernel
def sort_parents_first(first, targets, waiting, order):
    """Write all nodes so that a node comes before its children; those on cycles, and what is below them only, come last in the
    order of their numbers. `waiting` is all zeros."""
    count = len(order)
    for edge in range(len(targets)):
        waiting[targets[edge]] += 1
    done = 0
    for node in range(count):
        if waiting[node] == 0:
            order[done] = node
            done += 1
    at = 0
    while at < done:
        node = order[at]
        at += 1
        waiting[node] = -1
        for edge in range(first[node], first[node + 1]):
            waiting[targets[edge]] -= 1
            if waiting[targets[edge]] == 0:
                order[done] = targets[edge]
                done += 1
    for node in range(count):
        if waiting[node] > 0:
            order[done] = node
            done += 1


@kernel
def average(order, first, targets, visits, means):
    """Replace each node's own numbers by the means below it, children first; NaN numbers do not count."""
    for i in range(len(order) - 1, -1, -1):
        node = order[i]
        for column in range(means.shape[1]):
            known = means[node, column] == means[node, column]
            total = means[node, column] if known else 0.0
            weight = 1.0 if known else 0.0
            for edge in range(first[node], first[node + 1]):
                below = means[targets[edge], column]
                if below == below:
                    total += visits[edge] * below
                    weight += visits[edge]
            if weight > 0.0:
                means[node, column] = total / weight


@kernel
def spread_down(order, first, targets, visits, own, reaches, share):
    """Turn each node's share of the root's mean into the share of its own evaluation, parents first. Edges to nodes that reach
    no evaluation do not count, as in `average`."""
    for i in range(len(order)):
        node = order[i]
        if share[node] == 0.0:
            continue
        total = own[node]
        for edge in range(first[node], first[node + 1]):
            if reaches[targets[edge]]:
                total += visits[edge]
        whole = share[node]
        share[node] = 0.0 if total == 0.0 else whole * own[node] / total
        for edge in range(first[node], first[node + 1]):
            if reaches[targets[edge]]:
                share[targets[edge]] += whole * visits[edge] / total
