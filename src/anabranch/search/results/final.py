"""The root of a search: its priors before the search, the choice of an action after it. Plain Python, once per search.

`MostVisits`, `ByTemperature`, `ByValue`, `ByRegularized`, `ByLowerBound`, `ByGumbel` are final choices, each with its
implementation of `choose`; `Dirichlet` and `RootTemperature` make a search explore, by `adjust_priors`. Above: `read.py`, which
calls both.
"""

from typing import Any, NamedTuple

import numpy as np

from anabranch.errors import SearchError
from anabranch.jit import generic
from anabranch.jit.options import NonNegative, Positive, Share
from anabranch.search.requirements import check_together
from anabranch.search.select.gumbel import Gumbel
from anabranch.search.select.regularized import regularized_policy

__all__ = [
    "ByGumbel",
    "ByLowerBound",
    "ByRegularized",
    "ByTemperature",
    "ByValue",
    "Candidates",
    "Dirichlet",
    "MostVisits",
    "RootTemperature",
    "adjust_priors",
    "choose",
    "wants_errors",
]

LEAST_PRIOR = 1e-300  # so that every prior has a logarithm


class MostVisits(NamedTuple):
    """The action with the most visits; the better value breaks a tie."""


class ByTemperature(NamedTuple):
    """Drawn with probability proportional to visits ** (1 / temperature); 0 is the same as most visits."""

    temperature: NonNegative = 1.0


class ByValue(NamedTuple):
    """The best value among actions with at least `floor` times the largest number of visits."""

    floor: Share = 0.1


class ByRegularized(NamedTuple):
    """The most probable action of the exact regularised policy, or one drawn from it; see `select/regularized.py`."""

    c: Positive = 1.25
    floor: Share = 0.1  # of the largest number of visits, below which a high value is not trusted
    draw: bool = False


class ByLowerBound(NamedTuple):
    """The highest lower bound, Q - deviations * its standard error, among actions with at least `floor` times the largest
    number of visits, as in KataGo. A search with it also sums the squares of values (`backup/variance.py`)."""

    deviations: NonNegative = 5.0
    floor: Share = 0.15


class ByGumbel(NamedTuple):
    """The default with `select=Gumbel()`: of the actions with the most visits, the one with the largest g + ln P + Q^."""


class Dirichlet(NamedTuple):
    """Noise on the root's priors: (1 - weight) P + weight Dir(alpha). Selection rules that do not read priors (UCT) ignore it.

    AlphaZero's alpha is 0.3 for chess and 0.03 for Go; KataGo's is 10.83 divided by the number of legal actions.
    """

    alpha: Positive = 0.3
    weight: Share = 0.25


class RootTemperature(NamedTuple):
    """The root's priors to the power of 1 / temperature, and then `noise` on them, if there is any.

    Above 1, priors become more equal. KataGo's rootPolicyTemperature, in self-play 1.1, and 1.25 at the beginning of a game.
    """

    temperature: Positive = 1.1
    noise: Any = None  # such as `Dirichlet()`


FinalChoice = tuple[Any, ...]  # an option of any class that `choose` is registered for


class Candidates(NamedTuple):
    """The root's edges as a final choice sees them, one number per edge."""

    visits: np.ndarray
    values: np.ndarray  # for the player to move, in [-1, 1]; -inf where there are no visits
    priors: np.ndarray
    value: float  # the root's own, likewise
    errors: np.ndarray | None = None  # standard errors of the values, where `wants_errors` asks for them
    urges: np.ndarray | None = None  # what `ByGumbel` maximises


@generic
def choose(final, candidates, random):
    """The index of the edge to play.

    candidates  a `Candidates`: one number per edge in each array, values in the view of the player to move. Actions that are
                forbidden, excluded by a restriction or proven to be worse than another are left out. Where both players move at
                once there is one call per player, whose `visits` are its policy times the number of simulations.
    random      a `numpy.random.Generator`, the same for the same seed, position and visits

    Plain Python, called once per search, and again if the chosen action leads to a forbidden position. It must not change its
    arguments.
    """


@choose.register(MostVisits)
def choose_most_visits(final, candidates, random):
    return int(np.lexsort((candidates.values, candidates.visits))[-1])


@choose.register(ByTemperature)
def choose_by_temperature(final, candidates, random):
    visits = candidates.visits
    if final.temperature == 0.0 or not visits.any():
        return choose_most_visits(final, candidates, random)
    logits = np.log(np.maximum(visits, 1e-300)) / final.temperature
    weights = np.where(visits > 0, np.exp(logits - logits.max()), 0.0)
    return int(random.choice(len(visits), p=weights / weights.sum()))


