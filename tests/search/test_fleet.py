"""Many searches that share every call of their evaluator."""

from dataclasses import replace

import numpy as np
import pytest

import anabranch as ab
from anabranch.games import ConnectFour
from tests.search.evaluators import Counting
from tests.search.games import Take
from tests.search.invariants import check_at_rest
from tests.search.trees import digest

GAME = ConnectFour()
OPTIONS = {"select": ab.PUCT(c=1.5)}


@pytest.mark.when_compiled
def test_a_fleet_finds_what_its_searches_would_find_alone():
    evaluator = Counting(6)
    fleet = ab.Fleet(GAME, 6, evaluate=evaluator, memory="60MB", seed=10, **OPTIONS)
    positions = [GAME.position([n]) for n in range(6)]
    results = fleet.run(positions, visits=120)
    assert max(map(len, evaluator.calls)) == 6
    for number, (position, result) in enumerate(zip(positions, results, strict=True)):
        alone = ab.Search(GAME, evaluate=Counting(1), memory="10MB", seed=10 + number, **OPTIONS)
        assert alone.run(position, visits=120).visits.tolist() == result.visits.tolist()
        assert digest(alone) == digest(fleet.searches[number])
        assert result.stats.simulations == 120


@pytest.mark.when_compiled
def test_a_large_batch_takes_several_leaves_from_each():
    evaluator = Counting(32)
    fleet = ab.Fleet(GAME, 8, evaluate=evaluator, memory="80MB", **OPTIONS)
    assert all(result.visits.sum() == 100 for result in fleet.run(visits=100))
    assert len(evaluator.asked) / len(evaluator.calls) > 25
    for search in fleet.searches:
        check_at_rest(search)


@pytest.mark.when_compiled
def test_games_go_on_in_a_fleet():
    fleet = ab.Fleet(GAME, 4, evaluate=Counting(4), memory="40MB", **OPTIONS)
    positions = [GAME.start()] * 4
    for _ in range(4):
        results = fleet.run(positions, visits=40)
        actions = [result.best for result in results]
        fleet.advance(actions)
        positions = [position.play(action) for position, action in zip(positions, actions, strict=True)]
    assert all(result.stats.kept > 0 for result in fleet.run(positions, visits=10))


def test_some_can_be_left_out_and_each_has_its_own_limit():
    fleet = ab.Fleet(GAME, 3, evaluate=Counting(3), memory="30MB", **OPTIONS)
    first, second, third = fleet.run([GAME.start(), None, GAME.position([3])], visits=[30, 7, 50])
    assert second is None
    assert (first.visits.sum(), third.visits.sum()) == (30, 50)
    assert fleet.run(visits=20)[1].visits.sum() == 20


def test_a_search_of_a_fleet_can_also_run_by_itself():
    fleet = ab.Fleet(GAME, 3, evaluate=Counting(6), memory="30MB", **OPTIONS)
    fleet.run(visits=20)
    second = fleet.searches[1]
    assert second.run(visits=30).visits.sum() == 50
    leaves = second.ask(2)
    second.tell(leaves, None, np.zeros(len(leaves)))
    before = int(second.result().visits.sum())
    assert before > 50
    second.advance(0, keep="nothing")
    assert [int(result.visits.sum()) for result in fleet.run(visits=10)] == [30, 10, 30]


@pytest.mark.parametrize("prove", [False, True])
def test_results_without_lines_are_the_same_but_for_their_lines(prove):
    options = {"memory": "40MB", "graph": True, "prove": prove, "select": ab.select.Gumbel()}
    with_lines, without = (ab.Fleet(GAME, 4, evaluate=Counting(4), **options) for _ in range(2))
    positions = [GAME.position(moves) for moves in ([], [3], [3, 3, 2], [0, 1, 0, 1, 0, 1])]
    pairs = zip(with_lines.run(positions, visits=40), without.run(positions, visits=40, lines=False), strict=True)
    for full, short in pairs:
        assert short.pv == [short.best] and all(len(move.pv) == 1 for move in short.moves)
        cut = [replace(move, pv=move.pv[:1]) for move in full.moves]
        assert (short.best, short.value, short.proven, short.moves) == (full.best, full.value, full.proven, cut)
        for name in ("visits", "policy", "target", "regularized"):
            assert getattr(short, name).tolist() == getattr(full, name).tolist()


