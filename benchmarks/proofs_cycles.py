"""Whether what a search calls proven is true where positions come again: random small games with cycles, chance, rewards and
discounts, for two and three players, under random scripts of run, advance, back, jumps, save and load, with many sorts of
options. Everything that is shown as certain is compared with an exhaustive solver that knows the line that was played
(tests/reference/repetitions.py).

    python benchmarks/proofs_cycles.py                               20,000 games
    python benchmarks/proofs_cycles.py --games 500 --seed 7          others, and fewer
    python benchmarks/proofs_cycles.py --games 1 --seed 1234         the one game that was said to be wrong
    python benchmarks/proofs_cycles.py --kind "graph, 2 players"     of one kind
"""

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.search.proofs import KINDS, Kind, Verdict, judge

from measure import HEADER, Figure, progress

GAMES, QUICK_GAMES = 20_000, 500
SHOWN = 5  # wrong games that are shown in full
EVERY = 10.0  # seconds between two lines of progress
COMMAND = "python benchmarks/proofs_cycles.py"


def run(quick: bool = False, games: int | None = None, seed: int = 0, kinds: list[Kind] = KINDS) -> list[Figure]:
    """All games from this seed on, which is the number of the first."""
    tally = Tally()
    for number in range(seed, seed + (games or (QUICK_GAMES if quick else GAMES))):
        try:
            tally.add(judge(number, kinds))
        except Exception as error:  # nothing wrong was proven, but it is a fault all the same
            tally.add_failure(number, str(kinds[number % len(kinds)]), error)
    return tally.figures()


class Tally:
    """Counts over all games, by kind."""

    def __init__(self) -> None:
        self.games: Counter[str] = Counter()
        self.proven: Counter[str] = Counter()
        self.moves: Counter[str] = Counter()
        self.wrong: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()
        self.looks = 0
        self.seeds: list[int] = []
        self.began = self.told = time.perf_counter()

    def add_failure(self, seed: int, kind: str, error: Exception) -> None:
        """Count a game whose search raised something."""
        self.games[kind] += 1
        self.failed[kind] += 1
        progress(f"FAILED seed {seed}, {kind}: {type(error).__name__}: {error}")

    def add(self, verdict: Verdict) -> None:
        """Count a game, and show it if it is wrong."""
        kind = str(verdict.kind)
        self.games[kind] += 1
        self.looks += verdict.looks
        self.proven[kind] += verdict.proven
        self.moves[kind] += verdict.moves
        if verdict.faults:
            self.wrong[kind] += 1
            self.seeds.append(verdict.seed)
            if len(self.seeds) <= SHOWN:
                progress(f"WRONG {verdict}\n    again: {COMMAND} --games 1 --seed {verdict.seed} --kind '{kind}'")
        if time.perf_counter() - self.told > EVERY:
            self.told = time.perf_counter()
            done, seconds = self.games.total(), self.told - self.began
            progress(f"{done:,} games in {seconds:.0f} s: {self.proven.total():,} proven, {self.wrong.total():,} wrong")

    def figures(self) -> list[Figure]:
        """A row a kind, and one for all."""
        names = sorted(self.games)
        rows = [self.figure(f"Random games with cycles, {name}", name) for name in names]
        return [*rows, self.figure("Random games with cycles, all", *names)]

    def figure(self, what: str, *kinds: str) -> Figure:
        """The counts of some kinds."""
        games, proven, moves, wrong, failed = (
            sum(counts[kind] for kind in kinds) for counts in (self.games, self.proven, self.moves, self.wrong, self.failed)
        )
        return Figure(
            what=f"{what}: wrong of {games:,} games",
            ours=f"{wrong:,} wrong; {proven:,} roots and {moves:,} moves proven" + (f"; {failed:,} FAILED" if failed else ""),
            peer="exhaustive solver",
            ratio="",
            target="none",
            met=wrong == failed == 0,
            command=COMMAND,
            data={"games": games, "proven": proven, "moves": moves, "wrong": wrong, "failed": failed, "seeds": self.seeds},
        )


def program() -> None:
    """The program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=GAMES)
    parser.add_argument("--seed", type=int, default=0, help="of the first game; the others follow")
    parser.add_argument("--kind", choices=sorted({str(kind) for kind in KINDS}), help="only games of this kind")
    arguments = parser.parse_args()
    kinds = [kind for kind in KINDS if arguments.kind in (None, str(kind))]
    figures = run(games=arguments.games, seed=arguments.seed, kinds=kinds)
    print(HEADER)
    for figure in figures:
        print(figure.markdown())
    sys.exit(0 if all(figure.met for figure in figures) else 1)


if __name__ == "__main__":
    program()
