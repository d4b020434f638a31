"""Workers that die: the match goes on with others; if they die again and again it ends in one line, and goes on later."""

import os
import shlex
import signal
import sys
import threading

import pytest

from anabranch.arena import Match, play, worker_pool
from anabranch.arena.worker_pool import MOST_DEATHS, Job, WorkerPool
from anabranch.errors import ArenaError
from tests.arena.bad_opponents import PROGRAM

NIM = Match("random", "random", game="nim")
# What a worker does before it begins to work; `sitecustomize` is imported by every Python.
DIES = """
import os, signal, sys
from pathlib import Path
left = Path({folder!r}) / "deaths"
if "anabranch.arena.worker" in sys.orig_argv and int(left.read_text()):
    fewer = left.with_name(str(os.getpid()))
    fewer.write_text(str(int(left.read_text()) - 1))
    fewer.replace(left)  # whole: another worker may be reading it
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def dying(tmp_path, monkeypatch):
    """Lets so many workers die before they do anything."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(DIES.format(folder=str(tmp_path)))
    plain = worker_pool.environment

    def environment():
        kept = plain()
        return {**kept, "PYTHONPATH": os.pathsep.join([str(tmp_path / "site"), kept["PYTHONPATH"]])}

    monkeypatch.setattr(worker_pool, "environment", environment)
    return (tmp_path / "deaths").write_text


def test_workers_that_are_killed_before_their_first_game_are_replaced(dying, tmp_path):
    dying(str(MOST_DEATHS - 1))
    (standing,) = play([NIM], 2, tmp_path / "m.db")
    assert [game.ending for game in standing.games] == ["played out"] * 2
    assert (tmp_path / "deaths").read_text() == "0"


def test_workers_that_always_die_end_the_match_in_one_line_and_it_goes_on_later(dying, tmp_path):
    dying("0")
    play([NIM], 2, tmp_path / "m.db")
    dying("1000")
    with pytest.raises(ArenaError) as told:
        play([NIM], 6, tmp_path / "m.db", processes=2)
    assert f"{MOST_DEATHS} worker processes died in a row, preparing the players, the last one died by SIGKILL" in str(
        told.value
    )
    assert "run the same command again to continue" in str(told.value) and "\n" not in str(told.value)
    dying("0")
    (standing,) = play([NIM], 4, tmp_path / "m.db")
    assert [game.number for game in standing.games] == [0, 1, 2, 3]


class Killing(worker_pool.WorkerHandle):
    """Kills its worker before it asks for a game, so many times."""

    left = 0
    lock = threading.Lock()

    def ask(self, question, wanted):
        with self.lock:
            kills = "play" in question and Killing.left > 0
            Killing.left -= kills
        if kills:
            child = self.start()
            os.kill(child.process.pid, signal.SIGKILL)
            child.process.wait()
        return super().ask(question, wanted)


@pytest.mark.parametrize("times", [2, 1000])
def test_workers_that_die_between_games_are_replaced_up_to_a_limit(times, monkeypatch):
    monkeypatch.setattr(worker_pool, "WorkerHandle", Killing)
    monkeypatch.setattr(Killing, "left", times)
    jobs = [Job(NIM, number) for number in range(4)]
    results = WorkerPool(2 if times == 2 else 1, timeout=10.0).play(jobs, [NIM])
    if times == 2:
        assert sorted(done.played.number for done in results) == [0, 1, 2, 3]
    else:
        with pytest.raises(ArenaError, match=f"{MOST_DEATHS} worker processes died in a row, at game 0, "):
            list(results)


def test_a_worker_that_is_killed_once_in_a_game_costs_nobody_the_game(tmp_path):
    flag = tmp_path / "killed"
    killer = f"""
def genmove():
    if not os.path.exists({str(flag)!r}):
        open({str(flag)!r}, "w").close()
        os.kill(os.getppid(), signal.SIGKILL)
        sys.exit()
    answer("PASS")
"""
    script = tmp_path / "killer.py"
    script.write_text(PROGRAM.replace("#KIND", killer))
    match = Match("playout", shlex.join([sys.executable, "-I", "-S", str(script)]), game="go:size=5")
    (standing,) = play([match], 1, tmp_path / "m.db")
    assert flag.exists() and [game.ending for game in standing.games] == ["played out"]


def test_a_result_may_be_longer_than_a_line_of_a_program(tmp_path):
    """A worker's lines are ours and have no limit."""
    child = worker_pool.Child(["sh", "-c", "head -c 3000000 /dev/zero | tr '\\0' x; echo; echo end"], longest_line=None)
    assert len(child.read()) == 3_000_000 and child.read() == "end"
    child.close()
