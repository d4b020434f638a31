"""Which numbers of the default Go engine matter: games in which both sides draw all of theirs anew, and what decided them.

    python benchmarks/tune_go.py play games.jsonl --games 500             # about twelve games a minute on a core; plays on
    python benchmarks/tune_go.py play games.jsonl --values bias=0.009,0.018 own=0,0.3,0.6
    python benchmarks/tune_go.py fit docs/results/tune_go.jsonl           # Elo of each value beside the first of its number

A match answers one question. Here every game says something about all numbers at once: whether black wins is explained by the
sum of what each value is worth, white's subtracted (a logistic regression), so that 500 games tell of every number what a match
of some 200 would. It does not see that two numbers may want each other, and it is a search against itself: what looks good here
is worth a match against others.
"""

import argparse
import json
import math
import random
from pathlib import Path
from typing import Any

import numpy as np

import anabranch as ab
from anabranch.arena.notation import parse
from anabranch.games.go import Go

GAME = Go(9, komi=6.5)
VISITS = 1500
OPENING_PLIES = 2  # at random in the middle, so that no two games are the same
MOST_PLIES = 140
DECIDED, DECIDED_PLIES = 0.9, 6  # a game is over when both sides have agreed on its winner for so many plies
PRIOR = 0.3  # of the regression: as if each value had been seen in about so many games that it neither won nor lost
ELO = 400.0 / math.log(10.0)
# The first value of each number, the default when this began, is the one that others are compared with.
NUMBERS: dict[str, tuple[float, ...]] = {
    "bias": (0.009, 0.004, 0.018, 0.03),
    "c": (0.0, 0.03),
    "strict": (1, 0),
    "expand_after": (1, 2, 4),
    "even": (10, 4, 20, 25, 50),
    "weight": (7.0, 4.5, 5.0, 9.0, 11.0),
    "usual": (-4.0, -5.0, -3.0),
    "own": (0.0, 0.15, 0.3, 0.6, 1.0),
    "save": (0.8, 0.95),
    "pattern": (0.8, 0.6, 0.95, 1.0),
    "second_last": (0.2, 0.0, 0.5),
    "capture": (0.8, 0.6, 0.95),
    "self_atari": (0.5, 0.0, 0.25, 0.9),
    "nakade": (0.0, 0.6),
    "two_liberties": (0.0, 0.4, 0.8),
    "eye_shape": (0.0, 0.5),
}
OF_HEURISTIC = ("even", "weight", "usual", "own")
OF_POLICY = ("save", "pattern", "second_last", "capture", "self_atari", "nakade", "two_liberties", "eye_shape")
Side = dict[str, float]


# --- games --------------------------------------------------------------------------------------------------------------------


def player(side: Side) -> str:
    """What plays with these numbers, as in `anabranch match`."""
    rest = [f"{name}={value}" for name, value in side.items() if name not in (*OF_HEURISTIC, *OF_POLICY, "strict")]
    heuristic, policy = (",".join(f"{name}={side[name]}" for name in names) for names in (OF_HEURISTIC, OF_POLICY))
    return f"rave {' '.join(rest)} strict={bool(side['strict'])} heuristic=Shapes({heuristic}) policy=MoGo({policy})"


def play(path: Path, games: int, visits: int, values: dict[str, tuple[float, ...]], seed: int) -> None:
    """Play until there are so many games in a file."""
    done = len(path.read_text().splitlines()) if path.exists() else 0
    for number in range(done, games):
        chance = random.Random(f"{seed} {number}")
        sides = [{name: chance.choice(choices) for name, choices in values.items()} for _ in range(2)]
        black_won = played(sides, visits, chance)
        with path.open("a") as file:
            file.write(json.dumps({"black": sides[0], "white": sides[1], "black_won": black_won}) + "\n")
        print(f"game {number + 1} of {games}", flush=True)


