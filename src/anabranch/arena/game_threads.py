"""Games of one process that are played at once, so that their networks see the positions of all of them in one call.

`GameThreads` can be used in place of `WorkerPool`. Each game is played by a thread; threads have their own players but share
networks (`nets/shared_network.py`). This is for players with networks: kernels and networks run in parallel, Python code does
not, and a process that dies takes all its games along; they are played again when the match is resumed.
Read first: `playing.py`. Alternative: `worker_pool.py`, games in processes of their own.
"""

import queue
import threading
from collections.abc import Generator, Iterable
from dataclasses import replace
from typing import Any

from anabranch.arena.match import Match
from anabranch.arena.notation import SearchSpec, Spec
from anabranch.arena.playing import TIMEOUT, Participants, play_game
from anabranch.arena.record import record
from anabranch.arena.worker_pool import Done, Job
from anabranch.errors import ArenaError
from anabranch.nets.evaluator import NetworkEvaluator
from anabranch.nets.shared_network import SharedNetwork

MEMORY = 10**9  # bytes for the trees of one player in all games, unless its text says how many for one


class Stopped(BaseException):
    """The results are no longer asked for."""


class GameThreads:
    """So many games at once."""

    def __init__(self, games: int, timeout: float = TIMEOUT) -> None:
        """`timeout`: seconds for an answer of a program where there is no clock."""
        if games < 1:
            raise ArenaError(f"together={games}: must be 1 or more")
        self.games, self.timeout = games, timeout
        self._networks: dict[int, SharedNetwork] = {}  # by the network's identity

    def play(self, jobs: Iterable[Job], matches: list[Match]) -> Generator[Done]:
        """Play all of these games, which are of these matches; results come as they end."""
        waiting = list(jobs)
        with Participants(self.timeout, self.shared) as participants:  # before threads want it
            for match in matches:
                participants.warm_up(match)
        left: queue.SimpleQueue[Job] = queue.SimpleQueue()
        for job in waiting:
            left.put(job)
        results: queue.SimpleQueue[Done | BaseException] = queue.SimpleQueue()
        over = threading.Event()
        count = min(self.games, len(waiting))
        threads = [threading.Thread(target=self._work, args=(left, results, over), daemon=True) for _ in range(count)]
        for thread in threads:
            thread.start()
        try:
            for _ in waiting:
                found = results.get()
                if isinstance(found, BaseException):
                    raise found
                yield found
        finally:
            over.set()
            for thread in threads:
                thread.join()

    def _work(self, left: Any, results: Any, over: threading.Event) -> None:
        """What a thread does: one game after the other."""

        def note(side: int | None, ply: int) -> None:
            if over.is_set():
                raise Stopped

        try:
            with Participants(self.timeout, self.shared) as participants:
                while not over.is_set():
                    try:
                        job = left.get_nowait()
                    except queue.Empty:
                        return
                    played, position = play_game(job.match, job.number, participants, note)
                    results.put(Done(job, played, record(job.match, played, position)))
        except Stopped:
            pass
        except BaseException as error:
            results.put(error)

    def shared(self, spec: Spec) -> Spec:
        """A player whose network all games share, and whose tree takes a part of the memory."""
        if not isinstance(spec, SearchSpec):
            return spec
        options = {"memory": MEMORY // self.games, **spec.options}
        network = options.get("evaluate")
        if isinstance(network, NetworkEvaluator):
            options["evaluate"] = self._networks.setdefault(id(network), SharedNetwork(network, self.games))
        return replace(spec, options=options)
