"""`make soak`: an hour of the soak in all its forms, with the long forms of other tests before it, and a summary.

Tests marked `in_soak` run compiled here, all of them, however short the soak is; `make test` runs them in plain Python.
Tests that go on for as long as they are told to are told `LENGTHS` here, and a fraction of it in `make test`.

python -m tests.soak.hour --minutes 60
"""

import argparse
import os
import random
import subprocess
import sys
import time

GAMES, FLIPS = 20_000, 1_000  # of proofs, and of bits in kernels, in an hour; fewer in less
LASTING = ["tests/fuzz", "tests/protocols/test_gtp_fuzz.py", "tests/protocols/test_analysis.py", "tests/search/test_threads.py"]
LENGTHS = {
    "ANABRANCH_FUZZ_SECONDS": "120",  # for each target
    "ANABRANCH_STRESS_SECONDS": "30",  # for each kind of search
    "ANABRANCH_FUZZ": "20000",  # lines of GTP
    "ANABRANCH_FUZZ_REQUESTS": "2000",  # in JSON
}


def parts(minutes: float, seed: int) -> dict[str, list[str]]:
    """What is run, one after the other; the soak itself gets two thirds of the time."""
    share = min(minutes / 60.0, 1.0)
    games, flips = max(int(GAMES * share), 100), max(int(FLIPS * share), 20)
    return {
        "tests marked in_soak": ["-m", "pytest", "-m", "in_soak", "-q", "-n", "auto", "--dist", "worksteal"],
        "tests that last": ["-m", "pytest", *LASTING, "-q", "-n", "auto", "--dist", "worksteal"],
        "flipped kernels": ["-m", "tests.jit.flip_kernels", str(flips), str(seed)],
        "proofs": ["benchmarks/proofs_cycles.py", f"--games={games}", f"--seed={seed}"],
        "soak, plain": ["-m", "tests.soak", "--plain", f"--seed={seed}", f"--minutes={minutes / 6}"],
        "soak, compiled": ["-m", "tests.soak", f"--seed={seed}", f"--minutes={minutes / 2}"],
    }


def program() -> int:
    """Run all parts; how many have failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(32))
    arguments = parser.parse_args()
    summary = []
    for name, command in parts(arguments.minutes, arguments.seed).items():
        print(f"--- {name}: python {' '.join(command)}", flush=True)
        began = time.monotonic()
        code = subprocess.run([sys.executable, *command], env=LENGTHS | os.environ).returncode
        summary.append((code, f"{name}: {'failed' if code else 'passed'} in {(time.monotonic() - began) / 60:.1f} minutes"))
    print(f"--- seed {arguments.seed}", *(line for _, line in summary), sep="\n", flush=True)
    return sum(code != 0 for code, _ in summary)


if __name__ == "__main__":
    sys.exit(program())
