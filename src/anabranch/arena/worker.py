"""A process that plays games: `python -m anabranch.arena.worker`. Jobs come as lines of JSON, results go the same way.

    in:   {"warm": [match, ...]}            compile what these need      out:  {"ready": true}
          {"play": match, "number": 7}      play a game                        {"thinking": 0, "ply": 12} ...
                                                                               {"played": ..., "sgf": "..."}
    or, for either: {"error": "..."}

Whatever games and players print goes to stderr, not between the lines. When the line from above is closed (the match was
stopped, or killed), the worker ends its players and leaves at once. Above: `worker_pool.py`.
"""

import faulthandler
import json
import os
import queue
import signal
import sys
import threading
import traceback
from dataclasses import asdict
from typing import Any

from anabranch.arena.match import Match
from anabranch.arena.playing import Participants, play_game
from anabranch.arena.process import close_all
from anabranch.arena.record import record
from anabranch.errors import AnabranchError
from anabranch.jit import report_with
from anabranch.jit.kernels import Reporter
from anabranch.jit.settings import QUIET


class LineReporter(Reporter):
    """News of compilations in whole lines, since they travel by line."""

    def started(self, what: str) -> None:
        """A compilation begins."""
        if not QUIET:
            print(f"compiling {what} (once; kept for the next time) ...", file=sys.stderr, flush=True)

    def finished(self, what: str, seconds: float, problem: str | None) -> None:
        """It ended."""
        if not QUIET:
            print(f"... {seconds:.1f} s" + (f", not kept: {problem}" if problem else ""), file=sys.stderr, flush=True)


class Worker:
    """Reads jobs, does them, tells what came of them."""

    def __init__(self, timeout: float, out: Any) -> None:
        self.participants = Participants(timeout)
        self.out = out
        self.matches: dict[str, Match] = {}  # by their JSON, so that players are read once

    def say(self, **message: Any) -> None:
        """Send a line."""
        self.out.write(json.dumps(message) + "\n")
        self.out.flush()

    def do(self, job: dict[str, Any]) -> None:
        """One job."""
        try:
            if "warm" in job:
                self._warm([self._match(match) for match in job["warm"]])
                self.say(ready=True)
            else:
                match = self._match(job["play"])
                played, position = play_game(
                    match, job["number"], self.participants, lambda side, ply: self.say(thinking=side, ply=ply)
                )
                self.say(played=asdict(played), sgf=record(match, played, position))
        except AnabranchError as error:
            self.say(error=str(error))
        except Exception as error:
            traceback.print_exc()
            self.say(error=f"{type(error).__name__}: {error}")

    def _match(self, data: dict[str, Any]) -> Match:
        return self.matches.setdefault(json.dumps(data), Match.from_dict(data))

    def _warm(self, matches: list[Match]) -> None:
        """Compile what the players need."""
        with Participants(self.participants.timeout) as participants:
            for match in matches:
                participants.warm_up(match)


def main() -> None:
    """Work until the line from above is closed."""
    faulthandler.enable()
    report_with(LineReporter())
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what others print must not stand between our lines
    jobs: queue.Queue[str] = queue.Queue()

    def listen() -> None:
        for line in sys.stdin:
            jobs.put(line)
        close_all()
        os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    worker = Worker(float(sys.argv[1]), out)
    while True:
        worker.do(json.loads(jobs.get()))


if __name__ == "__main__":
    main()
