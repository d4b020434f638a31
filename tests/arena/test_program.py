"""`anabranch match` and `anabranch tournament` as a person uses them."""

import json
import re
import sqlite3
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from tests.cli.conftest import terminal, unstyled  # noqa: F401  (a fixture)

CUP = """
game = "tictactoe"
games = 2
system = "ladder"
anchor = { a = 100 }
[players]
a = "random"
b = "playout"
c = "uct visits=5"
"""


@pytest.fixture
def program(program, monkeypatch, tmp_path, in_process):
    """The same in a folder of its own, and games are played in this process too."""
    monkeypatch.chdir(tmp_path)
    return program


def test_a_match_is_played_shown_drawn_and_told_to_programs(program, tmp_path):
    command = ("match", "a: random", "playout", "--game", "nim", "--games", "6")
    code, out, err = program(*command, "--svg", "a.svg", "--sprt", "0,100")
    assert code == 0
    assert out.splitlines()[0].split() == ["player", "points", "won", "drawn", "lost", "first", "second", "forfeits", "s/move"]
    assert "of the points for a; Elo " in out and "6 games, " in out and "SPRT(0, 100): " in out
    assert "game 6 of 6: " in err
    ElementTree.parse(tmp_path / "a.svg")
    code, told, _ = program(*command, "--json")
    assert code == 0 and json.loads(told)["games"] == 6
    code, shown, _ = program("match", "--show")
    assert code == 0 and shown.splitlines()[:3] == out.splitlines()[:3]


@pytest.mark.parametrize("columns", [40, 60, 80])
def test_names_of_players_are_kept_on_a_narrow_terminal(program, terminal, tmp_path, columns):  # noqa: F811
    program("match", "a player of some length: random", "another: playout", "--game", "nim", "--games", "2")
    (tmp_path / "cup.toml").write_text(CUP.replace("tictactoe", "nim").replace("a =", '"one of a long name" =', 2))
    terminal(columns)
    code, out, _ = program("match", "--show")
    lines = unstyled(out).splitlines()
    table = lines[: next(place for place, line in enumerate(lines) if line.startswith("nim; "))]
    assert code == 0 and max(map(len, table)) <= columns
    assert any(line.startswith("a player of some length") for line in table) and any(
        line.startswith("another") for line in table
    )
    code, out, _ = program("tournament", "cup.toml")
    assert code == 0 and len(re.findall(r"one of a long name", unstyled(out))) >= 2


def test_what_a_database_or_a_file_says_is_no_markup(program, tmp_path):
    program("match", "random", "playout", "--game", "nim", "--games", "2")
    with sqlite3.connect("matches.db") as db:
        db.execute("UPDATE matches SET first = ?", ("[/75] [a1=2] :ant: \x1b[2J",))
    code, out, _ = program("match", "--show")
    assert code == 0 and "\n[/75] [a1=2] :ant: \ufffd[2J" in out and "\x1b" not in out
    (tmp_path / "[75] :ant:.toml").write_text(CUP.replace("tictactoe", "nim"))
    code, out, _ = program("tournament", "[75] :ant:.toml")
    assert code == 0 and out.startswith("[75] :ant:\n")


@pytest.mark.parametrize("option", ["--svg", "--sgf"])
def test_an_output_that_cannot_be_written_is_refused_before_a_game_is_played(program, tmp_path, option):
    (tmp_path / "file").write_text("")
    (tmp_path / "cup.toml").write_text(CUP)
    for words in (("match", "random", "playout", "--game", "nim", "--games", "2"), ("tournament", "cup.toml")):
        code, _, err = program(*words, option, "file/below")
        assert code == 2 and "anabranch: file/below cannot be " in err and len(err.splitlines()) == 1
        assert not (tmp_path / "matches.db").exists()


