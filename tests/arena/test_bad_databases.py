"""Databases that are damaged, read-only, locked, or on a full disk: one line, no traceback, nothing lost."""

import contextlib
import json
import os
import random
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from anabranch.arena import Match, Store, store
from anabranch.arena.playing import Played
from anabranch.arena.standing import standings_in
from anabranch.errors import ArenaError

ROOT = Path(__file__).parents[2]
NIM = ("match", "random", "random", "--game", "nim", "--games", "4")
MATCH = Match("random", "random", game="nim")
NOBODY = 65534


@pytest.fixture
def path():
    """A database with four games in a folder that everybody can enter, as those of pytest are not."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        file = Path(folder) / "m.db"
        fill(file)
        yield file
        Path(folder).chmod(0o755)


def fill(file, games=4):
    with Store(file) as kept:
        number = kept.enter(MATCH)
        for game in range(games):
            kept.record(number, Played(game, game % 2, 1.0, "1-0", "played out", "", "rules", "1 2 " * 200, 400, (0.25, 0.5)))


@contextlib.contextmanager
def change(file):
    """For a change by hand."""
    with contextlib.closing(sqlite3.connect(file)) as other, other:
        yield other


@contextlib.contextmanager
def read_only(folder):
    """Neither the folder nor what is in it can be written, not even by root."""
    for file in folder.iterdir():
        file.chmod(0o444)
    folder.chmod(0o555)
    user = os.geteuid()
    if user == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(user)
        folder.chmod(0o755)


def assert_one_line(told, *words):
    code, out, err = told
    assert code == 2 and out == "" and len(err.splitlines()) == 1 and "Traceback" not in err, err
    assert all(word in err for word in words), err


# --- read-only media --------------------------------------------------------------------------------------------------


def test_a_match_on_read_only_media_can_be_shown_and_not_gone_on_with(path, program, in_process):
    before = program("match", "--show", "--db", str(path))
    with read_only(path.parent):
        assert program("match", "--show", "--db", str(path)) == before
        assert_one_line(program(*NIM, "--db", str(path)), "read-only")
        assert_one_line(program(*NIM, "--db", str(path.parent / "new.db")), "unable to open")
    assert before[0] == 0 and "4 games" in before[1]
    assert [file.name for file in path.parent.iterdir()] == ["m.db"]


def test_games_that_are_only_in_the_log_are_shown_on_read_only_media(path, program):
    """As a match leaves them that was killed."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        with Store(path) as kept:
            kept.record(1, Played(4, 0, 1.0, "1-0", "played out", "", "rules", "", 0, (0.0, 0.0)))
            for name in ("m.db", "m.db-wal"):
                shutil.copyfile(path.parent / name, Path(folder) / name)
        with read_only(Path(folder)):
            code, out, _ = program("match", "--show", "--db", f"{folder}/m.db")
        assert code == 0 and "5 games" in out


# --- damage -----------------------------------------------------------------------------------------------------------

