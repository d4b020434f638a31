"""Signals: those that wait until a change is complete, and those that end the program.

Python runs the handler of a signal in the main thread, between any two steps of whatever goes on there, and a handler may
raise: Ctrl-C does. In the middle of a change that takes several steps this would leave half of it. So calls that change
something hold signals back, but for the time in which they run other people's code, which may take long and may raise anyway:

    with held():
        ...                         # handlers wait
        with released():
            evaluator(states)       # handlers run at once
        ...                         # and wait again
                                    # now those that waited run

In other threads nothing of this does anything: handlers never run there. So what must not be interrupted half-way and takes
long (the compiler) goes to a thread of its own, and the main thread waits for it (`beside`).

The program has one policy for all its commands (`policy`): SIGTERM and SIGHUP mean what Ctrl-C means, a KeyboardInterrupt, or
the end of a search that has found something; an interrupt that Python drops because it came in a callback comes again.
"""

import _thread
import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

# Those that programs have handlers for, as far as this system knows them.
NAMES = ("INT", "TERM", "HUP", "QUIT", "BREAK", "ALRM", "VTALRM", "PROF", "USR1", "USR2", "CHLD", "CONT", "WINCH", "PIPE")
SIGNALS = [getattr(signal, f"SIG{name}") for name in NAMES if hasattr(signal, f"SIG{name}")]
ENDING = [number for number in SIGNALS if number.name in ("SIGINT", "SIGTERM", "SIGHUP")]  # who sends them wants an end
CTRL_C = signal.SIGINT
AGAIN = 0.02  # seconds until an interrupt that was dropped comes again: the callback that it came in has ended by then
STACK = 1 << 24  # bytes for the compiler, which calls itself deeply; some systems give threads half a megabyte
WORKER = "anabranch-beside"  # the name of threads that work while the main one waits

Value = TypeVar("Value")


class _Holder:
    """Stands in for the handlers of all signals."""

    def __init__(self) -> None:
        self.handlers: dict[int, Callable[..., Any]] = {}
        self.waiting: list[tuple[int, Any]] = []
        self.is_open = False
        self.may_forget = False  # whether what was changed so far may be forgotten: see `nothing_to_lose`
        self.on_interrupt: Callable[[], bool] | None = None

    def handle(self, number: int, frame: Any) -> None:
        """What Python calls when a signal has come."""
        if self.on_interrupt is not None and number in ENDING:
            has_ended = self.on_interrupt()
            if has_ended and self._is_ctrl_c(number):
                if _policy is not None:
                    _policy.came = number
                return
        if self.is_open:
            self.handlers[number](number, frame)
        else:
            self.waiting.append((number, frame))

    def _is_ctrl_c(self, number: int) -> bool:
        """Whether a signal means what Ctrl-C means."""
        return number == signal.SIGINT or self.handlers[number] == self.handlers.get(signal.SIGINT)

    def deliver(self) -> None:
        """Run the handlers that wait."""
        while self.waiting:
            number, frame = self.waiting.pop(0)
            self.handlers[number](number, frame)


_holder: _Holder | None = None  # of the main thread


@contextlib.contextmanager
def held(on_interrupt: Callable[[], bool] | None = None) -> Iterator[None]:
    """Let signals wait until the end of this block. `on_interrupt` is asked first when Ctrl-C is pressed; if it gives True,
    that is all that Ctrl-C does. It is also called for other signals that want an end, whose handlers then wait for it."""
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


# --- what takes long and must not be interrupted ----------------------------------------------------------------------


@contextlib.contextmanager
def nothing_to_lose() -> Iterator[None]:
    """Inside `held`: while `beside` works in this block, signals come at once. What is done around it must bear that this
    raises anything."""
    holder = _holder
    if holder is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = holder.may_forget
    try:
        holder.may_forget = True
        yield
    finally:
        holder.may_forget = before