@pytest.mark.parametrize("options", [OPTIONS, {"select": ab.select.Gumbel(), "graph": True, "prove": True}])
def test_a_search_that_begins_again_finds_what_a_new_one_finds(options):
    fleet = ab.Fleet(GAME, 3, evaluate=Counting(3), memory="30MB", seed=10, **options)
    fleet.run([GAME.position(moves) for moves in ("d", "dcdcdc", "cc")], visits=50)  # d wins in the second
    stack = fleet.searches[0].rooted.driver.stack
    fleet.searches[2].reseed(99)
    positions = [GAME.position(moves) for moves in ("eee", "ab", "ddddd")]
    results = fleet.run(positions, visits=40)
    assert fleet.searches[0].rooted.driver.stack is stack, "memory and drivers are used again"
    new = ab.Fleet(GAME, 3, evaluate=Counting(3), memory="30MB", seed=10, **options)
    new.searches[2].reseed(99)
    for result, expected in zip(results, new.run(positions, visits=40), strict=True):
        assert (result.visits.tolist(), result.value) == (expected.visits.tolist(), expected.value)
    for search, other in zip(fleet.searches, new.searches, strict=True):
        assert digest(search) == digest(other)


def test_after_an_error_of_a_rule_nothing_is_used_again():
    fleet = ab.Fleet(GAME, 2, evaluate=Counting(2), memory="20MB", **OPTIONS)
    fleet.run([GAME.start()] * 2, visits=5)
    rooted = fleet.searches[0].rooted
    before = rooted.driver
    with pytest.raises(ab.errors.KernelError), rooted.working():
        raise ab.errors.KernelError("a rule raised")
    fleet.run([GAME.position("d")] * 2, visits=5)
    assert rooted.driver is not before


PLAIN, LOUD = ({"select": ab.select.Gumbel(scale=scale)} for scale in (1.0, 20.0))
PROVING = PLAIN | {"prove": True}


@pytest.mark.parametrize("regularized", [False, True])
@pytest.mark.parametrize("options", [PLAIN, LOUD, PROVING, OPTIONS], ids=["gumbel", "loud", "prove", "puct"])
def test_roots_say_what_results_say(options, regularized):
    fleets = [ab.Fleet(GAME, 8, evaluate=Counting(8), memory="80MB", seed=3, **options) for _ in range(2)]
    positions = [GAME.position(moves) for moves in ([], "d", [3, 3, 2, 3], "dcdcdc")]  # in the last one d wins
    positions, visits = 2 * positions, [40, 8, 33, 60, 2, 3, 4, 5]
    found = fleets[0].roots(positions, visits, regularized)
    for s, result in enumerate(fleets[1].run(positions, visits)):
        assert found.best[s] == result.best and found.simulations[s] == result.stats.simulations
        assert found.policy[s].tolist() == result.policy.tolist()
        assert np.allclose(found.target[s], result.target, rtol=1e-14, atol=0.0)  # summed in another order
        assert found.values[s].tolist() == [result.value] and found.proven[s] == result.proven
        for move in result.moves:
            assert found.priors[s, move.action] == np.float32(move.prior)
            assert found.certain[s, move.action] == move.value if move.proven else np.isnan(found.certain[s, move.action])
        if regularized:
            assert found.regularized[s].tolist() == result.regularized.tolist()
    assert (found.regularized is not None) == regularized
    assert found.proven.tolist() == 2 * [False, False, False, "prove" in options]


def test_roots_are_those_of_the_noisy_search_where_there_is_noise():
    fleets = [
        ab.Fleet(GAME, 2, evaluate=Counting(2), memory="20MB", **PLAIN, noise=ab.final.Dirichlet(1.0, 0.5)) for _ in range(2)
    ]
    found = fleets[0].roots([GAME.start()] * 2, 30)
    for s, result in enumerate(fleets[1].run([GAME.start()] * 2, 30)):
        assert found.target[s].tolist() == result.target.tolist() and found.best[s] == result.best


