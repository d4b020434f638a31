"""Every result, in a SQLite database: matches and their games. A game is written in one transaction when it ends.

A match is found again by its `key`, and a game by its number, so a match that was stopped, however suddenly, goes on where it
was: what is written is there once, and what is not is played again. The table `layout` holds the version of the tables; a
database of another version, or of something else, is refused. Several programs may write to one database.
"""

import contextlib
import json
import sqlite3
from collections.abc import Iterator
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from anabranch.arena.match import Match
from anabranch.arena.playing import Played
from anabranch.errors import ArenaError

VERSION = 1
PATIENCE = 30.0  # seconds to wait for another program that writes
TABLES = """
CREATE TABLE layout (version INTEGER NOT NULL);
CREATE TABLE matches (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,       -- Match.key
    terms TEXT NOT NULL,            -- Match.to_dict() as JSON
    first TEXT NOT NULL,            -- names for people
    second TEXT NOT NULL,
    created TEXT NOT NULL           -- UTC
);
CREATE TABLE games (
    match INTEGER NOT NULL REFERENCES matches(id),
    number INTEGER NOT NULL,
    black INTEGER NOT NULL,         -- who was player 0: 0 the first player, 1 the second
    score REAL NOT NULL,            -- of the first player: 1, 0.5, 0
    result TEXT NOT NULL,
    ending TEXT NOT NULL,
    reason TEXT NOT NULL,
    referee TEXT NOT NULL,
    moves TEXT NOT NULL,
    plies INTEGER NOT NULL,
    seconds TEXT NOT NULL,          -- of the first and the second player, as JSON
    version TEXT NOT NULL,          -- of the program
    details TEXT NOT NULL,
    ended TEXT NOT NULL,            -- UTC
    PRIMARY KEY (match, number)
) WITHOUT ROWID;
"""
COLUMNS = [field.name for field in fields(Played)]


class Kept(NamedTuple):
    """A match in the database."""

    id: int
    match: Match
    first: str
    second: str


class Store:
    """An open database."""

    def __init__(self, path: str | Path, create: bool = True) -> None:
        """`create`: make it if it is not there."""
        self.path = Path(path)
        if not create and not self.path.exists():
            raise ArenaError(f"there is no database {path}; `anabranch match` makes one when it plays")
        try:
            self._open()
        except sqlite3.DatabaseError as error:
            is_other = "not a database" in str(error)
            why = "it is no database of matches" if is_other else str(error)
            raise ArenaError(f"{path} cannot be used: {why}; name another file with --db") from None

    def _open(self) -> None:
        self._connection = sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None)
        if self._tables():
            self._check_version()
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")  # a lost machine may lose the last games, never more
        with self._transaction():
            if not self._tables():
                for statement in TABLES.split(";")[:-1]:
                    self._connection.execute(statement)
                self._connection.execute("INSERT INTO layout VALUES (?)", (VERSION,))
        self._check_version()

    def _tables(self) -> list[str]:
        return [name for (name,) in self._connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]

    def _check_version(self) -> None:
        try:
            versions = [version for (version,) in self._connection.execute("SELECT version FROM layout")]
        except sqlite3.OperationalError:
            versions = []
        if versions != [VERSION]:
            self.close()
            if not versions:
                raise ArenaError(f"{self.path} is a database of something else; name another file with --db")
            raise ArenaError(
                f"{self.path} has version {versions[0]} of the database, and this program reads and writes version {VERSION}: "
                "name another file with --db, or use the program that wrote it"
            )

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            yield
            self._connection.execute("COMMIT")
        except BaseException as error:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            if isinstance(error, sqlite3.OperationalError):
                raise ArenaError(f"{self.path} cannot be written: {error}") from None
            raise

    # --- writing ---

    def enter(self, match: Match) -> int:
        """The match's id, after writing it down if it is new."""
        names = match.names
        with self._transaction():
            self._connection.execute(
                "INSERT OR IGNORE INTO matches (key, terms, first, second, created) VALUES (?, ?, ?, ?, ?)",
                (match.key, json.dumps(match.to_dict()), *names, _now()),
            )
            (found,) = self._connection.execute("SELECT id FROM matches WHERE key = ?", (match.key,)).fetchone()
            self._connection.execute("UPDATE matches SET first = ?, second = ? WHERE id = ?", (*names, found))
        return int(found)

    def record(self, match: int, played: Played) -> bool:
        """Write a game down; False if another program was faster, whose result stays."""
        values = [getattr(played, name) for name in COLUMNS]
        row = [json.dumps(value) if isinstance(value, tuple) else value for value in values]
        marks = ", ".join("?" * (len(row) + 2))
        with self._transaction():
            done = self._connection.execute(
                f"INSERT OR IGNORE INTO games (match, {', '.join(COLUMNS)}, ended) VALUES ({marks})", (match, *row, _now())
            )
        return done.rowcount == 1

    # --- reading ---

    def find(self, match: Match) -> int | None:
        """The match's id, if it is there."""
        row = self._connection.execute("SELECT id FROM matches WHERE key = ?", (match.key,)).fetchone()
        return None if row is None else int(row[0])

    def matches(self) -> list[Kept]:
        """All of them, in the order in which they were begun."""
        rows = self._connection.execute("SELECT id, terms, first, second FROM matches ORDER BY id")
        return [Kept(number, Match.from_dict(json.loads(terms)), first, second) for number, terms, first, second in rows]

    def games(self, match: int) -> list[Played]:
        """The games of a match, by number."""
        rows = self._connection.execute(f"SELECT {', '.join(COLUMNS)} FROM games WHERE match = ? ORDER BY number", (match,))
        return [_played(row) for row in rows]

    def close(self) -> None:
        """Leave it."""
        self._connection.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _played(row: tuple[Any, ...]) -> Played:
    values = dict(zip(COLUMNS, row, strict=True))
    return Played(**{**values, "seconds": tuple(json.loads(values["seconds"]))})


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
