"""Faults half-way: every call of a search succeeds or leaves it as it was, whatever raises and wherever.

Evaluators and callbacks raise at every call that they get; signals come at every line of the search's own Python.
"""

import signal
import sys
import threading
from collections.abc import Callable

import numpy as np
import pytest

import anabranch as ab
import anabranch.search
from anabranch.games import ConnectFour
from anabranch.games.tug import Tug
from anabranch.search.graph_options import grouped
from tests.conftest import in_soak, when_compiled
from tests.search.games import Board
from tests.search.invariants import check_at_rest

OURS = anabranch.search.__path__[0]


class Fault(Exception):
    """What raises here."""


class Faulty:
    """A uniform evaluator that raises at one of its calls."""

    def __init__(self, at: int | None = None, batch: int = 1):
        self.at, self.batch, self.calls = at, batch, 0
        self._counting = threading.Lock()

    def __call__(self, states):
        with self._counting:
            self.calls += 1
            calls = self.calls
        if calls == self.at:
            raise Fault(f"call {calls}")
        return None, np.zeros(len(states))


def state_of(search: ab.Search):
    """All that a user can see of a search."""
    where = getattr(search.position, "data", None) or getattr(search.position, "cells", None)
    if search.rooted.driver is None:
        return where, None
    view = search.graph
    return where, (view.nodes.tobytes(), view.edges.tobytes())


# --- evaluators ------------------------------------------------------------------------------------------------------------


KINDS = {
    "tree": (ConnectFour(), {}),
    "graph": (ConnectFour(), {"graph": True}),
    "proofs": (ConnectFour(), {"graph": True, "prove": True}),
    "repetitions": (Tug(), {"graph": True, "prove": True}),
    "heuristic": (ConnectFour(), {"heuristic": lambda state: (0.5, 1, 1)}),
    "objects": (Board, {}),
}
REPETITIONS = pytest.param("repetitions", marks=in_soak)  # three searches to compile


def new_search(kind: str, evaluator, **more) -> ab.Search:
    game, options = KINDS[kind]
    return ab.Search(game, select=ab.PUCT(), evaluate=evaluator, memory="2MB", seed=5, **grouped(options | more))


def play_on(search: ab.Search) -> None:
    """Every call that may ask an evaluator; each is made again if it raises, and must have left things as they were."""
    for name, arguments in (
        ("run", {"visits": 9}),
        ("advance", {"action": None}),
        ("result", {}),
        ("run", {"visits": 9}),
        ("back", {}),
        ("run", {"visits": 3}),
        ("advance", {"action": None, "keep": "evaluations"}),
        ("run", {"visits": 9}),
    ):
        if "action" in arguments:
            legal = search.position.legal_actions
            arguments = {**arguments, "action": int(max(legal() if callable(legal) else legal))}
        wanted = {} if name != "run" else {"total": arguments["visits"] + visits_at(search)}
        try:
            getattr(search, name)(**arguments)
        except ab.errors.EvaluatorError:
            getattr(search, name)(**wanted or arguments)


def visits_at(search: ab.Search) -> int:
    return 0 if search.rooted.driver is None or not search.rooted.driver.has_root else int(search.result().visits.sum())


@pytest.mark.when_compiled
@pytest.mark.parametrize("kind", ["tree", "graph", "proofs", "objects", REPETITIONS, pytest.param("heuristic", marks=in_soak)])
def test_an_evaluator_that_raises_at_any_of_its_calls_changes_nothing_in_the_end(kind):
    whole = Faulty()
    search = new_search(kind, whole)
    play_on(search)
    expected = state_of(search)
    for at in range(1, whole.calls + 1):
        again = new_search(kind, Faulty(at))
        play_on(again)
        assert state_of(again) == expected, at


@pytest.mark.when_compiled
@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("batch", [1, 8])
def test_a_raising_evaluator_leaves_nothing_under_way(threads, batch):
    for at in (1, 2, 3, 7, 12):
        search = ab.Search(
            ConnectFour(), select=ab.PUCT(), evaluate=Faulty(at, batch), graph=True, threads=threads, memory="2MB", seed=at
        )
        raised = 0
        for step in range(6):
            try:
                search.run(visits=60)
                if step % 2:
                    search.advance(search.result().best)
            except ab.errors.EvaluatorError:
                raised += 1
            if search.rooted.driver is not None and search.rooted.driver.has_root:
                check_at_rest(search)
        assert raised == 1


def test_an_exception_in_on_progress_ends_the_run_and_keeps_what_is_done():
    def look(result):
        raise Fault

    search = ab.Search(ConnectFour(), noise=ab.final.Dirichlet(0.3, 0.25))
    search.on_progress = look
    with pytest.raises(Fault):
        search.run(seconds=5)
    search.on_progress = None
    assert search.run(visits=10).stats.kept > 0


def test_leaves_that_were_told_nonsense_are_still_out():
    search = ab.Search(ConnectFour(), select=ab.PUCT())
    search.tell(search.ask(4), None, [0.0])
    leaves = search.ask(4)
    for priors, values in ((None, [np.nan] * len(leaves)), (None, [0.0]), (np.zeros((len(leaves), 7)), [0.0] * len(leaves))):
        with pytest.raises(ab.errors.EvaluatorError):
            search.tell(leaves, priors, values)
    search.tell(leaves, None, [0.0] * len(leaves))
    assert search.result().visits.sum() == len(leaves)


# --- signals ----------------------------------------------------------------------------------------------------------------


class Alarm(Exception):
    """What the handler of a signal raises."""


def raise_alarm(number, frame):
    raise Alarm


