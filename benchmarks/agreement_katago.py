"""KataGo's networks here and in KataGo: how far do they agree? Random games on boards of all shapes, under all rules of KataGo
that Go here knows. Both sides make their own inputs from the moves, so that agreement shows them to be the same.

    python benchmarks/agreement_katago.py KATAGO NETWORK [--positions 400] [--seed 1]

KATAGO is the program, NETWORK a file that both read. Differences are given at the 99th percentile, and the largest. Beside
them are the limits that KataGo sets to its own backends in single precision, in the same order.
"""

import argparse
import random
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from anabranch.games.go import Go
from anabranch.games.position import Position
from anabranch.nets.katago.inputs import encode_position
from anabranch.nets.katago.model import KataGoModel
from anabranch.nets.katago.outputs import read_policy, read_values
from anabranch.nets.katago.symmetry import look_from
from anabranch.protocols import kata_rules

SIZES = (5, 7, 9, 13, 19, (5, 9), (11, 6), (19, 7))
KOMI = (7.5, 7.0, 6.5, 0.0, -3.5, 60.0)
EVERY = 5  # a position is compared after so many moves, on average
PASSES = 0.03  # share of moves
SETTINGS = """
logAllGTPCommunication = false
logSearchInfo = false
rules = tromp-taylor
numEigenThreadsPerModel = 1
numSearchThreads = 1
nnMaxBatchSize = 1
maxVisits = 1
assumeMultipleStartingBlackMovesAreHandicap = false
"""
LIMITS = {"win rate": (0.0045, 0.0135), "lead": (0.34, 0.90), "top policy": (0.0045, 0.0135), "KL": (0.0006, 0.0012)}
MEASURES = (*LIMITS, "ownership")


class KataGo:
    """KataGo, asked in GTP."""

    def __init__(self, program: str, network: str) -> None:
        self.folder = tempfile.TemporaryDirectory()
        settings = Path(self.folder.name) / "gtp.cfg"
        settings.write_text(SETTINGS)
        command = [program, "gtp", "-model", network, "-config", str(settings)]
        self.process = subprocess.Popen(
            command, cwd=self.folder.name, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )

    def ask(self, line: str) -> str:
        """The answer to a command, which must not be an error."""
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = ""
        while not answer.endswith("\n\n"):
            read = self.process.stdout.readline()
            if not read:
                raise SystemExit(f"KataGo ended at: {line}")
            answer += read
        if not answer.startswith("="):
            raise SystemExit(f"KataGo says of {line!r}: {answer.strip()}")
        return answer[1:].strip()

    def begin(self, game: Go) -> None:
        """Start a game with its size, rules and komi."""
        self.ask(f"rectangular_boardsize {game.width} {game.height}")
        self.ask("clear_board")
        self.ask(f"kata-set-rules {kata_rules.written(game.rules)}")
        self.ask(f"komi {game.komi:g}")

    def look(self, symmetry: int, points: int) -> dict[str, Any]:
        """What the network says of the position: numbers, policy (not a number where illegal) with the pass, ownership."""
        words = self.ask(f"kata-raw-nn {symmetry}").split()
        found: dict[str, Any] = {name: float(words[words.index(name) + 1]) for name in ("whiteWin", "whiteLoss", "whiteLead")}
        for name in ("policy", "whiteOwnership"):
            start = words.index(name) + 1
            found[name] = np.array(words[start : start + points], float)
        found["policy"] = np.append(found["policy"], float(words[words.index("policyPass") + 1]))
        return found


def random_game(game: Go, chance: random.Random) -> Iterator[Position]:
    """The positions of a game of random moves, few of them passes, until it is over or the board has been filled twice."""
    position = game.start()
    for _ in range(2 * game.actions):
        legal = position.legal_actions
        if not legal:
            return
        points = [action for action in legal if action != game.actions - 1]
        position = position.play(chance.choice(points) if points and chance.random() > PASSES else game.actions - 1)
        yield position


def compare(katago: KataGo, model: KataGoModel, position: Position, symmetry: int) -> tuple[float, ...]:
    """How far both are apart on one position, in the order of MEASURES."""
    game = position.game
    assert isinstance(game, Go)
    theirs = katago.look(symmetry, game.actions - 1)
    planes, of_globals, legal = encode_position(position, model.header.pass_alive_with_suicide)
    raw = model(look_from(planes, symmetry), of_globals).turned_back(symmetry)
    may_end_without_result = game.rules.ko == "simple" or game.rules.scoring == "territory"
    values, policy = read_values(raw, model.header, may_end_without_result), read_policy(raw, legal)[0]
    sign = 1.0 if position.to_play == 1 else -1.0  # theirs are white's
    if not np.array_equal(np.isnan(theirs["policy"]), ~legal[0]):
        raise SystemExit(f"other moves are legal in {game!r} after {position.moves}:\n{position}")
    wanted = np.maximum(np.nan_to_num(theirs["policy"]), 1e-9)
    best = int(wanted.argmax())
    return (
        abs(sign * (values.win[0] - values.loss[0]) - (theirs["whiteWin"] - theirs["whiteLoss"])) / 2,
        abs(sign * values.lead[0] - theirs["whiteLead"]),
        abs(float(policy[best]) - wanted[best]),
        float((wanted * np.log(wanted / np.maximum(policy, 1e-9))).sum()),
        float(np.abs(sign * values.ownership[0].ravel() - theirs["whiteOwnership"]).max()),
    )


def measure(katago: KataGo, model: KataGoModel, count: int, seed: int) -> dict[str, np.ndarray]:
    """Differences on so many positions, by rules: arrays (positions, measures)."""
    chance = random.Random(seed)
    found: dict[str, list[tuple[float, ...]]] = {name: [] for name in kata_rules.NAMES}
    while sum(map(len, found.values())) < count:
        for name, differences in found.items():
            game = Go(chance.choice(SIZES), chance.choice(KOMI), kata_rules.rules_of(name))
            katago.begin(game)
            for position in random_game(game, chance):
                mover = "bw"[1 - position.to_play]
                katago.ask(f"play {mover} {game.name_of(position.moves[-1])}")
                if chance.random() < 1 / EVERY:
                    differences.append(compare(katago, model, position, chance.randrange(8)))
    return {name: np.array(differences) for name, differences in found.items()}


def report(found: dict[str, np.ndarray]) -> None:
    """Print the differences, by rules and of all."""
    print(f"{'rules':18} {'positions':>9}  " + "  ".join(f"{name:>16}" for name in MEASURES))
    for name, differences in {**found, "all": np.concatenate(list(found.values()))}.items():
        shown = (f"{np.percentile(column, 99):.1e} {column.max():.1e}" for column in differences.T)
        print(f"{name:18} {len(differences):9}  " + "  ".join(f"{text:>16}" for text in shown))
    print(f"{'limits of KataGo':18} {'':9}  " + "  ".join(f"{p99:.1e} {most:.1e}".rjust(16) for p99, most in LIMITS.values()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("katago")
    parser.add_argument("network")
    parser.add_argument("--positions", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    report(measure(KataGo(given.katago, given.network), KataGoModel(given.network), given.positions, given.seed))
