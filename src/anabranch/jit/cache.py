"""Compiled kernels on disk, one file for each kernel and signature.

A file's name holds the digest of all that went into it (`fingerprint`), the versions and the processor, so a change
anywhere makes a miss and never a stale hit. There is no index: processes that compile at the same time write whole
files under other names and rename them, so they cannot spoil one another's work. If no folder can be written to,
kernels are compiled anew in each process and one line says so. Next: `kernels.py`, which plugs this into Numba.
"""

import functools
import hashlib
import os
import pickle
import platform
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core import serialize
from numba.core.compiler import CompileResult
from platformdirs import user_cache_dir

from anabranch.jit.fingerprint import fingerprint, uncachable
from anabranch.jit.settings import INLINED

FORMAT = 1  # raise it when the content of the files changes


@functools.cache
def folder() -> Path | None:
    """Where kernels are kept: below $ANABRANCH_CACHE, or the user's cache folder; None if that cannot even be read."""
    chosen = os.environ.get("ANABRANCH_CACHE") or user_cache_dir("anabranch", appauthor=False)
    path = Path(chosen).expanduser() / "kernels"
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return path if os.access(path, os.R_OK | os.X_OK) else None


@functools.cache
def can_write(path: Path) -> bool:
    """Whether kernels can be added to this folder; tried, since root may write where permissions say no, and not
    on a read-only disk where they say yes."""
    try:
        with tempfile.TemporaryFile(dir=path):
            return True
    except OSError:
        return False


class KernelCache:
    """What Numba's dispatcher asks for compiled code; see `numba.core.caching._Cache` for the protocol."""

    def __init__(
        self,
        function: Callable[..., Any],
        on_compile: Callable[[tuple[Any, ...]], None],
        on_done: Callable[[str | None], None],
    ) -> None:
        self.function = function
        self.on_compile = on_compile  # told the argument types before a compilation
        self.on_done = on_done  # told why the result could not be kept, or None, after it

    @property
    def cache_path(self) -> str | None:
        """Part of Numba's protocol: where files go."""
        where = folder()
        return None if where is None else str(where)

    def load_overload(self, signature: Any, target: Any) -> Any:
        """The compiled code from disk, or None: then Numba compiles and calls `save_overload`."""
        target.refresh()
        arguments = _arguments(signature)
        path = self._path(arguments, target)
        if path is not None and path.is_file():
            try:
                return CompileResult._rebuild(target, *pickle.loads(path.read_bytes()))
            except Exception:  # cut short, or written by a build that pickles differently: compile it again
                pass
        self.on_compile(arguments)
        return None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep a compilation for other processes."""
        arguments = _arguments(signature)
        path = self._path(arguments, result.target_context)
        problem = uncachable(arguments)
        if path is None:
            problem = problem or "no cache folder can be read; set ANABRANCH_CACHE to one that can"
        elif not can_write(path.parent):
            problem = f"the cache folder {path.parent} is read-only; set ANABRANCH_CACHE to another"
        else:
            try:
                _write_whole(path, serialize.dumps(result._reduce()))
            except OSError as error:
                problem = f"{path.parent}: {error.strerror}"
        self.on_done(problem)

    def enable(self) -> None:
        """Part of Numba's protocol; the cache is always on."""

    def disable(self) -> None:
        """Part of Numba's protocol; the cache is always on."""

    def flush(self) -> None:
        """Forget the compilations of this kernel."""
        where = folder()
        if where is not None:
            for path in where.glob(f"{self.function.__name__}-*"):
                path.unlink(missing_ok=True)

    def _path(self, arguments: tuple[Any, ...], target: Any) -> Path | None:
        where = folder()
        if where is None or uncachable(arguments):
            return None
        made_from = (
            FORMAT,
            numba.__version__,
            llvmlite.__version__,
            sys.version_info[:3],
            platform.machine(),
            target.codegen().magic_tuple(),
            sorted(INLINED.items()),
            self.function.__module__,
            [str(argument) for argument in arguments],
            fingerprint(self.function, arguments),
        )
        digest = hashlib.sha256(repr(made_from).encode()).hexdigest()[:32]
        return where / f"{self.function.__name__}-{digest}.kernel"


def _arguments(signature: Any) -> tuple[Any, ...]:
    return tuple(getattr(signature, "args", signature))


def _write_whole(path: Path, content: bytes) -> None:
    """Write under another name, then rename, so that no reader ever sees half a file."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except OSError:
        Path(temporary).unlink(missing_ok=True)
        raise