def with_signal_at(line: int, call: Callable[[], object]) -> int:
    """Make a call, and have a signal come when the search's own code begins its so manyth line; how many lines there were."""
    seen = 0

    def trace(frame, event, argument):
        nonlocal seen
        if not frame.f_code.co_filename.startswith(OURS):
            return None
        if event == "line":
            seen += 1
            if seen == line:
                signal.raise_signal(signal.SIGUSR1)
        return trace

    before = signal.signal(signal.SIGUSR1, raise_alarm)
    outer = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    except (Alarm, ab.errors.EvaluatorError):  # or in the evaluator, whose fault it then is
        pass
    finally:
        sys.settrace(outer)
        signal.signal(signal.SIGUSR1, before)
    return seen


def prepared(kind: str) -> ab.Search:
    search = new_search(kind, Faulty(), collect=ab.graphs.Forget())
    search.run(visits=20)
    search.advance(int(search.result().best))
    search.run(visits=10)
    return search


@when_compiled
@pytest.mark.parametrize("call", ["advance", "back", "load", "ask", "tell"])
@pytest.mark.parametrize("kind", ["tree", "graph", REPETITIONS])
def test_a_signal_at_any_line_leaves_a_call_done_or_not_done(kind, call, tmp_path):
    calls = {
        "advance": lambda search, leaves: search.advance(search.position.legal_actions[0]),
        "back": lambda search, leaves: search.back(),
        "load": lambda search, leaves: search.load(tmp_path / "saved"),
        "ask": lambda search, leaves: search.tell(search.ask(3)),
        "tell": lambda search, leaves: search.tell(leaves, None, np.zeros(len(leaves))),
    }

    def begin():
        search = prepared(kind)
        return search, search.ask(3) if call == "tell" else None

    search, leaves = begin()
    search.tell(leaves) if leaves is not None else None
    search.save(tmp_path / "saved")
    before = state_of(search)
    search, leaves = begin()
    lines = with_signal_at(0, lambda: calls[call](search, leaves))
    after = state_of(search)
    assert lines > 20
    for line in range(1, lines + 1, 1 + lines // 150):
        search, leaves = begin()
        with_signal_at(line, lambda search=search, leaves=leaves: calls[call](search, leaves))
        if search._leaves is not None:
            search.tell(search._leaves)
        assert state_of(search) in (before, after), line
        if not search.position.is_over:
            search.run(visits=5)


@when_compiled
@pytest.mark.parametrize(
    ("kind", "threads"),
    [
        *((kind, threads) for kind in ("tree", "graph") for threads in (1, 2)),
        ("objects", 1),
        *(pytest.param("repetitions", threads, marks=in_soak) for threads in (1, 2)),
    ],
)
def test_a_signal_at_any_line_of_a_run_keeps_what_is_done(kind, threads):
    search = new_search(kind, Faulty(), threads=threads, noise=ab.final.Dirichlet(0.3, 0.25))
    lines = with_signal_at(0, lambda: search.run(visits=6))
    for line in range(1, lines + 1, 1 + lines // 120):
        search = new_search(kind, Faulty(), threads=threads, noise=ab.final.Dirichlet(0.3, 0.25))
        with_signal_at(line, lambda search=search: search.run(visits=6))
        if search.rooted.driver is not None and search.rooted.driver.has_root:
            priors = search.graph.edges["prior"][: len(search.result().moves)]
            assert np.allclose(priors, priors[0]), "the noise is still there"
            if kind in ("tree", "graph"):
                check_at_rest(search)
        assert search.run(visits=6).visits.sum() >= 6


def test_signals_that_wait_are_not_lost():
    """The handler runs when the call is complete."""
    came = []
    before = signal.signal(signal.SIGUSR1, lambda number, frame: came.append(search.position.moves))
    try:
        search = ab.Search(ConnectFour())
        search.run(visits=10)

        def trace(frame, event, argument):
            if frame.f_code.co_name == "_child" and not came:
                signal.raise_signal(signal.SIGUSR1)
            return None

        sys.settrace(trace)
        search.advance(3)
    finally:
        sys.settrace(None)
        signal.signal(signal.SIGUSR1, before)
    assert came and set(came) == {(3,)}


@pytest.mark.parametrize("call", ["wait", "stop"])
def test_a_search_in_the_background_that_was_waited_for_in_vain_is_waited_for_again(call):
    search = ab.Search(ConnectFour(), memory="20MB")
    search.run(visits=1)
    handler = signal.signal(signal.SIGALRM, raise_alarm)
    try:
        search.start(seconds=1.0)
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(Alarm):
            search.wait()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, handler)
    assert getattr(search, call)().stopped_by == ("seconds" if call == "wait" else "stop")


# --- one call at a time ------------------------------------------------------------------------------------------------------


def test_a_second_thread_is_refused():
    search = ab.Search(ConnectFour())
    search.run(visits=10)
    errors, running = [], threading.Event()

    def look(result):
        running.set()
        return len(errors) == 3

    search.on_progress = look

    def intrude(call):
        running.wait(60)
        try:
            call()
        except ab.errors.SearchError as error:
            errors.append(str(error))

    calls = (lambda: search.run(visits=10), lambda: search.advance(3), lambda: search.result())
    threads = [threading.Thread(target=intrude, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    search.run(seconds=60)
    for thread in threads:
        thread.join()
    assert all("another thread is using this search" in error for error in errors)
    assert len(errors) == 3


def test_what_a_search_calls_may_look_at_it_but_not_change_it():
    seen = []

    def look(result):
        seen.append(search.result().visits.sum())
        for call in (lambda: search.run(visits=1), lambda: search.advance(0), lambda: search.back()):
            with pytest.raises(ab.errors.SearchError, match="is running"):
                call()
        return True

    search = ab.Search(ConnectFour())
    search.on_progress = look
    assert search.run(seconds=60).stopped_by == "on_progress"
    assert seen[0] > 0
