"""A child process that may die, hang or babble: lines to it, lines from it within a time, and the end of what it wrote to
stderr. Lines are printable text (`text.py`), and what waits to be read has a limit.

It runs in a process group of its own: Ctrl-C in the terminal does not reach it, and closing it ends all that it started. Used
for other programs (`gtp_client.py`) and for our own workers (`worker_pool.py`).
"""

import atexit
import contextlib
import errno
import os
import queue
import select
import signal
import subprocess
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO

from anabranch.arena.text import KEPT_LINES, KEPT_WIDTH, clipped
from anabranch.errors import ArenaError
from anabranch.printable import printable

MOST_WAITING = 250  # lines that wait to be read; a child that writes more is held up
LONGEST_LINE = 65_536  # bytes; what comes after the chunk that exceeds this is another line
CHUNK = 65_536  # bytes that are read at once
LAST_CHUNKS = 16  # that are read from an ended child: what was in its pipe, even if another process goes on to fill it
LOOK = 0.2  # seconds between two looks at whether it is time to leave
OUR_FAULT = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE)  # no program could be started now

_open: "weakref.WeakSet[Child]" = weakref.WeakSet()


class CannotStart(ArenaError):
    """The program cannot be found or started."""


class Child:
    """A running program."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str] | None = None,
        on_stderr: Callable[[str], None] | None = None,
        longest_line: int | None = LONGEST_LINE,
    ) -> None:
        """`on_stderr` gets what it writes there, line by line. `longest_line`: bytes; None for a program of ours."""
        self.command = list(command)
        try:
            self.process = subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=None if environment is None else dict(environment),
                start_new_session=True,
                bufsize=0,
            )
        except (OSError, ValueError) as error:  # a command with a NUL in it is a ValueError
            kind = ArenaError if getattr(error, "errno", None) in OUR_FAULT else CannotStart
            raise kind(f"{self.command[0]} cannot be started: {getattr(error, 'strerror', None) or error}") from None
        assert self.process.stdin is not None
        os.set_blocking(self.process.stdin.fileno(), False)
        self._lines: queue.Queue[str | None] = queue.Queue(MOST_WAITING)
        self._last_words: deque[str] = deque(maxlen=KEPT_LINES)
        self._closed, self._closing = threading.Event(), threading.Lock()
        self._ended = threading.Event()  # nothing more will come from it
        self._on_stderr, self._longest_line = on_stderr, longest_line
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._read_stdout, self._read_stderr)]
        for thread in self._threads:
            thread.start()
        _open.add(self)

    # --- speaking ---

    def write(self, line: str, deadline: float | None = None) -> bool:
        """Send a line; whether there was someone to take it. TimeoutError if it is not taken until the deadline."""
        assert self.process.stdin is not None
        left, poll = memoryview(f"{line}\n".encode()), select.poll()
        try:
            poll.register(self.process.stdin, select.POLLOUT)
            while left:
                if deadline is not None and time.monotonic() >= deadline:
                    raise TimeoutError
                if poll.poll(1000 * LOOK):
                    left = left[self.process.stdin.write(left) or 0 :]
        except TimeoutError:
            raise
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
        """The lines that have come and were not read yet, or the first of them, if it never stops talking."""
        lines: list[str] = []
        with contextlib.suppress(queue.Empty):
            while len(lines) < MOST_WAITING:
                line = self._lines.get_nowait()
                if line is None:
                    self._lines.put(None)
                    break
                lines.append(line)
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
        return f"died with exit code {code}" if code >= 0 else f"died by {_signal_name(-code)}"

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
        self._ended.set()
        for thread in self._threads:
            thread.join(2 * LOOK)
        with contextlib.suppress(queue.Full):
            self._lines.put_nowait(None)  # for a thread that waits for a line
        _open.discard(self)

    # --- listening, in threads ---

    def _read_stdout(self) -> None:
        for line in self._lines_of(self.process.stdout):
            self._put(line)
        self._put(None)

    def _put(self, line: str | None) -> None:
        while not self._closed.is_set():
            with contextlib.suppress(queue.Full):
                self._lines.put(line, timeout=LOOK)
                return

    def _read_stderr(self) -> None:
        for line in self._lines_of(self.process.stderr):
            self._last_words.append(clipped(line, KEPT_WIDTH))
            if self._on_stderr is not None:
                self._on_stderr(line)

    def _lines_of(self, stream: IO[bytes] | None) -> Iterator[str]:
        pending = bytearray()  # of a line whose end has not come
        for chunk in self._chunks_of(stream):
            *ends, rest = chunk.split(b"\n")
            for end in ends:
                yield _text(pending + end)
                pending.clear()
            pending += rest
            if self._longest_line is not None and len(pending) >= self._longest_line:
                yield _text(pending)
                pending.clear()
        if pending:
            yield _text(pending)

    def _chunks_of(self, stream: IO[bytes] | None) -> Iterator[bytes]:
        """What comes; when the child has ended, no more than what is there, though others may hold its pipe."""
        assert stream is not None
        poll, last = select.poll(), LAST_CHUNKS
        with contextlib.suppress(OSError, ValueError), stream:
            poll.register(stream, select.POLLIN)
            while last:
                has_ended = self._ended.is_set()
                if poll.poll(0 if has_ended else 1000 * LOOK):
                    chunk = os.read(stream.fileno(), CHUNK)
                    if not chunk:
                        return
                    yield chunk
                elif has_ended:
                    return
                last -= has_ended


def _text(line: bytes | bytearray) -> str:
    return printable(line.decode("utf-8", "replace").rstrip("\r\n"))


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # real-time signals have no name
        return f"signal {number}"


@atexit.register
def close_all() -> None:
    """End every child that is still open."""
    for child in list(_open):
        child.close()
