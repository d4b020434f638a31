"""What evaluators in Python say, checked: f(states) -> (priors, values)."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from anabranch.errors import EvaluatorError

NO_PRIORS = (
    "the evaluator gave every legal action the prior 0; give legal actions some weight, "
    "or return None instead of priors for uniform ones"
)


def ask(evaluator: Callable[..., Any], states: Any) -> Any:
    """Call a user's evaluator; what it raises is told as its own fault."""
    try:
        return evaluator(states)
    except EvaluatorError:
        raise
    except Exception as error:
        name = getattr(evaluator, "__name__", type(evaluator).__name__)
        raise EvaluatorError(f"the evaluator {name} raised {type(error).__name__}: {error}") from error


class Checked(NamedTuple):
    """Priors (positions, actions) and values whose numbers were looked at where they were made; a network's are."""

    priors: np.ndarray
    values: np.ndarray


Answer = tuple[np.ndarray | None, np.ndarray, np.ndarray | None]  # priors, values, and how far these may be off


def read_answer(answer: Any, count: int, shape: tuple[int, ...], width: int) -> Answer:
    """What f's answer says of `count` positions, a row each; None where it says nothing. `shape`: of one position's priors."""
    if isinstance(answer, Checked):
        return answer.priors, answer.values.reshape(count, width), None
    try:
        priors, values, *more = answer
        (deviations,) = more or [None]
    except (TypeError, ValueError):
        raise EvaluatorError(f"an evaluator returns (priors, values), but this one returned {type(answer).__name__}") from None
    values = _array(values, "values", (count,) if width == 1 else (count, width), (count, width))
    if priors is not None:
        priors = _array(priors, "priors", (count, *shape), (count, *shape))
        if (priors < 0.0).any():
            raise EvaluatorError("the evaluator gave a negative prior; priors are probabilities (logits want a softmax first)")
    if deviations is not None:
        deviations = _array(deviations, "deviations", (count,), (count,))
        if (deviations < 0.0).any():
            raise EvaluatorError("the evaluator gave a negative deviation; it says how far a value may be off, so 0 or more")
    return priors, values.reshape(count, width), deviations


def _array(data: Any, what: str, shape: tuple[int, ...], also: tuple[int, ...]) -> np.ndarray:
    """Numbers of the wanted shape, without NaN or infinity."""
    try:
        array = np.asarray(data, np.float64)
    except (TypeError, ValueError):
        raise EvaluatorError(f"the evaluator's {what} are not numbers") from None
    if array.shape not in (shape, also):
        batch = f"(positions{''.join(f', {size}' for size in shape[1:])})"
        many = "one position" if shape[0] == 1 else f"{shape[0]} positions"
        raise EvaluatorError(f"the evaluator's {what} have the shape {array.shape}; for {many} it is {shape}: {batch}")
    if not np.isfinite(array).all():
        raise EvaluatorError(f"the evaluator's {what} hold NaN or infinity; check its input and its last layer")
    return array


def priors_of(priors: np.ndarray | None, actions: np.ndarray) -> np.ndarray:
    """The priors of these legal actions, summing to 1; uniform if there are none."""
    if priors is None:
        return np.full(len(actions), 1.0 / len(actions))
    legal = priors[actions]
    if not legal.sum() > 0.0:
        raise EvaluatorError(NO_PRIORS)
    return legal / legal.sum()