def test_roots_are_of_all_searches():
    fleet = ab.Fleet(GAME, 2, evaluate=Counting(2), memory="20MB", **PLAIN)
    with pytest.raises(ab.errors.SearchError, match="a position for each search"):
        fleet.roots([GAME.start(), None], 10)


def test_a_fleet_stops_in_time():
    fleet = ab.Fleet(GAME, 3, evaluate=Counting(3), memory="30MB", **OPTIONS)
    fleet.run(visits=1)
    results = fleet.run(seconds=0.2)
    assert all(result.stopped_by == "seconds" for result in results)


def test_a_fault_leaves_nothing_under_way():
    evaluator = Counting(4, after=5, fault=lambda evaluator, count: (None, np.full(count, np.nan)))
    fleet = ab.Fleet(GAME, 4, evaluate=evaluator, memory="40MB", **OPTIONS)
    with pytest.raises(ab.errors.EvaluatorError, match="NaN"):
        fleet.run(visits=100)
    for search in fleet.searches:
        check_at_rest(search)
    evaluator.fault = None
    assert len(fleet.run(visits=10)) == 4


def test_what_a_fleet_is_given_is_checked():
    with pytest.raises(ab.errors.SearchError, match="Game"):
        ab.Fleet(Take(), 4, evaluate=Counting())
    with pytest.raises(ab.errors.SearchError, match="evaluator"):
        ab.Fleet(GAME, 4, evaluate=ab.Uniform())
    with pytest.raises(ab.errors.SearchError, match="threads"):
        ab.Fleet(GAME, 4, evaluate=Counting(), threads=2)
    fleet = ab.Fleet(GAME, 2, evaluate=Counting(), memory="2MB", **OPTIONS)
    with pytest.raises(ab.errors.SearchError, match="3 positions for 2"):
        fleet.run([None] * 3, visits=1)
    with pytest.raises(ab.errors.SearchError, match="how long"):
        fleet.run()
    with pytest.raises(ab.errors.SearchError, match="actions"):
        fleet.advance([0])


def test_a_fleet_plays_all_actions_or_none():
    fleet = ab.Fleet(ConnectFour(), 3, evaluate=Counting(8), select=ab.PUCT())
    fleet.run(visits=20)
    with pytest.raises(ab.errors.IllegalMove):
        fleet.advance([0, "z", 1])
    assert [search.position.moves for search in fleet.searches] == [()] * 3
    over = ConnectFour().position("dcdcdcd")
    with pytest.raises(ab.errors.SearchError, match="over"):
        fleet.run([ConnectFour().position("d"), over, None], visits=10)
    assert [search.position.moves for search in fleet.searches] == [()] * 3
    assert [result.visits.sum() for result in fleet.run(visits=20)] == [40] * 3


def test_a_fleet_is_as_it_was_when_its_evaluator_has_raised():
    evaluator = Counting(8)
    fleet = ab.Fleet(ConnectFour(), 3, evaluate=evaluator, select=ab.PUCT())
    fleet.run(visits=20)
    evaluator.fault = lambda _, count: 1 / 0
    with pytest.raises(ab.errors.EvaluatorError):
        fleet.run(visits=20)
    evaluator.fault = None
    for search in fleet.searches:
        check_at_rest(search)
    fleet.run(visits=20)


def test_a_fleet_ends_when_some_of_its_roots_are_proven_before_others():
    won = [[column, 0, column, 1, column, 6] for column in (2, 3, 4, 5)]  # three on top of one another, and to move
    positions = [GAME.position(moves) for moves in [*won, []]]

    def knows_nothing(states):
        return np.ones((len(states), 7)), np.zeros(len(states))

    fleet = ab.Fleet(GAME, 5, evaluate=knows_nothing, select=ab.select.Gumbel(), memory="50MB", prove=True)
    results = fleet.run(positions, visits=100)
    assert [result.proven for result in results] == [True] * 4 + [False]
    assert [result.stopped_by for result in results] == ["proven"] * 4 + ["visits"]
    assert all(result.stats.simulations < 100 for result in results[:4])
