"""Workers side by side: hands games out to processes and brings results back. Below: `worker.py`.

Each worker has a thread here that speaks with it. The first one compiles what all need; the others wait for that. A worker
that dies is replaced, and the game is played again. If two die while a player of that game was thinking, that player has lost;
if MOST_DEATHS die in a row while none was, the match ends, and goes on when it is asked for again. When the results are no
longer asked for, all workers are ended, with everything that they started.
"""

import json
import os
import queue
import sys
import threading
from collections.abc import Callable, Generator, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import anabranch
from anabranch.arena.match import Match
from anabranch.arena.playing import CRASH, TIMEOUT, Played
from anabranch.arena.process import Child
from anabranch.errors import ArenaError
from anabranch.games.go import Go

PATIENCE = 1.0  # seconds that a worker gets to leave
MOST_DEATHS = 5  # of workers that were to do the same while no player was thinking


class Job(NamedTuple):
    """A game to play."""

    match: Match
    number: int


class Done(NamedTuple):
    """A game that was played."""

    job: Job
    played: Played
    sgf: str | None  # its record, if it is Go


class Dead(Exception):
    """A worker has died."""

    def __init__(self, how: str, details: str, thinking: int | None) -> None:
        super().__init__(how)
        self.details, self.thinking = details, thinking


class WorkerPool:
    """Some workers."""

    def __init__(self, processes: int, timeout: float = TIMEOUT, on_stderr: Callable[[str], None] | None = None) -> None:
        """`timeout`: seconds for an answer of a program where there is no clock. `on_stderr` gets what workers print."""
        if processes < 1:
            raise ArenaError(f"processes={processes}: must be 1 or more")
        self.processes, self.timeout, self.on_stderr = processes, timeout, on_stderr

    def play(self, jobs: Iterable[Job], matches: list[Match]) -> Generator[Done]:
        """Play all of these games, which are of these matches; results come as they end."""
        waiting = list(jobs)
        run = PoolRun(waiting, matches, self)
        count = min(self.processes, len(waiting))
        threads = [threading.Thread(target=run.work, args=(place,), daemon=True) for place in range(count)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(len(waiting)):
                result = run.results.get()
                if isinstance(result, BaseException):
                    raise result
                yield result
        finally:
            run.end()
            for thread in threads:
                thread.join()


class PoolRun:
    """The state that the threads of one `WorkerPool.play` share."""

    def __init__(self, jobs: list[Job], matches: list[Match], pool: WorkerPool) -> None:
        self.jobs = iter(jobs)
        self.matches, self.pool = matches, pool
        self.results: queue.Queue[Done | BaseException] = queue.Queue()
        self.ready = threading.Event()  # kernels are compiled
        self.over = threading.Event()
        self.lock = threading.Lock()
        self.children: set[Child] = set()

    def end(self) -> None:
        """Let all threads and workers leave."""
        self.over.set()
        self.ready.set()
        with self.lock:
            children = list(self.children)
        for child in children:
            child.close(PATIENCE)

    def work(self, place: int) -> None:
        """What the thread of one worker does."""
        worker = WorkerHandle(self)
        try:
            if place == 0:
                self._asked(worker, {"warm": [match.to_dict() for match in self.matches]}, "ready")
                self.ready.set()
            worker.start()
            self.ready.wait()
            while not self.over.is_set() and (job := self._next()) is not None:
                self.results.put(self._played(worker, job))
        except BaseException as error:
            if not self.over.is_set():
                self.results.put(error)
        finally:
            worker.close()

    def _next(self) -> Job | None:
        with self.lock:
            return next(self.jobs, None)

    def _played(self, worker: "WorkerHandle", job: Job) -> Done:
        """The game's result, with a second try if the worker dies while a player is thinking."""
        question = {"play": job.match.to_dict(), "number": job.number}
        for attempt in (1, 2):
            try:
                answer = self._asked(worker, question, "played")
                data = answer["played"]
                return Done(job, Played(**{**data, "seconds": tuple(data["seconds"])}), answer["sgf"])
            except Dead as dead:
                if self.over.is_set():
                    raise
                if attempt == 2:
                    return Done(job, lost_with_its_process(job, dead), None)
        raise AssertionError

    def _asked(self, worker: "WorkerHandle", question: dict[str, Any], wanted: str) -> dict[str, Any]:
        """The answer of a worker; one that dies is replaced. Raises Dead if a player was thinking then."""
        for _ in range(MOST_DEATHS):
            try:
                return worker.ask(question, wanted)
            except Dead as dead:
                worker.close()
                last = dead
                if dead.thinking is not None or self.over.is_set():
                    raise
        doing = "preparing the players" if wanted == "ready" else f"at game {question['number']}"
        raise ArenaError(
            f"{MOST_DEATHS} worker processes died in a row, {doing}, the last one {last}; "
            "finished games are kept; run the same command again to continue"
        )


class WorkerHandle:
    """A worker, started when it is first needed and again after its death."""

    def __init__(self, run: PoolRun) -> None:
        self.run = run
        self.child: Child | None = None

    def ask(self, question: dict[str, Any], wanted: str) -> dict[str, Any]:
        """The answer that has this field. Raises Dead, or the error that the worker tells."""
        child = self.start()
        child.write(json.dumps(question))
        thinking = None
        while (answer := _message(child.read())) is not None:
            if "error" in answer:
                raise ArenaError(answer["error"])
            if wanted in answer:
                return answer
            thinking = answer.get("thinking", thinking)
        raise Dead(child.ending, child.last_words, thinking)

    def start(self) -> Child:
        """The worker's process, a new one if there is none."""
        if self.child is None:
            command = [sys.executable, "-m", "anabranch.arena.worker", str(self.run.pool.timeout)]
            with self.run.lock:
                if self.run.over.is_set():
                    raise Dead("is not needed any more", "", None)
                self.child = Child(command, environment(), self.run.pool.on_stderr, longest_line=None)
                self.run.children.add(self.child)
        return self.child

    def close(self) -> None:
        """End the worker."""
        if self.child is not None:
            self.child.close(PATIENCE)
            with self.run.lock:
                self.run.children.discard(self.child)
            self.child = None


def _message(line: str | None) -> dict[str, Any] | None:
    """What a worker says; nothing, if it died in the middle of it."""
    try:
        return None if line is None else dict(json.loads(line))
    except ValueError:
        return None


def environment() -> dict[str, str]:
    """Ours, with a path on which workers find this very package."""
    home = str(Path(anabranch.__file__).parents[1])
    paths = [home, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths))}


def lost_with_its_process(job: Job, dead: Dead) -> Played:
    """The result of a game in which a player took its whole process with it, twice."""
    assert dead.thinking is not None
    black = job.match.begins(job.number)
    score = float(dead.thinking == 1)
    winner = 0 if (score == 1.0) == (black == 0) else 1  # the game's player
    is_go = isinstance(job.match.table.game, Go)
    result = f"{'BW'[winner]}+F" if is_go else ("1-0", "0-1")[winner]
    reason = f"its process {dead}, twice"
    return Played(job.number, black, score, result, CRASH, reason, "the arena", "", 0, (0.0, 0.0), details=dead.details)
