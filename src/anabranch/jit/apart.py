"""Compiling in a process of its own, whose memory goes back to the system when it ends.

Numba keeps some hundred megabytes of every large compilation for as long as the process lives. So a process that has grown
(`LARGE`) forks before the next one: the child compiles and writes the kernel into the cache (`cache.py`), the parent waits and
loads it from there. Below that size it compiles by itself, since what Numba remembers makes the next compilation quicker; a
child has all of that too. Linux only: elsewhere, and if anything goes wrong in the child, the process compiles by itself.
"""

import contextlib
import ctypes
import os
import signal
import sys
from typing import NoReturn

LARGE = int(os.environ.get("ANABRANCH_FORK_ABOVE", 1 << 30))  # bytes of memory from which on a process forks to compile
PR_SET_PDEATHSIG = 1  # of prctl: the signal that a process gets when its parent ends

_is_child = False


def is_worthwhile() -> bool:
    """Whether this process is so large that it should not compile by itself."""
    return sys.platform == "linux" and not _is_child and _resident() >= LARGE


def compile_in_child() -> bool:
    """Fork. In the child: True, and whoever called goes on to compile and then calls `leave`. In the parent: False, once the
    child has ended."""
    global _is_child
    parent = os.getpid()
    try:
        child = os.fork()
    except OSError:  # no memory or no process to be had
        return False
    if child == 0:
        _is_child = True
        _end_with(parent)
        return True
    with contextlib.suppress(ChildProcessError):  # somebody else has waited for it
        os.waitpid(child, 0)
    return False


def leave(code: int = 0) -> None:
    """End the child that `compile_in_child` made. Nothing else of the program runs in it: no handlers, no output."""
    if _is_child:
        _exit(code)


def _exit(code: int) -> NoReturn:
    os._exit(code)


def _end_with(parent: int) -> None:
    """A child that nobody waits for any more ends at once, so that it keeps no output open."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        _exit(1)


def _resident() -> int:
    """Bytes of memory that this process has."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