REFUSED = {
    "a folder": (lambda file: (file.unlink(), file.mkdir()), "it is not a file"),
    "a device": (lambda file: (file.unlink(), file.symlink_to("/dev/null")), "it is not a file"),
    "half of it": (lambda file: os.truncate(file, file.stat().st_size // 2), "it is damaged"),
    "its first page": (lambda file: os.truncate(file, 4096), "it is damaged"),
    "ten bytes of it": (lambda file: os.truncate(file, 10), "it is not a database of matches"),
    "random bytes": (lambda file: file.write_bytes(random.Random(1).randbytes(9000)), "it is not a database of matches"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_not_a_whole_database_is_refused_and_left_as_it_is(kind, path, program, in_process):
    spoil, why = REFUSED[kind]
    spoil(path)
    before = path.read_bytes() if path.is_file() else None
    for command in (("match", "--show"), NIM):
        assert_one_line(program(*command, "--db", str(path)), why)
    assert before is None or path.read_bytes() == before


CONTENTS = {
    "UPDATE layout SET version = 'x' || char(27) || '[31m'": "has version x\ufffd[31m of the database",
    "DELETE FROM layout": "is a database of another program",
    "DROP TABLE games": "is a database of another program",
    "ALTER TABLE layout RENAME COLUMN version TO colour": "is a database of another program",
    "ALTER TABLE games RENAME COLUMN score TO points": "no such column: score",
    "UPDATE games SET score = 7": "score=7",
    "UPDATE games SET score = 'much'": "score='much'",
    "UPDATE games SET black = 3": "black=3",
    "UPDATE games SET seconds = '[1'": "it is damaged",
    "UPDATE games SET seconds = '[1]'": "it is damaged",
    "UPDATE games SET seconds = '[1, ' || replace(hex(zeroblob(200)), '0', '9') || ']'": "it is damaged",
    "UPDATE games SET seconds = replace(hex(zeroblob(50000)), '0', '[')": "it is damaged",
    "UPDATE games SET plies = 'x'": "it is damaged",
    "UPDATE games SET moves = x'ff00'": "it is damaged",
}
TERMS = {
    "UPDATE matches SET terms = '{}'": "it is damaged",
    "UPDATE matches SET terms = '[]'": "it is damaged",
    "UPDATE matches SET terms = 'x'": "it is damaged",
    "UPDATE matches SET terms = json_set(terms, '$.seconds', 'x')": "seconds of a match is 'x'",
    "UPDATE matches SET terms = json_set(terms, '$.openings', 5)": "it is damaged",
}


@pytest.mark.parametrize("statement", CONTENTS | TERMS)
def test_rows_that_we_did_not_write_are_told_in_one_line(statement, path, program, in_process):
    with change(path) as other:
        other.execute(statement)
    assert_one_line(program("match", "--show", "--db", str(path)), (CONTENTS | TERMS)[statement])
    if statement in CONTENTS:
        assert_one_line(program(*NIM, "--db", str(path)), CONTENTS[statement])


def test_a_terminal_obeys_nothing_that_stands_in_a_database(path, program):
    with change(path) as other:
        other.execute(
            "UPDATE matches SET first = char(27) || ']0;owned' || char(7), terms = json_set(terms, '$.game', char(27))"
        )
        other.execute(
            "UPDATE games SET reason = char(27) || '[2J', ending = 'crash', referee = char(155), version = char(0x202e)"
        )
    code, out, _ = program("match", "--show", "--db", str(path))
    assert code == 0 and "forfeited" in out and all(line.isprintable() for line in out.splitlines())


def test_flipped_and_cut_databases_are_read_or_refused_and_never_crash(path, tmp_path):
    whole, dice, refused = path.read_bytes(), random.Random(5), 0
    for number in range(300):
        data = bytearray(whole)
        for _ in range(dice.choice((1, 1, 10))):
            data[dice.randrange(len(data))] = dice.randrange(256)
        if number % 5 == 0:
            del data[dice.randrange(len(data)) :]
        file = tmp_path / f"{number}.db"
        file.write_bytes(data)
        try:
            with Store(file, create=False) as kept:
                for standing in standings_in(kept):
                    str(standing), json.dumps(standing.to_dict())
        except ArenaError as error:
            refused += 1
            assert "\n" not in str(error) and str(error).isprintable() and len(str(error)) < 1000
    assert 20 < refused < 300


def test_an_empty_file_holds_no_match_and_can_be_played_on(path, program, in_process):
    path.write_bytes(b"")
    assert_one_line(program("match", "--show", "--db", str(path)), "contains no match")
    assert path.read_bytes() == b""
    assert program(*NIM, "--db", str(path))[0] == 0


def test_memory_is_no_place_for_results(program, in_process, monkeypatch, tmp_path):
    """SQLite would keep nothing of a file of this name."""
    monkeypatch.chdir(tmp_path)
    assert program(*NIM, "--db", ":memory:")[0] == 0
    assert "4 games" in program("match", "--show", "--db", ":memory:")[1]


# --- locked, and full ---------------------------------------------------------------------------------------------------


def test_a_locked_database_is_told_in_one_line(path, program, in_process, monkeypatch):
    monkeypatch.setattr(store, "PATIENCE", 0.1)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as holder:
        holder.execute("PRAGMA journal_mode = DELETE")
        holder.execute("BEGIN EXCLUSIVE")
        for command in (("match", "--show"), NIM):
            assert_one_line(program(*command, "--db", str(path)), "database is locked")
    assert program(*NIM, "--db", str(path))[0] == 0


def test_a_full_disk_ends_the_match_in_one_line_and_costs_no_game_that_was_told(tmp_path):
    command = [sys.executable, "-m", "anabranch", *NIM[:-1], "40", "--db", "m.db", "--json"]
    where = {"cwd": tmp_path, "env": {**os.environ, "PYTHONPATH": str(ROOT / "src")}, "text": True, "capture_output": True}

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))

    full = subprocess.run(command, **where, preexec_fn=limit, check=False)
    assert full.returncode == 2 and "Traceback" not in full.stderr
    assert "m.db cannot be written: the disk cannot be read or written" in full.stderr.splitlines()[-1]
    with Store(tmp_path / "m.db", create=False) as kept:
        games = kept.games(1)
    assert 0 < len(games) < 40
    assert json.loads(subprocess.run(command, **where, check=True).stdout)["games"] == 40
    with Store(tmp_path / "m.db", create=False) as kept:
        assert kept.games(1)[: len(games)] == games


def test_a_database_that_is_full_says_so_and_keeps_what_it_has(path):
    with Store(path) as kept:
        kept._run("PRAGMA max_page_count = 1")
        with pytest.raises(
            ArenaError, match="cannot be written: the disk is full; free some space and run the same command again to continue"
        ):
            for number in range(4, 1000):
                kept.record(1, Played(number, 0, 1.0, "1-0", "played out", "", "rules", "1 " * 5000, 3, (0.25, 0.5)))
        assert len(kept.games(1)) >= 4
