"""Leaves in batches under virtual losses: what is asked, what is counted, what a failure leaves behind."""

import numpy as np
import pytest
from pytest import approx

import anabranch as ab
from anabranch.games import ConnectFour, Pig
from anabranch.search.loops.batch import COLLISIONS, DONE, process_batch
from anabranch.search.select.base import Parent
from anabranch.search.select.virtual_loss import PendingEdge, with_pending
from tests.search.evaluators import Counting
from tests.search.invariants import check_at_rest, total_visits
from tests.search.trees import digest

GAME = ConnectFour()


def search_with(evaluator, **options):
    return ab.Search(GAME, select=ab.PUCT(c=1.5), evaluate=evaluator, memory="20MB", seed=3, **options)


# --- what simulations under way count as ------------------------------------------------------------------------------------


def parent(value=0.2, middle=0.0, factor=1.0):
    fields = dict.fromkeys(Parent._fields, 0.0)
    return Parent(**fields | {"value": value, "column": 0, "middle": middle, "factor": factor, "unit": 1.0 / factor})


@pytest.mark.parametrize(
    ("virtual", "visits", "total", "pending", "seen"),
    [
        (ab.select.VirtualLoss(), 4, 2.0, 0, (4, 2.0)),
        (ab.select.VirtualLoss(), 4, 2.0, 1, (5, 1.0)),  # one more, lost
        (ab.select.VirtualLoss(visits=3), 4, 2.0, 2, (10, -4.0)),
        (ab.select.VirtualLoss(loss=0.0), 4, 2.0, 2, (6, 3.0)),  # two more, worth what the edge is worth
        (ab.select.VirtualLoss(loss=0.5), 4, 2.0, 2, (6, 1.5)),  # each worth the middle of 0.5 and -1
        (ab.select.VirtualLoss(loss=0.0), 0, 0.0, 2, (2, 0.0)),  # nothing is known of the edge: the middle of the range
        (ab.select.VirtualLoss(loss=1.0), 0, 0.0, 2, (2, -2.0)),
    ],
)
def test_simulations_under_way_count_as_visits(virtual, visits, total, pending, seen):
    edge = with_pending(virtual, PendingEdge(visits, total, 0.5, 3), pending, parent())
    assert (edge.visits, edge.total) == (seen[0], approx(seen[1]))
    assert (edge.prior, edge.action) == (0.5, 3)


def test_a_loss_is_the_lowest_value_in_the_games_own_units():
    edge = with_pending(ab.select.VirtualLoss(), PendingEdge(2, 20.0, 0.5, 3), 1, parent(middle=5.0, factor=0.2))
    assert edge.total == approx(20.0 + 0.0)  # from 0 to 10


# --- batches ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize("batch", [1, 3, 16, 200])
def test_a_search_does_what_was_asked_and_nothing_is_left_under_way(batch, graph):
    evaluator = Counting(batch)
    search = search_with(evaluator, graph=graph)
    result = search.run(visits=300)
    assert result.stats.simulations == total_visits(search) == 300
    assert result.stats.evaluations == len(evaluator.asked)
    assert max(map(len, evaluator.calls)) <= batch
    assert batch > 16 or max(map(len, evaluator.calls)) == batch
    check_at_rest(search)


@pytest.mark.parametrize("batch", [1, 16])
def test_no_position_is_asked_for_twice(batch):
    evaluator = Counting(batch)
    search_with(evaluator, graph=True).run(visits=500)
    assert len(set(evaluator.asked)) == len(evaluator.asked)


def test_a_leaf_that_waits_is_not_asked_for_twice():
    """With priors that leave one action, every descent of a batch wants the same leaf."""

    class Sure(Counting):
        def __call__(self, states):
            priors, values = super().__call__(states)
            priors[:, 1:] *= 1e-9
            return priors, values

    evaluator = Sure(16)
    search = search_with(evaluator, virtual=ab.select.VirtualLoss(loss=0.0), graph=True)
    search.run(visits=100)
    assert search.rooted.driver.stack.lanes.status[0, COLLISIONS] > 0
    assert all(len(set(call)) == len(call) for call in evaluator.calls)
    check_at_rest(search)


@pytest.mark.when_compiled
def test_batches_fill_up_and_a_partial_one_is_not_waited_for():
    evaluator = Counting(16)
    search_with(evaluator).run(visits=1600)
    assert len(evaluator.asked) / len(evaluator.calls) > 14
    evaluator = Counting(16)
    search_with(evaluator).run(visits=5)
    assert [len(call) for call in evaluator.calls] == [1, 5]


@pytest.mark.when_compiled
def test_larger_batches_change_visits_only_a_little():
    one, many = (search_with(Counting(batch)).run(visits=2000) for batch in (1, 16))
    assert many.value == approx(one.value, abs=0.1)
    assert np.corrcoef(one.policy, many.policy)[0, 1] > 0.7


