"""Kills processes of a run of training at random moments, and checks each time that nothing is lost and that the run goes on.

python -m tests.train.kills --kills 20       the long form of `test_kills.py`; prints what was killed and what was found
python -m tests.train.kills --strength       the same with Connect Four; then its last network plays that of a run that nobody
                                             has disturbed, with as many positions, until a sequential test decides
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import onnx

from anabranch.arena.match import Match
from anabranch.arena.series import play
from anabranch.arena.sprt import parse
from anabranch.train.game_file import read_games, row_type
from anabranch.train.run import Run

SETTINGS = {
    "network.size": "flat", "self_play.games": 16, "self_play.visits": 8, "self_play.processes": 2, "learner.first": 200,
    "learner.export_every": 600, "gate.games": 10, "gate.visits": 4, "gate.rate_games": 2, "gate.rate_every": 3,
    "gate.anchors": "random",
}  # fmt: skip
FOR_STRENGTH = SETTINGS | {
    "network.size": "tiny", "self_play.games": 64, "self_play.visits": 16, "learner.first": 2000, "learner.export_every": 4000,
    "gate.games": 20,
}  # fmt: skip
HYPOTHESES = "-60,0"  # Elo, of the run that was disturbed
MOST_GAMES = 2000
PATIENCE = 240.0  # seconds until the run must have gone on: kernels may have to be compiled
PARTS = ("self-play", "learner", "gate", "supervisor")


class Trouble(AssertionError):
    """Something was lost, doubled or broken, or the run does not go on."""


class Victim:
    """A run in processes of its own."""

    def __init__(self, folder: Path, game: str, settings: dict = SETTINGS) -> None:
        self.folder, self.game, self.settings = folder, game, settings
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Begin the run, or continue it."""
        options = [word for name, value in self.settings.items() for word in ("--set", f"{name}={value}")]
        options = [] if (self.folder / "run.toml").exists() else options
        command = [sys.executable, "-m", "anabranch", "train", self.game, "--run", str(self.folder), *options]
        with open(self.folder.parent / "printed.txt", "ab") as printed:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=printed, stderr=printed)

    def stop(self) -> None:
        """End it in order."""
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(60)

    def processes(self, part: str) -> list[int]:
        """The processes that do this part."""
        if part == "supervisor":
            return [self.process.pid] if self.process is not None and self.process.poll() is None else []
        found = []
        for entry in Path("/proc").iterdir():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
            except OSError:  # it has ended meanwhile
                continue
            if b"anabranch.train.part" in words and str(self.folder).encode() in words and part.encode() in words:
                found.append(int(entry.name))
        return found

    def games(self) -> Counter[tuple[int, int]]:
        """The finished games, by their identities."""
        run = Run(self.folder)
        dtype = row_type(run.game)
        return Counter((game.worker, game.number) for path in run.game_files for game, _ in read_games(path, dtype))

    def check(self, before: Counter[tuple[int, int]]) -> None:
        """Nothing is lost, doubled or broken."""
        run, now = Run(self.folder), self.games()
        if before - now:
            raise Trouble(f"{len(before - now)} finished games were lost")
        if any(count > 1 for count in now.values()):
            raise Trouble("a game was written twice")
        for network in run.networks:
            onnx.checker.check_model(onnx.load(network))
        run.log.read()

    def wait(self, is_so, what: str) -> None:
        """Until something is so."""
        until = time.monotonic() + PATIENCE
        while not is_so():
            if self.process is not None and self.process.poll() is not None:
                printed = (self.folder.parent / "printed.txt").read_text(errors="replace")[-500:]
                raise Trouble(f"the run ended with {self.process.returncode}: {printed}")
            if time.monotonic() > until:
                raise Trouble(f"waited in vain until {what}")
            time.sleep(0.2)

    def wait_for_progress(self, games: int, networks: int) -> None:
        """Until there are more games and networks than this."""
        self.wait(lambda: sum(self.games().values()) > games, "more games were played")
        self.wait(lambda: len(Run(self.folder).networks) > networks, "another network was learnt")

    def positions(self) -> int:
        """How many positions the finished games have."""
        run = Run(self.folder)
        return sum(len(game.rows) for path in run.game_files for game, _ in read_games(path, row_type(run.game)))


def rounds(
    folder: Path, kills: int, seed: int, game: str = "tictactoe", settings: dict = SETTINGS, parts: tuple[str, ...] = PARTS
) -> Counter[str]:
    """Kill so many times, first each of these parts; what was killed how often."""
    chance, killed = random.Random(seed), Counter()
    victim = Victim(folder, game, settings)
    victim.start()
    try:
        victim.wait(lambda: (folder / "run.toml").exists() and sum(victim.games().values()) > 5, "games were played")
        for number in range(kills):
            time.sleep(chance.uniform(0.0, 4.0))
            part = parts[number] if number < len(parts) else chance.choice(parts)
            victim.wait(lambda part=part: victim.processes(part), f"there was a process for {part}")
            before, networks = victim.games(), len(Run(folder).networks)
            for process in victim.processes(part)[: 1 if part == "self-play" else None]:
                os.kill(process, signal.SIGKILL)
            killed[part] += 1
            if part == "supervisor":
                assert victim.process is not None
                victim.process.wait()
                victim.start()
            victim.check(before)
            victim.wait_for_progress(sum(before.values()) + 20, networks)
            victim.check(before)
    finally:
        victim.stop()
    victim.check(Counter())
    return killed


def strength(folder: Path, kills: int, seed: int) -> str:
    """How strong a run is after so many kills, beside one without any."""
    disturbed, calm = (Victim(folder / name, "connectfour", FOR_STRENGTH) for name in ("disturbed", "calm"))
    rounds(disturbed.folder, kills, seed, "connectfour", FOR_STRENGTH)
    wanted = disturbed.positions()
    calm.start()
    try:
        calm.wait((calm.folder / "run.toml").exists, "the run began")
        while calm.positions() < wanted:
            time.sleep(2.0)
    finally:
        calm.stop()
    players = [f"{each.folder.name}: puct net={Run(each.folder).networks[-1]} visits=16" for each in (disturbed, calm)]
    match, test = Match(*players, "connectfour", opening_plies=6), parse(HYPOTHESES)
    (standing,) = play([match], MOST_GAMES, folder / "matches.db", together=32, sprt=test)
    return "\n".join([f"{wanted:,} positions each", *standing.lines()])


def program() -> int:
    """The long form."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--strength", action="store_true", help="also compare its network with that of an undisturbed run")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if arguments.strength:
            print(strength(Path(folder), arguments.kills, arguments.seed))
            return 0
        began = time.monotonic()
        killed = rounds(Path(folder) / "run", arguments.kills, arguments.seed)
        games = sum(Victim(Path(folder) / "run", "").games().values())
        print(f"killed {dict(killed)} in {time.monotonic() - began:.0f} s: nothing lost, doubled or broken; {games:,} games")
    return 0


if __name__ == "__main__":
    sys.exit(program())