def played(sides: list[Side], visits: int, chance: random.Random) -> bool:
    """Play a game; whether black won it."""
    searches = [ab.Search(GAME, **parse(player(side), GAME).options, seed=chance.randrange(2**31)) for side in sides]
    position = GAME.start()
    for _ in range(OPENING_PLIES):
        position = position.play(chance.choice([a for a in position.legal_actions if 2 <= a % 9 <= 6 and 2 <= a // 9 <= 6]))
    for_black, agreed = 0.0, 0
    for _ in range(MOST_PLIES):
        if position.is_over or agreed == DECIDED_PLIES:
            break
        result = searches[position.to_play].run(position, visits=visits)
        value = result.value if position.to_play == 0 else -result.value
        agreed = agreed + 1 if abs(value) > DECIDED and (agreed == 0 or value * for_black > 0.0) else int(abs(value) > DECIDED)
        for_black = value
        position = position.play(result.best)
    return position.returns[0] > 0.0 if position.is_over else for_black > 0.0


# --- what decided them --------------------------------------------------------------------------------------------------------


def fit(games: list[dict[str, Any]]) -> list[tuple[str, float, float, float, int]]:
    """Of each value beside the first of its number: name, value, Elo, standard error, and games in which one side had it."""
    found, columns = [], []
    for name, values in NUMBERS.items():
        for value in values[1:]:
            has = np.array([[float(game[side][name] == value) for side in ("black", "white")] for game in games])
            if has.any():
                found.append((name, value, int((has[:, 0] != has[:, 1]).sum())))
                columns.append(has[:, 0] - has[:, 1])
    seen = np.array([*columns, np.ones(len(games))]).T  # the last one: to be black
    won = np.array([float(game["black_won"]) for game in games])
    weights = np.zeros(seen.shape[1])
    for _ in range(50):  # Newton's method
        chances = 1.0 / (1.0 + np.exp(-seen @ weights))
        curvature = seen.T @ (seen * (chances * (1.0 - chances))[:, None]) + PRIOR * np.eye(len(weights))
        weights += np.linalg.solve(curvature, seen.T @ (won - chances) - PRIOR * weights)
    errors = np.sqrt(np.diag(np.linalg.inv(curvature)))
    return [
        (name, value, ELO * float(weight), ELO * float(error), count)
        for (name, value, count), weight, error in zip(found, weights, errors, strict=False)
    ]


def show(paths: list[Path]) -> None:
    """Print a table of what was found."""
    games = [json.loads(line) for path in paths for line in path.read_text().splitlines()]
    print(f"{len(games)} games\n\n| number | value | beside | Elo | standard error | games |\n|---|---|---|---|---|---|")
    for name, value, elo, error, count in fit(games):
        print(f"| {name} | {value:g} | {NUMBERS[name][0]:g} | {elo:+.0f} | {error:.0f} | {count} |")


def values_of(given: list[str]) -> dict[str, tuple[float, ...]]:
    """Values to draw from: the first ones, and those that are given as name=1,2,3."""
    chosen = {name: values[:1] for name, values in NUMBERS.items()} if given else dict(NUMBERS)
    for word in given:
        name, _, values = word.partition("=")
        if name not in NUMBERS:
            raise SystemExit(f"there is no number {name!r}; there are {', '.join(NUMBERS)}")
        chosen[name] = tuple(type(NUMBERS[name][0])(value) for value in values.split(","))
    return chosen


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("play", help="games between numbers drawn at random")
    one.add_argument("file", type=Path)
    one.add_argument("--values", nargs="+", default=[], metavar="NAME=1,2,3", help="let only these numbers vary, and how")
    one.add_argument("--games", type=int, default=500)
    one.add_argument("--visits", type=int, default=VISITS)
    one.add_argument("--seed", type=int, default=0, help="another one for each file")
    two = commands.add_parser("fit", help="what the values are worth")
    two.add_argument("files", type=Path, nargs="+")
    given = parser.parse_args()
    if given.command == "play":
        play(given.file, given.games, given.visits, values_of(given.values), given.seed)
    else:
        show(given.files)


if __name__ == "__main__":
    main()