def test_visits_of_finished_games_do_not_outrun_those_that_wait():
    """Four in a row can be had at once here, so nearly all simulations need no evaluation; but they leave room for others."""
    search = search_with(Counting(4))
    position = GAME.position(["d", "a", "d", "b", "d", "c"])
    seen = set()
    for _ in range(40):
        leaves = search.ask(4, position)
        told = search.rooted.driver.stack.lanes.status[0]
        assert told[DONE] <= 4
        seen.add((int(told[DONE]), len(leaves)))
        search.tell(leaves, None, np.zeros(len(leaves)))
    assert {done for done, _ in seen} > {0, 4}  # some batches were cut off, others were not


@pytest.mark.parametrize(
    "virtual", [ab.select.VirtualLoss(visits=3), ab.select.VirtualLoss(loss=0.0), ab.select.VirtualLoss(loss=0.5)]
)
def test_what_simulations_under_way_count_as_is_an_option(virtual):
    search = search_with(Counting(16), virtual=virtual)
    assert search.run(visits=300).visits.sum() == 300
    check_at_rest(search)


def test_the_same_seed_gives_the_same_tree():
    assert digest_of(16) == digest_of(16) != digest_of(4)


def digest_of(batch):
    search = search_with(Counting(batch))
    search.run(visits=200)
    return digest(search)


def test_an_answer_may_lie_in_memory_as_it_likes():
    class Odd(Counting):
        def __call__(self, states):
            priors, values = super().__call__(states)
            every_other = np.repeat(values, 2)[::2]
            every_other.flags.writeable = False
            return np.asfortranarray(priors), every_other

    search = search_with(Odd(16))
    search.run(visits=200)
    compiled = process_batch.compilations
    assert digest(search) == digest_of(16)
    assert process_batch.compilations == compiled


def test_chance_may_have_more_events_than_there_are_actions():
    game = Pig()
    assert game.events > game.actions
    search = ab.Search(game, select=ab.PUCT(c=1.5), evaluate=Counting(8, game.actions), memory="20MB", seed=3)
    assert search.run(visits=200).visits.sum() == 200


# --- failures -----------------------------------------------------------------------------------------------------------


def raises(evaluator, count):
    raise ValueError("out of order")


