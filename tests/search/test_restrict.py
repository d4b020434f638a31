"""Searches that may take only some actions at their root."""

import numpy as np
import pytest

import anabranch as ab
from anabranch.errors import IllegalMove, SearchError
from anabranch.games import MatrixGame, Pig, TicTacToe
from anabranch.jit import COMPILED
from tests.conftest import in_soak, when_plain
from tests.search.games import Take

GAME = TicTacToe()
ALLOWED = [1, 3, 5, 7]  # the edges of the board: the search by itself prefers the middle
VISITS = 400 if COMPILED else 40


def opinion(states):
    """Priors that like the middle best, which is not allowed."""
    return np.tile([0.05] * 4 + [0.6] + [0.05] * 4, (len(states), 1)), np.zeros(len(states))


OPTIONS = {
    "tree": {},
    "graph": {"graph": True},
    "proofs": {"graph": True, "prove": True},
    "RAVE": {"select": ab.Rave(), "graph": True},
    "threads on a tree": {"threads": 2},
    "threads on a graph": {"threads": 2, "graph": True},
    "batches": {"evaluate": opinion, "select": ab.PUCT()},
    "threads with batches": {"evaluate": opinion, "select": ab.PUCT(), "threads": 2},
    "Gumbel": {"evaluate": opinion, "select": ab.select.Gumbel()},
    "Forced": {"evaluate": opinion, "select": ab.select.Forced()},
    "Regularized": {"evaluate": opinion, "select": ab.select.Regularized()},
    "Widening": {"select": ab.select.Widening(), "heuristic": ab.evaluate.EvenGame()},
    "noise": {"evaluate": opinion, "select": ab.PUCT(), "noise": ab.final.Dirichlet()},
    "temperature": {"evaluate": opinion, "select": ab.PUCT(), "noise": ab.final.RootTemperature(2.0, ab.final.Dirichlet())},
}


FURTHER = ("threads on a graph", "Forced", "Regularized", "Widening")  # combinations that are tried in plain Python alone
MARKS = dict.fromkeys(FURTHER, when_plain) | {"threads with batches": in_soak}
CASES = [pytest.param(options, id=name, marks=MARKS.get(name, ())) for name, options in OPTIONS.items()]


@pytest.mark.parametrize("options", CASES)
def test_simulations_go_to_the_allowed_actions_and_to_no_others(options):
    search = ab.Search(GAME, **options)
    result = search.run(visits=VISITS, actions=ALLOWED)
    assert set(np.flatnonzero(result.visits)) <= set(ALLOWED) and result.visits.sum() == result.stats.simulations
    assert result.best in ALLOWED and result.pv[0] == result.best
    if result.stopped_by == "visits":
        assert result.visits.sum() == VISITS
        assert len(np.flatnonzero(result.visits)) > 1  # the rule chooses among them
    free = search.run(visits=VISITS)
    assert set(np.flatnonzero(free.visits)) - set(ALLOWED)  # it holds for one run


