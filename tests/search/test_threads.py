"""Several threads on one tree or graph: at rest everything is as with one, whatever happened before."""

import os
import random
import threading
import time

import numpy as np
import pytest

import anabranch as ab
from anabranch.games import ConnectFour, Treasure
from anabranch.jit import COMPILED
from anabranch.search.drivers.threads import SHARE
from anabranch.search.loops import batch
from anabranch.search.memory.layout import SLOTS
from anabranch.search.memory.tree import Tree
from tests.conftest import in_soak, when_plain
from tests.search.evaluators import Counting
from tests.search.games import Take
from tests.search.invariants import check_at_rest, gaps, is_finite, total_visits

GAME = ConnectFour()
VISITS = 20_000 if COMPILED else 200
STRESS = float(os.environ.get("ANABRANCH_STRESS_SECONDS", "3"))  # for each kind of search; longer in make soak
KINDS = {
    "tree": {},
    "graph": {"graph": True, "select": ab.PUCT(c=1.5)},
    "batches": {"select": ab.PUCT(c=1.5), "evaluate": Counting(8), "graph": True},
    "amaf": {"select": ab.Rave()},
}


def search_with(kind, threads=4, memory="50MB", **options):
    return ab.Search(GAME, threads=threads, memory=memory, seed=5, **KINDS[kind] | options)


