"""100,000 random and broken lines of GTP and 10,000 JSON requests: tests/protocols with larger numbers; and how soon a live
analysis ends when the next command comes."""

import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

from measure import Figure, main, progress

LINES, REQUESTS = 100_000, 10_000
QUICK_LINES, QUICK_REQUESTS = 2_000, 500
INTERRUPTIONS = 30
AT_ONCE = 0.2  # seconds
ROOT = Path(__file__).parents[1]
TESTS = (
    "tests/protocols/test_gtp_fuzz.py",
    "tests/protocols/test_analysis.py::test_random_and_broken_requests_are_answered_to_the_end",
)
COMMAND = "python benchmarks/fuzz_protocols.py"


def run(quick: bool = False) -> list[Figure]:
    """What is survived, and how quickly an analysis ends."""
    return [survived(quick), interrupted(quick)]


def survived(quick: bool) -> Figure:
    """Whether every line was answered."""
    lines, requests = (QUICK_LINES, QUICK_REQUESTS) if quick else (LINES, REQUESTS)
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS],
        cwd=ROOT,
        env={**os.environ, "ANABRANCH_FUZZ": str(lines), "ANABRANCH_FUZZ_REQUESTS": str(requests)},
        capture_output=True,
        text=True,
    )
    seconds = time.perf_counter() - began
    passed = re.search(r"(\d+) passed", done.stdout)
    met = done.returncode == 0 and passed is not None and int(passed[1]) == len(TESTS)
    if not met:
        progress(done.stdout + done.stderr)
    progress(f"{lines:,} lines of GTP and {requests:,} requests: {'all answered' if met else 'FAILED'} in {seconds:.0f} s")
    return Figure(
        what=f"{lines:,} random and broken lines of GTP, {requests:,} JSON requests",
        ours="all answered" if met else "failed",
        peer="",
        ratio="",
        target="all answered",
        met=met,
        command=COMMAND,
        data={"lines": lines, "requests": requests, "seconds": seconds},
    )


def interrupted(quick: bool) -> Figure:
    """How long the program needs to end an analysis when a command comes."""
    command = [sys.executable, "-m", "anabranch", "gtp", "--size", "9"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    times = []
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as engine:
        assert engine.stdin and engine.stdout
        for number in range(10 if quick else INTERRUPTIONS):
            print(f"{number} kata-analyze b 10 ownership true", file=engine.stdin, flush=True)
            while not engine.stdout.readline().startswith("info"):
                pass
            time.sleep(0.05 * (number % 7))  # at any point between two lines
            began = time.perf_counter()
            print("name", file=engine.stdin, flush=True)
            while not engine.stdout.readline().startswith("= Anabranch"):
                pass
            times.append(time.perf_counter() - began)
            engine.stdout.readline()
        print("quit", file=engine.stdin, flush=True)
    middle, worst = statistics.median(times), max(times)
    progress(f"analysis ended within {1e3 * middle:.0f} ms (median), {1e3 * worst:.0f} ms (worst) of {len(times)}")
    return Figure(
        what=f"live analysis until the next command is answered, {len(times)} times",
        ours=f"{1e3 * middle:.0f} ms, at worst {1e3 * worst:.0f} ms",
        peer="",
        ratio="",
        target=f"{1e3 * AT_ONCE:.0f} ms",
        met=middle < AT_ONCE,
        command=COMMAND,
        data={"seconds": times},
    )


if __name__ == "__main__":
    main(run, __doc__)
