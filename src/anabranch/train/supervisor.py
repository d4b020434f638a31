"""All parts of a run at once, each in a process of its own: self-play on every core, the learner, the gate.

    train("runs/nim", "mygame.py:Nim", hours=1)

Parts talk to each other through the run's folder alone. One that dies is started again; one that ends with an error ends the
run, with its last line as the reason. If the supervisor dies, its parts end, too. The time of a run counts all its pieces.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, NamedTuple

from anabranch.errors import TrainingError
from anabranch.extras import needed
from anabranch.train.part import GATE, LEARNER, SELF_PLAY
from anabranch.train.run import LOGS, SETTINGS, Run
from anabranch.train.settings import Settings

TICK = 0.5  # seconds between two looks at the parts
NOTE_EVERY = 10.0  # seconds between two notes of the time spent
FAST = 30.0  # seconds after its start within which a part that crashes may do so again
MOST_DEATHS = 5  # of that kind in a row: it will not live
LEAVE = 20.0  # seconds that parts have to leave the run in order
DIRECT = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # several processes share the cores


class Part(NamedTuple):
    """A part that is to run."""

    name: str  # self-play, learner, gate
    number: int = 0

    @property
    def label(self) -> str:
        """As the log calls it."""
        return f"{self.name} {self.number}" if self.name == SELF_PLAY else self.name


class Child:
    """A part's process."""

    def __init__(self, run: Run, part: Part) -> None:
        self.run, self.part, self.deaths = run, part, 0
        self.process: subprocess.Popen[bytes] | None = None
        self.output: IO[bytes] | None = None

    @property
    def log_file(self) -> Path:
        """What it prints."""
        return self.run.path / LOGS / f"{self.part.label.replace(' ', '-')}.txt"

    def start(self) -> None:
        """Start it, or start it again."""
        self.close()
        self.output = open(self.log_file, "ab")  # noqa: SIM115  (open for as long as the process lives)
        numbers = [str(self.part.number), str(os.getpid())]
        command = [sys.executable, "-m", "anabranch.train.part", str(self.run.path), self.part.name, *numbers]
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=self.output, stderr=self.output, env=os.environ | DIRECT
        )
        self.began, self.began_at = time.monotonic(), time.time()

    def check(self) -> None:
        """Start it again if it has died; raise if it has ended with an error."""
        assert self.process is not None
        code = self.process.poll()
        if code is None:
            return
        if code > 0:
            raise TrainingError(f"{self.part.label} ended: {self._last_line()} (all of it is in {self.log_file})")
        was_killed = code == -signal.SIGKILL and self._has_worked()  # by somebody, or for want of memory
        self.deaths = 0 if was_killed else self.deaths + 1 if time.monotonic() - self.began < FAST else 1
        if self.deaths >= MOST_DEATHS:
            raise TrainingError(f"{self.part.label} dies again and again; what it printed is in {self.log_file}")
        self.run.log.add(
            "state", part=self.part.label, doing=f"started again, after signal {-code}" if code else "started again"
        )
        self.start()

    def _has_worked(self) -> bool:
        """Whether it had begun to work, and does not die while it starts."""
        lines = [line for line in self.run.log.read("state") if line["part"] == self.part.label]
        return any(line["doing"] == "working" and line["time"] >= self.began_at for line in lines)

    def _last_line(self) -> str:
        with contextlib.suppress(OSError):
            lines = self.log_file.read_text(errors="replace").strip().splitlines()
            return lines[-1] if lines else "without a word"
        return "without a word"

    def close(self) -> None:
        """Its output file is not needed any more."""
        if self.output is not None:
            self.output.close()


def train(
    path: str | Path,
    game: str | None = None,
    settings: Settings = Settings(),  # noqa: B008  (frozen)
    *,
    hours: float | None = None,
    on_tick: Callable[[Run], Any] | None = None,
) -> Run:
    """Train in this folder, until it has taken so many hours in all, or until Ctrl-C. A folder that has a run goes on with it;
    otherwise a run of this game begins there. `on_tick` is called about twice a second."""
    needed("torch", "train")
    needed("onnxruntime", "net")
    if (Path(path) / SETTINGS).is_file():
        run = Run(path)
    elif game is None:
        raise TrainingError(f"{path} is not a run of training; name the game to begin one")
    else:
        run = Run.create(path, game, settings)
    with run.locked("run"):
        Supervisor(run).work(hours, on_tick)
    return run


class Supervisor:
    """Starts the parts of a run and looks after them."""

    def __init__(self, run: Run) -> None:
        self.run = run
        count = run.settings.self_play.processes or os.cpu_count() or 1
        parts = [Part(LEARNER), *(Part(SELF_PLAY, number) for number in range(count))]
        if run.settings.gate.games > 0:
            parts.append(Part(GATE))
        self.children = [Child(run, part) for part in parts]
        self.spent = max([0.0, *(line["seconds"] for line in run.log.read("time"))])

    def work(self, hours: float | None, on_tick: Callable[[Run], Any] | None) -> None:
        """Until the time is over."""
        planned = None if hours is None else hours * 3600.0
        if planned is not None and self.spent >= planned:
            raise TrainingError(f"{self.run.path} has taken {self.spent / 3600:.2f} hours already; give it more with --hours")
        self.run.log.add("begin", hours=hours, settings=str(self.run.path / SETTINGS))
        began, noted = time.monotonic(), -NOTE_EVERY
        try:
            for child in self.children:
                child.start()
            while True:
                passed = time.monotonic() - began
                if passed - noted >= NOTE_EVERY:
                    noted = passed
                    self.run.log.add("time", seconds=self.spent + passed, of=planned)
                if planned is not None and self.spent + passed >= planned:
                    return
                for child in self.children:
                    child.check()
                if on_tick is not None:
                    on_tick(self.run)
                time.sleep(TICK)
        finally:
            self._end()
            self.run.log.add("time", seconds=self.spent + time.monotonic() - began, of=planned)

    def _end(self) -> None:
        """Let all parts leave the run in order."""
        living = [child for child in self.children if child.process is not None and child.process.poll() is None]
        for child in living:
            assert child.process is not None
            child.process.terminate()
        until = time.monotonic() + LEAVE
        for child in living:
            assert child.process is not None
            try:
                child.process.wait(max(0.1, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                child.process.kill()
                child.process.wait()
        for child in self.children:
            child.close()
