"""Plays matches: what is missing of them, side by side, each result into the database as it ends.

    standings = play([Match("uct visits=200", "random", game="tictactoe")], games=100, db="matches.db", processes=2)

Games of several matches take turns, pair by pair, so that about as much is known of each at any time. A sequential test may end
a match early. Stopping loses nothing but the games that are going on: called again, it goes on. Read first: `worker_pool.py`,
`store.py`.
"""

import re
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from pathlib import Path

from anabranch.arena.game_threads import GameThreads
from anabranch.arena.match import Match
from anabranch.arena.playing import TIMEOUT, Played
from anabranch.arena.sprt import Course, Sprt
from anabranch.arena.standing import Standing
from anabranch.arena.store import Store
from anabranch.arena.worker_pool import Done, Job, WorkerPool
from anabranch.errors import ArenaError

LONGEST_NAME = 40  # characters of a player in a file's name


def play(
    matches: Sequence[Match],
    games: int,
    db: str | Path,
    *,
    processes: int = 1,
    together: int = 1,
    timeout: float = TIMEOUT,
    sgf: str | Path | None = None,
    sprt: Sprt | None = None,
    on_begin: Callable[["Series"], None] | None = None,
    on_game: Callable[["Series", Match, Played], None] | None = None,
    on_stderr: Callable[[str], None] | None = None,
) -> list[Standing]:
    """Play so many games of each match, those that are in the database already included.

    processes  games at the same time, each in a process of its own
    together   games at the same time in this process, whose networks are asked about all of them in one call
    timeout    seconds for an answer of a program over GTP, where there is no clock
    sgf        a folder for records of games of Go
    sprt       a test that ends a match as soon as it is decided
    on_begin   called before the first game, when it is known what the database has
    on_game    called after each game
    on_stderr  gets what worker processes print, line by line
    """
    if together != 1 and processes != 1:
        raise ArenaError(
            f"processes={processes}, together={together}: games run in one process or in several; give only one of the two"
        )
    pool = WorkerPool(processes, timeout, on_stderr) if together == 1 else GameThreads(together, timeout)
    with Store(db) as store:
        series = Series(matches, games, store, sprt)
        if on_begin is not None:
            on_begin(series)
        if series.missing():
            with closing(series.run(pool, None if sgf is None else Path(sgf))) as results:
                for match, played in results:
                    if on_game is not None:
                        on_game(series, match, played)
        return series.standings()


class Series:
    """Some matches and what was played of them."""

    def __init__(self, matches: Sequence[Match], games: int, store: Store, sprt: Sprt | None = None) -> None:
        if games < 1:
            raise ArenaError(f"games={games}: must be 1 or more")
        self.matches = list({match.key: match for match in matches}.values())
        if sprt is not None and len(self.matches) > 1:
            raise ArenaError("a sequential test is for one match")
        self.games, self.store, self.sprt = games, store, sprt
        self.ids = {match.key: store.enter(match) for match in self.matches}
        self.played = {match.key: {game.number: game for game in store.games(self.ids[match.key])} for match in self.matches}
        self.of_other_rules = {match.key: store.of_other_rules(match) for match in self.matches}  # games that do not count
        self.test = None if sprt is None else Course(sprt)

    @property
    def total(self) -> int:
        """Games of all matches."""
        return self.games * len(self.matches)

    @property
    def done(self) -> int:
        """How many of them have ended."""
        return sum(sum(number < self.games for number in games) for games in self.played.values())

    def missing(self) -> list[Job]:
        """The games that are still to be played, in their order."""
        pairs = range((self.games + 1) // 2)
        numbers = ((match, number) for pair in pairs for match in self.matches for number in (2 * pair, 2 * pair + 1))
        if self._is_decided():
            return []
        return [Job(match, number) for match, number in numbers if number < self.games and number not in self.played[match.key]]

    def run(self, pool: WorkerPool | GameThreads, sgf: Path | None = None) -> Generator[tuple[Match, Played]]:
        """Play what is missing; each game is written down before it is told."""
        if sgf is not None:
            _make_folder(sgf)
        with closing(pool.play(self.missing(), self.matches)) as results:
            for done in results:
                if sgf is not None and done.sgf is not None:
                    _write(sgf / self._file_name(done.job.match, done.played.number), done.sgf)
                yield done.job.match, self._recorded(done)
                if self._is_decided():
                    return

    def _recorded(self, done: Done) -> Played:
        """Write a game down; if another program was faster, its result stands."""
        match, played = done.job.match, done.played
        if not self.store.record(self.ids[match.key], played):
            played = next(game for game in self.store.games(self.ids[match.key]) if game.number == played.number)
        self.played[match.key][played.number] = played
        return played

    def _is_decided(self) -> bool:
        """Let the test look at the games that follow those which it has seen; whether it has ended."""
        if self.test is None:
            return False
        (games,) = self.played.values()
        while self.test.verdict.accepted is None and self.test.verdict.games in games:
            self.test.add(games[self.test.verdict.games].score)
        return self.test.verdict.accepted is not None

    def standing(self, match: Match) -> Standing:
        """How a match stands."""
        games = self.played[match.key]
        return Standing(match, match.names, [games[number] for number in sorted(games)], self.sprt)

    def standings(self) -> list[Standing]:
        """How all of them stand."""
        return [self.standing(match) for match in self.matches]

    def _file_name(self, match: Match, number: int) -> str:
        names = "-vs-".join(re.sub(r"[^\w.=-]+", "-", name)[:LONGEST_NAME].strip("-") for name in match.names)
        return f"{self.ids[match.key]}-{names}-{number:05}.sgf"


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ArenaError(f"{path} cannot be created: {error.strerror}") from None


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ArenaError(f"{path} cannot be written: {error.strerror}") from None
