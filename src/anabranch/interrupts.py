"""Signals that wait until a change is complete.

Python runs the handler of a signal in the main thread, between any two steps of whatever goes on there, and a handler may
raise: Ctrl-C does. In the middle of a change that takes several steps this would leave half of it. So calls that change
something hold signals back, but for the time in which they run other people's code, which may take long and may raise anyway:

    with held():
        ...                         # handlers wait
        with released():
            evaluator(states)       # handlers run at once
        ...                         # and wait again
                                    # now those that waited run

In other threads nothing of this does anything: handlers never run there.
"""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

# Those that programs have handlers for, as far as this system knows them.
NAMES = ("INT", "TERM", "HUP", "QUIT", "BREAK", "ALRM", "VTALRM", "PROF", "USR1", "USR2", "CHLD", "CONT", "WINCH", "PIPE")
SIGNALS = [getattr(signal, f"SIG{name}") for name in NAMES if hasattr(signal, f"SIG{name}")]


class _Holder:
    """Stands in for the handlers of all signals."""

    def __init__(self) -> None:
        self.handlers: dict[int, Callable[..., Any]] = {}
        self.waiting: list[tuple[int, Any]] = []
        self.is_open = False
        self.on_interrupt: Callable[[], bool] | None = None

    def handle(self, number: int, frame: Any) -> None:
        """What Python calls when a signal has come."""
        if number == signal.SIGINT and self.on_interrupt is not None and self.on_interrupt():
            return
        if self.is_open:
            self.handlers[number](number, frame)
        else:
            self.waiting.append((number, frame))

    def deliver(self) -> None:
        """Run the handlers that wait."""
        while self.waiting:
            number, frame = self.waiting.pop(0)
            self.handlers[number](number, frame)


_holder: _Holder | None = None  # of the main thread


@contextlib.contextmanager
def held(on_interrupt: Callable[[], bool] | None = None) -> Iterator[None]:
    """Let signals wait until the end of this block. `on_interrupt` is asked first when Ctrl-C is pressed; if it gives True,
    that is all that Ctrl-C does."""
    if threading.current_thread() is not threading.main_thread():
        yield
    elif _holder is None:
        with _new_holder() as holder:
            holder.on_interrupt = on_interrupt
            yield
    else:
        holder, before = _holder, (_holder.is_open, _holder.on_interrupt)
        try:
            holder.is_open, holder.on_interrupt = False, on_interrupt or holder.on_interrupt
            yield
        finally:
            holder.is_open, holder.on_interrupt = before
            if holder.is_open:
                holder.deliver()


@contextlib.contextmanager
def _new_holder() -> Iterator[_Holder]:
    global _holder
    holder = _Holder()
    try:
        with contextlib.ExitStack() as undo:
            for number in SIGNALS:
                handler = signal.getsignal(number)
                if callable(handler):
                    holder.handlers[number] = handler
                    undo.callback(signal.signal, number, handler)
                    signal.signal(number, holder.handle)
            _holder = holder
            undo.callback(_drop_holder)
            yield holder
    finally:
        holder.deliver()


def _drop_holder() -> None:
    global _holder
    _holder = None


@contextlib.contextmanager
def released() -> Iterator[None]:
    """Inside `held`: let signals come at once while other people's code runs. What is done around it must bear that this
    raises anything."""
    holder = _holder
    if holder is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    try:
        holder.is_open = True
        holder.deliver()
        yield
    finally:
        holder.is_open = False
