"""Compiling in a separate process, whose memory goes back to the system when it ends.

Numba keeps some hundred megabytes of every large compilation for as long as the process lives. So a process that has grown
(`LARGE`) first compiles in a child, which writes the kernel into the cache (`cache.py`), and loads it from there.
Below that size it compiles by itself, since what Numba keeps makes the next compilation faster; a child inherits all of that
too. Linux only: elsewhere, and if anything goes wrong in the child, the process compiles by itself.
"""

import contextlib
import ctypes
import os
import signal
import sys
from collections.abc import Callable

LARGE = int(os.environ.get("ANABRANCH_FORK_ABOVE", 1 << 30))  # bytes of memory from which on a process compiles in a child
PR_SET_PDEATHSIG = 1  # of prctl: the signal that a process gets when its parent ends


def is_worthwhile() -> bool:
    """Whether this process is so large that it should not compile by itself."""
    return sys.platform == "linux" and _resident() >= LARGE


def in_child(work: Callable[[], object]) -> None:
    """Run this in a fork of this process, and wait until it has ended, in whatever way. Nothing else of the program runs in
    the child: no handlers, no output."""
    parent = os.getpid()
    try:
        child = os.fork()
    except OSError:  # no memory, or no process available
        return
    if child == 0:
        try:
            _prepare(parent)
            work()
        finally:
            os._exit(0)
    with contextlib.suppress(ChildProcessError):  # another thread has waited for it
        os.waitpid(child, 0)


def _prepare(parent: int) -> None:
    """Let the child end at once if its parent does, and print nothing: the parent reports."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with contextlib.suppress(ValueError):  # not in the main thread: then Python's handlers do not run either
            signal.signal(number, signal.SIG_DFL)
    silence = os.open(os.devnull, os.O_WRONLY)
    for output in (1, 2):
        os.dup2(silence, output)
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def _resident() -> int:
    """The resident memory of this process in bytes."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