@pytest.mark.parametrize("kind", KINDS)
def test_all_simulations_are_counted_and_nothing_is_left_under_way(kind):
    search = search_with(kind)
    visits = VISITS // (10 if kind == "batches" else 1)
    result = search.run(visits=visits)
    assert result.stats.simulations == total_visits(search) == visits
    check_at_rest(search)
    search.advance(result.best)
    search.run(visits=visits // 2)
    assert total_visits(search) == result.visits.max() - 1 + visits // 2 or kind != "tree"
    check_at_rest(search)


@pytest.mark.when_compiled
@pytest.mark.parametrize("kind", ["tree", "graph"])
def test_threads_take_hardly_more_memory_than_one(kind):
    one, many = (search_with(kind, threads) for threads in (1, 4))
    slots = []
    for search in (one, many):
        for _ in range(20):
            search.run(visits=VISITS // 20)  # each run may leave something over
        slots.append(int(search.rooted.graph.used[SLOTS]))
    assert slots[1] <= 1.2 * slots[0] + 4 * SHARE


@pytest.mark.when_compiled
@pytest.mark.parametrize("kind", ["tree", "graph"])
def test_threads_find_what_one_thread_finds(kind):
    position = GAME.position(["d", "a", "d", "b", "d"])  # a threat that must be met
    one, many = (search_with(kind, threads).run(position, visits=VISITS) for threads in (1, 4))
    assert one.best == many.best
    assert many.value == pytest.approx(one.value, abs=0.2)


BACKUPS = [(ab.backup.Mix(0.3), 0.3), (ab.backup.Mean(), 0.0), (ab.backup.Max(), 1.0)]
REWARDS = Treasure(), [0.0, 2.0, 3.0, 4.0, 9.0]


@pytest.mark.parametrize(
    ("game", "pays", "backup", "weight"),
    [
        *((GAME, [0.0], *backup) for backup in BACKUPS[:2]),
        *(pytest.param(*case, marks=in_soak) for case in [(GAME, [0.0], *BACKUPS[2]), (*REWARDS, *BACKUPS[0])]),
        *(pytest.param(*REWARDS, *backup, marks=when_plain) for backup in BACKUPS[1:]),
    ],
    ids=repr,
)
def test_every_backup_and_rewards_on_the_way_come_up_a_shared_tree(game, pays, backup, weight):
    options = {"backup": backup, "memory": "50MB", "seed": 5}
    search = ab.Search(game, threads=4, **options)
    result = search.run(visits=VISITS)
    assert isinstance(search.rooted.graph, Tree)
    assert result.stats.simulations == total_visits(search) == VISITS
    off = gaps(search.rooted.graph, search.rooted.root, weight, game.discount, pays) > 1e-9
    # Who comes up last may bring a maximum from before another's visit; a few simulations in plain Python are few edges.
    assert off.mean() <= ((0.01 if COMPILED else 0.05) if weight else 0.0)
    if COMPILED and weight < 1:  # the maximum of single playouts is a throw of the dice, with one thread too
        one = ab.Search(game, **options).run(visits=VISITS)
        low, high = game.value_range
        assert result.value == pytest.approx(one.value, abs=0.1 * (high - low))


@pytest.mark.parametrize("kind", KINDS)
def test_memory_that_runs_out_stops_nobody(kind):
    search = search_with(kind, memory="300KB")
    visits = VISITS // (10 if kind == "batches" else 2)
    result = search.run(visits=visits)
    assert result.visits.sum() == visits
    assert result.memory_full or not COMPILED
    search.advance(result.best)
    assert search.run(visits=100).stats.simulations == 100


def test_a_fault_in_one_thread_ends_the_search_and_leaves_nothing_behind():
    evaluator = Counting(4, after=20, fault=lambda evaluator, count: (None, np.full(count, np.nan)))
    search = search_with("batches", evaluate=evaluator)
    with pytest.raises(ab.errors.EvaluatorError, match="NaN"):
        search.run(visits=2000)
    check_at_rest(search)
    evaluator.fault = None
    before = total_visits(search)
    search.run(visits=100)
    assert total_visits(search) == before + 100


@pytest.mark.when_compiled
def test_no_position_is_evaluated_by_two_threads():
    evaluator = Counting(4)
    search_with("batches", evaluate=evaluator).run(visits=1000)
    assert len(evaluator.asked) - len(set(evaluator.asked)) == 0


@when_plain
def test_a_leaf_waits_until_it_has_edges_so_that_no_other_thread_takes_it_in_between(monkeypatch):
    taken = []

    def adopt_beside_another_thread(graph, number, *arguments):
        taken.append(batch.claim(graph, number))
        return adopt(graph, number, *arguments)

    adopt = batch.adopt
    monkeypatch.setattr(batch, "adopt", adopt_beside_another_thread)
    search = search_with("batches", threads=1)
    search.run(visits=50)
    assert len(taken) > 10 and not any(taken)
    check_at_rest(search)


def test_the_evaluator_is_called_by_several_threads():
    names = set()

    class Slow(Counting):
        def __call__(self, states):
            names.add(threading.current_thread().name)
            time.sleep(0.001)
            return super().__call__(states)

    search_with("batches", threads=2, evaluate=Slow(4)).run(visits=200)
    assert names == {threading.main_thread().name, "anabranch-1"}


@pytest.mark.when_compiled
@pytest.mark.parametrize("kind", KINDS)
def test_random_moves_cancellations_and_little_memory(kind):
    """Games are searched in the background and cut off at random, with moves, steps back and memory that runs out."""
    chance = random.Random(7)
    search = search_with(kind, memory="2MB")
    search.run(visits=1)  # compiles
    end = time.monotonic() + STRESS
    rounds = 0
    while time.monotonic() < end:
        if search.position is None or search.position.is_over or chance.random() < 0.05:
            search = search_with(kind, memory=chance.choice(["200KB", "2MB", "20MB"]))
        search.start(visits=chance.choice([50, 1000, 50_000]))
        time.sleep(chance.random() * 0.05)
        result = search.stop()
        check_at_rest(search)
        assert is_finite(search)
        rounds += 1
        if chance.random() < 0.15 and len(search.position.moves) > 0 and search.rooted.before:
            search.back()
        else:
            legal = search.position.legal_actions
            search.advance(result.best if chance.random() < 0.7 else chance.choice(legal))
    assert rounds > 3


def test_what_does_not_go_with_threads_is_told():
    with pytest.raises(ab.errors.SearchError, match="threads"):
        ab.Search(Take(), threads=2)
    with pytest.raises(ab.errors.SearchError, match="PathOnly"):
        ab.Search(GAME, graph=ab.graphs.GraphOptions(stale=ab.graphs.Parents()), threads=2)
    with pytest.raises(ab.errors.SearchError, match="threads"):
        ab.Search(GAME, select=ab.Rave(), heuristic=lambda state: (0.5, 0, 0), threads=2)
    with pytest.raises(ab.errors.SearchError, match="threads"):
        ab.Search(GAME, threads=0)
