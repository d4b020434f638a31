"""How far from an equilibrium a policy is: exact values of small games, and what a best response to a policy gains.

    exploitability(position, result.policy)           these two policies here; below, both play an equilibrium (zero-sum games)
    exploitability(position, lambda position: ...)    a full strategy profile: from any position to a pair of policies

Every position below is visited once, by its key, in plain Python: this is for games with some thousands of positions.
`equilibrium.solve_matrix` solves the matrix games.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from anabranch.errors import GameError
from anabranch.games.position import Position
from anabranch.games.rules import CHANCE
from anabranch.games.simultaneous import PLAYERS, JointPosition, SimultaneousGame
from anabranch.search.simultaneous.equilibrium import Solution, solve_matrix

__all__ = ["exploitability"]

MOST_POSITIONS = 200_000
TOLERANCE = 1e-6
Policies = tuple[np.ndarray, np.ndarray]  # one per player, over its actions
Plan = Callable[[JointPosition], Policies]


class Gains(NamedTuple):
    """What each player could gain by a best response instead of its own policy."""

    first: float
    second: float

    @property
    def both(self) -> float:
        """Their sum: NashConv."""
        return self.first + self.second

    @property
    def exploitability(self) -> float:
        """Their mean; 0 in an equilibrium."""
        return self.both / PLAYERS


class Solver:
    """Exact values of a zero-sum game's positions: the return from there on."""

    def __init__(self, game: SimultaneousGame) -> None:
        if not isinstance(game, SimultaneousGame):
            raise GameError(f"{game!r} is not a game in which both move at once")
        self.game = game
        self._solved: dict[Any, tuple[float, Solution | None]] = {}

    def value(self, position: Position) -> float:
        """The value for the first player, with best play by both."""
        return self._solve(position)[0]

    def equilibrium(self, position: Position) -> Policies:
        """Both players' policies in an equilibrium, over their actions."""
        solution = self._solve(position)[1]
        if solution is None:
            raise GameError("nobody moves in this position: it is over, or luck's")
        policies = np.zeros(self.game.actions), np.zeros(self.game.actions)
        for player, found in enumerate((solution.first, solution.second)):
            policies[player][list(_outcomes(position)[player])] = found
        return policies

    def payoffs(self, position: Position) -> np.ndarray:
        """The first player's payoff matrix over both players' outcomes."""
        if not self.game.zero_sum:
            raise GameError(f"{self.game!r} is not zero-sum: what follows has no exact value; give a plan for every position")
        rows, columns = _outcomes(position)
        return np.array([[self._worth(position, (a, b)) for b in columns] for a in rows])

    def _worth(self, position: Position, move: Any) -> float:
        after = position.play(move)
        return _paid(position, after)[0] + self.game.discount * self.value(after)

    def _solve(self, position: Position) -> tuple[float, Solution | None]:
        if position.is_over:
            return position.returns[0], None
        if position.key not in self._solved:
            if len(self._solved) >= MOST_POSITIONS:
                raise GameError(
                    f"{self.game!r} has more than {MOST_POSITIONS:,} positions from here on: too many to solve exactly"
                )
            if position.to_play == CHANCE:
                chances = enumerate(position.probabilities)
                self._solved[position.key] = sum(p * self._worth(position, event) for event, p in chances if p > 0), None
            else:
                solution = solve_matrix(self.payoffs(position))
                self._solved[position.key] = solution.value, solution
        return self._solved[position.key]


def exploitability(position: Position, policy: Policies | Plan, solver: Solver | None = None) -> Gains:
    """What each player could gain by a best response to `policy`: a pair of policies at this position, with equilibrium play
    everywhere below; or a plan that gives such a pair for every position. `solver` caches what was solved before."""
    game = position.game
    if not isinstance(game, SimultaneousGame) or position.is_over or position.to_play == CHANCE:
        raise GameError("exploitability() wants a position in which both players move")
    if callable(policy):
        values, best = _Answers(policy).values(position)
        return Gains(float(best[0] - values[0]), float(best[1] - values[1]))
    first, second = _read(position, policy)
    payoffs = (solver or Solver(game)).payoffs(position)
    value = first @ payoffs @ second
    return Gains(float((payoffs @ second).max() - value), float(value - (first @ payoffs).min()))


class _Answers:
    """The values of a plan for both players, and of best responses to it, for every position."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.known: dict[Any, tuple[np.ndarray, np.ndarray]] = {}

    def values(self, position: Position) -> tuple[np.ndarray, np.ndarray]:
        if position.is_over:
            outcome = np.array(position.returns)
            return outcome, outcome
        if position.key not in self.known:
            if len(self.known) >= MOST_POSITIONS:
                raise GameError(
                    f"{position.game!r} has more than {MOST_POSITIONS:,} positions from here on: too many to go through"
                )
            self.known[position.key] = self._at_chance(position) if position.to_play == CHANCE else self._at_both(position)
        return self.known[position.key]

    def _follow(self, position: Position, move: Any) -> tuple[np.ndarray, np.ndarray]:
        after = position.play(move)
        paid, (values, best) = np.array(_paid(position, after)), self.values(after)
        return paid + position.game.discount * values, paid + position.game.discount * best

    def _at_chance(self, position: Position) -> tuple[np.ndarray, np.ndarray]:
        chances = [(p, self._follow(position, event)) for event, p in enumerate(position.probabilities) if p > 0]
        values, best = (np.sum([p * pair[i] for p, pair in chances], axis=0) for i in range(2))
        return values, best

    def _at_both(self, position: Position) -> tuple[np.ndarray, np.ndarray]:
        assert isinstance(position, JointPosition)
        policies = _read(position, self.plan(position))
        rows, columns = _outcomes(position)
        found = np.array([[self._follow(position, (a, b)) for b in columns] for a in rows])  # (rows, columns, 2, players)
        joint = np.outer(*policies)
        values = np.einsum("ij,ijp->p", joint, found[:, :, 0])
        best = np.array([(found[:, :, 1, 0] @ policies[1]).max(), (policies[0] @ found[:, :, 1, 1]).max()])
        return values, best


def _outcomes(position: Position) -> tuple[list[int], list[int]]:
    assert isinstance(position, JointPosition)
    return list(position.outcomes(0)), list(position.outcomes(1))


def _paid(before: Position, after: Position) -> list[float]:
    """The reward of the last action, undiscounted."""
    weight = before.game.discount ** len(before.moves)
    return [(now - then) / weight for now, then in zip(after.rewards, before.rewards, strict=True)]


def _read(position: Position, policies: Any) -> Policies:
    """Two policies over outcomes, from two over actions."""
    assert isinstance(position, JointPosition)
    if len(policies) != PLAYERS:
        raise GameError(f"{policies!r}: give two policies, one a player")
    first, second = (_folded(position, player, policy) for player, policy in enumerate(policies))
    return first, second


def _folded(position: JointPosition, player: int, policy: Any) -> np.ndarray:
    """A policy over a player's outcomes, from one over its actions."""
    numbers, outcomes = np.asarray(policy, float), position.outcomes(player)
    if numbers.shape == (position.game.actions,):
        folded = np.array([sum(numbers[action] for action in same) for same in outcomes.values()])
        if abs(folded.sum() - 1.0) <= TOLERANCE and folded.min() >= -TOLERANCE:
            return folded
    raise GameError(f"player {player}'s policy {policy!r} is not a distribution over the legal actions {list(outcomes)}")
