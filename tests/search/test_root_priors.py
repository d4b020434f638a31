"""The root's priors during a run: temperature, noise, a rule of one's own, and what an evaluator has for roots alone."""

from typing import NamedTuple

import numpy as np
import pytest

import anabranch as ab
from anabranch.games import MatrixGame, Pig, TicTacToe
from anabranch.search.results.read import edge_records
from anabranch.search.select.gumbel import NOISE
from tests.conftest import in_soak, when_compiled, when_plain
from tests.search.games import Board
from tests.search.test_faults import Fault, state_of

GAME = TicTacToe()
ON_TREE_GRAPH_AND_THREADS = pytest.mark.parametrize(
    "options", [{}, {"graph": True}, pytest.param({"threads": 2}, marks=[when_compiled, in_soak])], ids=str
)
IN_TREE = np.array([0.3, 0.1, 0.05, 0.05, 0.1, 0.1, 0.1, 0.1, 0.1])
AT_ROOT = np.array([0.02, 0.08, 0.2, 0.1, 0.1, 0.1, 0.1, 0.1, 0.2])


class Doubtful:
    """An evaluator with other priors for roots, which raises at one of the calls for them. It looks at the root meanwhile."""

    def __init__(self, at_root=AT_ROOT, batch=1, fault=None):
        self.at_root, self.batch, self.fault = at_root, batch, fault
        self.roots, self.seen, self.search = [], [], None

    def __call__(self, states):
        if self.search is not None and self.search.rooted.root >= 0:
            self.seen.append(priors_now(self.search))
        return np.tile(IN_TREE, (len(states), 1)), np.zeros(len(states))

    def root_priors(self, position):
        self.roots.append(position)
        if len(self.roots) == self.fault:
            raise Fault("no idea")
        return self.at_root


def priors_now(search):
    """Of the root's actions, in their order."""
    edges = edge_records(search.rooted.graph, search.rooted.root)
    return edges["prior"][np.argsort(edges["action"])]


def search_with(evaluate, **options):
    search = ab.Search(GAME, **{"select": ab.PUCT(), "evaluate": evaluate, "seed": 4, "memory": "2MB"} | options)
    if isinstance(evaluate, Doubtful):
        evaluate.search = search
    return search


# --- temperature ---


def adjust(noise, priors, seed=0):
    return ab.final.adjust_priors(noise, np.array(priors), np.random.default_rng(seed))


def test_a_temperature_makes_priors_more_or_less_equal():
    assert adjust(ab.final.RootTemperature(1.0), [0.5, 0.3, 0.2, 0.0]) == pytest.approx([0.5, 0.3, 0.2, 0.0])
    roots = np.sqrt([0.5, 0.3, 0.2])
    assert adjust(ab.final.RootTemperature(2.0), [0.5, 0.3, 0.2]) == pytest.approx(roots / roots.sum())
    assert adjust(ab.final.RootTemperature(0.5), [0.5, 0.3, 0.2]) == pytest.approx(np.array([0.25, 0.09, 0.04]) / 0.38)
    assert adjust(ab.final.RootTemperature(1e-9), [0.5, 0.3, 0.2]) == pytest.approx([1, 0, 0])
    assert adjust(ab.final.RootTemperature(1e9), [0.7, 1e-30, 0.0]) == pytest.approx([0.5, 0.5, 0.0], abs=1e-6)


def test_noise_comes_after_the_temperature():
    noise = ab.final.Dirichlet(0.3, 0.25)
    flat = adjust(ab.final.RootTemperature(2.0), [0.9, 0.1])
    assert adjust(ab.final.RootTemperature(2.0, noise), [0.9, 0.1], seed=3) == pytest.approx(adjust(noise, flat, seed=3))


@ON_TREE_GRAPH_AND_THREADS
def test_a_temperature_holds_while_a_search_runs(options):
    evaluate = Doubtful(at_root=None)
    search = search_with(evaluate, noise=ab.final.RootTemperature(2.0), **options)
    result = search.run(visits=20)
    for seen in evaluate.seen:
        assert seen == pytest.approx(np.sqrt(IN_TREE) / np.sqrt(IN_TREE).sum(), abs=1e-6)
    assert priors_now(search) == pytest.approx(IN_TREE, abs=1e-6)
    assert result.settings["noise"] == "RootTemperature(temperature=2.0, noise=None)"


