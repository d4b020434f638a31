"""Options of searches in which both players move at once: noise, forced visits, final choices, results in print and in files,
and combinations that are refused."""

import json
import pickle

import numpy as np
import pytest

import anabranch as ab
from anabranch.games import ConnectFour, Goofspiel, MatrixGame, PyRat, Repeated
from anabranch.search.graph_options import grouped
from anabranch.search.results.read import edge_records
from anabranch.search.simultaneous.read import read_node
from tests.conftest import when_plain
from tests.reference.simultaneous import assert_pairs_add_up

pytestmark = when_plain  # a kernel for each of these would take long to compile; the code is the same

CORNERS = """
+---+---+---+
|     *    B|
+   +   +   +
|     *     |
+   +   +   +
|A    *     |
+---+---+---+
"""
GAME = PyRat.drawn(CORNERS, max_turns=12)
RPS = MatrixGame.rock_paper_scissors()
UNEVEN = np.array([[0.05, 0.55, 0.1, 0.1, 0.2], [0.1, 0.1, 0.05, 0.6, 0.15]])


def uneven(states):
    """Priors that prefer the way to the cheese."""
    return np.tile(UNEVEN, (len(states), 1, 1)), np.ones((len(states), 2))


def search_with(game=GAME, **options):
    return ab.Search(game, **grouped({"evaluate": ab.Uniform(), "graph": True, "memory": "5MB", "seed": 3} | options))


# --- noise --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("evaluate", [ab.Uniform(), uneven], ids=["uniform", "python"])
def test_noise_is_on_each_players_own_priors_and_gone_afterwards(evaluate):
    noisy = search_with(noise=ab.final.Dirichlet(0.5, 0.4), evaluate=evaluate)
    result = noisy.run(GAME.start(), visits=30)
    clean = search_with(evaluate=evaluate)
    other = clean.run(GAME.start(), visits=30)
    for player in range(2):
        seen = {move.action: move.prior for move in result.moves[player]}
        plain = {move.action: move.prior for move in other.moves[player]}
        assert sum(seen.values()) == pytest.approx(1.0, abs=1e-6) and min(seen.values()) > 0
        assert seen != pytest.approx(plain, abs=1e-3)
        assert all(seen[action] >= 0.6 * plain[action] - 1e-6 for action in plain)
    first, second = (edge_records(search.rooted.graph, search.rooted.root)["prior"] for search in (noisy, clean))
    assert first.tolist() == second.tolist()  # the tree is clean
    assert_pairs_add_up(noisy)
    again = search_with(noise=ab.final.Dirichlet(0.5, 0.4), evaluate=evaluate, seed=4).run(GAME.start(), visits=30)
    assert [m.prior for m in again.moves[0]] != [m.prior for m in result.moves[0]]


# --- forced visits ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2.0, 8.0])
def test_outcomes_that_were_tried_get_the_visits_that_are_forced(k):
    visits = 150
    result = search_with(select=ab.Decoupled(forced=k), evaluate=uneven).run(GAME.start(), visits=visits)
    for player in range(2):
        for move in result.moves[player]:
            if move.visits:
                assert move.visits >= np.floor(np.sqrt(k * move.prior * visits)) - 1, (player, move)


def test_the_target_takes_forced_visits_away():
    result = search_with(select=ab.Decoupled(forced=8.0), evaluate=uneven).run(GAME.start(), visits=150)
    pruned = False
    for policy, target, visits in zip(result.policy, result.target, result.visits, strict=True):
        assert target.sum() == pytest.approx(1.0) and (target >= 0).all()
        assert target.argmax() == visits.argmax() and target.max() >= policy.max()
        assert (target[visits == 0] == 0).all()
        pruned |= bool((target < policy - 1e-9).any())
    assert pruned
    free = search_with(evaluate=uneven).run(GAME.start(), visits=150)
    assert [target.tolist() for target in free.target] == [policy.tolist() for policy in free.policy]


def test_only_the_root_is_forced():
    search = search_with(select=ab.Decoupled(forced=50.0, c=0.1), evaluate=uneven, ahead=ab.graphs.Continue())
    search.run(GAME.start(), visits=120)
    node = read_node(GAME, search.rooted.graph, search.rooted.root)
    child = int(node.children[np.unravel_index(node.visits.argmax(), node.visits.shape)])
    below = read_node(GAME, search.rooted.graph, child)
    for player in range(2):
        at_root, further = (each.marginal(player, each.visits) for each in (node, below))
        assert at_root.max() / at_root.sum() < further.max() / further.sum()


# --- final choices ------------------------------------------------------------------------------------------------------------


def test_temperature_draws_each_player_by_itself():
    found = {search_with(RPS, final=ab.final.ByTemperature(1.0), seed=seed).run(visits=20).best for seed in range(15)}
    assert len({first for first, _ in found}) > 1 and len({second for _, second in found}) > 1
    assert len(found) > 3
    assert all(isinstance(each, int) for best in found for each in best)


