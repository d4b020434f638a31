"""Matches by worker processes: they go on after any end, and what one worker does harms no other."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from anabranch.arena import Match, Store, play
from anabranch.arena.playing import Participants, play_game
from anabranch.arena.series import Series
from anabranch.arena.sprt import parse
from anabranch.arena.worker_pool import Job, WorkerPool
from anabranch.errors import ArenaError
from anabranch.protocols import sgf
from tests.arena.fakes import player
from tests.conftest import when_compiled

ROOT = Path(__file__).parents[2]
OWN_GAME = """
import os, signal
import numpy as np
from anabranch.games.nim import Nim

def crashes(states):
    if (states["stones"] < 8).any():
        os.kill(os.getpid(), signal.SIGKILL)
    return np.ones((len(states), 3)), np.zeros(len(states))

def raises(states):
    if (states["stones"] < 8).any():
        raise ValueError("few stones")
    return np.ones((len(states), 3)), np.zeros(len(states))

print("games may print")

class MyNim(Nim):
    \"\"\"Mine.\"\"\"
"""


@pytest.fixture
def own_game(tmp_path, monkeypatch):
    """A game in a file. Workers search it in plain Python, which is quicker than to compile it for two games."""
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    (tmp_path / "own_nim_series.py").write_text(OWN_GAME)
    return f"{tmp_path / 'own_nim_series.py'}:MyNim"


def test_a_match_is_played_side_by_side_and_gives_what_single_games_give(tmp_path):
    match = Match("random", "playout", game="tictactoe")
    told = []
    (standing,) = play([match], 20, tmp_path / "m.db", processes=2, on_game=lambda *news: told.append(news[2].number))
    assert sorted(told) == list(range(20)) == [game.number for game in standing.games]
    with Participants() as participants:
        assert [game.moves for game in standing.games] == [play_game(match, n, participants)[0].moves for n in range(20)]


def test_a_match_that_was_played_is_not_played_again_and_can_be_made_longer(tmp_path, in_process):
    match, told = Match("random", "random", game="nim"), []
    for games, new in ((4, 4), (4, 0), (7, 3)):
        told.clear()
        (standing,) = play([match], games, tmp_path / "m.db", on_game=lambda *news: told.append(news))
        assert len(told) == new and len(standing.games) == games


def test_several_matches_take_turns_pair_by_pair(tmp_path):
    matches = [Match("random", "random", game=game) for game in ("nim", "tictactoe")]
    with Store(tmp_path / "m.db") as store:
        jobs = Series(matches, 3, store).missing()
    assert [(job.match.game, job.number) for job in jobs] == [
        ("nim", 0), ("nim", 1), ("tictactoe", 0), ("tictactoe", 1), ("nim", 2), ("tictactoe", 2),
    ]  # fmt: skip


def test_a_sequential_test_ends_a_match_and_it_stays_ended(tmp_path, in_process):
    match = Match("uct visits=60", "random", game="tictactoe", opening_plies=0)
    for _ in range(2):
        (standing,) = play([match], 400, tmp_path / "m.db", sprt=parse("0,100"))
        assert standing.verdict.accepted == "high" and len(standing.games) < 60
    with pytest.raises(ArenaError, match="a sequential test is for one match"):
        play([match, Match("random", "random", game="nim")], 4, tmp_path / "m.db", sprt=parse("0,100"))


def test_a_gap_in_the_numbers_holds_a_sequential_test_up(tmp_path):
    match = Match("random", "random", game="nim")
    with Store(tmp_path / "m.db") as store, Participants() as participants:
        games = [play_game(match, number, participants)[0] for number in range(6)]
        for game in games:
            if game.number != 2:
                store.record(store.enter(match), game)
        series = Series([match], 6, store, parse("0,400"))
        assert [job.number for job in series.missing()] == [2]
        assert series.test.verdict.games == 2 == series.standing(match).verdict.games


def test_records_of_go_are_written_and_can_be_read(tmp_path, in_process):
    match = Match("black: playout", "white: playout", game="go:size=5,komi=2.5")
    (standing,) = play([match], 2, tmp_path / "m.db", sgf=tmp_path / "records")
    files = sorted((tmp_path / "records").iterdir())
    assert [file.name for file in files] == ["1-black-vs-white-00000.sgf", "1-black-vs-white-00001.sgf"]
    tree = sgf.load(files[1])
    assert [player.name for player in tree.players] == ["white", "black"]
    assert tree.result == standing.games[1].result and "result by area" in tree.root.comment
    assert [tree.game.name_of(action) for action in tree.main_line()] == standing.games[1].moves.split()


def test_a_users_own_game_is_played_and_may_print(tmp_path, own_game):
    (standing,) = play([Match("random", "random", game=own_game)], 4, tmp_path / "m.db", processes=2)
    assert len(standing.games) == 4


def test_a_player_that_raises_has_lost(tmp_path, own_game):
    (standing,) = play([Match("search evaluate=raises visits=30", "random", game=own_game)], 2, tmp_path / "m.db")
    assert all(game.ending == "crash" and game.score == 0.0 for game in standing.games)
    assert "few stones" in standing.games[0].reason
    assert "forfeited 2 of 2 games; the last by crash: EvaluatorError" in "\n".join(standing.lines())


def test_a_player_that_takes_its_process_with_it_has_lost_and_the_match_goes_on(tmp_path, own_game):
    match = Match("random", "search evaluate=crashes visits=30", game=own_game, opening_plies=0)
    (standing,) = play([match], 2, tmp_path / "m.db")
    assert [(game.ending, game.score) for game in standing.games] == [("crash", 1.0)] * 2
    assert standing.games[0].reason == "its process died by SIGKILL, twice"
    assert [game.result for game in standing.games] == ["1-0", "0-1"]


def test_programs_that_fail_forfeit_and_the_match_goes_on(tmp_path):
    matches = [Match("playout", player(mode, tmp_path), game="go:size=5") for mode in ("dead", "hangs", "nonsense")]
    standings = play(matches, 2, tmp_path / "m.db", processes=2, timeout=0.4)
    for standing, ending in zip(standings, ("crash", "silence", "nonsense"), strict=True):
        assert [game.ending for game in standing.games] == [ending] * 2 and standing.counts.wins == 2
        assert len(standing.forfeits(1)) == 2 and not standing.forfeits(0)
    assert standings[0].games[0].details == "cannot load the network"


def test_errors_of_a_worker_are_told_and_no_process_is_left(tmp_path):
    broken = tmp_path / "broken_nim.py"
    broken.write_text(
        "from anabranch.games.nim import Nim\nclass MyNim(Nim):\n    '''Mine.'''\n    def start(self):\n        1 / 0\n"
    )
    pool = WorkerPool(2, timeout=1.0)
    with pytest.raises(ArenaError, match="ZeroDivisionError"):
        list(pool.play([Job(Match("random", "random", game=f"{broken}:MyNim"), n) for n in range(4)], []))
    with pytest.raises(ArenaError, match="processes=0: must be 1 or more"):
        WorkerPool(0)


# --- stopped at any time ----------------------------------------------------------------------------------------------


def start(folder, *arguments, **options):
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-m", "anabranch", "match", *arguments]
    return subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.DEVNULL, **options)


def rows(path):
    """All results so far, as they stand there."""
    if not path.exists():
        return {}
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
        try:
            found = database.execute("SELECT * FROM games").fetchall()
        except sqlite3.OperationalError:  # not made yet
            return {}
    assert len(found) == len({row[:2] for row in found})
    return {row[1]: row for row in found}


def children_of(pid):
    """What any thread of a process has started."""
    return [int(child) for file in Path(f"/proc/{pid}/task").glob("*/children") for child in file.read_text().split()]


def assert_gone(pids):
    """These processes end within some seconds."""
    deadline = time.monotonic() + 10
    while any(map(is_running, pids)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert pids and not any(map(is_running, pids))


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_killed_ten_times_a_match_goes_on_and_no_result_is_lost_or_doubled(tmp_path):
    path, games = tmp_path / "m.db", 600
    arguments = ("random", "playout", "--game", "nim", "--games", str(games), "--db", str(path))
    dice, seen, orphans = random.Random(3), {}, []
    for time_killed in range(10):
        processes = ("--processes", "12"[time_killed % 2])
        match = start(tmp_path, *arguments, *processes, stdout=subprocess.DEVNULL)
        wanted, deadline = len(seen) + 1 + dice.randrange(5), time.monotonic() + 60
        while len(rows(path)) < wanted and time.monotonic() < deadline:
            assert match.poll() is None, "it ended by itself"
            time.sleep(0.02)
        orphans += children_of(match.pid)
        match.kill()
        match.wait()
        now = rows(path)
        assert len(now) > len(seen) and len(now) < games
        assert {number: now[number] for number in seen} == seen
        seen = now
    final = start(tmp_path, *arguments, "--json", stdout=subprocess.PIPE)
    told = json.loads(final.communicate(timeout=120)[0])
    assert final.returncode == 0 and told["games"] == games
    now = rows(path)
    assert sorted(now) == list(range(games)) and {number: now[number] for number in seen} == seen
    plain = Match("random", "playout", game="nim")
    with Store(path) as store, Participants() as participants:
        for game in store.games(1)[::50]:
            assert game.moves == play_game(plain, game.number, participants)[0].moves
    assert_gone(orphans)


def test_when_a_match_is_killed_its_programs_go_with_it_even_one_that_hangs(tmp_path):
    heard = tmp_path / "heard"
    match = start(
        tmp_path, "playout", player("hangs", tmp_path), "--game", "go:size=5", "--db", "m.db", stdout=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 60
    while not (heard.exists() and "genmove" in heard.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    workers = children_of(match.pid)
    programs = [program for worker in workers for program in children_of(worker)]
    assert len(workers) == len(programs) == 1
    match.kill()
    match.wait()
    assert_gone(workers + programs)


@when_compiled
def test_ctrl_c_shows_how_it_stands_and_the_same_command_goes_on(tmp_path):
    arguments = ("random", "playout", "--game", "othello", "--games", "5000", "--db", "m.db")
    match = start(tmp_path, *arguments, stdout=subprocess.PIPE, text=True)
    while len(rows(tmp_path / "m.db")) < 3:
        time.sleep(0.02)
    match.send_signal(signal.SIGINT)
    out, _ = match.communicate(timeout=60)
    assert match.returncode == 130 and "of the points for random" in out
    before = rows(tmp_path / "m.db")
    again = start(tmp_path, *arguments[:-3], str(len(before) + 2), "--db", "m.db", stdout=subprocess.DEVNULL)
    assert again.wait(60) == 0 and len(rows(tmp_path / "m.db")) == len(before) + 2
