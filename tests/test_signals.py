"""Real signals to the real program, at moments that its output tells: Ctrl-C and SIGTERM end every command in one way."""

import contextlib
import json
import os
import pty
import signal
import subprocess
import sys

import pytest

from tests.conftest import when_compiled

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are sent as on POSIX")
PATIENCE = 60.0  # seconds to end, on a machine with much else to do; the compiler alone would take longer there
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}


@pytest.fixture(scope="module")
def cold(tmp_path_factory):
    """A cache for kernels in which there is nothing, and after interruptions not much more."""
    return {**os.environ, "ANABRANCH_CACHE": str(tmp_path_factory.mktemp("kernels")), "ANABRANCH_QUIET": ""}


def ended(words, number, cue, folder, environment, options=()):
    """Start the program, send a signal when stderr has said this, and give the exit code, stdout and stderr."""
    command = [sys.executable, *options, "-m", "anabranch", *words]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(command, cwd=folder, env=environment, **pipes)
    try:
        heard = b""
        while cue.encode() not in heard:
            heard += (chunk := os.read(process.stderr.fileno(), 4096))
            assert chunk, f"{heard.decode()}: the program has ended without {cue!r}"
        process.send_signal(number)
        out, err = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        process.wait()
    return process.returncode, out.decode(), (heard + err).decode()


@pytest.mark.parametrize(
    ("module", "number"), [("typer", signal.SIGINT), ("numba.core.types", signal.SIGINT), ("numba.core.types", signal.SIGTERM)]
)
def test_while_the_program_is_imported(module, number, tmp_path, cold):
    code, _, err = ended(["search", "nim", "--seconds", "300"], number, f" {module}\n", tmp_path, cold, ("-X", "importtime"))
    assert code == CODES[number] and "Traceback" not in err


COMMANDS = {
    "search": ("search", "nim"),
    "graph": ("graph", "nim", "-o", "drawing.svg"),
    "play": ("play", "nim", "--player", "1"),
    "check": ("check", "nim"),
    "warm": ("warm", "nim"),
    "bench": ("bench", "nim"),
    "demo": ("demo",),
    "match": ("match", "uct visits=10", "random", "--game", "nim"),
    "gtp": ("gtp",),
    "analyze": ("analyze", "--size", "9"),
    "review": ("review", "game.sgf"),
}


@when_compiled
@pytest.mark.parametrize(
    ("command", "number"),
    [*((name, signal.SIGINT) for name in COMMANDS), ("search", signal.SIGTERM), ("match", signal.SIGTERM)],
)
def test_while_kernels_compile_every_command_ends_and_has_made_nothing(command, number, tmp_path, cold):
    (tmp_path / "game.sgf").write_text("(;SZ[5]KM[0.5];B[cc];W[bb])")
    code, out, err = ended(COMMANDS[command], number, "compiling", tmp_path, cold)
    assert code == CODES[number] and "Traceback" not in err and "Error" not in err
    assert not (tmp_path / "drawing.svg").exists() and "ready" not in out + err


@when_compiled
def test_bench_shows_what_was_measured_before_it_was_interrupted(tmp_path, cold):
    words = ("bench", "nim", "tictactoe", "--seconds", "0.1", "--json")
    code, out, _ = ended(words, signal.SIGINT, "TicTacToe", tmp_path, cold)
    assert code == 130 and [row["game"] for row in json.loads(out)] == ["nim"]


@when_compiled
@pytest.mark.parametrize(("number", "expected"), [(signal.SIGINT, 0), (signal.SIGTERM, 143)], ids=["Ctrl-C", "SIGTERM"])
def test_a_search_that_is_ended_shows_what_it_has_found(number, expected, tmp_path):
    ours, terminal = pty.openpty()  # where the table is drawn while the search runs
    command = [sys.executable, "-m", "anabranch", "search", "nim", "--seconds", "300"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=terminal, stderr=terminal, stdin=terminal)
    os.close(terminal)
    try:
        heard = b""
        while b"simulations, " not in heard:
            heard += os.read(ours, 4096)
        process.send_signal(number)
        with contextlib.suppress(OSError):  # nobody is at the other end any more
            while chunk := os.read(ours, 4096):
                heard += chunk
        assert process.wait(PATIENCE) == expected and b"Ctrl-C" in heard
    finally:
        process.kill()
        process.wait()
        os.close(ours)


@when_compiled
def test_an_engine_that_is_interrupted_at_a_move_plays_it_and_ends(tmp_path):
    command = [sys.executable, "-m", "anabranch", "gtp", "--size", "5", "--seconds", "300", "--select", "uct"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    engine = subprocess.Popen(command, bufsize=0, **pipes)
    try:
        engine.stdin.write(b"kata-genmove_analyze b interval 10\n")
        assert engine.stdout.readline().startswith(b"=")
        assert engine.stdout.readline().startswith(b"info")  # it searches
        engine.send_signal(signal.SIGINT)
        out, _ = engine.communicate(timeout=PATIENCE)
        assert engine.returncode == 130 and b"play " in out
    finally:
        engine.kill()
        engine.wait()


def test_a_signal_that_was_to_be_ignored_is(tmp_path):
    """As `nohup` has it."""
    script = (
        "import signal; from anabranch.interrupts import policy\nwith policy(): print(signal.getsignal(signal.SIGHUP).name)"
    )
    command = ["nohup", sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, stdin=subprocess.DEVNULL)
    assert done.stdout == "SIG_IGN\n"