def test_a_temperature_works_on_compact_trees():
    alone = ab.Search(GAME, select=ab.PUCT(), seed=4).run(visits=60)
    warm = ab.Search(GAME, select=ab.PUCT(), seed=4, noise=ab.final.RootTemperature(3.0)).run(visits=60)
    assert warm.visits.tolist() == alone.visits.tolist()  # uniform priors stay so


# --- a rule of one's own ---


class Squared(NamedTuple):
    """Priors are squared, or replaced by something that is wrong."""

    broken: int = 0


@ab.final.adjust_priors.register(Squared)
def adjust_priors_squared(noise, priors, random):
    squares = priors**2 / (priors**2).sum()
    priors[:] = 0.0  # which is its own copy
    return [squares.tolist(), squares[:3], -squares, squares * np.nan, squares * 0, "none"][noise.broken]


def squared(priors):
    return priors**2 / (priors**2).sum()


@pytest.mark.parametrize("noise", [Squared(), ab.final.RootTemperature(1.0, Squared())], ids=["alone", "inside"])
def test_a_rule_of_ones_own(noise):
    evaluate = Doubtful(at_root=None)
    search = search_with(evaluate, noise=noise)
    search.run(visits=5)
    assert np.array(evaluate.seen) == pytest.approx(np.tile(squared(IN_TREE), (len(evaluate.seen), 1)), abs=1e-6)
    assert priors_now(search) == pytest.approx(IN_TREE, abs=1e-6)


@pytest.mark.parametrize("broken", [1, 2, 3, 4, 5])
def test_a_rule_that_returns_no_probabilities_changes_nothing(broken):
    search = search_with(Doubtful(at_root=None))
    search.run(visits=5)
    before = state_of(search)
    search.noise = Squared(broken)
    with pytest.raises(ab.errors.SearchError, match=r"noise=Squared\(.*: adjust_priors must return 9 probabilities"):
        search.run(visits=5)
    assert state_of(search) == before


# --- an evaluator's own priors of roots ---


@ON_TREE_GRAPH_AND_THREADS
@pytest.mark.parametrize("batch", [1, 4])
def test_an_evaluator_may_have_other_priors_for_roots(options, batch):
    evaluate = Doubtful(batch=batch)
    search = search_with(evaluate, **options)
    search.run(visits=20)
    assert [position.moves for position in evaluate.roots] == [()]
    assert np.array(evaluate.seen) == pytest.approx(np.tile(AT_ROOT, (len(evaluate.seen), 1)), abs=1e-6)
    assert priors_now(search) == pytest.approx(IN_TREE, abs=1e-6)
    search.advance(4)
    search.run(visits=5)
    assert evaluate.roots[1].moves == (4,)
    others = np.delete(AT_ROOT, 4)
    assert evaluate.seen[-1] == pytest.approx(others / others.sum(), abs=1e-6)  # of legal actions
    search.back()
    assert priors_now(search) == pytest.approx(IN_TREE, abs=1e-6)


def test_noise_is_put_on_the_priors_of_the_root():
    evaluate = Doubtful()
    search_with(evaluate, noise=Squared()).run(visits=3)
    assert evaluate.seen[-1] == pytest.approx(squared(AT_ROOT), abs=1e-6)


def test_the_target_is_made_with_the_priors_that_the_search_saw():
    evaluate = Doubtful()
    result = search_with(evaluate, select=ab.select.Gumbel(scale=0.0, considered=1)).run(visits=2)
    assert result.best in (2, 8)  # the likeliest there
    assert result.target[2] == pytest.approx(result.target[8]) and result.target[0] < 0.1


def test_none_leaves_the_priors_as_they_are():
    with_none, without = search_with(Doubtful(at_root=None)), search_with(lambda states: Doubtful()(states))
    assert with_none.run(visits=30).visits.tolist() == without.run(visits=30).visits.tolist()
    assert state_of(with_none) == state_of(without)


def test_chance_keeps_its_probabilities():
    class OfPig:
        def __call__(self, states):
            return None, np.zeros(len(states))

        def root_priors(self, position):
            raise AssertionError("nobody chooses here")

    assert ab.Search(Pig(), select=ab.PUCT(), evaluate=OfPig()).run(Pig().position(["roll"]), visits=5).visits.sum() == 5


def test_games_of_python_objects_have_them_too():
    class OfBoard(Doubtful):
        def __call__(self, states):
            return IN_TREE[None], np.zeros(1)

    search = ab.Search(Board, select=ab.PUCT(), evaluate=OfBoard(), seed=1)
    assert search.run(visits=1).best in (2, 8)  # the likeliest there
    assert isinstance(search.options.evaluate.roots[0], Board)


