"""Checks of what evaluators in Python return: f(states) -> (priors, values)."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from anabranch.errors import EvaluatorError
from anabranch.games.objects import ObjectGame
from anabranch.interrupts import released
from anabranch.jit import generic, readable

LARGEST = 1e100  # the largest value where no range is known: many of them can still be summed
LARGEST_PRIOR = 1e30  # they are stored in single precision, and those of a node are summed
SLACK = 1e-4  # as a share of the range, for evaluators that round
NO_PRIORS = (
    "the evaluator gave every legal action the prior 0; give legal actions some weight, "
    "or return None instead of priors for uniform ones"
)


def ask(evaluator: Callable[..., Any], states: Any) -> Any:
    """Call a user's evaluator; what it raises becomes an `EvaluatorError` that names the evaluator."""
    return _call(evaluator, states, f"the evaluator {_name(evaluator)}")


def ask_root_priors(evaluator: Any, game: Any, position: Any, actions: np.ndarray) -> np.ndarray | None:
    """What an evaluator's method `root_priors(position)` gives the edges of a root, in place of the priors that it has for the
    same position in the tree, f4; None if it has no such method, or if that returns None."""
    if not hasattr(evaluator, "root_priors"):
        return None
    given = _call(evaluator.root_priors, position, f"root_priors of the evaluator {_name(evaluator)}")
    if given is None:
        return None
    row, shape = _numbers(given, "root_priors"), tuple(game.policy_shape)
    if row.shape != shape:
        raise EvaluatorError(f"the evaluator's root_priors have the shape {row.shape}; for one position it is {shape}")
    priors = _array(row[None], "root_priors", (1, *shape), (1, *shape))
    if (priors < 0.0).any():
        raise EvaluatorError("the evaluator's root_priors are negative; priors are probabilities (logits want a softmax first)")
    rows = edge_priors(game, lambda: readable(position.record()), priors)
    return priors_of(rows[0], actions.astype(np.int64)).astype(np.float32)


def _call(function: Callable[..., Any], given: Any, who: str) -> Any:
    """Call a user's function; what it raises becomes an `EvaluatorError`."""
    try:
        with released():
            return function(given)
    except EvaluatorError:
        raise
    except Exception as error:
        raise EvaluatorError(f"{who} raised {type(error).__name__}: {error}") from error


def _name(evaluator: Any) -> str:
    return str(getattr(evaluator, "__name__", type(evaluator).__name__))


class Checked(NamedTuple):
    """Priors (positions, actions) and values that were already checked where they were computed, as a network's are."""

    priors: np.ndarray
    values: np.ndarray


class CheckedWithErrors(NamedTuple):
    """The same, with the standard deviations of the values."""

    priors: np.ndarray
    values: np.ndarray
    deviations: np.ndarray


Answer = tuple[np.ndarray | None, np.ndarray, np.ndarray | None]  # priors, values, and the standard deviations of the values


def read_answer(answer: Any, count: int, game: Any, width: int, movers: np.ndarray | None = None) -> Answer:
    """f's answer for `count` positions of a game, one row each; None for what it leaves out. `movers`: the player to move in
    each, needed if `has_two_ranges`."""
    shape = game.policy_shape
    if isinstance(answer, (Checked, CheckedWithErrors)):
        return answer.priors, answer.values.reshape(count, width), getattr(answer, "deviations", None)
    try:
        priors, values, *more = answer
        (deviations,) = more or [None]
    except (TypeError, ValueError):
        raise EvaluatorError(f"an evaluator returns (priors, values), but this one returned {type(answer).__name__}") from None
    values = _array(values, "values", (count,) if width == 1 else (count, width), (count, width))
    _check_range(values, game, movers if width == 1 else None)
    if priors is not None:
        priors = _array(priors, "priors", (count, *shape), (count, *shape))
        if (priors < 0.0).any():
            raise EvaluatorError("the evaluator gave a negative prior; priors are probabilities (logits want a softmax first)")
        if (priors > LARGEST_PRIOR).any():
            raise EvaluatorError(f"the evaluator gave a prior of {priors.max():g}; priors are probabilities")
    if deviations is not None:
        deviations = _array(deviations, "deviations", (count,), (count,))
        if (deviations < 0.0).any():
            raise EvaluatorError("the evaluator gave a negative deviation; it says how far a value may be off, so 0 or more")
    return priors, values.reshape(count, width), deviations


