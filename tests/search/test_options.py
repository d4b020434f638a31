"""Options: what is refused and how, the choice at the end, noise at the root."""

import inspect
import math
import pickle
import re
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import pytest

import anabranch as ab
from anabranch.games import ConnectFour, Hex, Pig, TicTacToe
from anabranch.search.graph_options import grouped
from anabranch.search.requirements import check_together, goes_with_threads, needed_columns
from anabranch.search.results.final import Candidates
from anabranch.search.results.read import edge_records
from anabranch.search.select.base import score
from tests.conftest import in_soak

# --- what is refused ---

WRONG_OPTIONS = {
    "select=UCT: give an instance, UCT()": {"select": ab.UCT},
    "evaluate=Rollout: give an instance, Rollout()": {"evaluate": ab.Rollout},
    "evaluate=Uniform: give an instance, Uniform()": {"evaluate": ab.Uniform},
    "noise=Dirichlet: give an instance, Dirichlet()": {"noise": ab.final.Dirichlet},
    "select='UCT': not an option for select": {"select": "UCT"},
    "select=Rollout(": {"select": ab.Rollout()},
    "evaluate=UCT(": {"evaluate": ab.UCT()},
    "backup=0.5: not an option for backup": {"backup": 0.5},
    "final=UCT(": {"final": ab.UCT()},
    "noise=0.25: not an option for noise": {"noise": 0.25},
    "is a NamedTuple that `ab.final.adjust_priors` is registered for": {"noise": ab.UCT()},
    "RootTemperature: temperature=0.0 must be": {"noise": ab.final.RootTemperature(0)},
    "RootTemperature: temperature must be a number, not 'hot'": {"noise": ab.final.RootTemperature("hot")},
    "noise=0.3: not an option for noise": {"noise": ab.final.RootTemperature(2.0, noise=0.3)},
    "Dirichlet: weight=2.0 must be": {"noise": ab.final.RootTemperature(2.0, ab.final.Dirichlet(0.3, 2))},
    "Rave(schedule=UCT(": {"select": ab.Rave(schedule=ab.UCT())},
    "Rave(source=MinimumMSE()": {"select": ab.Rave(source=ab.select.MinimumMSE())},
    "UCT(fpu=Rave(": {"select": ab.UCT(fpu=ab.Rave())},
    "Pruning(rule=Widening(": {"select": ab.select.Pruning(ab.select.Widening())},
    "Pruning(rule=BestChance(": {"select": ab.select.Widening(ab.select.Pruning(ab.select.BestChance()))},
    "ProgressiveBias(rule=Pruning(": {"select": ab.select.ProgressiveBias(ab.select.Pruning())},
    "Widening(rule=Rollout(": {"select": ab.select.Widening(ab.Rollout())},
    "strict must be True or False, not 'no'": {"select": ab.Rave(strict="no")},
    "UCT: c=inf must be 0 or more, at most 1e+30": {"select": ab.UCT(c=float("inf"))},
    "depth=0: must be a whole number of 1 or more": {"expand": ab.select.Expansion(depth=0)},
    "Expansion: after must be a whole number, not 1.5": {"expand": ab.select.Expansion(after=1.5)},
    "threads=0: must be a whole number": {"threads": 0},
    "memory='much': write a number of bytes": {"memory": "much"},
    "memory='1 XB': write a number of bytes": {"memory": "1 XB"},
    "memory=0: must be above 0": {"memory": 0},
    "memory=nan: must be above 0": {"memory": float("nan")},
    "memory=None: must be above 0": {"memory": None},
    "seed=1.5: must be a whole number": {"seed": 1.5},
    "seed=None: must be a whole number": {"seed": None},
    "seed='x': must be a whole number": {"seed": "x"},
    "update, ahead and stale are for graphs: say graph=True": {
        "graph": ab.graphs.GraphOptions(ab.graphs.Idempotent(), merge=False)
    },
    "update, ahead and stale are for graphs": {"graph": ab.graphs.GraphOptions(stale=ab.graphs.Parents(), merge=False)},
    "CatchUp() averages: use it with backup=Mean()": {
        "graph": ab.graphs.GraphOptions(ab.graphs.CatchUp()),
        "backup": ab.backup.Max(),
    },
    "CatchUp() keeps running means": {"graph": ab.graphs.GraphOptions(ab.graphs.CatchUp(), stale=ab.graphs.Ancestors())},
    "graph='yes': give True, False, or GraphOptions(": {"graph": "yes"},
    "update=UCT(": {"graph": ab.graphs.GraphOptions(update=ab.UCT())},
    "GraphOptions: stale must be an option such as PathOnly()": {"graph": ab.graphs.GraphOptions(stale="none")},
    "UCT: c must be a number, not 'large'": {"select": ab.UCT(c="large")},
    "UCT: c=-1.0 must be": {"select": ab.UCT(c=-1)},
    "PUCT: fpu must be an option such as ParentFPU(": {"select": ab.PUCT(fpu=0.2)},
    "Rollout: playouts must be a whole number, not 2.5": {"evaluate": ab.Rollout(playouts=2.5)},
    "Rollout: playouts=0 must be": {"evaluate": ab.Rollout(playouts=0)},
    "Mix: weight=2.0 must be": {"backup": ab.backup.Mix(weight=2)},
}