@choose.register(ByValue)
def choose_by_value(final, candidates, random):
    return highest(candidates.values, final.floor, candidates.visits)


@choose.register(ByLowerBound)
def choose_by_lower_bound(final, candidates, random):
    errors = 0.0 if candidates.errors is None else candidates.errors
    return highest(candidates.values - final.deviations * errors, final.floor, candidates.visits)


@choose.register(ByRegularized)
def choose_by_regularized(final, candidates, random):
    visits, values = candidates.visits, candidates.values
    policy = regularized_policy(candidates.priors, values, visits, candidates.value, final.c, final.floor)
    return int(random.choice(len(policy), p=policy)) if final.draw else int(np.lexsort((visits, policy))[-1])


@choose.register(ByGumbel)
def choose_by_gumbel(final, candidates, random):
    if candidates.urges is None:
        return choose_most_visits(final, candidates, random)
    return int(candidates.urges.argmax())


def highest(worths: np.ndarray, floor: float, visits: np.ndarray) -> int:
    """The index of the highest of these among edges with at least `floor` times the largest number of visits."""
    eligible = visits >= max(1.0, floor * visits.max())
    return int(np.lexsort((visits, np.where(eligible, worths, -np.inf)))[-1])


@generic(default=True)
def wants_errors(final):
    """Whether the final choice reads `Candidates.errors`: the search then sums the squares of values (`backup/variance.py`)."""
    return False


@wants_errors.register(ByLowerBound)
def wants_errors_by_lower_bound(final):
    return True


def chosen_index(final: FinalChoice, candidates: Candidates, random: np.random.Generator) -> int:
    """What `choose` returns, checked: the function may be a user's own."""
    index, count = choose(final, candidates, random), len(candidates.visits)
    if not isinstance(index, (int, np.integer)) or not 0 <= index < count:
        wanted = f"return the index of a candidate, from 0 to {count - 1}"
        raise SearchError(f"final={final!r}: `choose` returned {index!r}; {wanted}")
    return int(index)


# --- the root's priors --------------------------------------------------------------------------------------------------------


@generic
def adjust_priors(noise, priors, random):
    """The root's priors while a search runs, in place of these: probabilities, one for each edge.

    priors   of the root's edges; where both players move at once there is one call per player, with its own priors
    random   a `numpy.random.Generator`, the same for the same seed, position and visits

    Plain Python, called once at the beginning of a run; afterwards the root's edges have their own priors again.
    """


@adjust_priors.register(Dirichlet)
def adjust_priors_dirichlet(noise, priors, random):
    drawn = random.dirichlet(np.full(len(priors), noise.alpha))
    return (1.0 - noise.weight) * priors + noise.weight * drawn


@adjust_priors.register(RootTemperature)
def adjust_priors_root_temperature(noise, priors, random):
    most = max(float(priors.max()), LEAST_PRIOR)
    logs = np.log(np.maximum(priors, LEAST_PRIOR, dtype=np.float64) / most)
    shares = np.where(priors > 0.0, np.exp(logs / noise.temperature), 0.0)
    flat = shares / max(shares.sum(), LEAST_PRIOR)
    return flat if noise.noise is None else adjust_priors(noise.noise, flat, random)


def adjusted(noise: Any, priors: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """What `adjust_priors` makes of priors, if those can be probabilities."""
    given = adjust_priors(noise, priors.copy(), random)
    try:
        changed = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        changed = np.empty(0)
    if changed.shape != priors.shape or not (changed >= 0.0).all() or not 0.0 < changed.sum() < np.inf:
        wanted = f"{len(priors)} probabilities, one for each edge"
        raise SearchError(f"noise={noise!r}: adjust_priors must return {wanted}, and it returned {given!r}")
    return changed


# --- what `Search` calls ------------------------------------------------------------------------------------------------------


@generic(default=True)
def default_final(select):
    """The default final choice with a selection rule."""
    return MostVisits()


@default_final.register(Gumbel)
def default_final_gumbel(select):
    return ByGumbel()


@check_together.register(ByGumbel)
def check_by_gumbel(final, chosen):
    if not isinstance(chosen.select, Gumbel):
        raise SearchError(f"final={final!r} goes by what Gumbel() drew: use it with select=Gumbel(), or final=MostVisits()")