def test_the_same_seed_draws_the_same_pair():
    options = {"final": ab.final.ByTemperature(1.0), "seed": 9}
    assert search_with(RPS, **options).run(visits=20).best == search_with(RPS, **options).run(visits=20).best


def test_most_visits_goes_by_each_players_own():
    """Not by the pair that came most often."""
    result = search_with().run(GAME.start(), visits=80)
    assert result.best == tuple(int(visits.argmax()) for visits in result.visits)
    settled = search_with(final=ab.final.ByValue(0.05)).run(GAME.start(), visits=80)
    for player, best in enumerate(settled.best):
        rows = [move for move in settled.moves[player] if move.visits >= max(1, 0.05 * settled.visits[player].max())]
        assert best == max(rows, key=lambda move: move.value).action


@pytest.mark.parametrize(
    "final",
    [
        ab.final.ByRegularized(),
        ab.final.ByRegularized(draw=True),
        ab.final.ByValue(),
        ab.final.ByTemperature(0.0),
        ab.final.MostVisits(),
    ],
    ids=repr,
)
def test_every_way_to_choose_gives_each_player_an_outcome(final):
    result = search_with(final=final).run(GAME.start(), visits=40)
    assert all(best in GAME.start().outcomes(player) for player, best in enumerate(result.best))


def test_depth_and_late_edges_count_all_the_same():
    for options in ({"depth": 1}, {"depth": 2}, {"expand_after": 3}):
        search = search_with(**options)
        assert search.run(GAME.start(), visits=50).pairs.sum() == 50
        assert_pairs_add_up(search)
    flat = search_with(depth=1)
    flat.run(GAME.start(), visits=50)
    assert flat.result().stats.depth == 1


# --- graphs -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "stale", [ab.graphs.PathOnly(), ab.graphs.Parents(), ab.graphs.Ancestors(), ab.graphs.Sweeping(pause=0.01)], ids=repr
)
def test_stale_parents_are_brought_up_to_date(stale):
    search = search_with(stale=stale, ahead=ab.graphs.Continue())
    search.run(GAME.start(), visits=80)
    largest = search.staleness().largest
    if isinstance(stale, (ab.graphs.Ancestors, ab.graphs.Sweeping)):
        assert largest == pytest.approx(0.0, abs=1e-9)
    assert_pairs_add_up(search)
    assert search.staleness().largest == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("update", [ab.graphs.Idempotent(), ab.graphs.Incremental(), ab.graphs.CatchUp()], ids=repr)
@pytest.mark.parametrize("ahead", [ab.graphs.Stop(), ab.graphs.Stop(leak=0.5), ab.graphs.Continue()], ids=repr)
def test_all_ways_to_update_count_every_simulation(update, ahead):
    result = search_with(update=update, ahead=ahead).run(GAME.start(), visits=60)
    assert result.pairs.sum() == 60 and result.stats.merges > 0
    assert result.stats.evaluations <= 61
    assert all(np.isfinite(value) and 0 <= value <= 3 for value in result.value)


def test_stopping_at_known_children_evaluates_less():
    game = PyRat(5, 5, cheese=5, walls=0.0, mud=0.0, max_turns=30)
    stop, go = (
        search_with(game, ahead=ahead).run(game.start(), visits=100) for ahead in (ab.graphs.Stop(), ab.graphs.Continue())
    )
    assert stop.stats.evaluations < go.stats.evaluations == 101  # the root's is one of them


# --- results ------------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def result():
    return search_with().run(GAME.start(), visits=60)


def test_a_result_says_both_players_actions(result):
    assert repr(result).startswith("PairResult(best=") and "60 visits" in repr(result) and "values=" in repr(result)
    assert result.best_name == GAME.pair_name(result.best)
    text = str(result)
    head, *rows, summary = text.splitlines()
    assert head.split() == ["first", "visits", "policy", "value", "prior", "second", "visits", "policy", "value", "prior"]
    assert len(rows) == 3 and "up" in rows[0] + rows[1] + rows[2] and "60 simulations" in summary
    assert result._repr_html_().count("<tr>") == 4


def test_a_result_is_json_and_pickles(result):
    data = json.loads(json.dumps(result.to_dict()))
    assert data["best"] == list(result.best) and data["best_name"] == result.best_name
    assert np.array(data["pairs"]).sum() == 60
    assert data["payoffs"][0][2][2] is None  # down is no outcome at the lower wall
    assert [len(each) for each in data["moves"]] == [3, 3] and sum(data["policy"][1]) == pytest.approx(1.0)
    assert data["pv"][0] == [int(each) for each in result.pv[0]]
    again = pickle.loads(pickle.dumps(result))
    assert again.best == result.best and again.pairs.tolist() == result.pairs.tolist() and str(again) == str(result)


