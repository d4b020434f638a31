"""Searching as KataGo does: its utility, the centre of it, and its constants where values have another range."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

import anabranch as ab
from anabranch.errors import GameError, SearchError
from anabranch.games.go import Go, Utility
from anabranch.nets.katago.columns import COLUMNS, LOSS, SCORE_ERROR, SCORE_MEAN, SCORE_SQUARE, VALUE_ERROR, WIN
from anabranch.nets.katago.evaluator import KataGoNet
from anabranch.nets.katago.search import KataGoSearch, katago_options, katago_rule, unit_of
from anabranch.nets.katago.utility import expected_utility
from tests.conftest import when_compiled
from tests.nets.katago_files import make_network, write_network

SIZE = 5


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A network of version 8 with random weights."""
    file = tmp_path_factory.mktemp("katago") / "random.bin.gz"
    write_network(file, make_network(version=8, seed=3))
    return file


def utility_of(score: float, points: int, utility: Utility) -> float:
    """The formula, as written in `games/go/utility.py`."""
    root = math.sqrt(points)
    static = utility.static * math.atan(score / (2.0 * root)) * 2 / math.pi
    dynamic = utility.dynamic * math.atan((score - utility.centre) / (0.75 * root)) * 2 / math.pi
    return utility.win * np.sign(score) + static + dynamic


# --- what a game pays ---


@pytest.mark.parametrize("utility", [Utility(), Utility(centre=4.5), Utility(win=0.0, dynamic=1.0), Utility(2.0, 0.0)])
@pytest.mark.parametrize(("moves", "komi"), [("C3", 2.5), ("C3", 24.5), ("C3", 25), ("", 0)])
def test_the_end_of_a_game_pays_its_utility(moves, komi, utility):
    game = Go(SIZE, komi, "tromp-taylor", returns=utility)
    position = game.position([*moves.split(), "pass", "pass"])
    wanted = utility_of(game.lead(position), SIZE * SIZE, utility)
    assert position.returns == pytest.approx([wanted, -wanted], abs=1e-6)
    assert abs(wanted) <= game.value_range[1]


def test_what_is_played_for_can_be_named_and_is_checked():
    assert Go(SIZE, returns="utility") == Go(SIZE, returns=Utility()) != Go(SIZE)
    assert Go(SIZE, returns="utility").value_range == pytest.approx((-1.4, 1.4))
    assert "Utility(win=1.0" in repr(Go(SIZE, returns=Utility()))
    assert Go(9, 2.5, handicap=2, returns="score").paying("win") == Go(9, 2.5, handicap=2)
    for bad in (Utility(win=-1.0), Utility(0.0, 0.0, 0.0), Utility(centre=math.inf), "points", None):
        with pytest.raises(GameError, match="returns="):
            Go(SIZE, returns=bad)


# --- what a network expects to be paid ---


@pytest.mark.parametrize("turn", [0, 1])
@pytest.mark.parametrize(("mean", "deviation"), [(0.0, 0.0), (3.0, 2.0), (-20.0, 15.0), (6.5, 25.0)])
def test_an_expected_utility_is_the_integral_over_scores(mean, deviation, turn):
    utility = Utility(centre=-2.5)
    game = Go(SIZE, 2.5, returns=utility)
    state = game.position(["C3"] * turn).record()
    numbers = np.zeros((1, len(COLUMNS)))
    numbers[0, [WIN, LOSS, SCORE_MEAN, SCORE_SQUARE]] = 0.7, 0.2, mean, mean**2 + deviation**2
    own = utility._replace(win=0.0, centre=utility.centre * (1 - 2 * turn))
    if deviation:
        density = stats.norm(mean, deviation).pdf
        span = mean - 9 * deviation, mean + 9 * deviation
        points = integrate.quad(lambda score: utility_of(score, SIZE**2, own) * density(score), *span, limit=200)[0]
    else:
        points = utility_of(mean, SIZE**2, own)
    assert expected_utility(state, numbers)[0][0] == pytest.approx(0.5 + points, abs=2e-4)