FAULTS = {
    "raises": (raises, "out of order"),
    "nan": (lambda evaluator, count: (None, np.full(count, np.nan)), "NaN"),
    "shape": (lambda evaluator, count: (None, np.zeros(count + 1)), "shape"),
    "prior shape": (lambda evaluator, count: (np.ones((count, 3)), np.zeros(count)), "shape"),
    "no priors": (lambda evaluator, count: (np.zeros((count, 7)), np.zeros(count)), "prior 0"),
    "negative": (lambda evaluator, count: (-np.ones((count, 7)), np.zeros(count)), "negative"),
    "nothing": (lambda evaluator, count: None, "returns"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_told_and_nothing_of_it_is_left(name):
    fault, told = FAULTS[name]
    evaluator = Counting(8, fault=fault, after=5)
    search = search_with(evaluator)
    with pytest.raises(ab.errors.EvaluatorError, match=told):
        search.run(visits=200)
    before = total_visits(search)
    check_at_rest(search)
    evaluator.fault = None
    assert search.run(visits=100).visits.sum() == before + 100
    check_at_rest(search)


def test_a_fault_at_the_root_leaves_a_search_that_can_begin_again():
    evaluator = Counting(8, fault=raises)
    search = search_with(evaluator)
    with pytest.raises(ab.errors.EvaluatorError):
        search.run(visits=20)
    evaluator.fault = None
    assert search.run(visits=20).visits.sum() == 20


@pytest.mark.when_compiled
def test_memory_that_runs_out_does_not_stop_a_search():
    search = ab.Search(GAME, select=ab.PUCT(), evaluate=Counting(16), memory="20KB", seed=1)
    result = search.run(visits=2000)
    assert result.visits.sum() == 2000
    assert result.memory_full
    for _ in range(4):  # memory is full of waste again and again
        search.advance(result.best)
        result = search.run(visits=500)
        assert result.stats.simulations == 500
        assert total_visits(search) == result.stats.kept + 500
        check_at_rest(search)


def test_a_proof_ends_a_batch_and_all_that_was_done_is_counted():
    search = search_with(Counting(8), prove=True)
    result = search.run(GAME.position(["d", "a", "d", "b", "d"]).play("c"), visits=500)  # four in a row can be had at once
    assert (result.stopped_by, result.proven, result.best_name) == ("proven", True, "d")
    assert result.stats.simulations == total_visits(search) < 500


# --- ask and tell -----------------------------------------------------------------------------------------------------------


def test_the_loop_can_be_ones_own():
    evaluator = Counting(4)
    search, other = search_with(evaluator), search_with(Counting(4))
    while search.rooted.driver is None or total_visits(search) < 200:
        leaves = search.ask(4)
        assert len(leaves) <= 4
        search.tell(leaves, *evaluator(leaves.states))
    other.run(visits=total_visits(search))
    assert digest(search) == digest(other)
    assert search.result().visits.sum() == total_visits(search)
    check_at_rest(search)


def test_ask_needs_no_evaluator():
    search = ab.Search(GAME, select=ab.PUCT(), memory="1MB")
    for _ in range(10):
        leaves = search.ask(8)
        search.tell(leaves, None, np.zeros(len(leaves)))
    assert search.result().visits.sum() > 50
    with pytest.raises(ab.errors.EvaluatorError, match="evaluate="):
        search.run(visits=10)


def test_leaves_can_be_taken_back():
    search = search_with(Counting(4))
    search.tell(search.ask(1), None, [0.0])
    leaves = search.ask(4)
    with pytest.raises(ab.errors.SearchError, match="tell"):
        search.run(visits=10)
    with pytest.raises(ab.errors.SearchError, match="ask"):
        search.tell(search_with(Counting()).ask(1))
    search.tell(leaves)
    assert total_visits(search) == 0
    check_at_rest(search)
    with pytest.raises(ab.errors.SearchError, match="ask"):
        search.tell(leaves, None, np.zeros(len(leaves)))
    assert search.run(visits=10).visits.sum() == 10


def test_what_tell_is_told_is_checked():
    search = search_with(Counting(4))
    leaves = search.ask(1)
    with pytest.raises(ab.errors.EvaluatorError, match="NaN"):
        search.tell(leaves, None, [np.nan])
    search.tell(leaves)
    assert search.run(visits=10).visits.sum() == 10


@pytest.mark.parametrize("count", [1, 12])
def test_a_run_has_batches_of_its_evaluators_size_whatever_was_asked_for_before(count):
    evaluator = Counting(batch=4)
    search = search_with(evaluator)
    search.run(visits=50)
    leaves = search.ask(count)
    search.tell(leaves, None, np.zeros(len(leaves)))
    evaluator.calls.clear()
    search.run(visits=50)
    assert max(map(len, evaluator.calls)) == 4


def test_ask_is_for_searches_that_have_not_run_by_themselves():
    search = ab.Search(GAME, memory="1MB")
    search.run(visits=10)
    with pytest.raises(ab.errors.SearchError, match="ask"):
        search.ask(4)


# --- moving the root ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("graph", [False, True])
def test_evaluations_can_be_kept_without_visits(graph):
    evaluator = Counting(4)
    search = search_with(evaluator, graph=graph)
    best = search.run(visits=400).best
    known = len(evaluator.asked)
    search.advance(best, keep="evaluations")
    result = search.run(visits=30)
    assert result.stats.kept == 0
    assert result.visits.sum() == 30
    assert len(evaluator.asked) == known  # all of this was known
    fresh = search_with(Counting(4), graph=graph)
    assert fresh.run(GAME.start().play(best), visits=30).value == approx(result.value, abs=0.2)
    check_at_rest(search)


def test_a_search_from_kept_evaluations_is_the_search_from_nothing():
    """With one leaf at a time and ties by the lowest action there is no difference but in what is asked."""
    search, fresh = (search_with(Counting(1), ties="lowest") for _ in range(2))
    best = search.run(visits=300).best
    search.advance(best, keep="evaluations")
    assert search.run(visits=150).visits.tolist() == fresh.run(GAME.start().play(best), visits=150).visits.tolist()


def test_nothing_can_be_kept():
    evaluator = Counting(4)
    search = search_with(evaluator)
    search.advance(search.run(visits=100).best, keep="nothing")
    result = search.run(visits=50)
    assert (result.stats.kept, result.stats.evaluations) == (0, 51)


def test_what_is_kept_is_checked():
    search = ab.Search(GAME, memory="1MB")
    search.run(visits=10)
    with pytest.raises(ab.errors.SearchError, match="keep"):
        search.advance(0, keep="everything")
    with pytest.raises(ab.errors.SearchError, match="evaluators in Python"):
        search.advance(0, keep="evaluations")


@pytest.mark.parametrize("graph", [False, True])
def test_a_search_can_step_back(graph):
    search = search_with(Counting(4), graph=graph)
    first = search.run(visits=100)
    search.advance(first.best)
    search.advance(search.run(visits=20).best)
    search.back()
    search.back()
    assert search.position == GAME.start()
    again = search.run(visits=10)
    assert again.stats.kept == 100
    assert again.visits.sum() == 110
    with pytest.raises(ab.errors.SearchError, match="nothing to take back"):
        search.back()


def test_a_search_on_a_compact_tree_steps_back_to_the_position():
    search = ab.Search(GAME, memory="1MB")
    search.advance(search.run(visits=50).best)
    search.back()
    assert search.position == GAME.start()
    assert search.run(visits=10).visits.sum() == 10


def test_noise_is_gone_when_the_root_moves():
    search = search_with(Counting(4), noise=ab.final.Dirichlet(0.3, 0.5))
    best = search.run(visits=100).best
    clean = search_with(Counting(4))
    clean.run(visits=100)
    assert sorted(edge_priors(search)) == approx(sorted(edge_priors(clean)))
    search.advance(best)
    check_at_rest(search)


def edge_priors(search):
    first = search.rooted.root + 1
    return search.rooted.graph.edges["prior"][first : first + 7].tolist()