@when_plain
def test_where_both_move_at_once_each_player_has_its_own():
    game = MatrixGame.rock_paper_scissors()
    wanted = np.array([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]])

    class OfPairs:
        def __call__(self, states):
            return None, np.zeros(len(states))

        def root_priors(self, position):
            return wanted

    search = ab.Search(game, evaluate=OfPairs(), graph=True, seed=1)
    result = search.run(visits=20)
    for player in range(2):
        shown = {move.action: move.prior for move in result.moves[player]}
        assert [shown[action] for action in range(3)] == pytest.approx(wanted[player], abs=1e-6)
    assert priors_now(search) == pytest.approx(1 / 9)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (AT_ROOT[:3], r"root_priors have the shape \(3,\); for one position it is \(9,\)"),
        (AT_ROOT[None], r"root_priors have the shape \(1, 9\)"),
        (-AT_ROOT, "root_priors are negative"),
        (AT_ROOT * np.nan, "hold NaN or infinity"),
        (AT_ROOT * 0, "gave every legal action the prior 0"),
        (["a"] * 9, "root_priors are not numbers"),
        ([[1, 2], [3]], "root_priors are not numbers"),
    ],
)
def test_priors_that_make_no_sense_are_refused_and_change_nothing(given, said):
    evaluate = Doubtful()
    search = search_with(evaluate)
    search.run(visits=7)
    before, evaluate.at_root = state_of(search), given
    with pytest.raises(ab.errors.EvaluatorError, match=said):
        search.run(visits=7)
    assert state_of(search) == before


# --- faults ---


@pytest.mark.parametrize("options", [{}, {"graph": True}], ids=str)
def test_an_evaluator_that_raises_for_a_root_changes_nothing(options):
    def play_on(search):
        for step in range(3):
            wanted = 9 + (0 if search.rooted.driver is None else int(search.result().visits.sum()))
            try:
                search.run(visits=9)
            except ab.errors.EvaluatorError as error:
                assert str(error) == "root_priors of the evaluator Doubtful raised Fault: no idea"
                search.run(total=wanted)
            if step == 0:
                search.advance(4)

    whole = search_with(Doubtful(), **options)
    play_on(whole)
    for fault in (1, 2, 3):
        again = search_with(Doubtful(fault=fault), **options)
        play_on(again)
        assert state_of(again) == state_of(whole), fault


def test_a_new_search_stays_new_if_its_root_has_no_priors():
    search = search_with(Doubtful(fault=1), select=ab.select.Gumbel())
    with pytest.raises(ab.errors.EvaluatorError):
        search.run(visits=9)
    assert search.rooted.driver is None
    assert search.run(visits=9).visits.sum() == 9


def test_a_plan_is_not_touched_if_the_evaluator_raises_for_the_root():
    search = search_with(Doubtful(fault=2), select=ab.select.Gumbel())
    best = search.run(visits=9).best
    plan = search.rooted.graph.plan[NOISE].copy()
    with pytest.raises(ab.errors.EvaluatorError):
        search.run(visits=9)
    assert np.array_equal(search.rooted.graph.plan[NOISE], plan) and search.result().best == best


# --- many searches ---


def fleet_of(evaluate, size=3, **options):
    return ab.Fleet(GAME, size, evaluate=evaluate, select=ab.PUCT(), memory="6MB", seed=4, **options)


def test_a_fleet_searches_as_its_searches_do_alone():
    noise = ab.final.RootTemperature(1.5, ab.final.Dirichlet())
    found = fleet_of(Doubtful(batch=3), noise=noise).run(visits=25)
    for number, result in enumerate(found):
        alone = search_with(Doubtful(), noise=noise, seed=4 + number).run(visits=25)
        assert result.visits.tolist() == alone.visits.tolist()


def test_a_fleet_is_left_as_it_was_if_one_root_has_no_priors():
    fleet = fleet_of(Doubtful(batch=3, fault=5))
    fleet.run(visits=10)
    before = [state_of(search) for search in fleet.searches]
    with pytest.raises(ab.errors.EvaluatorError):
        fleet.run(visits=10)
    assert [state_of(search) for search in fleet.searches] == before
    assert all(result.visits.sum() == 20 for result in fleet.run(visits=10))
