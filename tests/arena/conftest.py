"""`in_process` plays matches in the test's own process: for tests of what comes after the games, which need no workers."""

import pytest

from anabranch.arena.playing import Participants, play_game
from anabranch.arena.record import record
from anabranch.arena.worker_pool import Done
from anabranch.errors import ArenaError


class OwnProcess:
    """Stands in for `WorkerPool`."""

    def __init__(self, processes, timeout, on_stderr):
        if processes < 1:
            raise ArenaError(f"processes={processes}: must be 1 or more")
        self.timeout = timeout

    def play(self, jobs, matches):
        with Participants(self.timeout) as participants:
            for job in jobs:
                played, position = play_game(job.match, job.number, participants)
                yield Done(job, played, record(job.match, played, position))


@pytest.fixture
def in_process(monkeypatch):
    monkeypatch.setattr("anabranch.arena.series.WorkerPool", OwnProcess)
