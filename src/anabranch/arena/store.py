"""Every result, in a SQLite database: matches and their games. A game is written in one transaction when it ends.

A match is found again by its `key` and the fingerprint of its game's rules, and a game by its number, so a match that was
stopped, however suddenly, goes on where it was: what is written is there once, and what is not is played again. The table
`layout` holds the version of the tables; a database of another version, of something else, or a damaged one, is refused and
left as it is (one of version 1, which knows no fingerprints, can still be read). Several programs may write to one database.
What is read from one is checked, since it may come from anybody.
"""

import contextlib
import json
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from anabranch.arena.match import Match
from anabranch.arena.notation import LONGEST
from anabranch.arena.playing import Played
from anabranch.arena.text import NAME, REASON, clipped, last_lines, one_line
from anabranch.errors import ArenaError
from anabranch.printable import printable

VERSION = 2
WITHOUT_RULES = 1  # the version whose results do not say of which rules they are
PATIENCE = 30.0  # seconds to wait for another program that writes
TABLES = """
CREATE TABLE layout (version INTEGER NOT NULL);
CREATE TABLE matches (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL,              -- Match.key
    rules TEXT NOT NULL,            -- Match.rules
    terms TEXT NOT NULL,            -- Match.to_dict() as JSON
    first TEXT NOT NULL,            -- names for people
    second TEXT NOT NULL,
    created TEXT NOT NULL,          -- UTC
    UNIQUE (key, rules)
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
OURS = {"layout", "matches", "games"}  # tables
COLUMNS = [field.name for field in fields(Played)]


REMEDIES = {  # by SQLite's number of an error
    sqlite3.SQLITE_NOTADB: "it is not a database of matches; name another file with --db",
    sqlite3.SQLITE_CORRUPT: "it is damaged; restore a copy, or save what is left by `sqlite3 FILE .recover`",
    sqlite3.SQLITE_BUSY: "database is locked; try again when the program that holds it has ended",
    sqlite3.SQLITE_FULL: "the disk is full; free some space and run the same command again to continue",
    sqlite3.SQLITE_IOERR: "the disk cannot be read or written (disk I/O error); run the same command again once it can",
    sqlite3.SQLITE_READONLY: "it is read-only; --show reads it, and --db names another file to play on",
}


class Kept(NamedTuple):
    """A match in the database."""

    id: int
    match: Match
    first: str
    second: str


class Store:
    """An open database."""

    def __init__(self, path: str | Path, create: bool = True) -> None:
        """`create`: make it if it is not there. Otherwise it is only read, which can be done on media that are read-only."""
        self.path = Path(path)
        self._connection: sqlite3.Connection | None = None
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        self._knows_rules = True
        if not create and not self.path.exists():
            raise ArenaError(f"there is no database {path}; `anabranch match` makes one when it plays")
        if self.path.exists() and not self.path.is_file():
            raise ArenaError(f"{path} cannot be used: it is not a file; name another with --db")
        try:
            with self._errors("used"):
                self._open(create)
        except BaseException:
            self.close()
            raise

    def _open(self, create: bool) -> None:
        self._connection = self._connected("mode=rwc") if create else self._connected_to_read()
        if self._tables():
            self._check(create)
        if create:
            self._run("PRAGMA journal_mode = WAL")
            self._run("PRAGMA synchronous = NORMAL")  # a lost machine may lose the last games, never more
            if not self._tables():
                self._make()

    def _make(self) -> None:
        with self._transaction():
            if not self._tables():  # another program may have been faster
                for statement in TABLES.split(";")[:-1]:
                    self._run(statement)
                self._run("INSERT INTO layout VALUES (?)", VERSION)
        self._check(True)

    def _connected(self, how: str, path: Path | None = None) -> sqlite3.Connection:
        address = f"{(path or self.path).absolute().as_uri()}?{how}"
        return sqlite3.connect(address, uri=True, timeout=PATIENCE, isolation_level=None)

    def _connected_to_read(self) -> sqlite3.Connection:
        """Where SQLite finds no place for its log: the file as it is, or a copy, if there are games in its log only."""
        connection = self._connected("mode=rw")
        try:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            return connection
        except sqlite3.OperationalError as error:
            connection.close()
            if _code(error) not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
                raise
        log = Path(f"{self.path}-wal")
        if not log.exists() or not log.stat().st_size:
            return self._connected("immutable=1")
        self._copy = tempfile.TemporaryDirectory(prefix="anabranch-")
        for file in (self.path, log):
            shutil.copyfile(file, Path(self._copy.name) / file.name)
        return self._connected("mode=rw", Path(self._copy.name) / self.path.name)

    def _run(self, statement: str, *values: Any) -> sqlite3.Cursor:
        assert self._connection is not None
        return self._connection.execute(statement, values)

    def _tables(self) -> set[str]:
        return {name for (name,) in self._run("SELECT name FROM sqlite_master WHERE type = 'table'")}

    def _check(self, writes: bool) -> None:
        """Whether it is ours, of a version that will do, and whole."""
        versions = self._versions()
        self._knows_rules = versions != [WITHOUT_RULES]
        if writes and not self._knows_rules:
            raise ArenaError(
                f"{self.path} is of an earlier version, whose results do not say of which rules of the game they are, so no "
                "more are added to it: name another file with --db; --show still reads this one"
            )
        if versions and versions not in ([VERSION], [WITHOUT_RULES]):
            found = one_line(str(versions[0]), NAME)
            raise ArenaError(
                f"{self.path} has version {found} of the database, and this program reads and writes version {VERSION}: "
                "name another file with --db, or use the program that wrote it"
            )
        if not versions or OURS - self._tables():
            raise ArenaError(f"{self.path} is a database of another program; name another file with --db")
        (found,) = self._run("PRAGMA quick_check(1)").fetchone()
        if found != "ok":
            raise ValueError(found)

    def _versions(self) -> list[Any]:
        """What the table `layout` says, if it is ours."""
        columns = {row[1] for row in self._run("PRAGMA table_info(layout)")}
        return [version for (version,) in self._run("SELECT version FROM layout")] if "version" in columns else []

    # --- errors ---

    @contextlib.contextmanager
    def _errors(self, what: str) -> Iterator[None]:
        """Errors of SQLite, and those of reading what is not as we wrote it, in one line."""
        try:
            yield
        except ArenaError:
            raise
        except sqlite3.Error as error:
            why = REMEDIES.get(_code(error), f"{one_line(str(error))}; name another file with --db")
        except OSError as error:
            why = f"{error.strerror}; name another file with --db"
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
            why = f"{REMEDIES[sqlite3.SQLITE_CORRUPT]}: {one_line(str(error))}"
        else:
            return
        raise ArenaError(f"{self.path} cannot be {what}: {why}")

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        assert self._connection is not None
        with self._errors("written"):
            try:
                self._run("BEGIN IMMEDIATE")
                yield
                self._run("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    with contextlib.suppress(sqlite3.Error):  # a full disk; what was begun is forgotten in any case
                        self._run("ROLLBACK")
                raise

    # --- writing ---

    def enter(self, match: Match) -> int:
        """The match's id, after writing it down if it is new."""
        names = match.names
        with self._transaction():
            self._run(
                "INSERT OR IGNORE INTO matches (key, rules, terms, first, second, created) VALUES (?, ?, ?, ?, ?, ?)",
                *(match.key, match.rules, json.dumps(match.to_dict()), *names, _now()),
            )
            (found,) = self._run("SELECT id FROM matches WHERE key = ? AND rules = ?", match.key, match.rules).fetchone()
            self._run("UPDATE matches SET first = ?, second = ? WHERE id = ?", *names, found)
        return int(found)

    def record(self, match: int, played: Played) -> bool:
        """Write a game down; False if another program was faster, whose result stays."""
        values = [getattr(played, name) for name in COLUMNS]
        row = [json.dumps(value) if isinstance(value, tuple) else value for value in values]
        marks = ", ".join("?" * (len(row) + 2))
        with self._transaction():
            done = self._run(
                f"INSERT OR IGNORE INTO games (match, {', '.join(COLUMNS)}, ended) VALUES ({marks})", match, *row, _now()
            )
        return done.rowcount == 1

    # --- reading ---

    def find(self, match: Match) -> int | None:
        """The match's id, if it is there."""
        if self._knows_rules:
            found = self._rows("SELECT id FROM matches WHERE key = ? AND rules = ?", match.key, match.rules)
        else:
            found = self._rows("SELECT id FROM matches WHERE key = ?", match.key)
        return int(found[0][0]) if found else None

    def of_other_rules(self, match: Match) -> int:
        """How many games of the same match there are that were played by other rules: the game has changed since, or before."""
        if not self._knows_rules:
            return 0
        same = "SELECT id FROM matches WHERE key = ? AND rules != ?"
        found = self._rows(f"SELECT count(*) FROM games WHERE match IN ({same})", match.key, match.rules)
        return int(found[0][0]) if found else 0

    def matches(self) -> list[Kept]:
        """All of them, in the order in which they were begun."""
        rows = self._rows("SELECT id, terms, first, second FROM matches ORDER BY id")
        with self._errors("read"):
            return [_kept(row) for row in rows]

    def games(self, match: int) -> list[Played]:
        """The games of a match, by number."""
        rows = self._rows(f"SELECT {', '.join(COLUMNS)} FROM games WHERE match = ? ORDER BY number", match)
        with self._errors("read"):
            return [_played(row) for row in rows]

    def _rows(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._errors("read"):
            return self._run(statement, *values).fetchall() if self._tables() else []

    def close(self) -> None:
        """Leave it."""
        if self._connection is not None:
            self._connection.close()
        if self._copy is not None:
            self._copy.cleanup()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


# --- rows, which may be from anybody ----------------------------------------------------------------------------------


def _kept(row: tuple[Any, ...]) -> Kept:
    number, terms, first, second = row
    data = json.loads(terms)
    match = Match.from_dict({key: printable(value) if isinstance(value, str) else value for key, value in data.items()})
    float(match.seconds or 0.0)  # raises if it is out of range
    return Kept(int(number), match, *(clipped(printable(name), LONGEST) for name in (first, second)))


def _played(row: tuple[Any, ...]) -> Played:
    values = dict(zip(COLUMNS, row, strict=True))
    number, black, score = values["number"], values["black"], values["score"]
    seconds = tuple(map(float, json.loads(values["seconds"])))
    if not isinstance(number, int) or number < 0 or black not in (0, 1) or score not in (0.0, 0.5, 1.0):
        raise ValueError(f"game {number!r} has black={black!r}, score={score!r}")
    if len(seconds) != 2 or not isinstance(values["plies"], int):
        raise ValueError(f"game {number} has seconds={seconds!r}, plies={values['plies']!r}")
    short = {name: clipped(printable(values[name]), REASON) for name in ("result", "ending", "reason", "referee", "version")}
    long = {"moves": printable(values["moves"]), "details": last_lines(values["details"])}
    return Played(**{**values, **short, **long, "seconds": seconds})


def _code(error: sqlite3.Error) -> int:
    """The number of an error without its finer distinctions."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
