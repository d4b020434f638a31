"""`in_process` plays matches in the test's own process: for tests of what comes after the games, which need no workers."""

import pytest

from anabranch.arena.crew import Done
from anabranch.arena.playing import Desk, play_game
from anabranch.arena.record import record
from anabranch.errors import ArenaError


class OwnProcess:
    """Stands in for `Crew`."""

    def __init__(self, processes, timeout, on_stderr):
        if processes < 1:
            raise ArenaError(f"processes={processes}: must be 1 or more")
        self.timeout = timeout

    def play(self, jobs, matches):
        with Desk(self.timeout) as desk:
            for job in jobs:
                played, position = play_game(job.match, job.number, desk)
                yield Done(job, played, record(job.match, played, position))


@pytest.fixture
def in_process(monkeypatch):
    monkeypatch.setattr("anabranch.arena.series.Crew", OwnProcess)
