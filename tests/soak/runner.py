"""Runs scenarios one after another in a child process, and tells what became of them."""

import faulthandler
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, TextIO

from anabranch.jit import COMPILED
from anabranch.jit.kernels import Reporter, report_with
from tests.soak.scenarios import play

HANGS = 900.0 if COMPILED else 300.0  # seconds that no call takes, with all its kernels to compile, on a busy machine
FRESH = 300  # scenarios after which a new process goes on: compiled code is never given back
EVERY = 10.0  # seconds between two lines of progress
LONGEST = 12_000  # letters of a failure that are shown


class Silent(Reporter):
    """Says nothing of compilations."""

    def started(self, what: str) -> None:
        pass

    def finished(self, what: str, seconds: float, problem: str | None) -> None:
        pass


# --- in the child -----------------------------------------------------------------------------------------------------------


def play_on(seed: int, first: int, scope: str, seconds: float) -> int:
    """Scenarios from this one on until the time is up, a line of JSON before and after each."""
    report_with(Silent())
    faulthandler.enable()
    ends = time.monotonic() + seconds
    for scenario in range(first, first + FRESH):
        if time.monotonic() >= ends:
            return 0
        say(begins=scenario)
        try:
            counts = play(seed, scenario, scope, watch)
            say(done=scenario, counts=counts)
        except BaseException as error:
            say(failed=scenario, text="".join(traceback.format_exception(error)))
    return 0


def play_one(seed: int, scenario: int, scope: str) -> int:
    """One scenario, and its calls as they are made."""
    faulthandler.enable()

    def show(call: str) -> None:
        watch(call)
        print(call, flush=True)

    print(dict(play(seed, scenario, scope, show)))
    return 0


def watch(call: str) -> None:
    """A call is about to be made: if it hangs, show where and end the process."""
    faulthandler.dump_traceback_later(HANGS, exit=True)


def say(**facts: Any) -> None:
    print(json.dumps(facts), flush=True)


# --- in the parent ----------------------------------------------------------------------------------------------------------


@dataclass
class Tally:
    """What became of the scenarios."""

    command: str  # that plays one again
    counts: Counter[str] = field(default_factory=Counter)
    failed: list[int] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)
    told: float = field(default_factory=time.monotonic)

    def fail(self, scenario: int, text: str) -> None:
        self.failed.append(scenario)
        print(f"\nFAILED: scenario {scenario}\n{text[-LONGEST:]}\nagain: {self.command} --scenario {scenario}\n", flush=True)

    def progress(self, at_once: bool = False) -> None:
        now = time.monotonic()
        if at_once or now - self.told >= EVERY:
            self.told = now
            facts = ", ".join(f"{count:,} {name}" for name, count in sorted(self.counts.items()))
            print(f"{now - self.began:.0f} s: {facts}; {len(self.failed)} FAILED", flush=True)


def run(seed: int, scope: str, seconds: float, plain: bool) -> int:
    """Soak for so long; how many scenarios have failed."""
    again = f"python -m tests.soak --seed {seed} --scope {scope}" + (" --plain" if plain else "")
    print(f"seed {seed}, {'plain Python' if plain else 'compiled'}, {scope} combinations: {again}", flush=True)
    tally = Tally(again)
    scenario = 0
    while (left := seconds - (time.monotonic() - tally.began)) > 0:
        scenario = one_child(tally, seed, scope, scenario, left)
    tally.progress(at_once=True)
    return len(tally.failed)


def one_child(tally: Tally, seed: int, scope: str, first: int, seconds: float) -> int:
    """Start a process and listen to it until it ends; the scenario to go on with."""
    arguments = [f"--seed={seed}", f"--scope={scope}", f"--from={first}", f"--minutes={seconds / 60}", "--child"]
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(
            [sys.executable, "-m", "tests.soak", *arguments],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=os.environ | ({} if COMPILED else {"NUMBA_DISABLE_JIT": "1"}),
        ) as child,
    ):
        try:
            assert child.stdout is not None
            following, playing = listen(tally, child.stdout, first)
        except BaseException:
            child.kill()
            raise
        code = child.wait()
        if playing is not None or code:
            errors.seek(0)
            tally.fail(following if playing is None else playing, f"the process ended by {cause(code)}\n{errors.read()}")
            following += 1
    return following


def listen(tally: Tally, stream: TextIO, first: int) -> tuple[int, int | None]:
    """Count what a child tells; the scenario after the last, and the one that it has not finished."""
    following, playing = first, None
    for line in stream:
        facts = json.loads(line)
        if "begins" in facts:
            playing = facts["begins"]
            continue
        following, playing = playing + 1, None
        tally.counts.update(facts.get("counts", {}))
        if "failed" in facts:
            tally.fail(facts["failed"], facts["text"])
        tally.progress()
    return following, playing


def cause(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"
