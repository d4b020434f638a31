"""The window: the positions that are learnt from at the moment, the latest ones of all games.

It grows slower than the number of all positions, as in KataGo (Wu 2019): new ones must not be drowned by old ones, and early
ones, by weak networks, leave it. Rows are kept as they are in files; planes are made when they are learnt.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from anabranch.train.final import learnt_rows, learnt_type
from anabranch.train.game_file import PlayedGame, read_games, row_type
from anabranch.train.run import Run, oldest_first
from anabranch.train.settings import LearnerSettings
from anabranch.train.targets import weights_of

FIRST_ROOM = 1 << 14  # rows


def window_size(rows: int, settings: LearnerSettings) -> int:
    """How many of so many positions are learnt from: n0 (1 + scale ((n / n0)^power - 1) / power)."""
    least = settings.window_least
    if rows <= least:
        return min(rows, settings.window_most)
    power, ratio = settings.window_power, rows / least
    grown = np.log(ratio) if power == 0.0 else (ratio**power - 1.0) / power
    return int(min(least * (1.0 + settings.window_scale * grown), rows, settings.window_most))


class Piece(NamedTuple):
    """Games of a file that were read in one go."""

    file: str
    begin: int  # bytes
    end: int
    last: int  # how many rows had been read in all, these included


class Window:
    """The latest rows of a run, with their weights."""

    def __init__(self, run: Run) -> None:
        self.run, self.settings = run, run.settings.learner
        self.written, self.dtype = row_type(run.game), learnt_type(run.game, run.settings.targets)
        self.rows = np.zeros(FIRST_ROOM, self.dtype)
        self.weights = np.zeros(FIRST_ROOM, np.float32)
        self.start = self.end = 0  # the rows that are filled
        self.total = 0  # rows of all games so far, those that have been deleted included
        self.games = 0
        self.places: dict[str, int] = {}  # how far each file has been read
        self.sizes: dict[str, int] = {}  # and how large it was then: what is behind its place is damaged or not whole yet
        self.pieces: list[Piece] = []  # where the window's rows come from, in their order

    def __len__(self) -> int:
        """Rows that may be drawn."""
        return min(self.end - self.start, window_size(self.total, self.settings))

    def read(self) -> int:
        """Take in what has been played since; returns how many rows came."""
        before = self.total
        for path in oldest_first(self.run.game_files):
            self._read_file(path)
        oldest = self.total - len(self)
        self.pieces = [piece for piece in self.pieces if piece.last > oldest]
        return self.total - before

    def state(self) -> dict[str, Any]:
        """What `restore` goes on from."""
        pieces = [tuple(piece) for piece in self.pieces]
        return {"places": dict(self.places), "pieces": pieces, "total": self.total, "games": self.games}

    def restore(self, places: dict[str, int], pieces: Iterable[tuple[str, int, int, int]], total: int, games: int) -> None:
        """Fill the window after a restart, with the same rows in the same order, as far as their files are still there."""
        files = {path.name: path for path in self.run.game_files}
        self.places = {name: place for name, place in places.items() if name in files}
        self.total, self.games = total, games
        self.pieces = [piece for piece in (Piece(*each) for each in pieces) if piece.file in files]
        for piece in self.pieces:
            for game, end in read_games(files[piece.file], self.written, piece.begin):
                if end > piece.end:
                    break
                self._add(game)

    def left(self) -> list[str]:
        """The names of the files that have been read to their ends, and of which no row is in the window any more."""
        needed = {piece.file for piece in self.pieces}
        sizes = {path.name: path.stat().st_size for path in oldest_first(self.run.game_files)}
        return [name for name, size in sizes.items() if name not in needed and self.sizes.get(name) == size]

    def _read_file(self, path: Path) -> None:
        name, size, begin = path.name, path.stat().st_size, self.places.get(path.name, 0)
        if self.sizes.get(name) == size:
            return
        self.sizes[name] = size
        for game, end in read_games(path, self.written, begin):
            self._add(game)
            self.total += len(game.rows)
            self.games += 1
            self.places[name] = end
        end = self.places.get(name, begin)
        if self.pieces and self.pieces[-1].file == name and self.pieces[-1].end == begin:
            begin = self.pieces.pop().begin
        if end > begin:
            self.pieces.append(Piece(name, begin, end, self.total))

    def _add(self, game: PlayedGame) -> None:
        rows = learnt_rows(self.run.game, game, self.dtype)
        if self.end + len(rows) > len(self.rows):
            self._make_room(len(rows))
        self.rows[self.end : self.end + len(rows)] = rows
        self.weights[self.end : self.end + len(rows)] = weights_of(rows, self.run.settings.targets)
        self.end += len(rows)

    def _make_room(self, count: int) -> None:
        """Drop what has left the window, and move the rest to the front, into more room if it fills more than half of it."""
        kept = min(self.end - self.start, window_size(self.total, self.settings))
        size = len(self.rows)
        while size < 2 * kept + count:
            size *= 2
        rows, weights = np.zeros(size, self.dtype), np.zeros(size, np.float32)
        rows[:kept], weights[:kept] = self.rows[self.end - kept : self.end], self.weights[self.end - kept : self.end]
        self.rows, self.weights, self.start, self.end = rows, weights, 0, kept

    def draw(self, count: int, random: np.random.Generator) -> np.ndarray:
        """So many rows, by their weights."""
        first = self.end - len(self)
        heaviest = self.weights[first : self.end].max()
        found: list[np.ndarray] = []
        missing = count
        while missing > 0:  # by rejection: weights change with every game, and a table of sums would have to
            numbers = random.integers(first, self.end, size=4 * missing)
            taken = numbers[random.random(len(numbers)) * heaviest < self.weights[numbers]][:missing]
            found.append(taken)
            missing -= len(taken)
        return np.asarray(self.rows[np.concatenate(found)])