@pytest.mark.parametrize(("message", "options"), WRONG_OPTIONS.items(), ids=WRONG_OPTIONS)
def test_wrong_options_are_refused_with_a_line_that_helps(message, options):
    with pytest.raises(ab.AnabranchError) as refused:
        ab.Search(TicTacToe(), **options)
    assert message in str(refused.value)


def test_a_games_class_is_no_game():
    with pytest.raises(ab.errors.SearchError, match=r"write TicTacToe\(\)"):
        ab.Search(TicTacToe)


WRONG_LIMITS = {
    "how long?": {},
    "visits=0: must be a whole number of 1 or more": {"visits": 0},
    "visits=-5: must be a whole number": {"visits": -5},
    "visits=2.5: must be a whole number": {"visits": 2.5},
    "visits='many': must be a whole number": {"visits": "many"},
    "visits=inf: must be a whole number": {"visits": float("inf")},
    "visits=True: must be a whole number": {"visits": True},
    "total=0: must be a whole number": {"total": 0},
    "seconds=0: must be above 0": {"seconds": 0},
    "seconds=nan: must be above 0": {"seconds": float("nan")},
}


@pytest.mark.parametrize(("message", "limits"), WRONG_LIMITS.items(), ids=WRONG_LIMITS)
def test_wrong_limits_are_refused(message, limits):
    with pytest.raises(ab.errors.SearchError) as refused:
        ab.Search(TicTacToe()).run(**limits)
    assert message in str(refused.value)


def test_numbers_of_numpy_are_numbers():
    assert ab.Search(TicTacToe(), expand=ab.select.Expansion(depth=np.int64(3))).run(visits=np.int32(20)).visits.sum() == 20


def test_a_finished_game_is_not_searched():
    over = TicTacToe().position(["a1", "a2", "b1", "b2", "c1"])
    with pytest.raises(ab.errors.SearchError, match="the game is over"):
        ab.Search(TicTacToe()).run(over, visits=10)


@pytest.mark.parametrize(
    ("position", "message"),
    [
        (ConnectFour().start(), "this search is for Hex(size=3); the position is one of ConnectFour()"),
        (Hex(5).start(), "this search is for Hex(size=3); the position is one of Hex(size=5)"),
        ("start", "run() wants a position of Hex(size=3)"),
    ],
)
def test_a_position_of_another_game_is_not_searched(position, message):
    with pytest.raises(ab.errors.SearchError) as refused:
        ab.Search(Hex(3)).run(position, visits=10)
    assert message in str(refused.value)


@pytest.mark.parametrize(("text", "size"), [("1GB", 10**9), ("1.5 mb", 1_500_000), ("2KiB", 2048), ("300", 300), (300, 300)])
def test_memory_is_written_as_people_do(text, size):
    assert ab.Search(TicTacToe(), memory=text).memory == size


class Stubborn(NamedTuple):
    """A rule of one's own: follows the edge with the smallest action."""


@score.register(Stubborn)
def score_stubborn(rule, parent, edge):
    return -1.0 * edge.action


def test_a_rule_of_ones_own_needs_no_more_than_a_class_and_a_function():
    result = ab.Search(TicTacToe(), select=Stubborn()).run(visits=20)
    assert result.visits.tolist() == [20] + [0] * 8