def test_payoffs_are_what_pairs_brought(result):
    tried = result.pairs > 0
    assert np.isfinite(result.payoffs[:, tried]).all() and np.isnan(result.payoffs[:, ~tried]).all()
    assert (result.payoffs[:, tried] >= 0).all()  # cheese
    zero_sum = search_with(RPS).run(visits=30)
    tried = zero_sum.pairs > 0
    matrix = np.array(RPS.fields["payoffs"][0][:3, :3])
    assert zero_sum.payoffs[0][tried].tolist() == matrix[tried].tolist() == (-zero_sum.payoffs[1][tried]).tolist()
    assert zero_sum.value[0] == -zero_sum.value[1]


# --- what is refused ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "options", "complaint"),
    [
        (GAME, {"select": ab.UCT()}, r"is for players who take turns, and in .* both move at once: use Decoupled\(\)"),
        (GAME, {"select": ab.PUCT()}, "is for players who take turns"),
        (GAME, {"select": ab.select.Gumbel()}, "is for players who take turns"),
        (GAME, {"select": ab.select.Widening()}, "is for players who take turns"),
        (GAME, {"select": ab.select.Forced()}, "is for players who take turns"),
        (ConnectFour(), {"select": ab.Decoupled()}, "is for games in which both move at once, and in .* they take turns"),
        (ConnectFour(), {"select": ab.RegretMatching()}, "is for games in which both move at once"),
        (ConnectFour(), {"backup": ab.backup.ByStrategies()}, "wants a rule that keeps strategies"),
        (GAME, {"prove": True}, "both move at once, and a proof would be a strategy"),
        (
            GAME,
            {"heuristic": ab.evaluate.EvenGame()},
            "where both players move at once, prior knowledge comes from the evaluator.s priors",
        ),
        (GAME, {"backup": ab.backup.Max()}, r"no single action is best; use Mean\(\) or ByStrategies\(\)"),
        (GAME, {"backup": ab.backup.Mix(0.5)}, "no single action is best"),
        (GAME, {"select": ab.simultaneous.Equilibrium()}, "solves zero-sum games, and .* is not zero-sum"),
        (Repeated(2), {"select": ab.simultaneous.Equilibrium()}, "solves zero-sum games"),
        (
            GAME,
            {"backup": ab.backup.ByStrategies()},
            r"wants a rule that keeps strategies: RegretMatching\(\), Exp3\(\), Equilibrium",
        ),
        (GAME, {"select": ab.Decoupled(replies=ab.select.ParentFPU())}, "not an option for replies"),
        (GAME, {"select": ab.Decoupled(fpu=ab.simultaneous.ByPriors())}, "not an option for fpu"),
        (RPS, {"select": ab.RegretMatching(), "backup": ab.backup.ByStrategies(), "update": ab.graphs.CatchUp()}, "CatchUp"),
        (GAME, {"graph": False, "update": ab.graphs.Idempotent()}, "are for graphs"),
    ],
    ids=lambda value: repr(value)[:40] if isinstance(value, dict) else None,
)
def test_options_that_make_no_sense_together_are_refused(game, options, complaint):
    with pytest.raises(ab.errors.SearchError, match=complaint):
        ab.Search(game, **grouped({"graph": True, "memory": "1MB"} | options))


@pytest.mark.parametrize("options", [{"c": -1.0}, {"forced": -2.0}], ids=repr)
def test_numbers_out_of_range_are_refused(options):
    with pytest.raises(ab.AnabranchError, match=r"Decoupled|c=|forced="):
        ab.Search(GAME, select=ab.Decoupled(**options))
    with pytest.raises(ab.AnabranchError):
        ab.Search(RPS, select=ab.RegretMatching(explore=1.5))
    with pytest.raises(ab.AnabranchError):
        ab.Search(RPS, select=ab.simultaneous.Exp3(rate=0.0))


def test_a_bound_on_values_is_not_known_of_outcomes():
    """`ByLowerBound` wants squares, which no outcome has."""
    with pytest.raises(ab.errors.SearchError, match="ByLowerBound"):
        ab.Search(GAME, final=ab.final.ByLowerBound(), memory="1MB")


def test_the_default_is_decoupled_and_settings_say_so(result):
    assert result.settings["select"] == repr(ab.Decoupled()) and result.settings["final"] == "MostVisits()"
    learner = search_with(RPS, select=ab.RegretMatching())
    assert learner.run(visits=5).settings["backup"] == "ByStrategies()"
    assert learner.run(visits=5).settings["final"] == repr(ab.final.ByTemperature(1.0))
    assert Goofspiel(3).policy_shape == (2, 3)
