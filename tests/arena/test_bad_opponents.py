"""Whatever a program does, the match is played to its end, the program forfeits what it spoils, and what is kept is bounded."""

import json
import time

import pytest

from anabranch.arena import Match, Store, play
from anabranch.arena.gtp_client import GtpClient
from anabranch.arena.process import Child
from anabranch.arena.text import KEPT_LINES, KEPT_WIDTH, NAME, REASON
from tests.arena.bad_opponents import AFTER_A_WAIT, AT_ONCE, ENDINGS, NO_PROGRAMS, opponent

HARMLESS = ("played out", "resignation")
GO5 = "go:size=5,komi=2.5"


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("opponents")


@pytest.fixture(scope="module")
def standings(home):
    """All of them in one database, stopped after a game and gone on with."""
    quick, slow = [*AT_ONCE, *NO_PROGRAMS], [*AFTER_A_WAIT]
    quick_ones, slow_ones = ([Match("playout", opponent(kind, home), game=GO5) for kind in kinds] for kinds in (quick, slow))
    for games in (1, 2):
        found = play(quick_ones, games, home / "m.db", processes=2, timeout=30.0)
        found += play(slow_ones, games, home / "m.db", together=len(slow), timeout=1.5)
    return dict(zip(quick + slow, found, strict=True))


@pytest.mark.parametrize("kind", ENDINGS)
def test_a_match_with_a_bad_opponent_ends_and_goes_on(kind, standings):
    standing, ending = standings[kind], ENDINGS[kind]
    assert [game.ending for game in standing.games] == [ending] * 2, standing.games[-1].reason
    assert len(standing.forfeits(1)) == (0 if ending in HARMLESS else 2) and not standing.forfeits(0)
    for game in standing.games:
        assert bool(game.reason) == (ending not in HARMLESS)
        assert len(game.reason) <= REASON and game.reason.isprintable()
        assert len(game.details.splitlines()) <= KEPT_LINES
        assert all(len(line) <= KEPT_WIDTH and line.isprintable() for line in game.details.splitlines())


def test_all_of_it_can_be_shown_afterwards(standings, home, program):
    code, out, err = program("match", "--show", "--db", str(home / "m.db"))
    assert (code, err) == (0, "") and out.count("forfeited 2 of 2 games") == sum(map(bool, map(lost, standings.values())))
    assert all(line.isprintable() and len(line) < 2 * REASON for line in out.splitlines())
    code, told, _ = program("match", "--show", "--json", "--db", str(home / "m.db"))
    assert code == 0 and len(json.loads(told)["matches"]) == len(ENDINGS)
    with Store(home / "m.db", create=False) as store:
        assert all(len(store.games(kept.id)) == 2 for kept in store.matches())


def lost(standing):
    return standing.forfeits(1)


def test_a_program_that_vanishes_forfeits_what_is_left(tmp_path):
    """It is there when the match is read, and not when it is to be started again."""
    script = tmp_path / "program"
    script.write_text("#!/bin/sh\nrm $0\n")
    script.chmod(0o755)
    (standing,) = play([Match("playout", f"gone: {script}", game=GO5)], 2, tmp_path / "m.db")
    assert [game.ending for game in standing.games] == ["crash"] * 2
    assert "cannot be started: No such file" in standing.games[1].reason


def test_a_programs_name_and_version_are_short_and_printable(home):
    for kind in ("a name of 100,000 letters", "terminal escapes as its name"):
        command = opponent(kind, home).split(": ")[1].split()
        client = GtpClient(command, 30.0)
        assert 0 < len(client.name) <= NAME and client.name.isprintable() and client.version.isprintable()
        client.close()


def test_what_waits_to_be_read_is_bounded():
    child = Child(["sh", "-c", "yes | tr -d '\\n'"])
    time.sleep(0.5)
    assert 0 < sum(map(len, child.waiting())) <= 250 * 128 * 1024
    child.close()


def test_a_program_that_does_not_read_is_not_waited_for():
    child = Child(["sleep", "30"])
    with pytest.raises(TimeoutError):
        for _ in range(100):
            child.write("x" * 4000, time.monotonic() + 0.3)
    child.close()


def test_a_closed_child_leaves_no_thread_though_another_process_holds_its_pipes():
    child = Child(["sh", "-c", "setsid sh -c 'echo ready; sleep 3' & wait"])
    assert child.read(time.monotonic() + 10) == "ready"
    child.close()
    assert not any(thread.is_alive() for thread in child._threads)