def beside(work: Callable[[], Value]) -> Value:
    """Do this in a thread of its own and wait for it. A signal may end the waiting and not the work: nothing is left half done,
    and no interrupt is lost in a callback of other people's code. In other threads, where none comes, it is just done."""
    if threading.current_thread() is not threading.main_thread() or _is_importing():
        return work()
    done = threading.Event()
    outcome: list[Any] = []

    def run() -> None:
        try:
            outcome.extend((True, work()))
        except BaseException as error:
            outcome.extend((False, error))
        finally:
            done.set()

    with _waiting_for_work():
        _started(run)
        done.wait()
    succeeded, value = outcome
    if not succeeded:
        raise value
    return value


def is_working() -> bool:
    """Whether something that `beside` was called for goes on."""
    return any(thread.name == WORKER for thread in threading.enumerate())


def _started(run: Callable[[], None]) -> None:
    before = threading.stack_size(STACK)
    try:
        threading.Thread(target=run, name=WORKER, daemon=True).start()
    finally:
        threading.stack_size(before)


@contextlib.contextmanager
def _waiting_for_work() -> Iterator[None]:
    """Signals come at once, unless a change is under way that must be completed."""
    holder = _holder
    if holder is None or not holder.may_forget:
        yield
        return
    before = holder.on_interrupt
    try:
        holder.on_interrupt = None
        with released():
            yield
    finally:
        holder.on_interrupt = before


def _is_importing() -> bool:
    """Whether a module is being imported, maybe here: a thread that wanted it would wait for us, and we for that thread."""
    specifications = (getattr(module, "__spec__", None) for module in list(sys.modules.values()))
    return any(getattr(specification, "_initializing", False) for specification in specifications)


# --- the program's policy ---------------------------------------------------------------------------------------------


class Policy:
    """What signals do that want the program to end."""

    def __init__(self) -> None:
        self.came: int | None = None  # the last one
        self.comes_again = False  # it was dropped, and is on its way

    def interrupt(self, number: int, frame: Any) -> None:
        """The handler of all of them."""
        self.came = number
        if not self.comes_again:
            raise KeyboardInterrupt

    def send_again(self) -> None:
        """To the main thread, whose waiting it ends."""
        self.comes_again = False
        assert self.came is not None
        if hasattr(signal, "pthread_kill"):
            signal.pthread_kill(threading.main_thread().ident or 0, self.came)
        else:
            _thread.interrupt_main(signal.Signals(self.came))

    def check(self) -> None:
        """Raise KeyboardInterrupt if a signal has come, which ended a search, say, and nothing else."""
        if self.came is not None:
            raise KeyboardInterrupt


_policy: Policy | None = None


@contextlib.contextmanager
def policy() -> Iterator[Policy]:
    """While the program runs: every signal that wants it to end interrupts it, unless whoever started it had that ignored."""
    global _policy
    if threading.current_thread() is not threading.main_thread() or _policy is not None:
        yield _policy or Policy()
        return
    _policy = made = Policy()
    with contextlib.ExitStack() as undo:
        undo.callback(_drop_policy)
        undo.callback(setattr, sys, "unraisablehook", sys.unraisablehook)
        sys.unraisablehook = _not_lost(made, sys.unraisablehook)
        for number in ENDING:
            handler = signal.getsignal(number)
            if handler in (signal.SIG_DFL, signal.default_int_handler):
                undo.callback(signal.signal, number, handler)
                signal.signal(number, made.interrupt)
        yield made


def _drop_policy() -> None:
    global _policy
    _policy = None


def check() -> None:
    """Raise KeyboardInterrupt if the program was told to end, and only a search has noticed."""
    if _policy is not None:
        _policy.check()


def _not_lost(policy: Policy, otherwise: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Python calls this for exceptions that nobody can catch: those in callbacks of references, imports, C libraries."""

    def look(what: Any) -> None:
        if not issubclass(what.exc_type, KeyboardInterrupt) or policy.came is None:
            otherwise(what)
        elif not policy.comes_again:
            policy.comes_again = True
            again = threading.Timer(AGAIN, policy.send_again)
            again.daemon = True
            again.start()

    return look
