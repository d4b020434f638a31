"""An engine that has answered is compiled: whoever starts a clock then finds that it is not spent on the compiler."""

import os
import signal
import subprocess
import sys
import time


from anabranch.protocols import engine as engines
from anabranch.protocols.engine import Engine
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
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * (os.cpu_count() or 1))]
    try:
        with Program(tmp_path) as program:
            assert program.ask("name") == "Anabranch"
            kernels = program.compiled()
            assert kernels > 0
            spent = 0.0
            program.ask("time_settings 60 0 0")
            for colour in "bwbw":
                began = time.monotonic()
                program.ask(f"genmove {colour}")
                spent += time.monotonic() - began
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