def test_show_finds_matches_by_player_and_rates_those_of_one_game(program, tmp_path):
    program("match", "a: random", "b: playout", "--game", "nim", "--games", "2")
    program("match", "a: random", "c: random", "--game", "nim", "--games", "2")
    _, both, _ = program("match", "--show", "--svg", "r.svg")
    assert "place  player" in both and both.count("\na ") == 2
    ElementTree.parse(tmp_path / "r.svg")
    _, one, _ = program("match", "b", "--show")
    assert one.startswith("player") and "\nc " not in one
    assert len(json.loads(program("match", "--show", "--json")[1])["matches"]) == 2
    assert "matches.db contains no match of nobody" in program("match", "nobody", "--show")[2]
    program("match", "a: playout", "c: random", "--game", "nim", "--games", "2")
    _, shared, _ = program("match", "--show")
    assert "\na: random " in shared and "\na: playout " in shared and "\nc " not in shared
    program("match", "a: playout", "c: random", "--game", "tictactoe", "--games", "2")
    assert "place  player" not in program("match", "--show")[1]


def test_a_tournament_is_played_rated_and_shown(program, tmp_path):
    (tmp_path / "cup.toml").write_text(CUP)
    code, out, _ = program("tournament", "cup.toml", "--processes", "2", "--svg", "cup.svg")
    assert code == 0 and out.startswith("cup\n")
    assert "fixed" in out and "decided by rules 4" in out
    ElementTree.parse(tmp_path / "cup.svg")
    code, told, _ = program("tournament", "cup.toml", "--show", "--json")
    told = json.loads(told)
    assert [match["games"] for match in told["matches"]] == [2, 2]
    assert {rating["name"]: rating["elo"] for rating in told["ratings"]}["a"] == 100
    assert program("tournament", "cup.toml", "--games", "4", "--json")[0] == 0


def test_a_tournament_that_has_not_begun_can_be_shown(program, tmp_path):
    (tmp_path / "cup.toml").write_text(CUP)
    assert "there is no database matches.db" in program("tournament", "cup.toml", "--show")[2]
    program("match", "random", "random", "--game", "nim", "--games", "1")
    code, out, _ = program("tournament", "cup.toml", "--show")
    assert code == 0 and "place" not in out


NIM = ("match", "random", "random", "--game", "nim")
BAD = {
    ("match",): "name two players",
    ("match", "random", "random"): "name a game: --game go:size=9",
    ("match", "random", "random", "--game", "nimm"): "did you mean nim",
    ("match", "uct", "random", "--game", "nim"): "how long may 'uct' search a move?",
    ("match", "uct:visist=3", "random", "--game", "nim"): "did you mean visits?",
    ("match", "no-such-engine --gtp", "random", "--game", "go"): "'no-such-engine' is neither a kind of player",
    ("match", "sh", "random", "--game", "nim"): "programs play only Go",
    ("match", "random", "random", "--game", "trinim"): "a match is between two",
    (*NIM, "--games", "0"): "games=0: must be 1 or more",
    (*NIM, "--processes", "0"): "processes=0: must be 1 or more",
    (*NIM, "--referee", "gnugo"): "is for Go",
    (*NIM, "--sprt", "50"): "write two Elo differences",
    (*NIM, "--sprt", "0,50", "--alpha", "0.9"): "alpha=0.9 must be",
    (*NIM, "--openings", "nowhere.txt"): "nowhere.txt cannot be read: No such file",
    (*NIM, "--db", "nowhere/m.db"): "nowhere/m.db cannot be used: unable to open",
    (*NIM, "--db", "old.db"): "old.db has version 7 of the database",
    (*NIM, "--db", "letter.db"): "letter.db cannot be used: it is not a database of matches",
    ("match", "--show", "--db", "none.db"): "there is no database none.db",
    ("tournament", "none.toml"): "none.toml cannot be read: No such file",
}


@pytest.mark.parametrize("arguments", BAD, ids=" ".join)
def test_bad_input_gives_one_clear_error_and_no_traceback(program, arguments, tmp_path):
    with sqlite3.connect(tmp_path / "old.db") as old:
        old.execute("CREATE TABLE layout (version INTEGER)")
        old.execute("INSERT INTO layout VALUES (7)")
    (tmp_path / "letter.db").write_text("Dear reader, " * 100)
    code, _, err = program(*arguments)
    assert code == 2
    assert BAD[arguments] in err
    assert "Traceback" not in err and len(err.strip().splitlines()) == 1


def test_a_worker_starts_and_leaves_without_a_word():
    worker = [sys.executable, "-W", "error", "-m", "anabranch.arena.worker", "10"]
    done = subprocess.run(worker, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