class Picky(NamedTuple):
    """A rule of one's own that answers for itself: the squares of values are to be summed for it, and it goes neither with
    proofs nor with several threads."""

    rule: Any = ab.UCT()


@score.register(Picky)
def score_picky(rule, parent, edge):
    return score(rule.rule, parent, edge)


@needed_columns.register(Picky)
def needed_columns_picky(rule):
    return "squares", *needed_columns(rule.rule)


@check_together.register(Picky)
def check_picky(rule, chosen):
    if chosen.prove:
        raise ab.errors.SearchError("Picky() does not go with proofs")


@goes_with_threads.register(Picky)
def goes_with_threads_picky(rule):
    return False


@in_soak
def test_a_rule_of_ones_own_says_what_it_needs_and_what_it_goes_with():
    search = ab.Search(TicTacToe(), select=Picky())
    search.run(visits=20)
    assert search.rooted.needs.columns == {"squares"}
    assert ab.Search(TicTacToe(), select=Picky(ab.Rave())).rooted.needs.columns == {"squares", "amaf"}
    with pytest.raises(ab.errors.SearchError, match="does not go with proofs"):
        ab.Search(TicTacToe(), select=Picky(), prove=True)
    with pytest.raises(ab.errors.SearchError, match="does not go with proofs"):
        ab.Search(TicTacToe(), select=ab.select.Widening(Picky()), prove=True)
    with pytest.raises(ab.errors.SearchError, match="is not for several threads"):
        ab.Search(TicTacToe(), select=Picky(), threads=2)


def test_every_option_of_a_search_is_explained():
    parameters = list(inspect.signature(ab.Search).parameters)
    assert len(parameters) <= 15
    for name in parameters[1:]:
        assert re.search(rf"^ +{name}  ", ab.Search.__init__.__doc__, re.MULTILINE), name


def test_options_written_one_by_one_are_put_together():
    one_by_one = {"graph": True, "stale": ab.graphs.Ancestors(), "ahead": None, "depth": 3, "expand_after": 2, "seed": 5}
    together = {"graph": ab.graphs.GraphOptions(stale=ab.graphs.Ancestors()), "expand": ab.select.Expansion(2, 3), "seed": 5}
    settings = [ab.Search(TicTacToe(), **options).run(visits=1).settings for options in (grouped(one_by_one), together)]
    assert settings[0] == settings[1] and settings[0]["depth"] == 3 and settings[0]["stale"] == "Ancestors()"
    assert grouped({"collect": ab.graphs.Forget()})["graph"].merge is False


def test_a_tree_with_proofs_may_forget_what_was_visited_little():
    forgetful = ab.graphs.GraphOptions(collect=ab.graphs.Forget(), merge=False)
    keeping, forgetting = (
        ab.Search(TicTacToe(), prove=True, graph=graph, memory="6KB").run(visits=80) for graph in (False, forgetful)
    )
    assert keeping.settings["graph"] is forgetting.settings["graph"] is False
    assert keeping.memory_full and forgetting.stats.nodes < keeping.stats.nodes  # some are gone


@pytest.mark.parametrize(
    "option",
    [
        ab.UCT(c=2),
        ab.PUCT(fpu=ab.select.ReducedFPU()),
        ab.Rollout(playouts=3),
        ab.select.Expansion(depth=3),
        ab.graphs.GraphOptions(stale=ab.graphs.Sweeping(0.1)),
        ab.backup.Mix(0.2),
        ab.final.Dirichlet(),
        ab.final.RootTemperature(1.25, ab.final.Dirichlet()),
        ab.final.ByValue(),
    ],
)
def test_options_pickle_and_print_as_they_are_typed(option):
    assert pickle.loads(pickle.dumps(option)) == option
    groups = (ab, ab.select, ab.evaluate, ab.backup, ab.final, ab.graphs)
    names = {name: getattr(group, name) for group in groups for name in dir(group)}
    assert eval(repr(option), names | {"inf": math.inf}) == option


# --- the choice at the end ---


def choose(rule, visits, values, seed=0):
    edges = Candidates(np.array(visits, float), np.array(values, float), np.full(len(visits), 1 / len(visits)), 0.0)
    return ab.final.choose(rule, edges, np.random.default_rng(seed))


