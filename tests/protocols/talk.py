"""Talking to an engine in this process: all at once (`converse`), or line by line with a thread of its own (`Client`)."""

import io
import queue
import threading
import time
from dataclasses import replace

from anabranch.goengine.engine import Engine
from anabranch.goengine.searches import Options
from anabranch.protocols.gtp import Session

PATIENCE = 60.0  # seconds for an answer, on a machine that has much else to do
OPTIONS = Options(size=9, komi=7.5, visits=40, memory="64MB", resign=0)  # all tests share these kernels


def converse(text, **changes):
    """The answers to these lines, each without the empty line behind it."""
    out = io.StringIO()
    Session(Engine(replace(OPTIONS, **changes)), text.splitlines(keepends=True), out).run()
    assert out.getvalue().endswith("\n\n") or not out.getvalue()
    return out.getvalue().split("\n\n")[:-1]


class Client:
    """Sends lines and reads answers."""

    def __init__(self, engine=None, version=None, **changes):
        self.engine = engine or Engine(replace(OPTIONS, **changes))
        self._lines = queue.SimpleQueue()
        self._text = ""
        self._heard = queue.SimpleQueue()  # whole lines
        self.session = Session(self.engine, iter(self._lines.get, None), self, version)
        self._thread = threading.Thread(target=self.session.run, daemon=True)
        self._thread.start()

    # what the session writes to
    def write(self, text):
        *lines, self._text = (self._text + text).split("\n")
        for line in lines:
            self._heard.put(line)

    def flush(self):
        pass

    # what the client does
    def send(self, line):
        self._lines.put(line + "\n")

    def line(self):
        """The next line that is written."""
        return self._heard.get(timeout=PATIENCE)

    def until(self, start):
        """The next line that begins like this."""
        while not (line := self.line()).startswith(start):
            assert line, f"the answer has ended, and no line began with {start!r}"
        return line

    def answer(self):
        """The lines up to an empty one."""
        return "\n".join(iter(self.line, ""))

    def ask(self, line):
        """The answer to a command."""
        self.send(line)
        return self.answer()

    def ok(self, line):
        """The text of an answer that must be a success."""
        answer = self.ask(line)
        assert answer.startswith("="), f"{line}: {answer}"
        return answer.lstrip("=0123456789").strip()

    def close(self):
        self._lines.put(None)
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def seconds_for(action):
    """How long this takes."""
    began = time.perf_counter()
    action()
    return time.perf_counter() - began
