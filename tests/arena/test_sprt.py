"""Sequential tests keep their error rates, and stop early."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.arena.rating import Tally, share_of
from anabranch.arena.sprt import UNSEEN, Course, Sprt, judge, log_ratio, parse
from anabranch.errors import ArenaError

TESTS = 1000


def run(test, share, draws, random, most=20_000):
    """One test of games with this share of points and of draws: what it accepted, after how many games."""
    wins = share - draws / 2
    course = Course(test)
    while course.verdict.accepted is None and course.verdict.games < most:
        for score in random.choice([1.0, 0.5, 0.0], 50, p=[wins, draws, 1 - wins - draws]):
            course.add(float(score))
    return course.verdict


@pytest.mark.parametrize(("written", "draws"), [("0,70", 0.0), ("0,100", 0.3), ("60%,75%", 0.1)])
def test_of_1000_tests_no_more_are_wrong_than_was_asked_for(written, draws):
    test = parse(written)
    random = np.random.default_rng(11)
    slack = 3 * math.sqrt(0.05 * 0.95 / TESTS)
    for truth, right in ((test.low, "low"), (test.high, "high")):
        verdicts = [run(test, truth, draws, random) for _ in range(TESTS)]
        wrong = sum(verdict.accepted != right for verdict in verdicts) / TESTS
        assert wrong <= 0.05 + slack
    assert np.mean([verdict.games for verdict in verdicts]) < (300 if "%" not in written else 120)


def test_other_error_rates_are_kept_each_on_its_side():
    test = parse("60%,75%", alpha=0.2, beta=0.01)
    random = np.random.default_rng(12)
    wrong_high = sum(run(test, test.low, 0.0, random).accepted == "high" for _ in range(TESTS)) / TESTS
    wrong_low = sum(run(test, test.high, 0.0, random).accepted == "low" for _ in range(TESTS)) / TESTS
    assert 0.08 < wrong_high <= 0.24 and wrong_low <= 0.02


def test_without_draws_the_ratio_is_walds_own():
    test = parse("60%,75%")
    for wins, losses in ((1, 0), (0, 1), (30, 20), (100, 3)):
        by_hand = wins * math.log(0.75 / 0.60) + losses * math.log(0.25 / 0.40)
        assert log_ratio(test, Tally(wins, 0, losses)) == pytest.approx(by_hand, abs=0.02)


def slow_likelihood(counts, share):
    """The most likely probabilities of win, draw, loss with this share of points, tried one by one."""
    best = -math.inf
    for draw in np.linspace(1e-6, 2 * min(share, 1 - share) - 1e-6, 20_001):
        win, loss = share - draw / 2, 1 - share - draw / 2
        best = max(best, sum(n * math.log(p) for n, p in zip(counts, (win, draw, loss), strict=True)))
    return best


@pytest.mark.parametrize(
    "counts", [(30, 40, 20), (5, 1, 9), (100, 3, 90), (2, 60, 1), (12, 0, 7), (9, 4, 0), (0, 0, 3), (0, 5, 0)]
)
def test_the_ratio_is_that_of_the_most_likely_probabilities_under_each_hypothesis(counts):
    test = parse("-10,40")
    seen = [max(count, UNSEEN) for count in counts]
    slow = slow_likelihood(seen, test.high) - slow_likelihood(seen, test.low)
    assert log_ratio(test, Tally(*counts)) == pytest.approx(slow, abs=1e-3)


@given(st.integers(0, 500), st.integers(0, 500), st.integers(0, 500), st.floats(-300, 300), st.floats(1, 300))
def test_the_ratio_is_finite_mirrors_with_the_sides_and_grows_with_each_win(wins, draws, losses, low, distance):
    test, mirrored = Sprt(share_of(low), share_of(low + distance)), Sprt(share_of(-low - distance), share_of(-low))
    ratio = log_ratio(test, Tally(wins, draws, losses))
    assert math.isfinite(ratio)
    assert log_ratio(mirrored, Tally(losses, draws, wins)) == pytest.approx(-ratio, abs=1e-6)
    assert log_ratio(test, Tally(wins + 1, draws, losses)) > ratio - 0.01


def test_a_test_looks_at_games_in_order_and_never_beyond_its_decision():
    test = parse("0,200")
    verdict = judge(test, [1.0] * 100)
    assert verdict.accepted == "high" and verdict.games < 15
    assert judge(test, [1.0] * verdict.games + [0.0] * 500) == verdict
    assert judge(test, [0.0] * 100).accepted == "low"
    assert judge(test, []).accepted is None and judge(test, [0.5]).games == 1


def test_a_verdict_is_told_in_one_line():
    test = parse("60%, 75%")
    assert judge(test, [1.0, 0.0] * 10).sentence(test).startswith("SPRT(60%, 75%): ")
    assert "75% accepted after 14 games" in judge(test, [1.0] * 14).sentence(test)
    assert "not decided after 1 games" in judge(parse("0,50"), [1.0]).sentence(parse("0,50"))
    assert judge(Sprt(0.5, 0.6), [0.0] * 60).sentence(Sprt(0.5, 0.6)).startswith("SPRT(50.0%, 60.0%): 50.0% accepted")


@pytest.mark.parametrize(
    ("written", "alpha", "message"),
    [
        ("50", 0.05, "two Elo differences"),
        ("0,50%", 0.05, "two Elo differences"),
        ("50,0", 0.05, "smaller than the second"),
        ("60%,160%", 0.05, "from 0 to 100"),
        ("0,50", 0.7, "alpha=0.7 must be"),
    ],
)
def test_what_is_no_test_is_refused(written, alpha, message):
    with pytest.raises(ArenaError, match=message):
        parse(written, alpha)
