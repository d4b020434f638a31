"""The window: the positions that are learnt from at the moment, the latest ones of all games.

It grows slower than the number of all positions, as in KataGo (Wu 2019): new ones must not be drowned by old ones, and early
ones, by weak networks, leave it. Rows are kept as they are in files; planes are made when they are learnt.
"""

from pathlib import Path
from typing import Any

import numpy as np

from anabranch.train.game_file import read_games, row_type
from anabranch.train.run import Run
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


class Window:
    """The latest rows of a run, with their weights."""

    def __init__(self, run: Run) -> None:
        self.run, self.settings = run, run.settings.learner
        self.dtype = row_type(run.game)
        self.rows = np.zeros(FIRST_ROOM, self.dtype)
        self.weights = np.zeros(FIRST_ROOM, np.float32)
        self.start = self.end = 0  # the rows that are filled
        self.total = 0  # rows of all games so far, those that have been deleted included
        self.games = 0
        self.places: dict[str, int] = {}  # how far each file has been read
        self.latest: list[Any] = []  # facts of the latest games, for the report

    def __len__(self) -> int:
        """Rows that may be drawn."""
        return min(self.end - self.start, window_size(self.total, self.settings))

    def read(self) -> int:
        """Take in what has been played since; returns how many rows came."""
        before = self.total
        for path in self.run.game_files:
            self._read_file(path)
        return self.total - before

    def restore(self, places: dict[str, int], total: int, games: int) -> None:
        """Fill the window again after a restart: with the rows that are behind these places already, the latest files last.
        `total` and `games` count what was read before, as far as it has been deleted since."""
        files = [path for path in self.run.game_files if places.get(path.name)]
        for path in sorted(files, key=lambda path: path.stat().st_mtime):
            self._read_file(path, places[path.name])
        self.total, self.games = max(self.total, total), max(self.games, games)

    def _read_file(self, path: Path, until: int | None = None) -> None:
        place = self.places.get(path.name, 0)
        if path.stat().st_size <= place:
            return
        for game, end in read_games(path, self.dtype, place):
            if until is not None and end > until:
                break
            self._add(game.rows)
            self.games += 1
            self.places[path.name] = end

    def _add(self, rows: np.ndarray) -> None:
        if self.end + len(rows) > len(self.rows):
            self._make_room(len(rows))
        self.rows[self.end : self.end + len(rows)] = rows
        self.weights[self.end : self.end + len(rows)] = weights_of(rows, self.run.settings.targets)
        self.end += len(rows)
        self.total += len(rows)

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
