"""The report of `check.py`: each problem with the moves that lead there and the board."""

import re
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

import numpy as np

from anabranch.games.position import Position
from anabranch.games.rules import CHANCE

MOST_PROBLEMS = 20  # in one report
MOST_MOVES = 40  # shown of the path to a problem
# The remaining ways in which plain and compiled rules can differ: see "What works in rules, and what bites" in the guide.
WHY_DIFFERENT = (
    "\n    they can differ where a number is computed of narrow constants or tables (np.int8), leaves 64 bits, is divided by "
    "zero,\n    or is read outside an array: use wider types (np.int64, f8), and ANABRANCH_CHECK=1 to test indices"
)


@dataclass
class Report:
    """What `check` found."""

    game: str
    games: int = 0
    positions: int = 0
    symmetries: int = 0  # how many the game declares, if it has an encoding
    followed: int = 0  # and how many of them could be checked; see `check_planes.py`
    problems: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        looked = f"{self.game}: {self.games} random games, {self.positions:,} positions, plain against compiled"
        if self.symmetries > 1:
            looked += f", {self.followed} of {self.symmetries} symmetries"
        if self.ok:
            return f"{looked}: all is well"
        return "\n".join([f"{looked}: {len(self.problems)} problem(s)", *(f"  - {problem}" for problem in self.problems)])

    def note(self, problem: str, position: Position | None = None) -> None:
        """Add a problem, with the position where it was met, unless a similar one (same words, other numbers) is known."""
        if len(self.problems) < MOST_PROBLEMS and words_of(problem) not in map(words_of, self.problems):
            self.problems.append(problem if position is None else f"{problem}\n{where(position)}")


def where(position: Position) -> str:
    """The moves that lead to a position, and the board."""
    moves = moves_of(position)
    shown = " ".join(moves[-MOST_MOVES:])
    if len(moves) > MOST_MOVES:
        shown = f"... {shown} ({len(moves)} moves)"
    try:
        board = str(position)
    except Exception as error:
        board = f"(its text fails: {error})"
    return "\n".join(
        [f"    after {shown}:" if moves else "    at the start:", *(f"      {line}" for line in board.splitlines())]
    )


def moves_of(position: Position) -> list[str]:
    """The names of the moves, where they have names; replaying them shows which were chance events."""
    game = position.game
    names, now = [], game.start()
    for move in position.moves:
        try:
            is_event = now.to_play == CHANCE
            names.append(game.event_name(move) if is_event else game.edge_name(now.edge_of(move)))
            now = now.after(now.edge_of(move))
        except Exception:  # the game is broken: numbers will do
            names.append(str(move))
    return names


def brief(value: Any) -> str:
    """The value of a field in one line."""
    return " ".join(str(np.asarray(value)).split())


def words_of(problem: str) -> str:
    """A problem without its numbers, to recognise similar ones."""
    return re.sub(r"[-+\d.,\[\] ]+", "", problem.splitlines()[0])


def side_by_side(left: str, right: str) -> str:
    """Two boards next to each other."""
    rows = list(zip_longest(left.splitlines(), right.splitlines(), fillvalue=""))
    width = max(len(a) for a, _ in rows)
    return "\n".join(f"      {a.ljust(width)}    {b}" for a, b in rows)
