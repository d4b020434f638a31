"""Kernels: the few functions that Python calls and Numba compiles.

A kernel is compiled once for each combination of argument types and stored on disk (`cache`); one line says what is being
compiled. The compiler runs in a separate thread while the main one waits, so that Ctrl-C neither waits for it nor gets lost
in it (`interrupts.beside`); a compilation that was started is finished and stored. With `NUMBA_DISABLE_JIT=1`, or through
`kernel.plain(...)`, the same function runs as plain Python: records are then viewed as `PlainRecord`, so that `state.turn`
means the same in both.
"""

import contextlib
import functools
import gc
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numba
import numpy as np
from numba import types
from numba.core.errors import ForceLiteralArg

from anabranch.errors import AnabranchError, KernelError, RuleError
from anabranch.interrupts import beside
from anabranch.jit import apart
from anabranch.jit.cache import KernelCache
from anabranch.jit.diagnose import explain
from anabranch.jit.dispatch import TAG_PREFIX, keys_of_type, owners, quiet
from anabranch.jit.frontend import faster
from anabranch.jit.lean import only
from anabranch.jit.pointers import fields_of
from anabranch.jit.records import readable
from anabranch.jit.settings import CHECKED, COMPILED, OPTIONS, QUIET
from anabranch.jit.symbols import name_records_by_content

name_records_by_content()


class Reporter:
    """Prints what is being compiled. The command-line program installs its own with `report_with`."""

    def started(self, what: str) -> None:
        """Called when a compilation begins."""
        if not QUIET:
            print(f"anabranch: compiling {what} (once; kept for the next time) ...", end="", file=sys.stderr, flush=True)

    def finished(self, what: str, seconds: float, problem: str | None) -> None:
        """Called when it has ended; `problem` says why it could not be stored."""
        if not QUIET:
            kept = f", not kept: {problem}" if problem else ""
            print(f" {seconds:.1f} s{kept}", file=sys.stderr, flush=True)


_reporter = Reporter()


def report_with(reporter: Reporter) -> None:
    """Report compilations to this reporter from now on."""
    global _reporter
    _reporter = reporter


class Kernel:
    """A function that is compiled when it is called from Python."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.compilations = 0  # in this process, so that a test can tell a cache hit from a miss
        self._began = 0.0
        self._what = ""
        self._types: tuple[Any, ...] = ()
        self._of_compiling: Exception | None = None  # what was raised while compiling, by the compiler or by a signal's handler
        functools.update_wrapper(self, function)
        if COMPILED:
            self.dispatcher = numba.njit(**OPTIONS)(function)
            self.dispatcher._cache = KernelCache(function, self._started, self._finished)
            self._compile = self.dispatcher.compile
            self.dispatcher.compile = self._compile_beside

    def __call__(self, *arguments: Any) -> Any:
        """Run compiled, after compiling if these types are new; with the JIT off, as plain Python."""
        try:
            return self.dispatcher(*arguments) if COMPILED else self.plain(*arguments)
        except Exception as error:
            is_of_compiling, self._of_compiling = error is self._of_compiling, None
            if not is_of_compiling:
                _refuse_raising(error)
            raise

    def plain(self, *arguments: Any) -> Any:
        """Run as plain Python, whether or not a compiled version exists."""
        with np.errstate(over="ignore"):  # machine integers wrap around silently; so do compiled ones
            return self.function(*(readable(argument) for argument in arguments))

    def compile(self, *arguments: Any) -> None:
        """Compile or load the version for these arguments, without running it."""
        self.ready(*arguments)

    def ready(self, *arguments: Any) -> Callable[..., Any]:
        """The version for the types of these arguments, for many calls with exactly these types. It does not check types again,
        which would take longer than a short kernel runs, unless indices are checked, too."""
        if not COMPILED:
            return self
        signature = tuple(numba.typeof(argument) for argument in arguments)
        if signature not in self.dispatcher.overloads:
            self.dispatcher.compile(signature)
        if CHECKED:
            return self
        run = self.dispatcher.overloads[signature].entry_point

        def run_resolved(*arguments: Any) -> Any:
            try:
                return run(*arguments)
            except Exception as error:
                _refuse_raising(error)
                raise

        return run_resolved

    def _compile_beside(self, signature: Any) -> Any:
        """Compile in a second thread, so that signals come through."""
        try:
            return beside(lambda: self._compiled(signature))
        except Exception as error:
            self._of_compiling = error
            raise

    def _compiled(self, signature: Any) -> Any:
        """What Numba compiles or loads; errors name the rule and the line."""
        try:
            with faster(), only(self.function.__qualname__), no_garbage_collection():
                if apart.is_worthwhile() and self.dispatcher._cache.would_keep(signature, self.dispatcher.targetctx):
                    self._started(tuple(signature))
                    apart.in_child(lambda: self._compile(signature))
                return self._compile(signature)
        except ForceLiteralArg:  # Numba tries again
            raise
        except Exception as error:
            if not self._what:
                raise
            self._finished("it does not compile")
            raise explain(error, self.function, self._types) from None
        finally:
            self.dispatcher._cache.release()
            self._finished(None)  # by a child, or not at all

    def _started(self, argument_types: tuple[Any, ...]) -> None:
        if not self._what:  # a child may have tried before
            self.compilations += 1
            self._types = argument_types
            self._what = f"{self.function.__name__} for {_names(argument_types)}"
            self._began = time.perf_counter()
            _reporter.started(self._what)

    def _finished(self, problem: str | None) -> None:
        if self._what:
            _reporter.finished(self._what, time.perf_counter() - self._began, problem)
            self._what = ""


def _refuse_raising(error: Exception) -> None:
    """Kernels do not raise by themselves. If this came out of one, raise a `KernelError`: a rule or an option's function did.
    Errors of compiling are left as they are."""
    if isinstance(error, RuleError) and not COMPILED:  # it names the rule and the line
        raise KernelError(str(error)) from error
    if not isinstance(error, AnabranchError):
        raise KernelError(
            f"a rule, or a part of a search of your own, raised {type(error).__name__}: {error}; while a search runs none may "
            "raise. `anabranch check` says which rule of a game does, and where"
        ) from error


@contextlib.contextmanager
def no_garbage_collection() -> Iterator[None]:
    """The compiler allocates millions of objects that stay alive; scanning them took an eighth of its time."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def kernel(function: Callable[..., Any]) -> Kernel:
    """Compile this function when Python calls it; see `Kernel`."""
    return Kernel(function)


def _names(argument_types: tuple[Any, ...]) -> str:
    """The games and options among the types, by their readable names."""
    found: list[str] = []

    def visit(numba_type: Any) -> None:
        key = next((key for key in keys_of_type(numba_type) if key in owners), None)
        if key in quiet:
            return
        if key is not None:
            found.append(key.removeprefix(TAG_PREFIX) if isinstance(key, str) else getattr(key, "__name__", str(key)))
        elif isinstance(numba_type, types.Array):
            visit(numba_type.dtype)
        else:
            for field in fields_of(numba_type):
                visit(field)

    for numba_type in argument_types:
        visit(numba_type)
    return ", ".join(dict.fromkeys(found)) or "this machine"
