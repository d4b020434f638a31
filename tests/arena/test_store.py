"""The database: what is written is there, once; what is not ours is refused and left as it is."""

import sqlite3
from dataclasses import replace

import pytest

from anabranch.arena.match import Match
from anabranch.arena.playing import Played
from anabranch.arena.store import VERSION, Store
from anabranch.errors import ArenaError

MATCH = Match("a: random", "b: random", game="nim")
GAME = Played(3, 1, 0.5, "1/2-1/2", "cap", "too long", "the limit on plies", "1 2 3", 3, (0.25, 0.5), details="x\ny")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "m.db"


def test_games_come_back_as_they_were_written(path):
    with Store(path) as store:
        number = store.enter(MATCH)
        assert store.record(number, GAME) and store.record(number, replace(GAME, number=1))
    with Store(path, create=False) as store:
        assert store.games(number) == [replace(GAME, number=1), GAME]
        (kept,) = store.matches()
        assert (kept.id, kept.match, kept.first, kept.second) == (number, MATCH, "a", "b")


def test_a_match_is_found_again_under_other_names_and_another_one_is_another(path):
    with Store(path) as store:
        first = store.enter(MATCH)
        assert store.enter(Match("random", "c: random", game="nim", cap=5000)) == first == store.find(MATCH)
        assert store.matches()[0].second == "c"
        assert store.enter(replace(MATCH, seed=1)) != first
        assert store.find(replace(MATCH, seed=2)) is None


def test_a_number_has_one_result_the_one_that_came_first(path):
    with Store(path) as one, Store(path) as other:
        number = one.enter(MATCH)
        assert one.record(number, GAME)
        assert not other.record(number, replace(GAME, score=1.0))
        assert other.games(number) == [GAME]


def test_a_game_is_written_at_once_and_in_the_write_ahead_log(path):
    with Store(path) as store:
        store.record(store.enter(MATCH), GAME)
        with sqlite3.connect(path) as other:
            assert other.execute("SELECT count(*) FROM games").fetchone() == (1,)
            assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)
            assert other.execute("SELECT version FROM layout").fetchall() == [(VERSION,)]


def test_a_database_of_another_version_is_refused(path):
    Store(path).close()
    with sqlite3.connect(path) as other:
        other.execute("UPDATE layout SET version = 7")
    with pytest.raises(ArenaError, match="has version 7 of the database, and this program reads and writes version 2") as told:
        Store(path)
    assert "--db" in str(told.value)


def test_a_database_of_something_else_is_refused_and_left_alone(path):
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE birds (name TEXT)")
    before = path.read_bytes()
    with pytest.raises(ArenaError, match="is a database of another program"):
        Store(path)
    assert path.read_bytes() == before


def test_what_is_no_database_and_what_is_not_there_is_told(path, tmp_path):
    path.write_text("This is a letter, and no database at all. " * 100)
    with pytest.raises(ArenaError, match="cannot be used: it is not a database of matches"):
        Store(path)
    with pytest.raises(ArenaError, match="there is no database"):
        Store(tmp_path / "none.db", create=False)
    with pytest.raises(ArenaError, match="cannot be used: unable to open"):
        Store(tmp_path / "nowhere" / "m.db")


def test_a_database_that_another_program_holds_is_waited_for_then_told(path, monkeypatch):
    monkeypatch.setattr("anabranch.arena.store.PATIENCE", 0.1)
    with Store(path) as store:
        holder = sqlite3.connect(path, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(ArenaError, match="cannot be written: database is locked"):
            store.enter(MATCH)
        holder.execute("COMMIT")
        holder.close()
        store.enter(MATCH)
