"""Games of the search with itself: hundreds at once in one `Fleet`, whose positions share the calls of the network.

    SelfPlay(run).play(games=100)      plays, and appends each finished game to a file of the run

After every move all games take one more, so calls of the network are always full. A game that ends is written and another
one begins in its place. Each game has a number, from which all its random choices follow. Below: `game_in_progress.py`, a game
until it is written; `choices.py`, how moves are searched and chosen; `rows.py`, what is kept of a search. Next: `game_file.py`;
`window.py` reads what is written here.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from anabranch.games.following import all_after
from anabranch.search.fleet import Fleet
from anabranch.train.choices import chosen, noise_of, selection_of
from anabranch.train.game_file import ENDING, GameWriter, PlayedGame, read_games, row_type
from anabranch.train.game_in_progress import GameInProgress
from anabranch.train.network_in_use import NetworkInUse
from anabranch.train.openings import read_openings
from anabranch.train.rows import rows_of
from anabranch.train.run import GAMES, Run
from anabranch.train.summary import Summary

FILE_SIZE = 1 << 24  # bytes after which another file is begun, so that old games can be deleted
TELL_EVERY = 15.0  # seconds between two lines in the log
WAIT = 0.2


class SelfPlay:
    """What one process plays."""

    def __init__(self, run: Run, worker: int = 0) -> None:
        self.run, self.worker, self.settings = run, worker, run.settings.self_play
        self.game = run.game
        self.dtype = row_type(self.game)
        self.network = NetworkInUse(run, self._seed(0))
        self.select = selection_of(self.game, self.settings)
        self.noise = noise_of(self.game, self.select, self.settings)
        self.openings = read_openings(self.settings.openings, self.game)
        self.fleet: Fleet | None = None
        self.games: list[GameInProgress] = []
        self.next_number, self.file_number = self._numbers()
        self.writer: GameWriter | None = None
        self.summary = Summary()
        self._told = time.monotonic()

    # --- playing ---

    def play(self, games: int | None = None, seconds: float | None = None, stop: Callable[[], bool] = lambda: False) -> int:
        """Play until so many games have ended, or for so long, or until `stop` says so; returns how many have. Waits for the
        first network."""
        began, ended = time.monotonic(), 0
        while (games is None or ended < games) and (seconds is None or time.monotonic() - began < seconds) and not stop():
            if self.network.look():
                ended += self.step()
            else:
                time.sleep(WAIT)
        if games is not None:
            self.tell()
        return ended

    def step(self) -> int:
        """One move in every game; returns how many games have ended."""
        fleet = self._ready()
        fast = [game.draw_fast() for game in self.games]
        for search, is_fast in zip(fleet.searches, fast, strict=True):
            search.noise = None if is_fast else self.noise
        visits = [self.settings.fast_visits if is_fast else self.settings.visits for is_fast in fast]
        positions = [game.position for game in self.games]
        found = fleet.roots(positions, visits, regularized=self.run.settings.targets.policy == "regularized")
        self.summary.count_moves(found.simulations)
        rows, learnt = rows_of(self.game, self.dtype, positions, found), ~np.array(fast)
        self.summary.count_rows(rows[learnt])
        plies, randoms = [game.ply - game.opening for game in self.games], [game.random for game in self.games]
        moves = chosen(self.game, self.select, self.settings, found, positions, plies, randoms)
        edges = [position.edge_of(move) for position, move in zip(positions, moves, strict=True)]
        following, ended = all_after(positions, edges), 0
        for s, game in enumerate(self.games):
            if learnt[s]:
                game.add_row(rows[s].copy())  # not a view, which would keep the rows of all games
            game.note_resignation(found.values[s])
            game.follow(edges[s], following[s])
            if game.ending:
                played = game.finished(self.dtype, self.worker, self.network.name)
                self._write(played)
                self.summary.count_game(self.game, played)
                self.games[s] = self._begin(s)
                ended += 1
        if time.monotonic() - self._told > TELL_EVERY:
            self.tell()
        return ended

    def _ready(self) -> Fleet:
        if self.fleet is None:
            options: dict[str, Any] = {"graph": self.settings.graph, "prove": self.settings.prove}
            size = self.settings.games
            self.fleet = Fleet(
                self.game, size, evaluate=self.network, select=self.select, memory=self.settings.memory, **options
            )
            self.games = [self._begin(s) for s in range(size)]
        return self.fleet

    def _begin(self, search: int) -> GameInProgress:
        """The next game, in this search of the fleet."""
        assert self.fleet is not None
        seed, number = self._seed(self.next_number), self.next_number
        self.next_number += 1
        self.fleet.searches[search].reseed(seed)
        return GameInProgress(self.game, number, seed, self.settings, self.openings)

    # --- what is written ---

    def _write(self, played: PlayedGame) -> None:
        if self.writer is None or self.writer.size > FILE_SIZE:
            if self.writer is not None:
                self.writer.close()
            path = self.run.path / GAMES / f"{self.worker:02}-{self.file_number:06}{ENDING}"
            self.writer = GameWriter(path, {"game": self.run.game_name, "row": self.dtype.itemsize})
            self.file_number += 1
        self.writer.write(played)

    def tell(self) -> None:
        """Write a line into the log."""
        self._told = time.monotonic()
        if self.summary.moves:
            network = self.network.network
            stats = network.stats._asdict() if network else {}
            self.run.log.add(
                "self-play", worker=self.worker, network=self.network.name, **self.summary.facts(), of_network=stats
            )
        self.summary = Summary()

    # --- numbers ---

    def _numbers(self) -> tuple[int, int]:
        """The numbers of this worker's next game and next file."""
        number, file = 0, 0
        own = [path for path in self.run.game_files if path.name.startswith(f"{self.worker:02}-")]
        for path in own:
            file = max(file, int(path.stem.partition("-")[2]) + 1)
        for path in own:
            number = max([number, *(game.number + 1 for game, _ in read_games(path, self.dtype))])
        return number, file

    def _seed(self, number: int) -> int:
        state = np.random.SeedSequence([self.run.settings.run.seed, self.worker, number]).generate_state(1, np.uint64)
        return int(state[0] >> np.uint64(1))
