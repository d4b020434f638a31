"""A child process that may die, hang or babble: lines to it, lines from it within a time, and what it wrote to stderr.

It runs in a process group of its own: Ctrl-C in the terminal does not reach it, and closing it ends all that it started. Used
for other programs (`gtp_client.py`) and for our own workers (`crew.py`).
"""

import atexit
import contextlib
import os
import queue
import signal
import subprocess
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO

from anabranch.errors import ArenaError

MOST_WAITING = 10_000  # lines that wait to be read; a child that writes more is held up
LONGEST_LINE = 1_000_000  # characters; more is read as another line
KEPT = 40  # last lines of stderr
LOOK = 0.2  # seconds between two looks at whether it is time to leave

_open: "weakref.WeakSet[Child]" = weakref.WeakSet()


class Child:
    """A running program."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str] | None = None,
        on_stderr: Callable[[str], None] | None = None,
    ) -> None:
        self.command = list(command)
        try:
            self.process = subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=None if environment is None else dict(environment),
                start_new_session=True,
            )
        except OSError as error:
            raise ArenaError(f"{self.command[0]} cannot be started: {error.strerror or error}") from None
        self._lines: queue.Queue[str | None] = queue.Queue(MOST_WAITING)
        self._last_words: deque[str] = deque(maxlen=KEPT)
        self._closed, self._closing = threading.Event(), threading.Lock()
        self._on_stderr = on_stderr
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._read_stdout, self._read_stderr)]
        for thread in self._threads:
            thread.start()
        _open.add(self)

    # --- speaking ---

    def write(self, line: str) -> bool:
        """Send a line; whether there was someone to take it."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(f"{line}\n".encode())
            self.process.stdin.flush()
        except (OSError, ValueError):  # it is dead, or closed
            return False
        return True

    def read(self, deadline: float | None = None) -> str | None:
        """The next line, without its end; None when there will be none. TimeoutError at the deadline (by time.monotonic)."""
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0.0:  # also if it never stops talking
            raise TimeoutError
        try:
            line = self._lines.get(timeout=left)
        except queue.Empty:
            raise TimeoutError from None
        if line is None:
            self._lines.put(None)  # for whoever asks again
        return line

    def waiting(self) -> list[str]:
        """The lines that have come and were not read yet."""
        lines = []
        with contextlib.suppress(queue.Empty):
            while (line := self._lines.get_nowait()) is not None:
                lines.append(line)
            self._lines.put(None)
        return lines

    @property
    def last_words(self) -> str:
        """The last lines that it wrote to stderr."""
        return "\n".join(self._last_words)

    @property
    def ending(self) -> str:
        """How it ended, once it has."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(LOOK)
        code = self.process.returncode
        if code is None:
            return "closed its output"
        return f"died with exit code {code}" if code >= 0 else f"died by {signal.Signals(-code).name}"

    # --- leaving ---

    def close(self, grace: float = 0.0) -> None:
        """Close its input, give it some seconds to leave, then end it and all that it started."""
        with self._closing:
            if self._closed.is_set():
                return
            self._closed.set()
        with contextlib.suppress(OSError):
            assert self.process.stdin is not None
            self.process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(grace)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        for thread in self._threads:
            thread.join(2 * LOOK)
        with contextlib.suppress(queue.Full):
            self._lines.put_nowait(None)  # for a thread that waits for a line
        _open.discard(self)

    # --- listening, in threads ---

    def _read_stdout(self) -> None:
        for line in _lines_of(self.process.stdout):
            self._put(line)
        self._put(None)

    def _put(self, line: str | None) -> None:
        while not self._closed.is_set():
            with contextlib.suppress(queue.Full):
                self._lines.put(line, timeout=LOOK)
                return

    def _read_stderr(self) -> None:
        for line in _lines_of(self.process.stderr):
            self._last_words.append(line)
            if self._on_stderr is not None:
                self._on_stderr(line)


def _lines_of(stream: IO[bytes] | None) -> Iterator[str]:
    assert stream is not None
    with contextlib.suppress(OSError, ValueError), stream:
        while data := stream.readline(LONGEST_LINE):
            yield data.decode("utf-8", "replace").rstrip("\r\n")


@atexit.register
def close_all() -> None:
    """End every child that is still open."""
    for child in list(_open):
        child.close()