@generic(default=True)
def edge_priors(game, states, priors):
    """The priors of edges, (positions, edges), from an evaluator's, (positions, *game.policy_shape): the same where an edge is
    one player's action. `states`: a function without arguments that returns the positions."""
    return priors


def has_two_ranges(game: Any) -> bool:
    """Whether the range of values for the player to move depends on who that is: the game is zero-sum for two players, and the
    declared range, player 0's, is not symmetric about 0."""
    low, high = game.value_range
    return game.value_width() == 1 and game.players > 1 and low != -high


def _check_range(values: np.ndarray, game: Any, movers: np.ndarray | None) -> None:
    """Raise if a value is outside the range of what the game can pay."""
    low, high = _to_come(game)
    lowest, highest = np.full(values.shape, low), np.full(values.shape, high)
    if movers is not None and has_two_ranges(game):
        turned = movers.reshape(values.shape) == 1
        lowest[turned], highest[turned] = -high, -low
    slack = SLACK * (high - low)
    wrong = np.flatnonzero((values < lowest - slack) | (values > highest + slack))
    if len(wrong):
        value, least, most = (float(numbers.flat[wrong[0]]) for numbers in (values, lowest, highest))
        raise EvaluatorError(
            f"the evaluator gave a value of {value:.6g}, and {game!r} pays from {least + 0.0:g} to {most + 0.0:g}: "
            "scale its values, or declare another value_range"
        )


def _to_come(game: Any) -> tuple[float, float]:
    """The least and the greatest value that a position can still have, for player 0 if two players share one number. Where a
    game pays rewards along the way, the declared range is that of their sum; the remaining part is bounded by its width."""
    low, high = game.value_range
    if not _has_rewards(game):
        return low, high
    if game.discount != 1.0:  # later rewards count more from a later position
        return -LARGEST, LARGEST
    span = max(high, 0.0) - min(low, 0.0)
    return -span, span


def _has_rewards(game: Any) -> bool:
    return bool(game.has_rewards if isinstance(game, ObjectGame) else game.rule("has_rewards")(None))


def _array(data: Any, what: str, shape: tuple[int, ...], also: tuple[int, ...]) -> np.ndarray:
    """Numbers of the wanted shape, without NaN or infinity."""
    array = _numbers(data, what)
    if array.shape not in (shape, also):
        batch = f"(positions{''.join(f', {size}' for size in shape[1:])})"
        many = "one position" if shape[0] == 1 else f"{shape[0]} positions"
        raise EvaluatorError(f"the evaluator's {what} have the shape {array.shape}; for {many} it is {shape}: {batch}")
    if not np.isfinite(array).all():
        raise EvaluatorError(f"the evaluator's {what} hold NaN or infinity; check its input and its last layer")
    return array


def _numbers(data: Any, what: str) -> np.ndarray:
    try:
        return np.asarray(data, np.float64)
    except (TypeError, ValueError):
        raise EvaluatorError(f"the evaluator's {what} are not numbers") from None


def priors_of(priors: np.ndarray | None, actions: np.ndarray) -> np.ndarray:
    """The priors of these legal actions, summing to 1; uniform if there are none."""
    if priors is None:
        return np.full(len(actions), 1.0 / len(actions))
    legal = priors[actions]
    if not legal.sum() > 0.0:
        raise EvaluatorError(NO_PRIORS)
    return legal / legal.sum()
