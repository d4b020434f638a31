"""Our rules against OpenSpiel's on 10,000 random games of each game: tests/games/test_openspiel.py with a larger number."""

import os
import re
import subprocess
import sys
from pathlib import Path

from measure import Figure, main, progress

GAMES, QUICK_GAMES = 10_000, 200
ROOT = Path(__file__).parents[1]
TESTS = "tests/games/test_openspiel.py"
COMMAND = "python benchmarks/rules_openspiel.py"


def run(quick: bool = False) -> list[Figure]:
    """One line: whether all games agree."""
    games = QUICK_GAMES if quick else GAMES
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", TESTS],
        cwd=ROOT,
        env={**os.environ, "ANABRANCH_RULE_GAMES": str(games)},
        capture_output=True,
        text=True,
    )
    counts = {kind: int(number) for number, kind in re.findall(r"(\d+) (passed|failed|skipped|errors?)", done.stdout)}
    agreed = done.returncode == 0 and counts.get("passed", 0) > 0 and not counts.get("skipped")
    if not agreed:
        progress(done.stdout + done.stderr)
    verdict = ", ".join(f"{number} comparisons {kind}" for kind, number in counts.items()) or "did not run"
    progress(f"{games:,} random games of each game: {verdict}")
    return [
        Figure(
            what=f"rules against OpenSpiel's, {games:,} random games of each game",
            ours="the same" if agreed else verdict,
            peer="OpenSpiel",
            ratio="",
            target="no difference",
            met=agreed,
            command=COMMAND,
            data={"games": games, **counts},
        )
    ]


if __name__ == "__main__":
    main(run, __doc__)
