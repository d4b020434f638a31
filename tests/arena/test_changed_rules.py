"""A game whose rules change between two matches: results of other rules do not count, and that is said."""

import json
import sqlite3

import pytest

from anabranch.arena.store import Store
from anabranch.errors import ArenaError
from tests.games.test_fingerprint import GAME


@pytest.fixture
def program(program, monkeypatch, tmp_path, in_process):
    """The same in a folder of its own, and games are played in this process too."""
    monkeypatch.chdir(tmp_path)
    return program


@pytest.fixture
def rules(tmp_path):
    """Write a game into a file of its name; gives a match of it."""

    def write(folder, change=("9, 0", "9, 0")):
        path = tmp_path / folder / "stones_of_matches.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(GAME.replace(*change))
        return path

    return write


def test_the_first_line_says_how_many_results_come_from_the_file(program):
    command = ("match", "random", "playout", "--game", "nim", "--db", "m.db", "--games")
    assert program(*command, "4")[2].splitlines()[0] == "0 of 4 games come from m.db"
    assert program(*command, "6")[2].splitlines()[0] == "4 of 6 games come from m.db"
    assert program(*command, "6", "--json")[2].splitlines() == ["6 of 6 games come from m.db"]


def test_results_of_other_rules_are_not_mixed_in(program, rules, monkeypatch):
    """Each version is in a folder of its own, since this process reads a file once."""
    match = ("match", "random", "playout", "--db", "../m.db", "--games")
    monkeypatch.chdir(rules("before").parent)
    game = ("--game", "stones_of_matches.py:Stones")
    assert program(*match, "4", *game)[0] == 0
    monkeypatch.chdir(rules("after", ("9, 0", "10, 0")).parent)
    code, out, err = program(*match, "2", *game, "--json")
    assert code == 0 and json.loads(out)["games"] == 2
    first, second, *_ = err.splitlines()
    assert first == "0 of 2 games come from ../m.db"
    assert second.startswith("4 games in ../m.db do not count: the rules of stones_of_matches.py:Stones have changed since.")
    assert "--show shows them" in second
    shown = json.loads(program("match", "--show", "--db", "../m.db", "--json")[1])["matches"]
    assert [found["games"] for found in shown] == [4, 2]
    monkeypatch.chdir("../before")
    assert program(*match, "4", *game)[2].splitlines()[0] == "4 of 4 games come from ../m.db"


def test_a_database_that_does_not_know_rules_is_shown_and_not_played_on(program, tmp_path):
    program("match", "random", "playout", "--game", "nim", "--games", "2", "--db", "m.db")
    with sqlite3.connect(tmp_path / "m.db") as connection:  # as the version before made it
        connection.executescript(
            "CREATE TABLE older AS SELECT id, key, terms, first, second, created FROM matches;"
            "DROP TABLE matches; ALTER TABLE older RENAME TO matches; UPDATE layout SET version = 1;"
        )
    connection.close()
    code, out, _ = program("match", "--show", "--db", "m.db", "--json")
    assert code == 0 and json.loads(out)["matches"][0]["games"] == 2
    code, _, err = program("match", "random", "playout", "--game", "nim", "--games", "4", "--db", "m.db")
    assert code == 2 and err.count("\n") == 1
    assert "do not say of which rules" in err and "name another file with --db; --show still reads this one" in err
    with pytest.raises(ArenaError, match="of an earlier version"):
        Store(tmp_path / "m.db")
