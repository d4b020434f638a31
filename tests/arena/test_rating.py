"""Intervals hold what they promise: tournaments with known strengths are simulated, many of them, and recovered."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.arena.rating import (
    ELO,
    PRIOR,
    Tally,
    elo_difference,
    elo_of,
    ratings,
    share_of,
    tally,
    wilson,
    win_rate,
)
from anabranch.errors import ArenaError

counts = st.builds(Tally, st.integers(0, 200), st.integers(0, 200), st.integers(0, 200))


def test_wilsons_interval_agrees_with_published_numbers():
    # Brown, Cai and DasGupta 2001, and any table since: 0 of 10, 5 of 10, 81 of 263.
    assert wilson(0, 10) == pytest.approx((0.0, 0.2775), abs=1e-4)
    assert wilson(5, 10) == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=1e-4)
    assert wilson(0, 0) == (0.0, 1.0)


@given(counts)
def test_an_interval_holds_its_value_and_mirrors_with_the_sides(counts):
    value, low, high = win_rate(counts)
    assert 0.0 <= low <= value <= high <= 1.0
    mirrored = win_rate(counts.flipped())
    assert mirrored.value == pytest.approx(1 - value)
    assert (mirrored.low, mirrored.high) == pytest.approx((1 - high, 1 - low))


@given(st.floats(-1500, 1500))
def test_elo_and_share_are_each_others_inverse(elo):
    assert elo_of(share_of(elo)) == pytest.approx(elo, abs=1e-6)


def test_elo_is_the_usual_scale():
    assert share_of(400) == pytest.approx(10 / 11)
    assert elo_of(0.64) == pytest.approx(100, abs=0.1)
    assert elo_difference(Tally(10, 0, 0)).value == math.inf
    assert elo_difference(Tally(10, 0, 0)).low == pytest.approx(elo_of(wilson(10, 10)[0]))


def test_scores_are_counted():
    assert tally([1.0, 0.5, 0.0, 1.0]) == Tally(2, 1, 1)
    assert Tally(2, 1, 1).score == 2.5 and Tally(2, 1, 1).games == 4


def test_wilsons_interval_covers_the_truth_in_95_of_100_cases():
    random = np.random.default_rng(5)
    shares = random.uniform(0.02, 0.98, 10_000)
    ends = [wilson(int(random.binomial(100, share)), 100) for share in shares]
    assert np.mean([low <= share <= high for share, (low, high) in zip(shares, ends, strict=True)]) == pytest.approx(
        0.95, abs=0.01
    )


# --- many players -----------------------------------------------------------------------------------------------------


def simulated(random, strengths, games, draws=0.0):
    """Results of a round robin between players of these Elo strengths."""
    results = {}
    for i, first in enumerate(strengths):
        for j in range(i):
            share = share_of(first - strengths[j])
            draw = 2 * draws * min(share, 1 - share)  # as often as `draws` says between equals
            results[str(i), str(j)] = Tally(
                *map(int, random.multinomial(games, [share - draw / 2, draw, 1 - share - draw / 2]))
            )
    return results


@pytest.mark.parametrize("anchor", [None, "0"])
def test_intervals_of_ratings_cover_known_strengths_in_95_of_100_tournaments(anchor):
    random = np.random.default_rng(7)
    covered, errors = [], []
    for _ in range(300):
        strengths = random.normal(0, 150, 6)
        strengths -= strengths[0] if anchor else strengths.mean()
        for rating in ratings(simulated(random, strengths, 40), anchor):
            if rating.name != anchor:
                truth = strengths[int(rating.name)]
                covered.append(rating.low <= truth <= rating.high)
                errors.append((rating.elo - truth) / rating.error)
    assert np.mean(covered) == pytest.approx(0.95, abs=0.02)
    assert np.std(errors) == pytest.approx(1.0, abs=0.08)
    assert abs(np.mean(errors)) < 0.1


def test_with_draws_the_intervals_are_wider_than_they_need_to_be_never_narrower():
    random = np.random.default_rng(8)
    strengths = np.array([100.0, 30.0, -30.0, -100.0])
    rated = [rating for _ in range(200) for rating in ratings(simulated(random, strengths, 40, draws=0.4))]
    assert np.mean([rating.low <= strengths[int(rating.name)] <= rating.high for rating in rated]) > 0.95


def test_two_players_are_rated_as_their_elo_difference_says():
    (best, other) = ratings({("a", "b"): Tally(640, 0, 360)})
    assert (best.name, other.name) == ("a", "b")
    assert best.elo - other.elo == pytest.approx(100, abs=1)  # the prior takes a little
    assert best.elo + other.elo == pytest.approx(0, abs=1e-6)
    anchored = ratings({("a", "b"): Tally(640, 0, 360)}, anchor="b", at=1800)
    assert anchored[1].elo == 1800 and anchored[1].error == 0.0
    deviation = ELO / math.sqrt(1000 * 0.64 * 0.36)
    assert anchored[0].error == pytest.approx(deviation, rel=0.01)


def test_ratings_are_the_maximum_of_the_likelihood_as_a_slow_search_finds_it():
    results = {("a", "b"): Tally(7, 2, 3), ("b", "c"): Tally(9, 0, 4), ("a", "c"): Tally(5, 5, 1), ("c", "d"): Tally(6, 0, 0)}
    rated = {rating.name: rating.elo for rating in ratings(results)}

    def likelihood(elo):
        total = -sum(value**2 for value in elo.values()) / (2 * PRIOR**2)
        for (first, second), counts in results.items():
            share = share_of(elo[first] - elo[second])
            total += counts.score * math.log(share) + (counts.games - counts.score) * math.log(1 - share)
        return total

    for name in rated:
        for step in (-2.0, 2.0):
            assert likelihood({**rated, name: rated[name] + step}) < likelihood(rated)


def test_who_won_all_games_stays_finite_and_first_with_a_wide_interval():
    rated = ratings({("a", "b"): Tally(20, 0, 0), ("b", "c"): Tally(12, 0, 8)})
    assert [rating.name for rating in rated] == ["a", "b", "c"]
    assert 300 < rated[0].elo - rated[1].elo < 1500
    assert rated[0].error > 300


def test_players_who_never_met_are_rated_through_others_and_not_at_all_certain_if_nothing_joins_them():
    through = ratings({("a", "b"): Tally(64, 0, 36), ("b", "c"): Tally(64, 0, 36)}, anchor="c")
    assert through[0].name == "a" and through[0].elo == pytest.approx(200, abs=5)
    apart = {r.name: r for r in ratings({("a", "b"): Tally(64, 0, 36), ("c", "d"): Tally(64, 0, 36)}, anchor="d")}
    assert apart["c"].error < 50 and apart["a"].error > 500


def test_matches_of_the_same_pair_count_together_whichever_is_named_first():
    together = ratings({("a", "b"): Tally(30, 0, 10)})
    apart = ratings({("a", "b"): Tally(20, 0, 5), ("b", "a"): Tally(5, 0, 10)})
    assert [r.elo for r in apart] == pytest.approx([r.elo for r in together])
    assert [r.games for r in apart] == [40, 40] and apart[0].score == 30


def test_odd_tournaments_are_no_trouble():
    assert ratings({}) == []
    alone = ratings({("a", "a"): Tally(3, 0, 3)})
    assert alone[0].elo == 0.0 and alone[0].games == 0
    nothing = ratings({("a", "b"): Tally()})
    assert [rating.elo for rating in nothing] == [0.0, 0.0] and nothing[0].error > 500
    with pytest.raises(ArenaError, match="the anchor 'x' has not played; the players are a, b"):
        ratings({("a", "b"): Tally(1, 0, 0)}, anchor="x")
