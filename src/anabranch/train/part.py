"""One part of a run in a process of its own: `python -m anabranch.train.part RUN self-play|learner|gate [NUMBER]`.

It works until it is told to end (SIGTERM, SIGINT, or the end of the supervisor), and then leaves the run in order. Errors of
ours are one line on stderr, and the exit code 2. Above: `supervisor.py`.
"""

import contextlib
import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable

from anabranch.errors import AnabranchError
from anabranch.jit import report_with
from anabranch.jit.kernels import Reporter
from anabranch.train.run import Run

SELF_PLAY, LEARNER, GATE = PARTS = "self-play", "learner", "gate"
PR_SET_PDEATHSIG = 1  # of prctl: the signal that a process gets when its parent ends
PATIENCE = 20.0  # seconds to wait for an earlier process to leave its lock
IDLE = 1.0  # seconds between two looks for work
TURN = 5.0  # seconds of work between two looks whether to end


class Doing(Reporter):
    """Notes compilations in the log, for the screen."""

    def __init__(self, run: Run, part: str) -> None:
        self.run, self.part = run, part

    def started(self, what: str) -> None:
        """A compilation begins."""
        self.run.log.add("state", part=self.part, doing=f"compiling {what}")

    def finished(self, what: str, seconds: float, problem: str | None) -> None:
        """It has ended."""
        self.run.log.add("state", part=self.part, doing="working")


class Stop:
    """Whether it is time to end."""

    def __init__(self, parent: int) -> None:
        """`parent`: the supervisor, which may be dead by now; 0: none."""
        self.parent = parent
        self.told = False
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._tell)
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)

    def _tell(self, number: int, frame: object) -> None:
        self.told = True

    def __call__(self) -> bool:
        """Asked between two steps."""
        return self.told or (self.parent > 0 and os.getppid() != self.parent)


def work(run: Run, part: str, number: int, stop: Callable[[], bool]) -> None:
    """Do a part of a run until it is time to end."""
    if part == SELF_PLAY:
        from anabranch.train.self_play import SelfPlay

        games = SelfPlay(run, number)
        while not stop():
            games.play(seconds=TURN, stop=stop)
        games.tell()
    elif part == LEARNER:
        from anabranch.train.learner import Learner

        learner = Learner(run)
        while not stop():
            learner.learn(seconds=TURN, wait=True, stop=stop)
        learner.checkpoint()
    else:
        from anabranch.train.gate import Gate

        gate = Gate(run, stop)
        while not stop():
            if not gate.look():
                time.sleep(IDLE)


def main() -> int:
    """Run a part; the exit code."""
    path, part = sys.argv[1:3]
    number, parent = (int(word) for word in [*sys.argv[3:], "0", "0"][:2])
    name = f"{part} {number}" if part == SELF_PLAY else part
    try:
        stop, run = Stop(parent), Run(path)
        report_with(Doing(run, name))
        with contextlib.ExitStack() as held:
            _lock(held, run, name.replace(" ", "-"), stop)
            run.log.add("state", part=name, doing="working")
            work(run, part, number, stop)
            run.log.add("state", part=name, doing="ended")
    except AnabranchError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def _lock(held: contextlib.ExitStack, run: Run, name: str, stop: Callable[[], bool]) -> None:
    """Take the lock of this part, once an earlier process of it has ended."""
    began = time.monotonic()
    while True:
        try:
            held.enter_context(run.locked(name))
            return
        except AnabranchError:
            if stop() or time.monotonic() - began > PATIENCE:
                raise
            time.sleep(0.2)


if __name__ == "__main__":
    sys.exit(main())
