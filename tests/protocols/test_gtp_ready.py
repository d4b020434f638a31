"""An engine that has answered is compiled: whoever starts a clock then finds that it is not spent on the compiler."""

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace

import pytest

from anabranch.goengine import engine as engine_module
from anabranch.goengine.clock import TimeSettings
from anabranch.goengine.engine import Engine
from anabranch.protocols import gtp
from tests.conftest import when_compiled
from tests.protocols.talk import OPTIONS, Client, converse

MINUTE = 60.0  # seconds of the clock


class Program:
    """`anabranch gtp` in a process, with kernels of its own."""

    def __init__(self, folder, *options):
        environment = {**os.environ, "ANABRANCH_CACHE": str(folder), "ANABRANCH_QUIET": ""}
        command = [sys.executable, "-m", "anabranch", "gtp", *options]
        self.messages = open(folder / "messages", "w+")  # noqa: SIM115
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": self.messages}
        self.process = subprocess.Popen(command, text=True, env=environment, bufsize=1, **pipes)

    def ask(self, line):
        self.process.stdin.write(f"{line}\n")
        answer = self.process.stdout.readline().strip()
        assert answer.startswith("="), answer
        assert self.process.stdout.readline() == "\n"
        return answer[1:].strip()

    def compiled(self):
        """How many kernels were compiled so far."""
        self.messages.seek(0)
        return self.messages.read().count("compiling")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.kill()
        self.process.wait()
        self.messages.close()


@when_compiled
def test_a_game_of_one_minute_is_not_lost_while_kernels_compile(tmp_path):
    """On a machine that has as much else to do once it has answered. (With playouts that are quick to compile; the default
    engine has no other code on the way to its first answer.)"""
    busy = []
    try:
        with Program(tmp_path, "--select", "uct", "--policy", "light") as program:
            assert program.ask("name") == "Anabranch"
            kernels = program.compiled()
            assert kernels > 0
            busy += [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
            spent = 0.0
            program.ask("time_settings 60 0 0")
            for colour in "bwbw":
                began = time.monotonic()
                program.ask(f"genmove {colour}")
                spent += time.monotonic() - began
            program.ask("boardsize 7")
            program.ask("komi 0.5")
            program.ask("clear_board")
            began = time.monotonic()
            program.ask("genmove b")
            spent += time.monotonic() - began
            assert program.compiled() == kernels
            assert spent < MINUTE
    finally:
        for process in busy:
            process.send_signal(signal.SIGKILL)
            process.wait()


@pytest.fixture
def compiler(monkeypatch):
    """Takes the compiler's place: it works until it is told to end."""
    release, ready = threading.Event(), set()

    def warm(game, options):
        if not is_warm(game, options):
            release.wait()
            ready.add(type(game))

    def is_warm(game, options):
        return type(game) in ready

    monkeypatch.setattr(gtp, "is_warm", is_warm)
    monkeypatch.setattr(engine_module, "warm", warm)
    yield release
    release.set()


def is_silent(client):
    with pytest.raises(queue.Empty):
        client._heard.get(timeout=0.2)
    return True


def test_nothing_is_answered_before_all_is_compiled(compiler):
    with Client() as client:
        client.send("name")
        assert is_silent(client)
        compiler.set()
        assert client.answer() == "= Anabranch"
        compiler.clear()
        client.send("boardsize 13")  # a board with kernels of its own
        assert is_silent(client)
        compiler.set()
        assert client.answer() == "= "
        compiler.clear()
        assert client.ok("komi 3.5") == "" and client.ok("boardsize 11") == ""  # these share them


def test_whoever_leaves_does_not_wait_for_the_compiler(compiler):
    with Client() as client:
        client.send("name")
        assert is_silent(client)
        client.send("quit")
        assert client.answer() == "= Anabranch" and client.answer() == "= "
    assert converse("name\nprotocol_version\n") == ["= Anabranch", "= 2"]


@when_compiled
def test_the_clock_stands_still_while_the_compiler_works():
    class Time:
        now = 0.0

    def work():
        Time.now = 100.0

    engine = Engine(replace(OPTIONS, visits=1), now=lambda: Time.now)
    engine.set_time(TimeSettings())
    engine.clock.set(TimeSettings("absolute", 60.0))
    engine.warm = work
    engine.commit(engine.choose(0))
    assert engine.spent == 0.0 and engine.clock.left[0].main == 60.0
