"""KataGo's analysis protocol: many positions at once, a JSON object a line in and out.

    Server(Options(), read_lines(sys.stdin.fileno()), sys.stdout, threads=2).run()

Requests (`queries.py`) are taken as they come and answered in any order, those of high priority first: a position of a
request is a `Job`, and threads take jobs from one queue. Kernels release Python's lock, so they do run at once. Each job has
a search of its own: the same request gets the same answer, whatever was asked before. Every job is answered exactly once with
`isDuringSearch` false, also if it is terminated; what cannot be understood is answered by an `error`. At the end of the input
the jobs that are left are done, unless nobody listens any more (`hang_up`).
"""

import itertools
import json
import queue
import sys
import threading
import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TextIO

from anabranch._version import __version__
from anabranch.errors import AnabranchError
from anabranch.goengine.estimates import Estimator
from anabranch.goengine.searches import Options, new_search, warm, without
from anabranch.goengine.turns import go_of
from anabranch.protocols.answers import fields_of, models_of
from anabranch.protocols.lines import TOO_LONG, is_too_long, text_of
from anabranch.protocols.parameters import with_values
from anabranch.protocols.queries import LONGEST_ID, BadQuery, Positions, Query, query_of, request_of
from anabranch.search.checks import parse_memory
from anabranch.search.results.result import Result
from anabranch.search.searcher import Search

DEFAULT_VISITS = 1000
MOST_OPEN = 10_000  # jobs that are not answered yet; while there are more, nothing is read
LEAST_MEMORY = 32_000_000  # bytes of a search, however many there are
READY = "Started, ready to begin handling requests"  # what KataGo says, and some clients wait for
QUEUED, RUNNING, DONE = range(3)


class Job:
    """A position that is to be searched."""

    def __init__(self, query: Query, turn: int) -> None:
        self.query, self.turn, self.position = query, turn, query.positions[turn]
        self.state = QUEUED
        self.stop = threading.Event()

    def answer(self, is_during: bool, **fields: Any) -> dict[str, Any]:
        """What is said of it, with what all answers have."""
        return {"id": self.query.id, "turnNumber": self.turn, "isDuringSearch": is_during, **fields}


