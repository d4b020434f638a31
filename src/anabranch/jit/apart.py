"""Compiling in a child process, whose memory is returned to the system when it ends.

Numba keeps some ten megabytes of every large compilation for as long as the process lives. Where that matters, set
ANABRANCH_FORK_ABOVE to a number of bytes: a process that has grown beyond it then compiles in a fork of itself, which writes
the kernel into the cache (`cache.py`), and loads it from there. Linux only; if anything goes wrong in the child, the process
compiles by itself. It is off by default, since a library should not fork programs whose threads it does not know.
"""

import contextlib
import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable

from llvmlite.binding import ffi
from numba.core.compiler_lock import global_compiler_lock

LARGE = int(os.environ.get("ANABRANCH_FORK_ABOVE", "0") or "0")  # bytes of memory above which a process forks; 0: never
PR_SET_PDEATHSIG = 1  # of prctl: the signal that a process gets when its parent ends
STALLED = 30.0  # seconds without any CPU time after which a child is given up


def is_worthwhile() -> bool:
    """Whether this process should compile in a child."""
    return LARGE > 0 and sys.platform == "linux" and _resident() >= LARGE


def in_child(work: Callable[[], object]) -> None:
    """Do this in a fork of this process, and wait until it has ended, in whatever way. The child runs nothing else of the
    program: no handlers, no output."""
    parent = os.getpid()
    try:
        # Other threads may be compiling. They must not hold a lock at this moment that the child will want.
        with global_compiler_lock, getattr(ffi.lib, "_lock", contextlib.nullcontext()):
            child = os.fork()
    except OSError:  # no memory or no process to be had
        return
    if child == 0:
        try:
            _prepare(parent)
            work()
        finally:
            os._exit(0)
    with contextlib.suppress(ChildProcessError):  # somebody else has waited for it
        _wait_for(child)


def _wait_for(child: int) -> None:
    """Wait for the end of a child; kill one that does nothing."""
    used, since = -1.0, time.monotonic()
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        time.sleep(0.01)
        now = _cpu_seconds(child)
        if now != used:
            used, since = now, time.monotonic()
        elif time.monotonic() - since > STALLED:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return


def _prepare(parent: int) -> None:
    """A child that nobody waits for any more ends at once. What it would say is said by its parent."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with contextlib.suppress(ValueError):  # not in the main thread: then handlers of Python's do not run either
            signal.signal(number, signal.SIG_DFL)
    silence = os.open(os.devnull, os.O_WRONLY)
    for output in (1, 2):
        os.dup2(silence, output)
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def _cpu_seconds(process: int) -> float:
    """CPU time that a process has used."""
    try:
        with open(f"/proc/{process}/stat") as file:
            return sum(map(int, file.read().rpartition(")")[2].split()[11:13])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError):
        return 0.0


def _resident() -> int:
    """Bytes of memory that this process has."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