def test_most_visits_are_chosen_and_the_better_value_breaks_a_tie():
    assert choose(ab.final.MostVisits(), [5, 9, 3], [1.0, -1.0, 1.0]) == 1
    assert choose(ab.final.MostVisits(), [5, 9, 9], [1.0, 0.1, 0.2]) == 2
    assert choose(ab.final.MostVisits(), [5, 9, 9], [1.0, 0.2, 0.1]) == 1


def test_by_value_the_best_is_chosen_among_those_with_enough_visits():
    assert choose(ab.final.ByValue(floor=0.1), [100, 9, 10], [0.1, 0.9, 0.5]) == 2
    assert choose(ab.final.ByValue(floor=0.0), [100, 1, 0], [0.1, 0.9, -np.inf]) == 1


def test_temperature_draws_in_proportion_to_visits():
    drawn = Counter(choose(ab.final.ByTemperature(1.0), [60, 30, 10, 0], [0, 0, 0, 0], seed) for seed in range(2000))
    assert [drawn[index] / 2000 for index in range(4)] == pytest.approx([0.6, 0.3, 0.1, 0.0], abs=0.04)
    cold = Counter(choose(ab.final.ByTemperature(0.5), [60, 30, 10, 0], [0, 0, 0, 0], seed) for seed in range(2000))
    assert [cold[index] / 2000 for index in range(4)] == pytest.approx([36 / 46, 9 / 46, 1 / 46, 0.0], abs=0.04)


def test_the_temperature_0_and_one_near_it_are_most_visits():
    for temperature in (0.0, 1e-3):
        assert {choose(ab.final.ByTemperature(temperature), [60, 90, 10, 0], [0] * 4, seed) for seed in range(50)} == {1}


@pytest.mark.parametrize("rule", [ab.final.MostVisits(), ab.final.ByTemperature(), ab.final.ByValue()])
def test_without_any_visit_there_is_still_a_choice(rule):
    assert choose(rule, [0, 0], [-np.inf, -np.inf]) in (0, 1)


def test_a_search_draws_its_best_action_by_the_seed():
    def drawn(seed):
        search = ab.Search(TicTacToe(), final=ab.final.ByTemperature(1.0), seed=seed)
        return search.run(visits=30).best

    by_seed = [drawn(seed) for seed in range(12)]
    assert by_seed == [drawn(seed) for seed in range(12)]
    assert len(set(by_seed)) > 3


# --- noise ---


def peek(noise, position, seed=0):
    """The root's priors while a search runs (one row a simulation), and after it."""
    seen = []

    def evaluate(states):
        if search.rooted.root >= 0:
            seen.append(edge_records(search.rooted.graph, search.rooted.root)["prior"].copy())
        return None, [0.0]

    search = ab.Search(position.game, select=ab.PUCT(), evaluate=evaluate, noise=noise, seed=seed)
    result = search.run(position, visits=5)
    return np.array(seen), np.array([move.prior for move in result.moves])


def test_noise_is_on_the_roots_priors_while_searching_and_gone_afterwards():
    during, after = peek(ab.final.Dirichlet(alpha=0.3, weight=0.25), TicTacToe().start())
    assert after == pytest.approx(1 / 9)
    assert (during == during[0]).all()
    assert during[0].sum() == pytest.approx(1.0)
    assert during[0].min() >= 0.75 / 9 - 1e-6
    assert during[0].max() > 0.15


def test_noise_differs_by_seed_and_by_position():
    start = TicTacToe().start()
    draws = [peek(ab.final.Dirichlet(), start, seed)[0][0] for seed in (0, 0, 1)]
    assert (draws[0] == draws[1]).all()
    assert not (draws[0] == draws[2]).all()
    other = [peek(ab.final.Dirichlet(), start.play(cell))[0][0] for cell in ("a1", "b2")]
    assert not (np.sort(other[0]) == np.sort(other[1])).all()


def test_noise_leaves_the_dice_alone():
    during, _ = peek(ab.final.Dirichlet(), Pig().position(["roll"]))
    assert during == pytest.approx(1 / 6)


def test_noise_makes_the_search_explore():
    calm = ab.Search(TicTacToe(), select=ab.PUCT(), seed=5).run(visits=200)
    noisy = ab.Search(TicTacToe(), select=ab.PUCT(), seed=5, noise=ab.final.Dirichlet(0.3, weight=0.9)).run(visits=200)
    assert calm.visits.tolist() != noisy.visits.tolist()
