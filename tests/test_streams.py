"""The program with standard streams that are closed, full, or read by nobody: one line at most, never a traceback."""

import os
import subprocess
import sys

import pytest

from tests.conftest import when_compiled

PROGRAM = [sys.executable, "-m", "anabranch"]
SEARCH = ("search", "tictactoe", "--visits", "50")
MATCH = ("match", "uct:visits=5", "uct:visits=6", "--game", "tictactoe", "--games", "2")
BUFFERED = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
FULL = "anabranch: the output cannot be written: No space left on device\n"

needs_dev_full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")


def shell(arguments, redirection, **more):
    """Run the program as a shell would, with a redirection such as `<&-`."""
    command = ["sh", "-c", f'exec "$@" {redirection}', "sh", *PROGRAM, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **{"env": BUFFERED, **more})


@pytest.mark.parametrize("arguments", [("gtp",), ("analyze",), ("play", "tictactoe")], ids=" ".join)
def test_a_closed_input_is_an_empty_one(arguments):
    done = shell(arguments, "<&-")
    assert done.returncode == 0 and "Traceback" not in done.stderr


@when_compiled
@pytest.mark.parametrize("arguments", [("gtp",), SEARCH, (*SEARCH, "--json")], ids=" ".join)
@pytest.mark.parametrize("streams", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_outputs_take_everything(arguments, streams):
    done = shell(arguments, streams, input="name\n" if "<" not in streams else None)
    assert done.returncode == 0 and "Traceback" not in done.stderr
    assert bool(done.stdout) == (streams == "2>&-")


def test_files_do_not_take_the_place_of_closed_streams(tmp_path):
    record = tmp_path / "game.sgf"
    lines = f"play b D4\nprintsgf {record}\nname\n"
    assert shell(("gtp",), ">&-", input=lines).returncode == 0
    assert record.read_text().startswith("(;GM[1]") and "Anabranch\n\n" not in record.read_text()


@needs_dev_full
@when_compiled
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", [("--help",), SEARCH, (*SEARCH, "--json"), MATCH], ids=" ".join)
def test_a_full_output_is_one_line(arguments, unbuffered, tmp_path):
    done = shell(arguments, ">/dev/full", cwd=tmp_path, env={**BUFFERED, "PYTHONUNBUFFERED": unbuffered})
    assert done.returncode == 2 and done.stderr.endswith(FULL) and "Traceback" not in done.stderr


@needs_dev_full
def test_a_session_ends_when_its_answers_cannot_be_written():
    done = shell(("gtp",), ">/dev/full", input="name\n")
    assert "Traceback" not in done.stderr


@needs_dev_full
def test_messages_that_cannot_be_written_do_no_harm():
    assert shell(("search", "nosuchgame"), "2>/dev/full").returncode == 2
    done = shell(("gtp",), "2>/dev/full", input="name\nnonsense\n")
    assert done.stdout == "= Anabranch\n\n? unknown command\n\n" and done.returncode == 0


@when_compiled
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", [("games", "--json"), SEARCH, MATCH], ids=" ".join)
def test_a_pipe_that_nobody_reads_is_no_error(arguments, unbuffered, tmp_path):
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*PROGRAM, *arguments],
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env={**BUFFERED, "PYTHONUNBUFFERED": unbuffered},
        timeout=120,
    )
    os.close(writing)
    assert done.returncode == 1 and "Traceback" not in done.stderr and "BrokenPipe" not in done.stderr


def test_what_is_typed_in_a_game_may_hold_anything(tmp_path):
    typed = b"\xff\xfe\n[/]\n[red]\n[/red]\n\x1b[31m\n" + b"x" * 100_000 + b"\nhelp\n"
    done = subprocess.run(
        [*PROGRAM, "play", "tictactoe", "--visits", "5"], input=typed, capture_output=True, timeout=120, env=BUFFERED
    )
    shown = done.stdout.decode()
    assert done.returncode == 0 and not done.stderr
    assert "'[/red]' is not a move" in shown and "that is not a move: it has 100,000 characters" in shown and len(shown) < 5000
    assert "a1 b1 c1" in shown
