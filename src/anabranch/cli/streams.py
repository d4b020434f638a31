"""Standard input, output and errors, in whatever state the program gets them: closed, full, or with nobody at the other end.

`prepare` is called before anything else. From then on all three streams are there, writing to stderr never fails, and what
stdout does not take is an `OutputError`, or a `BrokenPipeError` if its reader has gone. `on_hangup` says when that happens.
"""

import contextlib
import io
import os
import select
import sys
import threading
from collections.abc import Callable
from typing import Any

from anabranch.errors import OutputError

NAMES = ("stdin", "stdout", "stderr")  # by descriptor
MODES = ("r", "w", "w")


class Output(io.FileIO):
    """Standard output: tells what is wrong with it from what is wrong with other files."""

    def write(self, data: Any) -> int | None:  # type: ignore[override]
        """Write, or say why not."""
        try:
            return super().write(data)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputError(f"the output cannot be written: {error.strerror or error}") from None


class Messages(io.FileIO):
    """Standard error: the program goes on if it cannot be written."""

    def write(self, data: Any) -> int | None:  # type: ignore[override]
        """Write, if that can be done."""
        with contextlib.suppress(OSError):
            return super().write(data)
        return len(data)


def prepare() -> None:
    """Make all three streams usable; those that somebody has replaced are left alone."""
    for descriptor, (name, mode) in enumerate(zip(NAMES, MODES, strict=True)):
        if getattr(sys, name) is None:  # it was closed; a file that is opened later must not take its place
            _close(descriptor)
            setattr(sys, name, os.fdopen(descriptor, mode, encoding="utf-8", errors="replace", closefd=False))
    if sys.stdin is sys.__stdin__ and isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    if sys.stdout is sys.__stdout__:
        sys.stdout = _over(sys.stdout, Output)
    if sys.stderr is sys.__stderr__:
        sys.stderr = _over(sys.stderr, Messages)


def abandon_stdout() -> None:
    """Forget what was not written: it would fail again when the program ends."""
    with contextlib.suppress(OSError, ValueError):
        _close(sys.stdout.fileno())


def flush() -> None:
    """Write what waits to be written, as far as it can be."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, OutputError):
            stream.flush()


def on_hangup(stream: Any, call: Callable[[], None]) -> None:
    """Call this, in a thread of its own, as soon as nobody can read what is written to a stream."""
    if hasattr(select, "poll"):  # not on Windows
        with contextlib.suppress(OSError, ValueError):  # a stream without a file has no other end
            threading.Thread(target=_watch, args=(stream.fileno(), call), name="anabranch-hangup", daemon=True).start()


def _watch(descriptor: int, call: Callable[[], None]) -> None:
    waiting = select.poll()
    waiting.register(descriptor, 0)  # errors are always told; nothing else is asked for
    ((_, event),) = waiting.poll()
    if event & (select.POLLERR | select.POLLHUP):
        call()


def _over(stream: Any, kind: type[io.FileIO]) -> Any:
    """The same stream with another file below it."""
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    raw: Any = kind(stream.fileno(), "w", closefd=False)
    return io.TextIOWrapper(
        raw if stream.write_through else io.BufferedWriter(raw),
        stream.encoding,
        "backslashreplace",  # what the encoding does not have is shown all the same
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def _close(descriptor: int) -> None:
    """Let a descriptor lead nowhere."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    if nowhere != descriptor:
        os.dup2(nowhere, descriptor)
        os.close(nowhere)