def test_the_error_of_a_utility_follows_from_the_errors_of_win_and_score():
    state = Go(SIZE, 2.5, returns=Utility(centre=1.0)).start().record()
    numbers = np.zeros((1, len(COLUMNS)))
    numbers[0, [SCORE_MEAN, VALUE_ERROR, SCORE_ERROR]] = 4.0, 0.25, 3.0
    own, step = Utility(win=0.0, centre=1.0), 1e-5
    slope = (utility_of(4.0 + step, SIZE**2, own) - utility_of(4.0 - step, SIZE**2, own)) / (2 * step)
    assert expected_utility(state, numbers)[1][0] == pytest.approx(0.25 + 3.0 * slope, abs=1e-6)


# --- the search ---


def test_constants_are_scaled_to_what_a_win_is_worth(path):
    net = KataGoNet(path)
    assert katago_options(net)["select"] == ab.select.KataGoPUCT() == katago_rule(unit_of(Go(SIZE)))
    rule = katago_options(net, Go(SIZE, returns="utility"))["select"]
    assert rule.c == pytest.approx(1.0 / 1.4) and rule.fpu.offset == pytest.approx(0.2 / 1.4)
    assert unit_of(Go(SIZE, returns="score")) == 1.0


@when_compiled
def test_the_centre_is_near_the_expected_score_and_moves_when_that_has_changed(path, monkeypatch):
    game = Go(SIZE, 2.5)
    search = KataGoSearch(game, KataGoNet(path, symmetry="none"), seed=1)
    result = search.run(game.start(), visits=30)
    expected = float(search.net.opinion(game.start(), 0).evaluation.score_mean[0])
    assert search.centre == pytest.approx(np.clip(0.8 * expected, expected - 3.75, expected + 3.75), abs=1e-3)
    assert float(search.position.state.score_centre) == pytest.approx(search.centre)
    assert abs(result.value) <= 1.4
    again = search.run(game.start(), visits=20)
    assert again.visits.sum() == 50, "the same position goes on"
    monkeypatch.setattr(search, "_centre_for", lambda position: 50.0)
    with pytest.raises(SearchError):
        search.run(game.position(["C3"]), visits=-1)
    assert search.result().visits.sum() == 50, "a call that fails changes nothing"
    moved = search.run(game.position(["C3"]), visits=20)
    assert moved.visits.sum() == 20 and search.centre == 50.0, "a tree with another centre is not kept"


@when_compiled
def test_a_search_keeps_its_tree_while_the_centre_stays_and_takes_positions_of_any_payment(path, monkeypatch):
    game = Go(SIZE, 2.5)
    search = KataGoSearch(game, KataGoNet(path, symmetry="none"), seed=1)
    first = search.run(game.start(), visits=60)
    after = Go(SIZE, 2.5, returns="score").position([first.best])
    monkeypatch.setattr(search, "_centre_for", lambda position: search.centre)
    kept = int(first.visits[first.best])
    assert search.run(after, total=kept + 5).stats.simulations <= 10
    with pytest.raises(SearchError, match="this search is for"):
        search.run(Go(SIZE, 6.5).start(), visits=1)


@when_compiled
def test_win_rates_of_a_search_are_not_its_utilities(path):
    game = Go(SIZE, 2.5)
    search = KataGoSearch(game, KataGoNet(path, symmetry="none"), Utility(win=1.0, static=0.4, dynamic=0.0), seed=1)
    result = search.run(game.position(["C3"]), visits=80)
    alone = ab.Search(game, **katago_options(KataGoNet(path, symmetry="none")), seed=1).run(game.position(["C3"]), visits=80)
    white = 1.0 - search.averages().root.winrate
    assert white == pytest.approx((alone.value + 1.0) / 2.0, abs=0.08)
    assert abs((result.value + 1.0) / 2.0 - white) > 1e-3