class Server:
    """Answers requests."""

    def __init__(
        self,
        options: Options,
        source: Iterable[str | bytes],
        out: TextIO,
        threads: int = 2,
        view: str = "BLACK",
        waits: bool = True,
    ) -> None:
        """view: whose win rates are reported, if a request does not say. waits: finish all jobs when the input ends."""
        memory = max(parse_memory(options.memory) // threads, LEAST_MEMORY)
        visits = DEFAULT_VISITS if options.visits is None and options.seconds is None else options.visits
        self.options = replace(options, memory=memory, visits=visits)
        self.view, self.waits = view, waits
        self._source, self._out = source, out
        self._positions = Positions()
        self._queue: queue.PriorityQueue[tuple[float, int, Job | None]] = queue.PriorityQueue()
        self._count = itertools.count()
        self._open: dict[Job, None] = {}  # not answered yet, in the order in which they came
        self._lock = threading.Condition()  # of what jobs there are, and in which state
        self._is_over = False
        self._writing = threading.Lock()
        self._threads = [
            threading.Thread(target=self._work, name=f"anabranch-analysis-{i}", daemon=True) for i in range(threads)
        ]

    def run(self) -> None:
        """Answer until the end of the input."""
        for thread in self._threads:
            thread.start()
        try:
            for line in self._source:
                self.take(line)
                self._wait_for_room()
                if self._is_over:
                    break
        except (OSError, ValueError):  # the stream was closed on us
            pass
        if not self.waits or self._is_over:
            self._terminate(lambda job: True)
        for _ in self._threads:
            self._queue.put((float("inf"), next(self._count), None))
        for thread in self._threads:
            thread.join()

    def hang_up(self) -> None:
        """Nobody listens any more: what runs ends, and nothing more is read."""
        with self._lock:
            self._is_over = True
            for job in self._open:
                job.stop.set()
            self._lock.notify_all()

    # --- requests ---

    def take(self, line: str | bytes) -> None:
        """Read a request; whatever it is, nothing worse happens than an error as the answer."""
        text = text_of(line)
        if not text.strip():
            return
        request: Any = None
        try:
            if is_too_long(line):
                raise BadQuery(TOO_LONG.capitalize())
            request = request_of(text)
            if not isinstance(request, dict):
                raise BadQuery("A request is a JSON object")
            if not _has_id(request):
                raise BadQuery(f"A request must have an id, which is a string of at most {LONGEST_ID:,} characters", "id")
            self._act(request) if "action" in request else self._accept(query_of(request, self._positions))
        except BadQuery as error:
            self._refuse(request, str(error), error.name)
        except RecursionError:
            self._refuse(request, "The request is nested too deeply")
        except Exception as error:
            print(f"anabranch: {type(error).__name__}: {error}", file=sys.stderr)
            self._refuse(request, f"Internal error: {type(error).__name__}: {error}")

    def _refuse(self, request: Any, message: str, name: str | None = None) -> None:
        answer: dict[str, Any] = {"error": message[:500]}
        if name is not None:
            answer["field"] = name
        if isinstance(request, dict) and _has_id(request):
            answer["id"] = request["id"]
        self._write(answer)

    def _accept(self, query: Query) -> None:
        try:
            query.options = with_values(self.options, query.settings)
        except AnabranchError as error:
            raise BadQuery(str(error), "overrideSettings") from None
        for name, what in query.warnings:
            self._write({"warning": what, "field": name, "id": query.id})
        for turn, priority in query.priorities.items():
            job = Job(query, turn)
            with self._lock:
                self._open[job] = None
            self._queue.put((-priority, next(self._count), job))

    def _wait_for_room(self) -> None:
        with self._lock:
            self._lock.wait_for(lambda: len(self._open) < MOST_OPEN or self._is_over)

    def _act(self, request: dict[str, Any]) -> None:
        action = request["action"]
        echo = dict(request)
        if action == "query_version":
            echo |= {"version": __version__, "git_hash": "<omitted>"}
        elif action == "query_models":
            echo |= {"models": models_of(self.options)}
        elif action == "clear_cache":
            self._positions.clear()
        elif action == "terminate":
            wanted, turns = request.get("terminateId"), _turn_numbers(request)
            if not isinstance(wanted, str):
                raise BadQuery("Must be a string", "terminateId")
            self._terminate(lambda job: job.query.id == wanted and (turns is None or job.turn in turns))
        elif action == "terminate_all":
            turns = _turn_numbers(request)
            self._terminate(lambda job: turns is None or job.turn in turns)
        else:
            known = "query_version, query_models, clear_cache, terminate, terminate_all"
            raise BadQuery(f"Unknown action; known ones are {known}", "action")
        self._write(echo)

    def _terminate(self, is_meant: Any) -> None:
        """End jobs: those that have not begun are answered at once, the others by their threads with what they have."""
        with self._lock:
            meant = [job for job in self._open if is_meant(job)]
            waiting = [job for job in meant if job.state == QUEUED]
            for job in waiting:
                job.state = DONE
                del self._open[job]
            for job in meant:
                job.stop.set()
        for job in waiting:
            self._write(job.answer(False, noResults=True))

    # --- work ---

    def _work(self) -> None:
        while True:
            job = self._queue.get()[2]
            if job is None:
                return
            with self._lock:
                if job.state == DONE or self._is_over:
                    continue
                job.state = RUNNING
            try:
                answer = self._search(job)
            except AnabranchError as error:
                answer = {"error": str(error), "id": job.query.id, "turnNumber": job.turn}
            except Exception as error:
                print(f"anabranch: {type(error).__name__}: {error}", file=sys.stderr)
                answer = {
                    "error": f"Internal error: {type(error).__name__}: {error}",
                    "id": job.query.id,
                    "turnNumber": job.turn,
                }
            with self._lock:
                job.state = DONE
                del self._open[job]
                self._lock.notify_all()
            self._write(answer)

    def _search(self, job: Job) -> dict[str, Any]:
        query, game = job.query, go_of(job.position)
        options = query.options or self.options
        warm(game, options)
        search = new_search(game, options, options.seed, options.width if query.width is None else query.width)
        actions = without(job.position, query.hidden[job.position.to_play])
        estimator = Estimator(job.position, options)
        reported = time.monotonic()

        def on_progress(result: Result) -> bool:
            nonlocal reported
            if query.every is not None and time.monotonic() - reported >= query.every and not job.stop.is_set():
                reported = time.monotonic()
                self._write(self._answer(job, search, result, estimator, True))
            return job.stop.is_set()

        search.on_progress = on_progress
        visits = query.visits or options.visits
        seconds = query.seconds if query.seconds is not None else options.seconds
        result = search.run(job.position, visits=visits, seconds=seconds, actions=actions)
        search.on_progress = None  # which knows the search: its memory would stay until garbage is collected
        return self._answer(job, search, result, estimator, False)

    def _answer(self, job: Job, search: Search, result: Result, estimator: Estimator, is_during: bool) -> dict[str, Any]:
        fields = fields_of(job.query, job.position, search, result, estimator, job.query.view or self.view)
        return job.answer(is_during, **fields)

    def _write(self, answer: dict[str, Any]) -> None:
        text = json.dumps(answer, allow_nan=False)
        try:
            with self._writing:
                self._out.write(text + "\n")
                self._out.flush()
        except (OSError, ValueError):
            self.hang_up()


def _has_id(request: dict[str, Any]) -> bool:
    return isinstance(request.get("id"), str) and len(request["id"]) <= LONGEST_ID


def _turn_numbers(request: dict[str, Any]) -> set[int] | None:
    """The turns that an action is about; None: all."""
    turns = request.get("turnNumbers")
    if turns is None:
        return None
    if not isinstance(turns, list) or not all(isinstance(turn, int) for turn in turns):
        raise BadQuery("Must be an array of turns", "turnNumbers")
    return set(turns)
