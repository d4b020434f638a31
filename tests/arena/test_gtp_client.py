"""A client for programs that behave, and for those that do not."""

import os
import signal
import time
from pathlib import Path

import pytest

from anabranch.arena.gtp_client import GtpClient, GtpError, GtpRefusal
from anabranch.arena.process import Child, close_all
from anabranch.errors import ArenaError
from tests.arena.fakes import command
from tests.conftest import needs, program


@pytest.fixture
def client(tmp_path):
    """Starts clients, and ends them."""
    begun = []

    def start(mode, timeout=10.0):
        begun.append(GtpClient(command(mode, tmp_path), timeout))
        return begun[-1]

    yield start
    for one in begun:
        one.close()


def is_running(pid):
    """Whether there is such a process, and it is not one that merely waits to be noticed (Z)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_polite_program_answers_and_says_what_it_can(client):
    polite = client("polite")
    assert polite.name == "Fake" and polite.version == "0"
    assert {"genmove", "play", "undo"} <= polite.commands and "final_score" not in polite.commands
    assert polite.ask("boardsize 9") == "" and polite.ask("genmove b") == "PASS"


def test_a_banner_before_the_first_answer_is_passed_over(client):
    assert client("banner").ask("genmove b") == "PASS"


def test_a_refusal_is_an_answer_and_the_program_lives_on(client):
    polite = client("polite")
    with pytest.raises(GtpRefusal, match="refuses `final_score`: 'unknown command'"):
        polite.ask("final_score")
    assert polite.is_alive and polite.ask("name") == "Fake"


FAILURES = {
    "dies": ("death", "died with exit code 3 at `genmove b`"),
    "hangs": ("silence", "did not answer `genmove b` within 0.5 s"),
    "babbles": ("nonsense", "answered `genmove b` with 'I like Go very much'"),
    "floods": ("nonsense", "answered `genmove b` with 'blah blah"),
}


@pytest.mark.parametrize("mode", FAILURES)
def test_a_failing_program_is_named_with_what_it_did_and_ended(mode, client):
    failing = client(mode)
    kind, message = FAILURES[mode]
    began = time.monotonic()
    with pytest.raises(GtpError) as told:
        failing.ask("genmove b", 0.5 if mode == "hangs" else 10.0)
    assert time.monotonic() - began < 5.0
    assert told.value.kind == kind and message in str(told.value)
    assert not failing.is_alive
    if mode == "dies":
        assert told.value.details == "out of ideas"


def test_a_program_that_dies_at_its_start_is_told_with_its_last_words(client):
    with pytest.raises(GtpError, match="died with exit code 1 at `protocol_version`") as told:
        client("dead")
    assert told.value.details == "cannot load the network"


def test_a_program_that_never_says_a_word_is_waited_for_five_times_as_long_as_for_an_answer_and_no_longer(client):
    with pytest.raises(GtpError, match=r"did not answer `protocol_version` within 0\.3 s"):
        client("mute", 0.06)


def test_a_program_may_take_its_time_before_the_first_answer(client):
    assert client("compiles", 3.0).name == "Fake"


def test_what_is_said_unasked_is_nonsense(client):
    twice = client("twice")
    twice.ask("genmove b")
    time.sleep(0.2)
    with pytest.raises(GtpError, match="said '= PASS' unasked, before `name`"):
        twice.ask("name")


def test_a_missing_program_is_told():
    with pytest.raises(ArenaError, match="/no/such/program cannot be started: No such file"):
        GtpClient(["/no/such/program"], 1.0)


def test_closing_ends_all_that_a_program_has_started(tmp_path):
    file = tmp_path / "pid"
    child = Child(["sh", "-c", f"sleep 1000 & echo $! > {file}; echo ready; wait"])
    assert child.read(time.monotonic() + 10) == "ready"
    grandchild = int(file.read_text())
    assert os.getpgid(grandchild) == child.process.pid != os.getpgid(0)
    child.close()
    deadline = time.monotonic() + 5
    while is_running(grandchild) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not is_running(grandchild)


def test_a_child_says_how_it_ended(tmp_path):
    child = Child(["sh", "-c", "echo help >&2; kill -9 $$"])
    assert child.read(time.monotonic() + 10) is None
    assert child.ending == "died by SIGKILL" and signal.SIGKILL == 9
    child.close()
    assert child.last_words == "help"
    child.close()  # twice is no trouble
    assert not child.write("hello")


def test_whatever_is_open_can_be_closed_at_once():
    child = Child(["cat"])
    close_all()
    assert child.process.returncode is not None


def test_gnugo_is_a_polite_program():
    needs("gnugo")
    client = GtpClient([program("gnugo"), "--mode", "gtp", "--level", "1"], 20.0)
    assert client.name == "GNU Go" and "final_score" in client.commands
    assert "\n" in client.ask("showboard")
    client.close()
    assert not client.is_alive
