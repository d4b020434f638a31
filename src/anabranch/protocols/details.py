"""What clients may ask for beyond a `Report`: visits of positions and along variations, ownership after moves, what a network
says without a search. Written as JSON by `answers.py`, as lines by `info_lines.py`.

All numbers are for the player to move.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from anabranch.goengine.estimate import Estimate
from anabranch.goengine.estimates import Estimator
from anabranch.goengine.network_estimate import NetworkEstimate
from anabranch.goengine.report import Candidate, Report
from anabranch.goengine.turns import go_of
from anabranch.nets.katago.evaluator import KataGoNet, Opinion
from anabranch.search.memory.layout import NO_NODE
from anabranch.search.results.export import GraphView
from anabranch.search.searcher import Search

MISSING = -1.0  # what KataGo writes for numbers that a network does not give


class Details:
    """Details of one search at one time."""

    def __init__(self, search: Search, estimator: Estimator, guess: Estimate | NetworkEstimate) -> None:
        self._search, self._estimator, self._guess = search, estimator, guess
        self.position = estimator.position
        self.game = go_of(self.position)
        self._sign = 1 - 2 * self.position.to_play  # from black's view to that of the player to move

    @property
    def net(self) -> KataGoNet | None:
        """The network, if there is one."""
        return self._search.options.evaluate if isinstance(self._guess, NetworkEstimate) else None

    @cached_property
    def graph(self) -> GraphView:
        """The search as plain data."""
        return self._search.graph

    # --- visits ---

    def visits(self, move: Candidate) -> int:
        """How often the position after a move was visited, by whatever path. By playouts it is the move's own visits: graphs of
        playouts are large, and taking their data for each report would take longer than the search."""
        if self.net is None or not move.visits:
            return move.visits
        return self.line_visits([move.name])[0][0]

    def line_visits(self, line: Sequence[str]) -> tuple[list[int], list[int]]:
        """How often the positions of a line were visited, and how often its moves were, from the root on."""
        return line_visits(self.graph, [self.game.action(name) for name in line])

    # --- ownership and results ---

    def ownership_after(self, move: Candidate) -> np.ndarray:
        """Ownership after a move, for the player to move now."""
        line = [self.game.action(name) for name in move.line]
        return self._sign * self._estimator.ownership_after(self._guess, line or [move.action])

    def ownership_spread(self, action: int | None = None) -> np.ndarray | None:
        """The standard deviation of ownership over the search, of the position or after a move; only networks tell."""
        return self._guess.ownership_after(action)[1] if isinstance(self._guess, NetworkEstimate) else None

    def no_result(self, action: int) -> float | None:
        """How likely the game ends without a result after a move; only networks tell."""
        if not isinstance(self._guess, NetworkEstimate):
            return None
        found = self._guess.averages.moves.get(action)
        return None if found is None or found.no_result != found.no_result else found.no_result

    # --- the network alone ---

    @property
    def opinion(self) -> Opinion | None:
        """What the network says of the position."""
        return None if self.net is None else self._estimator.opinion(self.net)

    @property
    def human(self) -> Opinion | None:
        """What the human-like network says of the position; None without one, or without a profile."""
        options = self._estimator.options
        return self._estimator.opinion(options.human_net) if options.human_net is not None and options.human_profile else None

    def policy(self, report_priors: dict[int, float]) -> np.ndarray:
        """Priors of all actions, -1 where they are illegal: as the search had them, and for actions that it was not allowed to
        search, as the network has them."""
        policy = np.full(self.game.actions, -1.0)
        if self.net is not None:
            priors = self.net(self.position.record()).priors[0]
            legal = self.position.legal_actions
            policy[legal] = priors[legal] / priors[legal].sum()
        for action, prior in report_priors.items():
            policy[action] = prior
        return policy


def line_visits(view: GraphView, line: Sequence[int]) -> tuple[list[int], list[int]]:
    """How often the positions of a line were visited, and how often its moves were, from the root on; 0 where there is no such
    move in the search."""
    node, of_nodes, of_edges = 0, [], []
    for action in line:
        first, end = np.searchsorted(view.edges["source"], (node, node + 1))
        edges = view.edges[first:end]
        found = edges[edges["action"] == action]
        node = int(found["target"][0]) if len(found) else NO_NODE
        of_edges.append(int(found["visits"].sum()))
        of_nodes.append(of_edges[-1] if node == NO_NODE else int(view.nodes["visits"][node]))
    return of_nodes, of_edges


def selection_values(report: Report) -> dict[int, float]:
    """The numbers that moves are ordered by: visits; the move to be played, which a lower confidence bound may prefer to the
    most visited one, has no fewer than any other."""
    values = {move.action: float(move.visits) for move in report.moves}
    if report.moves:
        values[report.moves[0].action] = max(values.values())
    return values


def raw_errors(opinion: Opinion) -> dict[str, float]:
    """What the network thinks of its own errors: of win - loss, of the score, and how long the outcome stays open."""
    found = opinion.evaluation
    errors: dict[str, Any] = {
        "rawStWrError": found.value_error,
        "rawStScoreError": found.score_error,
        "rawVarTimeLeft": found.variance_time,
    }
    return {name: MISSING if numbers is None else float(numbers[0]) for name, numbers in errors.items()}
