"""When a search stops: visits, total, seconds, memory, stop(), Ctrl-C; and that lines may be longer than any buffer."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import anabranch as ab
from anabranch.games import ConnectFour, TicTacToe
from anabranch.jit import COMPILED
from anabranch.search.drivers import base as drive
from tests.conftest import when_compiled
from tests.search.games import Corridor
from tests.search.trees import read_tree


@pytest.fixture
def search():
    return ab.Search(TicTacToe())


# --- visits and total ---


@pytest.mark.parametrize("visits", [1, 2, 15, 16, 17, 123])
def test_visits_adds_exactly_that_many_visits_to_the_roots_edges(search, visits):
    result = search.run(visits=visits)
    assert result.visits.sum() == result.stats.simulations == visits
    assert result.stopped_by == "visits"


def test_evaluating_a_new_root_is_no_visit_but_an_evaluation(search):
    result = search.run(visits=1)
    assert result.visits.sum() == 1
    assert result.stats.evaluations == 2
    assert read_tree(search)[0].visits == 2


def test_a_second_run_adds_to_the_first(search):
    search.run(visits=30)
    result = search.run(visits=20)
    assert result.visits.sum() == 50
    assert (result.stats.simulations, result.stats.kept) == (20, 30)
    assert result.stats.evaluations == 20


def test_total_counts_what_is_there(search):
    search.run(visits=30)
    result = search.run(total=100)
    assert (result.visits.sum(), result.stats.simulations, result.stopped_by) == (100, 70, "total")


def test_total_that_is_reached_already_does_nothing(search):
    search.run(visits=30)
    result = search.run(total=10)
    assert (result.visits.sum(), result.stats.simulations) == (30, 0)


@pytest.mark.parametrize(("visits", "total", "reached"), [(20, 100, "visits"), (100, 20, "total")])
def test_of_two_limits_the_first_one_reached_stops(search, visits, total, reached):
    result = search.run(visits=visits, total=total)
    assert (result.visits.sum(), result.stopped_by) == (20, reached)


def test_in_parts_or_at_once_the_tree_is_the_same():
    parts, whole = ab.Search(TicTacToe(), seed=4), ab.Search(TicTacToe(), seed=4)
    for _ in range(5):
        parts.run(visits=13)
    whole.run(visits=65)
    assert read_tree(parts) == read_tree(whole)


# --- seconds ---


@when_compiled
def test_seconds_stops_about_then(search):
    search.run(visits=1)
    began = time.perf_counter()
    result = search.run(seconds=0.3)
    assert 0.29 < time.perf_counter() - began < 0.6
    assert result.stopped_by == "seconds"
    assert result.stats.simulations > 1000


def test_seconds_hold_with_a_slow_evaluator_as_well():
    def slow(states):
        time.sleep(0.02)
        return None, [0.0]

    search = ab.Search(TicTacToe(), evaluate=slow)
    search.run(visits=2)  # kernels are compiled
    began = time.perf_counter()
    assert search.run(seconds=0.1).stopped_by == "seconds"
    assert time.perf_counter() - began < 0.2


# --- memory ---


def test_when_memory_is_full_the_search_says_so_and_goes_on():
    search = ab.Search(ConnectFour(), memory="10KB")
    visits = 5000 if COMPILED else 300
    result = search.run(visits=visits)
    assert result.stats.simulations == result.visits.sum() == visits
    assert result.stats.bytes <= 10_000
    assert result.memory_full
    assert "memory full" in str(result)


def test_with_enough_memory_it_does_not_say_so(search):
    result = search.run(visits=100)
    assert not result.memory_full
    assert "memory" not in str(result)


def test_too_little_memory_for_any_search_is_refused():
    with pytest.raises(ab.errors.SearchError, match=r"memory=100 bytes is too little.*at least"):
        ab.Search(ConnectFour(), memory=100).run(visits=1)


# --- deep lines ---


def test_lines_longer_than_the_path_buffer_are_searched_to_their_end(monkeypatch):
    length = 3000
    if not COMPILED:
        length = 70
        monkeypatch.setattr(drive, "FIRST_PATH", 16)
    assert length > 4 * drive.FIRST_PATH
    search = ab.Search(Corridor(length), evaluate=ab.Uniform(), memory="10MB")
    result = search.run(visits=length + 10)
    assert result.visits.sum() == length + 10
    nodes = read_tree(search)
    assert len(nodes) == length + 1
    assert (nodes[-1].edges, nodes[-1].value) == ((), (1.0,))
    assert [node.visits for node in nodes] == [max(length + 11 - depth, 11) for depth in range(length)] + [11]


# --- in the background ---


def test_a_search_in_the_background_is_waited_for(search):
    search.start(visits=100)
    result = search.wait()
    assert (result.visits.sum(), result.stopped_by) == (100, "visits")


def test_a_search_in_the_background_without_limits_goes_on_until_it_is_stopped(search):
    search.start()
    time.sleep(0.2)
    result = search.stop()
    assert result.stopped_by == "stop"
    assert result.visits.sum() == result.stats.simulations > 0
    assert search.run(visits=5).stats.kept == result.stats.simulations


def test_stopping_at_once_gives_a_result_all_the_same():
    for final in (ab.final.MostVisits(), ab.final.ByTemperature(), ab.final.ByValue()):
        search = ab.Search(TicTacToe(), final=final)
        search.start()
        result = search.stop()
        assert 0 <= result.best < 9
        assert str(result)


def test_while_it_runs_in_the_background_nothing_else_may_touch_it(search):
    search.start()
    for intrude in (lambda: search.run(visits=1), lambda: search.start(visits=1), lambda: search.advance(0)):
        with pytest.raises(ab.errors.SearchError, match="running in the background"):
            intrude()
    search.stop()
    with pytest.raises(ab.errors.SearchError, match="no search is running"):
        search.wait()


def test_an_error_in_the_background_is_raised_by_wait():
    def broken(states):
        raise RuntimeError("out of order")

    search = ab.Search(TicTacToe(), evaluate=broken)
    search.start(visits=10)
    with pytest.raises(ab.errors.EvaluatorError, match="out of order"):
        search.wait()


def test_the_background_thread_builds_the_same_tree():
    here, there = ab.Search(TicTacToe(), seed=9), ab.Search(TicTacToe(), seed=9)
    here.run(visits=200)
    there.start(visits=200)
    there.wait()
    assert read_tree(here) == read_tree(there)


def test_progress_is_told_about_ten_times_a_second():
    told = []
    search = ab.Search(TicTacToe())
    search.on_progress = told.append
    result = search.run(seconds=0.55)
    counts = [int(progress.visits.sum()) for progress in told]
    assert 2 <= len(told) <= 6
    assert counts == sorted(set(counts))
    assert counts[-1] < result.visits.sum()


def test_who_is_told_of_the_progress_may_stop_it():
    search = ab.Search(TicTacToe())
    search.on_progress = lambda result: True
    result = search.run(seconds=20)
    assert result.stopped_by == "on_progress"
    assert 0.1 <= result.stats.seconds < 5


# --- Ctrl-C ---

INTERRUPTED = """
import sys
import anabranch as ab
from anabranch.games import ConnectFour
search = ab.Search(ConnectFour())
search.run(visits=10)
for _ in range(3):
    print("searching", flush=True)
    result = search.run(seconds=60)
    print(result.stopped_by, result.stats.simulations, flush=True)
