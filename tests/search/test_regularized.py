"""The exact regularised policy: it solves its problem, PUCT's visits come near it, and it acts and searches."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anabranch as ab
from anabranch.games import ConnectFour, TicTacToe
from anabranch.jit import COMPILED
from tests.conftest import in_soak


@st.composite
def problems(draw):
    count = draw(st.integers(2, 8))
    numbers = st.lists(st.floats(-1, 1), min_size=count, max_size=count)
    weights = np.array(draw(st.lists(st.floats(0.01, 1), min_size=count, max_size=count)))
    visits = np.array(draw(st.lists(st.integers(1, 1000), min_size=count, max_size=count)), float)
    return weights / weights.sum(), np.array(draw(numbers)), visits


def objective(policy, priors, values, visits, c):
    """sum pi Q - lambda KL(P, pi)."""
    weight = c * np.sqrt(1 + visits.sum()) / (1 + visits.sum() + len(visits))
    return policy @ values - weight * (priors @ np.log(priors / policy))


@given(problems(), st.integers(0, 2**32 - 1))
def test_no_policy_near_it_is_better(problem, seed):
    priors, values, visits = problem
    policy = ab.select.regularized_policy(priors, values, visits, value=0.0, c=1.5)
    assert policy.sum() == pytest.approx(1.0)
    assert (policy > 0).all()
    best = objective(policy, priors, values, visits, 1.5)
    random = np.random.default_rng(seed)
    for size in (0.3, 0.01):
        other = policy * np.exp(size * random.normal(size=len(policy)))
        other /= other.sum()
        assert objective(other, priors, values, visits, 1.5) <= best + 1e-9


def test_equal_values_give_the_priors_and_many_visits_the_best_action():
    priors = np.array([0.5, 0.3, 0.2])
    even = ab.select.regularized_policy(priors, np.zeros(3), np.array([5.0, 3.0, 2.0]), value=0.0)
    np.testing.assert_allclose(even, priors)
    sharp = ab.select.regularized_policy(priors, np.array([0.0, 0.0, 0.5]), np.array([1e7, 1e7, 1e7]), value=0.0)
    assert sharp[2] > 0.99


def test_a_floor_keeps_a_lucky_visit_from_deciding():
    """Footnote 3 of "Monte-Carlo Graph Search from First Principles"."""
    priors, values, visits = np.array([0.5, 0.5]), np.array([0.2, 1.0]), np.array([999.0, 1.0])
    trusting, careful = (ab.select.regularized_policy(priors, values, visits, value=0.15, floor=floor) for floor in (0.0, 0.1))
    assert trusting[1] > 0.9
    assert careful[1] < 0.5


def test_visits_of_puct_come_near_it():
    def opinion(states):
        numbers = np.random.default_rng(int(states["stones"].sum() if "stones" in states.dtype.names else 1)).uniform(size=9)
        return numbers[None] / numbers.sum(), [0.0]

    search = ab.Search(TicTacToe(), select=ab.PUCT(c=1.25), evaluate=opinion, expand=ab.select.Expansion(depth=1), graph=True)
    result = search.run(visits=2000 if COMPILED else 400)
    np.testing.assert_allclose(result.policy, result.regularized, atol=0.02)


@pytest.mark.parametrize("graph", [False, pytest.param(True, marks=in_soak)], ids=["tree", "graph"])
def test_it_searches_and_acts(graph):
    position = ConnectFour().position("dcdcd").play("c")
    search = ab.Search(ConnectFour(), select=ab.select.Regularized(), final=ab.final.ByRegularized(), graph=graph)
    result = search.run(position, visits=2000 if COMPILED else 300)
    assert result.best_name == "d"
    assert result.regularized.argmax() == result.best
    assert result.regularized.sum() == pytest.approx(1.0)
    drawn = ab.Search(ConnectFour(), final=ab.final.ByRegularized(draw=True)).run(position, visits=200)
    assert drawn.best in position.legal_actions
