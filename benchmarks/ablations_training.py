"""What each choice in training is worth: runs with equal CPU time that differ in one setting, and matches of their networks.

    python benchmarks/ablations_training.py --folder FOLDER     all variants, an hour of CPU time each (30 minutes on two cores)
    python benchmarks/ablations_training.py --folder FOLDER --only puct --seeds 3

Each variant trains Connect Four from nothing with a small network; the budget is the CPU time of all processes of its run, so
that other work on the machine does not matter. Then the last networks play each other with equal searches. Runs and games stay
in FOLDER: the same command continues after an interruption.
"""

import argparse
import contextlib
import json
import os
from pathlib import Path
from typing import Any, NamedTuple

from anabranch.arena.match import Match
from anabranch.arena.rating import elo_of, wilson
from anabranch.arena.series import play
from anabranch.train.run import Run
from anabranch.train.settings import Settings
from anabranch.train.supervisor import train
from measure import progress

GAME = "connectfour"
COMMON = {"network.size": "small", "self_play.opening_plies": 8, "gate.games": 0, "learner.export_every": 10_000}
TICKS = os.sysconf("SC_CLK_TCK")
MATCH_VISITS = 32
OPENING_PLIES = 4


class Variant(NamedTuple):
    """A run that differs from another one."""

    about: str
    against: str  # the variant that it is compared with
    changes: dict[str, Any]


PUCT = {"self_play.select": "puct"}
VARIANTS = {
    "base": Variant("Gumbel, 32 simulations, the other defaults", "", {}),
    "puct": Variant("PUCT with noise, 32 simulations", "base", PUCT),
    "puct-pruned": Variant("PUCT with forced playouts, taken out of the target", "puct", PUCT | {"self_play.forced": 2.0}),
    "puct-regularized": Variant("PUCT, target: the exact regularised policy", "puct", PUCT | {"targets.policy": "regularized"}),
    "fast-moves": Variant(
        "playout-cap randomisation: 64 simulations for a quarter of the moves, 21 for the others",
        "base",
        {"self_play.visits": 64, "self_play.fast_visits": 21, "self_play.fast_share": 0.75},
    ),
    "outcome-only": Variant("value target: the outcome alone", "base", {"targets.outcome": 1.0}),
    "outcome-half": Variant("value target: half outcome, half search", "base", {"targets.outcome": 0.5}),
    "no-symmetries": Variant("no symmetries in evaluation", "base", {"self_play.symmetry": "none"}),
    "proofs": Variant("proofs in the search, with exact targets", "base", {"self_play.prove": True}),
    "graph-proofs": Variant("graph search with proofs", "base", {"self_play.prove": True, "self_play.graph": True}),
    "no-surprise": Variant("all positions weigh the same", "base", {"targets.surprise": 0.0}),
    "no-openings": Variant("no random moves at the start", "base", {"self_play.opening_share": 0.0}),
}  # fmt: skip


class Spent(Exception):
    """The CPU time of a run is over."""


class Budget:
    """Ends a run when its processes have used so much CPU time; what was used before an interruption counts."""

    def __init__(self, folder: Path, seconds: float) -> None:
        self.file, self.seconds = folder / "cpu.json", seconds
        self.before = json.loads(self.file.read_text()) if self.file.is_file() else 0.0
        self.used: dict[int, float] = {}  # by process

    @property
    def spent(self) -> float:
        """CPU seconds so far."""
        return self.before + sum(self.used.values())

    def __call__(self, run: Run) -> None:
        """Called about twice a second."""
        for process in children_of(os.getpid()):
            self.used[process] = cpu_seconds_of(process)
        self.file.write_text(json.dumps(self.spent))
        if self.spent >= self.seconds:
            raise Spent


def children_of(process: int) -> list[int]:
    """The processes that it has started."""
    return [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def cpu_seconds_of(process: int) -> float:
    """The CPU time of a process that lives."""
    try:
        words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # it has ended meanwhile
        return 0.0
    return (int(words[11]) + int(words[12])) / TICKS


def trained(folder: Path, name: str, seed: int, seconds: float) -> Path:
    """The last network of a variant's run, which is trained as far as it is not."""
    run = folder / f"{name}-{seed}"
    seeds = {f"{section}.seed": seed for section in ("run", "network", "learner")}
    settings = Settings().but(**COMMON, **VARIANTS[name].changes, **seeds)
    run.mkdir(parents=True, exist_ok=True)
    budget = Budget(run, seconds)
    if budget.spent < seconds:
        progress(f"{name}, seed {seed}: training, {budget.spent:.0f} of {seconds:.0f} s used")
        with contextlib.suppress(Spent):
            train(run, GAME, settings, on_tick=budget)
    return Run(run).networks[-1]


def compared(folder: Path, name: str, seeds: int, seconds: float, games: int) -> dict[str, Any]:
    """The games of a variant's networks against those of another variant, seed by seed."""
    against, wins, played, by_seed = VARIANTS[name].against, 0.0, 0, []
    for seed in range(seeds):
        mine, other = (trained(folder, each, seed, seconds) for each in (name, against))
        players = [f"{each}: puct net={path} visits={MATCH_VISITS}" for each, path in ((name, mine), (against, other))]
        match = Match(*players, GAME, opening_plies=OPENING_PLIES, seed=seed)
        (standing,) = play([match], games, folder / "matches.db", together=min(games, 32))
        by_seed.append(round(elo_of(standing.counts.score / standing.counts.games)))
        wins, played = wins + standing.counts.score, played + standing.counts.games
    low, high = wilson(wins, played)
    return {"elo": elo_of(wins / played), "low": elo_of(low), "high": elo_of(high), "by_seed": by_seed, "games": played}


def main() -> None:
    """Train, play and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="where runs and games are kept")
    parser.add_argument("--cpu-minutes", type=float, default=60.0, help="CPU time of each run")
    parser.add_argument("--games", type=int, default=400, help="games of each pair of networks")
    parser.add_argument("--seeds", type=int, default=1, help="runs of each variant")
    parser.add_argument("--only", action="append", choices=[name for name in VARIANTS if name != "base"])
    arguments = parser.parse_args()
    names = arguments.only or [name for name in VARIANTS if VARIANTS[name].against]
    print("| variant | against | Elo (95 %) | by seed | games |\n|---|---|---|---|---|")
    for name in names:
        found = compared(arguments.folder, name, arguments.seeds, 60.0 * arguments.cpu_minutes, arguments.games)
        elo = f"{found['elo']:+.0f} ({found['low']:+.0f} to {found['high']:+.0f})"
        seeds = ", ".join(f"{each:+}" for each in found["by_seed"])
        print(f"| {VARIANTS[name].about} | {VARIANTS[name].against} | {elo} | {seeds} | {found['games']} |", flush=True)


if __name__ == "__main__":
    main()