"""


@pytest.mark.when_compiled
@pytest.mark.skipif(os.name != "posix", reason="signals are sent as on POSIX")
def test_ctrl_c_gives_the_best_so_far_within_a_tenth_of_a_second():
    process = subprocess.Popen([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, text=True)
    delays = []
    for _ in range(3):
        assert process.stdout.readline() == "searching\n"
        time.sleep(0.2)
        sent = time.perf_counter()
        process.send_signal(signal.SIGINT)
        stopped_by, simulations = process.stdout.readline().split()
        delays.append(time.perf_counter() - sent)
        assert stopped_by == "Ctrl-C"
        assert int(simulations) > 0
    assert process.wait(timeout=10) == 0
    assert min(delays) < 0.1, delays  # the best of three: the machine may have other things to do


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as on POSIX")
def test_ctrl_c_just_before_the_first_simulation_is_not_lost(search, monkeypatch):
    search.run(visits=10)
    set_root = search.rooted.set_root
    monkeypatch.setattr(search.rooted, "set_root", lambda position: (signal.raise_signal(signal.SIGINT), set_root(position)))
    assert search.run(seconds=20).stopped_by == "Ctrl-C"
    monkeypatch.undo()
    assert search.run(visits=10).stopped_by == "visits"


def test_stop_without_a_search_stops_none_that_comes_later(search):
    with pytest.raises(ab.errors.SearchError, match="no search is running"):
        search.stop()
    assert search.run(visits=10).stopped_by == "visits"


def test_after_a_search_ctrl_c_means_what_it_meant_before(search):
    before = signal.getsignal(signal.SIGINT)
    search.run(visits=10)
    assert signal.getsignal(signal.SIGINT) is before


def test_a_search_may_run_outside_the_main_thread(search):
    results = []
    thread = threading.Thread(target=lambda: results.append(search.run(visits=50)))
    thread.start()
    thread.join()
    assert results[0].visits.sum() == 50
