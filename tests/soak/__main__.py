"""The soak: random calls on random searches with faults in between, and a look at everything after each call.

    python -m tests.soak                                  an hour, compiled
    python -m tests.soak --minutes 5 --plain              in plain Python, where any combination of options costs nothing
    python -m tests.soak --seed 7 --scenario 123          the one that failed; with one thread, the same every time

Scenarios run in a process of their own, so that a crash or a hang is told like any other failure and the next one follows.
"""

import argparse
import os
import random
import sys

from tests.soak.scenarios import ALL, RANGES, SOME


def program() -> int:
    """Read the command line; how many scenarios have failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, help="of all scenarios; by default another one every time")
    parser.add_argument("--scenario", type=int, help="play this one alone, in this process, and show its calls")
    parser.add_argument("--scope", choices=RANGES, help="how many combinations of options; fewer kernels to compile")
    parser.add_argument("--plain", action="store_true", help="without the compiler")
    parser.add_argument("--from", dest="first", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.plain and os.environ.get("NUMBA_DISABLE_JIT") != "1":
        os.execve(sys.executable, [sys.executable, "-m", "tests.soak", *sys.argv[1:]], os.environ | {"NUMBA_DISABLE_JIT": "1"})
    seed = random.SystemRandom().getrandbits(32) if arguments.seed is None else arguments.seed
    scope = arguments.scope or (ALL if arguments.plain else SOME)
    from tests.soak import runner  # compiled or not is decided now

    if arguments.child:
        return runner.play_on(seed, arguments.first, scope, 60.0 * arguments.minutes)
    if arguments.scenario is not None:
        return runner.play_one(seed, arguments.scenario, scope)
    return min(runner.run(seed, scope, 60.0 * arguments.minutes, arguments.plain), 100)


if __name__ == "__main__":
    sys.exit(program())
