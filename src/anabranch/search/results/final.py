"""The root of a search: noise before it, the choice of an action after it. Plain Python, once a search.

`MostVisits`, `ByTemperature`, `ByValue`, `ByRegularized`, `ByLowerBound`, `ByGumbel` choose; `Dirichlet` makes self-play
explore. Used by `searcher.py`.
"""

from typing import NamedTuple

import numpy as np

from anabranch.errors import SearchError
from anabranch.jit import generic
from anabranch.jit.options import NonNegative, Positive, Share
from anabranch.search.requirements import check_together, needed_columns
from anabranch.search.select.base import learns
from anabranch.search.select.gumbel import Gumbel
from anabranch.search.select.regularized import regularized_policy


class MostVisits(NamedTuple):
    """The action with most visits; the better value breaks a tie."""


class ByTemperature(NamedTuple):
    """Drawn with probability proportional to visits ** (1 / temperature); 0 is the same as most visits."""

    temperature: NonNegative = 1.0


class ByValue(NamedTuple):
    """The best value among actions with at least `floor` times the largest number of visits."""

    floor: Share = 0.1


class ByRegularized(NamedTuple):
    """The action that the exact regularised policy likes best, or one drawn from it; see `select/regularized.py`."""

    c: Positive = 1.25
    floor: Share = 0.1  # of the largest number of visits, below which a high value is not believed
    draw: bool = False


class ByLowerBound(NamedTuple):
    """The highest lower bound, Q - deviations * its standard error, among actions with at least `floor` times the largest
    number of visits: KataGo's. A search with it also sums the squares of values (`backup/variance.py`)."""

    deviations: NonNegative = 5.0
    floor: Share = 0.15


class ByGumbel(NamedTuple):
    """With `select=Gumbel()`, whose default it is: of the actions with most visits, the one with the largest g + ln P + Q^."""


class Dirichlet(NamedTuple):
    """Noise on the root's priors: (1 - weight) P + weight Dir(alpha). Selection rules that do not read priors (UCT) ignore it.

    AlphaZero's alpha is 0.3 for chess and 0.03 for Go; KataGo's is 10.83 divided by the number of legal actions.
    """

    alpha: Positive = 0.3
    weight: Share = 0.25


FinalChoice = MostVisits | ByTemperature | ByValue | ByRegularized | ByLowerBound | ByGumbel


class Candidates(NamedTuple):
    """The root's edges as a final choice sees them, one number an edge."""

    visits: np.ndarray
    values: np.ndarray  # for the player to move, in [-1, 1]; -inf where there are no visits
    priors: np.ndarray
    value: float  # the root's own, likewise
    errors: np.ndarray | None = None  # standard errors of the values, where `ByLowerBound` asks for them
    urges: np.ndarray | None = None  # what `ByGumbel` goes by


def choose_index(rule: FinalChoice, edges: Candidates, random: np.random.Generator) -> int:
    """The index of the edge to play."""
    visits, values = edges.visits, edges.values
    if isinstance(rule, ByGumbel) and edges.urges is not None:
        return int(edges.urges.argmax())
    if isinstance(rule, ByRegularized):
        policy = regularized_policy(edges.priors, values, visits, edges.value, rule.c, rule.floor)
        return int(random.choice(len(policy), p=policy)) if rule.draw else int(np.lexsort((visits, policy))[-1])
    if isinstance(rule, ByTemperature) and rule.temperature > 0.0 and visits.any():
        logits = np.log(np.maximum(visits, 1e-300)) / rule.temperature
        weights = np.where(visits > 0, np.exp(logits - logits.max()), 0.0)
        return int(random.choice(len(visits), p=weights / weights.sum()))
    if isinstance(rule, (ByValue, ByLowerBound)):
        eligible = visits >= max(1.0, rule.floor * visits.max())
        worth = values
        if isinstance(rule, ByLowerBound) and edges.errors is not None:
            worth = values - rule.deviations * edges.errors
        return int(np.lexsort((visits, np.where(eligible, worth, -np.inf)))[-1])
    return int(np.lexsort((values, visits))[-1])


def noisy(rule: Dirichlet, priors: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """The priors with noise mixed in."""
    noise = random.dirichlet(np.full(len(priors), rule.alpha))
    return (1.0 - rule.weight) * priors + rule.weight * noise


# --- what `Search` asks -------------------------------------------------------------------------------------------------------


@generic(default=True)
def default_final(select):
    """The final choice that goes with a selection rule, unless another one is asked for. A strategy is to be drawn from."""
    return ByTemperature(1.0) if learns(select) else MostVisits()


@default_final.register(Gumbel)
def default_final_gumbel(select):
    return ByGumbel()


@check_together.register(ByGumbel)
def check_by_gumbel(final, chosen):
    if not isinstance(chosen.select, Gumbel):
        raise SearchError(f"final={final!r} goes by what Gumbel() drew: use it with select=Gumbel(), or final=MostVisits()")


@needed_columns.register(ByLowerBound)
def needed_columns_by_lower_bound(final):
    return ("squares",)


@check_together.register(ByLowerBound)
def check_by_lower_bound(final, chosen):
    if chosen.at_once:
        raise SearchError(f"final={final!r}: where both move at once no bounds are kept; use MostVisits() or ByTemperature()")