@pytest.mark.parametrize("options", [OPTIONS["tree"], OPTIONS["proofs"], OPTIONS["batches"]], ids=["tree", "proofs", "batches"])
def test_the_best_of_the_allowed_is_best_although_another_has_more_visits(options):
    search = ab.Search(GAME, **options)
    search.run(visits=VISITS)
    before = search.result().visits
    result = search.run(visits=VISITS // 20, actions=["a1", "b1"])
    others = [action for action in range(9) if action not in (GAME.action("a1"), GAME.action("b1"))]
    assert (result.visits[others] == before[others]).all()
    assert result.best in (GAME.action("a1"), GAME.action("b1")) and result.pv[0] == result.best
    assert search.result().best == GAME.action("b2")  # of all


def test_below_the_root_everything_is_searched_and_the_tree_is_kept():
    search = ab.Search(GAME)
    search.run(visits=VISITS, actions=["a1"])
    search.advance("a1")
    kept = search.result().visits
    assert kept.sum() >= VISITS - 2 and np.count_nonzero(kept) == 8


def test_a_restricted_search_is_the_same_for_the_same_seed():
    one, other = (ab.Search(GAME, graph=True, seed=3).run(visits=VISITS, actions=ALLOWED).visits for _ in range(2))
    assert (one == other).all()


# X can win at c1; b3 loses nothing yet, but O then takes c1.
#   3 . . .
#   2 O O .
#   1 X X .
WON = ["a1", "a2", "b1", "b2"]


def test_what_was_left_out_is_not_taken_for_lost():
    """Of two moves that both lose, one is proven to: the root, which has a win, is not."""
    position = GAME.position(WON)
    search = ab.Search(GAME, prove=True, graph=True)
    result = search.run(position, visits=5_000, actions=["a3", "b3"])
    assert result.stopped_by == "proven" and not result.proven and result.stats.simulations < 5_000
    assert {move.name for move in result.moves if move.proven} == {"a3", "b3"}
    assert GAME.name_of(result.best) in ("a3", "b3")
    free = search.run(visits=5_000)
    assert free.proven and free.value == 1.0 and GAME.name_of(free.best) == "c1"


def test_a_win_among_the_allowed_proves_the_root():
    result = ab.Search(GAME, prove=True, graph=True).run(GAME.position(WON), visits=5_000, actions=["c1", "b3"])
    assert result.proven and result.value == 1.0 and GAME.name_of(result.best) == "c1"


def test_gumbel_halves_among_the_allowed_alone():
    search = ab.Search(GAME, select=ab.select.Gumbel(considered=16), evaluate=opinion)
    visits = search.run(visits=32, actions=ALLOWED).visits[ALLOWED]
    assert sorted(visits) == [4, 4, 12, 12]  # 4 for each of four, 8 for each of the better two


def test_games_of_python_objects_are_restricted_too():
    result = ab.Search(Take, seed=1).run(visits=40, actions=[0])
    assert result.visits.sum() == result.visits[0] == 40


def test_searches_in_the_background_are_restricted_too():
    search = ab.Search(GAME)
    search.start(visits=VISITS, actions=ALLOWED)
    assert set(np.flatnonzero(search.wait().visits)) <= set(ALLOWED)


def test_a_search_of_a_fleet_has_a_restriction_of_its_own():
    fleet = ab.Fleet(GAME, 2, evaluate=opinion, select=ab.PUCT())
    fleet.run(visits=4)
    before = fleet.searches[1].result().visits
    added = fleet.searches[1].run(visits=10, actions=["a1", "c1"]).visits - before
    assert set(np.flatnonzero(added)) <= {GAME.action("a1"), GAME.action("c1")} and added.sum() == 10
    more = fleet.searches[1].run(visits=10, action="c3").visits - before - added
    assert more[GAME.action("c3")] == more.sum() == 10


@pytest.mark.parametrize(
    ("how", "complaint"),
    [
        ({"actions": []}, "give at least one action"),
        ({"actions": "a1"}, "give a list of actions, or action='a1'"),
        ({"actions": ["a1"], "action": "a1"}, "action= gives one action all simulations"),
    ],
)
def test_what_cannot_be_meant_is_refused(how, complaint):
    with pytest.raises(SearchError, match=complaint):
        ab.Search(GAME).run(visits=10, **how)


def test_illegal_actions_are_refused_and_change_nothing():
    search = ab.Search(GAME)
    search.run(visits=10)
    with pytest.raises(IllegalMove, match="a1 is not legal here"):
        search.run(GAME.position(["a1"]), visits=10, actions=["b1", "a1"])
    assert search.position == GAME.start() and search.result().visits.sum() == 10
    with pytest.raises(IllegalMove, match="action 7 is not legal here"):
        ab.Search(Take).run(visits=5, actions=[7])


def test_where_both_move_at_once_or_nobody_chooses_it_is_refused():
    with pytest.raises(SearchError, match="both players move at once"):
        ab.Search(MatrixGame([[1, 0], [0, 1]])).run(visits=10, actions=[0])
    pig = Pig()
    with pytest.raises(SearchError, match="a chance event comes next"):
        ab.Search(pig).run(pig.position(["roll"]), visits=10, actions=[0])
