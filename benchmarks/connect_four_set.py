"""Connect Four positions with exactly one right move, to measure how strong a search is.

Positions are taken at plies 10 to 23 from games of a noisy UCT player, at most one a game, no two the same or mirrored; the
solver `bitbully` says what each move is worth. Kept are those where exactly one move keeps the outcome (a win or a draw; where
all moves lose, none is right) and the mover cannot win at once. Many of these moves are forced: every other one lets the
opponent win at once. A column says so, since finding them says little. The same seeds and the same search give the same file:

    python benchmarks/connect_four_set.py          builds tests/data/connect_four_set.csv anew (some ten minutes)

`read()` gives the file's rows to benchmarks and tests; `judge` and `outcomes` ask the solver about one position.
"""

import csv
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from anabranch import UCT, Search
from anabranch.games import ConnectFour

FILE = Path(__file__).parents[1] / "tests" / "data" / "connect_four_set.csv"
SIZE = 400
PLIES = range(10, 24)  # earlier the solver is slow and the book is known; later there is little left to find
PLAYER_VISITS = 200
RANDOM_SHARE = 0.25  # of moves in those games that are random: enough that they leave the main lines
OUTCOMES = {1: "win", 0: "draw", -1: "loss"}


class Row(NamedTuple):
    """One position of the set."""

    moves: str  # columns played from the empty board: "ddc..."
    best: str  # the one column that keeps the outcome
    outcome: str  # "win" or "draw", for the player to move
    ply: int  # stones on the board
    forced: bool  # whether every other move lets the opponent win at once


def read(file: Path = FILE) -> list[Row]:
    """The set, ordered by ply."""
    with file.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    return [Row(row["moves"], row["best"], row["outcome"], int(row["ply"]), row["forced"] == "True") for row in rows]


def write(rows: list[Row], file: Path = FILE) -> None:
    """Save the set."""
    with file.open("w", newline="") as lines:
        table = csv.writer(lines, lineterminator="\n")
        table.writerow(Row._fields)
        table.writerows(rows)


def solver() -> Any:
    """The solver, without its opening book: the set begins behind it."""
    from bitbully import BitBully

    return BitBully(opening_book=None)


def outcomes(bully: Any, moves: str) -> dict[int, int]:
    """What each legal column is worth to the player to move: 1, 0 or -1."""
    from bitbully import Board

    scores = bully.score_all_moves(Board(["abcdefg".index(move) for move in moves]))
    return {column: int(np.sign(score)) for column, score in sorted(scores.items())}


def judge(bully: Any, moves: str) -> tuple[int, list[int]]:
    """The game-theoretic outcome for the player to move (1, 0, -1) and the columns that keep it."""
    signs = outcomes(bully, moves)
    outcome = max(signs.values())
    return outcome, [column for column, sign in signs.items() if sign == outcome]


def wins_at_once(position: Any) -> bool:
    """Whether the player to move has a winning move."""
    return any(after.is_over and any(after.returns) for after in map(position.play, position.legal_actions))


def is_forced(position: Any) -> bool:
    """Whether all moves but one, or all, let the opponent win at once."""
    after = [position.play(action) for action in position.legal_actions]
    return sum(not following.is_over and not wins_at_once(following) for following in after) <= 1


def mirrored(moves: str) -> str:
    """The same game seen in a mirror."""
    return "".join("gfedcba"["abcdefg".index(move)] for move in moves)


def noisy_game(number: int, plies: int) -> str | None:
    """The first moves of a game of the noisy player; None if it was over before."""
    game = ConnectFour()
    random = np.random.default_rng(number)
    position, moves = game.start(), ""
    for _ in range(plies):
        if position.is_over:
            return None
        action = int(random.choice(position.legal_actions))
        if random.random() >= RANDOM_SHARE:
            result = Search(game, select=UCT(c=1.4), seed=number).run(position, visits=PLAYER_VISITS)
            action = int(random.choice(game.actions, p=result.policy))
        position, moves = position.play(action), moves + game.name_of(action)
    return moves


def build() -> list[Row]:
    """The set, from scratch."""
    game, bully = ConnectFour(), solver()
    rows: list[Row] = []
    seen: set[Any] = set()
    number = 0
    for place, ply in enumerate(PLIES):
        quota = SIZE // len(PLIES) + (place < SIZE % len(PLIES))
        found = 0
        while found < quota:
            number += 1
            moves = noisy_game(number, ply)
            if moves is None:
                continue
            position = game.position(moves)
            if position.is_over or wins_at_once(position) or position.key in seen:
                continue
            outcome, keeping = judge(bully, moves)
            if len(keeping) != 1:
                continue
            seen |= {position.key, game.position(mirrored(moves)).key}
            rows.append(Row(moves, game.name_of(keeping[0]), OUTCOMES[outcome], ply, is_forced(position)))
            found += 1
        print(f"ply {ply}: {found} positions, {number:,} games so far", flush=True)
    return rows


if __name__ == "__main__":
    FILE.parent.mkdir(parents=True, exist_ok=True)
    write(build())
