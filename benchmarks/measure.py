"""How figures are taken: both sides in one run, alternated five times, CPU time, the median.

A benchmark is a module with `run(quick) -> list[Figure]`; `main(run)` makes it a program that prints its figures as rows of
Markdown and, with `--json FILE`, writes them down. `all.py` runs all of them.
"""

import argparse
import json
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ROUNDS = 5
HEADER = "| what | ours | peer | ratio | target | command |\n|---|---|---|---|---|---|"


@dataclass(frozen=True)
class Figure:
    """One measured number beside its peer and its target."""

    what: str
    ours: str
    peer: str
    ratio: str
    target: str
    met: bool
    command: str
    data: dict[str, Any] = field(default_factory=dict)  # all that was measured, for later readers

    def markdown(self) -> str:
        """A row under HEADER."""
        target = self.target + ("" if self.met else " **MISSED**")
        return f"| {self.what} | {self.ours} | {self.peer} | {self.ratio} | {target} | `{self.command}` |"


@dataclass(frozen=True)
class Comparison:
    """CPU seconds a simulation of both sides, one number a round."""

    ours: list[float]
    peer: list[float]

    @property
    def ratio(self) -> float:
        """How many times as fast we are: the peer's median cost over ours."""
        return statistics.median(self.peer) / statistics.median(self.ours)

    def data(self) -> dict[str, Any]:
        """Numbers to keep."""
        per_round = [peer / ours for ours, peer in zip(self.ours, self.peer, strict=True)]
        return {"ours_cpu_s": self.ours, "peer_cpu_s": self.peer, "ratio": self.ratio, "ratio_of_rounds": per_round}


def alternate(ours: Callable[[int], float], peer: Callable[[int], float], rounds: int = ROUNDS) -> Comparison:
    """Let both sides run in turns; each is given the round's number and answers with its cost."""
    comparison = Comparison([], [])
    for number in range(rounds):
        comparison.ours.append(ours(number))
        comparison.peer.append(peer(number))
    return comparison


def cpu_seconds(call: Callable[[], Any]) -> float:
    """CPU time of this process (all its threads) during a call."""
    began = time.process_time()
    call()
    return time.process_time() - began


def built(source: Path, *flags: str) -> Path:
    """The program of a C++ source, compiled if that was not done yet for it as it is now."""
    compiler = shutil.which("g++")
    if compiler is None:
        raise SystemExit(f"{source.name} needs a C++ compiler: install g++, or leave this benchmark out")
    program = Path(tempfile.gettempdir()) / "anabranch-benchmarks" / source.stem
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        program.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([compiler, "-O3", "-march=native", *flags, "-o", program, source], check=True)
    return program


def child_cpu_seconds(*command: str | Path) -> float:
    """CPU time of a program, from its start to its end."""
    began = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([str(part) for part in command], check=True, capture_output=True)
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime


def child_json(*command: str | Path) -> dict[str, Any]:
    """Run a program and read the JSON in the last line that it prints."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))} failed:\n{done.stderr}")
    answer: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return answer


def speed(cost: float) -> str:
    """A cost in seconds as a speed for people."""
    per_second = 1.0 / cost
    return f"{per_second / 1e6:.2f} M/s" if per_second >= 1e6 else f"{per_second:,.0f}/s"


def median_speed(costs: list[float]) -> str:
    """The speed at the median cost."""
    return speed(statistics.median(costs))


def resident_bytes() -> int:
    """Memory that this process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def progress(text: str) -> None:
    """Say what goes on, to the error stream."""
    print(f"  {text}", file=sys.stderr, flush=True)


def main(run: Callable[[bool], list[Figure]], description: str | None) -> None:
    """The program around one benchmark."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer rounds and simulations: a trial, not a measurement")
    parser.add_argument("--json", type=Path, help="write the figures into this file too")
    arguments = parser.parse_args()
    figures = run(arguments.quick)
    print(HEADER)
    for figure in figures:
        print(figure.markdown())
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(figure) for figure in figures], indent=1) + "\n")
    sys.exit(0 if all(figure.met for figure in figures) else 1)
