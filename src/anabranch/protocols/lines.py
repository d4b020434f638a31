"""Lines from another program, in bounded memory: what GTP and JSON have in common, and the limits of both.

    for line in read_lines(sys.stdin.fileno()): ...

Of a line that is too long one byte more than is allowed is given, and the rest is skipped. Whoever takes lines asks
`is_too_long` and refuses. Used by `gtp.py`, which reads ahead (`ReadAhead`), and `analysis.py`, which does not.
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

LONGEST_LINE = 1 << 20  # bytes; a request with a game of 4,000 moves has 60,000
MOST_AHEAD = 1 << 24  # bytes of lines that are read and wait for their turn
OVERHEAD = 256  # bytes that a waiting line takes besides its text
CHUNK = 1 << 16  # bytes that are read at once
TOO_LONG = f"the line is too long: at most {LONGEST_LINE:,} bytes are read"


def read_lines(descriptor: int) -> Iterator[bytes]:
    """The lines of a file, without their ends. `sys.stdin` has a lock, which a thread that waits for a line would keep while
    the program ends; so this reads the file below it."""
    line = bytearray()
    while chunk := os.read(descriptor, CHUNK):
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            line += end[: LONGEST_LINE + 1 - len(line)]
            yield bytes(line)
            line.clear()
        line += rest[: LONGEST_LINE + 1 - len(line)]
    if line:
        yield bytes(line)


def is_too_long(line: str | bytes) -> bool:
    """Whether a line must be refused."""
    return len(line) > LONGEST_LINE


def text_of(line: str | bytes) -> str:
    """A line as text; bytes that are not UTF-8 become U+FFFD."""
    return line.decode("utf-8", "replace") if isinstance(line, bytes) else line


class ReadAhead:
    """What one thread has read and another has not taken yet. If that is too much the first one waits."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[Any, int]] = deque()  # with their sizes
        self._size = 0  # bytes
        self._is_closed = False
        self._changed = threading.Condition()

    def put(self, item: Any, size: int) -> bool:
        """Add this when there is room; False if nobody wants it any more."""
        with self._changed:
            self._changed.wait_for(lambda: self._size < MOST_AHEAD or self._is_closed)
            if self._is_closed:
                return False
            self._waiting.append((item, size + OVERHEAD))
            self._size += size + OVERHEAD
            self._changed.notify_all()
            return True

    def take(self) -> Any:
        """The next one, as soon as there is one; None at the end."""
        self.wait()
        with self._changed:
            if not self._waiting:
                return None
            item, size = self._waiting.popleft()
            self._size -= size
            self._changed.notify_all()
            return item

    @property
    def has_any(self) -> bool:
        """Whether there is something to take."""
        return bool(self._waiting)

    def wait(self) -> None:
        """Wait until there is something to take, or the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._is_closed)

    def wait_for(self, is_done: Callable[[], bool]) -> None:
        """Wait until this is so (whoever makes it so calls `wake`), or until nothing more will come."""
        with self._changed:
            self._changed.wait_for(lambda: is_done() or self._is_closed)

    def wake(self) -> None:
        """Let those who wait look again."""
        with self._changed:
            self._changed.notify_all()

    def close(self) -> None:
        """Nothing more will come; what is there can still be taken."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def drop(self) -> None:
        """The end: what is there is not wanted any more."""
        with self._changed:
            self._waiting.clear()
            self._size = 0
        self.close()
