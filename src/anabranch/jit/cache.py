"""Compiled kernels on disk, one file for each kernel and signature.

A file's name contains the digest of everything that went into it (`fingerprint`), the versions and the processor, so a
change anywhere causes a miss and never a stale hit. There is no index, and files are written atomically (`store.py`), so
processes that compile at the same time cannot corrupt one another's files. If there is no safe and writable folder,
each process compiles its kernels again, and one line says so. Next: `kernels.py`, which plugs this into Numba.
"""

import hashlib
import pickle
import platform
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from llvmlite.binding import parse_assembly
from numba.core import serialize
from numba.core.compiler import CompileResult

from anabranch.jit import store
from anabranch.jit.fingerprint import fingerprint, uncachable
from anabranch.jit.settings import INLINED

FORMAT = 4  # raise it when the content of the files changes


class KernelCache:
    """The cache that Numba's dispatcher uses; see `numba.core.caching._Cache` for the protocol."""

    def __init__(
        self,
        function: Callable[..., Any],
        on_compile: Callable[[tuple[Any, ...]], None],
        on_done: Callable[[str | None], None],
    ) -> None:
        self.function = function
        self.on_compile = on_compile  # called with the argument types before a compilation
        self.on_done = on_done  # called after it with the reason why the result could not be stored, or None
        self._mine = threading.local()  # what this thread is compiling, so that other processes wait for it

    @property
    def cache_path(self) -> str | None:
        """Part of Numba's protocol: where files go."""
        where = store.folder()
        return None if where.problem else str(where.path)

    def load_overload(self, signature: Any, target: Any) -> Any:
        """The compiled code from disk, or None: then Numba compiles and calls `save_overload`."""
        target.refresh()
        arguments = _arguments(signature)
        found = None
        if not self._not_kept(arguments):
            path = self._path(arguments, target)
            found = _read(path, target) or self._wait_for(path, target)
        if found is None:
            self.on_compile(arguments)
        return found

    def _wait_for(self, path: Path, target: Any) -> Any:
        """What another process compiles at this moment, or None: then this one has claimed it, until `release`."""
        lock = store.claim(path)
        if lock is not None:
            self._mine.claim = path, lock
        return _read(path, target)

    def release(self) -> None:
        """Let other processes compile what this thread has claimed."""
        claim = self._mine.__dict__.pop("claim", None)
        if claim is not None:
            store.release(*claim)

    def would_keep(self, signature: Any, target: Any) -> bool:
        """Whether compiled code for these types is not on disk yet, but would be after a compilation."""
        arguments = _arguments(signature)
        return not self._not_kept(arguments) and store.read(self._path(arguments, target)) is None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Store a compilation for other processes."""
        arguments = _arguments(signature)
        problem = self._not_kept(arguments)
        if problem is None:
            path = self._path(arguments, result.target_context)
            problem = store.write(path, _content(result))
        self.release()
        self.on_done(problem)

    def enable(self) -> None:
        """Part of Numba's protocol; the cache is always on."""

    def disable(self) -> None:
        """Part of Numba's protocol; the cache is always on."""

    def flush(self) -> None:
        """Delete the stored compilations of this kernel."""
        where = store.folder()
        if where.problem is None:
            for path in where.path.glob(f"{self.function.__name__}-*"):
                path.unlink(missing_ok=True)

    def _not_kept(self, arguments: tuple[Any, ...]) -> str | None:
        """Why kernels for these arguments are neither looked up nor stored, or None if they are."""
        return uncachable(arguments) or store.folder().problem

    def _path(self, arguments: tuple[Any, ...], target: Any) -> Path:
        made_from = (
            FORMAT,
            numba.__version__,
            llvmlite.__version__,
            np.__version__,
            sys.version_info[:3],
            platform.machine(),
            target.codegen().magic_tuple(),
            sorted(INLINED.items()),
            self.function.__module__,
            [str(argument) for argument in arguments],
            fingerprint(self.function, arguments),
        )
        digest = hashlib.sha256(repr(made_from).encode()).hexdigest()[:32]
        return store.folder().path / f"{self.function.__name__}-{digest}.kernel"


def _content(result: Any) -> bytes:
    """What is kept of a compilation: its machine code. Numba adds the bitcode, for other functions to inline, and parses it
    whenever it loads one. Only Python calls kernels, and of a large one that would be more than half of the file, the memory
    and the time to load it. So in its place is a module with the same functions, all empty: Numba looks up their names."""
    library = result.library
    if {"_shared_module", "_final_module"} <= vars(library).keys():
        defined = [function.name for function in library._final_module.functions if not function.is_declaration]
        library._shared_module = parse_assembly("\n".join(f'define void @"{name}"() {{ ret void }}' for name in defined))
    return serialize.dumps(result._reduce())


def _read(path: Path, target: Any) -> Any:
    """The compiled code in a file, or None."""
    content = store.read(path)
    if content is None:
        return None
    try:
        return CompileResult._rebuild(target, *pickle.loads(content))
    except Exception:  # written by a build that pickles differently: compile it again
        return None


def _arguments(signature: Any) -> tuple[Any, ...]:
    return tuple(getattr(signature, "args", signature))
