"""Flipped bits in the files of compiled kernels: every damaged file must be a miss.

    python -m tests.jit.flip_kernels 1000      # flips; and a seed, if one is to be repeated

Three kernels of real searches are copied into a folder of their own, and loaded in this process as a search would load
them. What loads in spite of a flipped bit could crash or answer wrongly, so none may. Every twentieth flip goes the whole way
with a small kernel: the answer is right, and the next process finds a good file again.
"""

import os
import random
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import anabranch as ab
from anabranch.games.nim import Nim
from anabranch.games.tictactoe import TicTacToe
from anabranch.jit import Kernel, kernel, store
from anabranch.jit.cache import KernelCache
from anabranch.jit.kernels import Reporter, report_with
from anabranch.search.loops.graph import simulate_graph
from anabranch.search.loops.tree import simulate

WHOLE_WAY = 20  # one flip in so many is compiled anew
Case = tuple[KernelCache, Any, Any, Path]  # a cache, signature and target to load by, and the file behind them


class Silent(Reporter):
    """Says nothing of compilations."""

    def started(self, what):
        pass

    def finished(self, what, seconds, problem):
        pass


@kernel
def weigh(values, factor):
    """A small kernel with a loop, a branch and constants."""
    total = 0.25
    for value in values:
        total += value * factor if value > 1.5 else -3.75
    return total


def kernels(where: Path) -> list[Case]:
    """Kernels that searches have left in the user's cache, copied below this folder, which is the cache from now on."""
    for game, graph in ((TicTacToe(), False), (Nim(), False), (TicTacToe(), True)):
        ab.Search(game, graph=graph).run(game.start(), visits=5)
    weigh(np.ones(3), 2.0)
    found = [(made, signature) for made in (simulate, simulate_graph, weigh) for signature in made.dispatcher.overloads]
    found = [(made, signature) for made, signature in found if _file(made, signature).exists()]  # other tests' are not all kept
    files = [_file(made, signature) for made, signature in found]
    os.environ["ANABRANCH_CACHE"] = str(where)
    for file in files:
        shutil.copy(file, store.folder().path)
    cases = [
        (_cache(made), signature, made.dispatcher.targetctx, store.folder().path / file.name)
        for (made, signature), file in zip(found, files, strict=True)
    ]
    return [case for case in cases if load(case)]


def load(case: Case) -> Any:
    """What a process would get from the file: compiled code, or None."""
    cache, signature, target, _ = case
    try:
        return cache.load_overload(signature, target)
    finally:
        cache.release()  # who does not find it has promised to compile it


def flips(cases: list[Case], count: int, dice: random.Random) -> Iterator[tuple[Case, int]]:
    """Damage one bit after another in these files, and mend it again; each time with the number of the bit."""
    for _ in range(count):
        case = dice.choice(cases)
        file = case[-1]
        whole = file.read_bytes()
        bit = dice.randrange(8 * len(whole)) if dice.random() < 0.9 else dice.randrange(8 * (store.CHECKSUM + 64))
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        file.write_bytes(damaged)
        yield case, bit
        file.write_bytes(whole)


def whole_way(case: Case) -> bool:
    """Whether the small kernel answers rightly with its file as it is, and whether the file is good afterwards."""
    fresh = Kernel(weigh.function)
    answer = fresh(np.array([1.0, 2.0, 3.0]), 2.0)
    return answer == 0.25 - 3.75 + 4.0 + 6.0 and fresh.compilations == 1 and load(case) is not None


def _cache(made: Kernel) -> KernelCache:
    return KernelCache(made.function, lambda types: None, lambda problem: None)


def _file(made: Kernel, signature: Any) -> Path:
    return _cache(made)._path(signature, made.dispatcher.targetctx)


def main(count: int, seed: int) -> int:
    """Say how many flips were refused; the number of those that were not is what the process returns."""
    print(f"seed {seed}", flush=True)
    dice = random.Random(seed)
    with tempfile.TemporaryDirectory() as where:
        cases = kernels(Path(where))
        assert all(load(case) for case in cases), "a file that nobody damaged does not load"
        small = [case for case in cases if case[0].function is weigh.function]
        wrong = 0
        for number in range(count):
            to_the_end = number % WHOLE_WAY == 0
            for case, bit in flips(small if to_the_end else cases, 1, dice):
                if load(case) is not None or (to_the_end and not whole_way(case)):
                    print(f"flip {number}: bit {bit} of {case[-1].name} was not noticed")
                    wrong += 1
    print(f"{count} flipped bits in {len(cases)} kernels: {count - wrong} refused, {wrong} not")
    return min(wrong, 100)


if __name__ == "__main__":
    report_with(Silent())
    count, seed = [*map(int, sys.argv[1:]), *(1000, random.SystemRandom().getrandbits(32))[len(sys.argv) - 1 :]]
    sys.exit(main(count, seed))
