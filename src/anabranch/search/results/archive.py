"""Archives of arrays on disk: written atomically, and read as untrusted input.

An archive is a compressed NumPy one (`.npz`) without pickles. The reader states which arrays it expects and of what shape,
and reads them into memory that is already allocated: how much is used never depends on what a file claims.
Next: `save.py`, which keeps searches in such files.
"""

import os
import secrets
import stat
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import numpy as np

from anabranch.errors import SearchError

MAGIC = b"PK\x03\x04"  # how archives begin
MOST_READ = 2**20  # bytes in one read; also the largest directory of an archive
ENDING = ".npy"


class Damaged(Exception):
    """A file is incomplete or malformed."""


class Alien(Exception):
    """A file is not an archive at all."""


# --- writing ---------------------------------------------------------------------------------------------------------------


def write(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write an archive under a temporary name next to `path`, and rename it to `path` once it is complete and on disk."""
    check_target(path)
    partial = path.parent / f".{secrets.token_hex(8)}.part"
    with _telling(path, "written"):
        try:
            with open(partial, "xb") as stream:  # a new file, never the target of a link
                np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(partial, path)
        finally:
            partial.unlink(missing_ok=True)
    _sync_folder(path.parent)


def check_target(path: Path) -> None:
    """Raise unless a file may be written there: only a regular file is replaced. A link is neither followed nor replaced: it
    says that the file is elsewhere."""
    with _telling(path, "written"):
        path.parent.stat()
        mode = os.lstat(path).st_mode if os.path.lexists(path) else stat.S_IFREG
        if stat.S_ISDIR(mode):
            raise ValueError("it is a folder; name a file in it")
        if stat.S_ISLNK(mode):
            raise ValueError("it is a symbolic link; name the file itself")
        if not stat.S_ISREG(mode):
            raise ValueError("it is a device or a pipe; name a file")


@contextmanager
def _telling(path: Path, what: str) -> Iterator[None]:
    """Turn errors of the system into a `SearchError` of one line."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise SearchError(f"{path} cannot be {what}: {getattr(error, 'strerror', None) or error}") from None


def _sync_folder(folder: Path) -> None:
    """Sync the new name to disk, too, where folders can be synced."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


# --- reading ---------------------------------------------------------------------------------------------------------------


class Bounded:
    """A stream that returns no more than MOST_READ bytes in one read, whatever is asked for."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.seek, self.tell, self.seekable, self._read = stream.seek, stream.tell, stream.seekable, stream.read

    def read(self, size: int = -1) -> bytes:
        """As streams do."""
        if size > MOST_READ:
            raise ValueError("more is asked for than archives of ours have")
        return self._read(MOST_READ if size < 0 else size)


class Archive:
    """An archive that is open for reading."""

    def __init__(self, file: zipfile.ZipFile) -> None:
        self._file = file
        names = [entry.filename for entry in file.infolist()]
        self.names = {name.removesuffix(ENDING) for name in names if name.endswith(ENDING)}
        if len(self.names) < len(names):
            raise Damaged("a name occurs twice, or something is not an array")

    def read_bytes(self, name: str, most: int) -> bytes:
        """An array of bytes, if it has at most so many."""
        with self._opened(name) as stream:
            dtype, shape = _read_description(stream)
            if dtype != np.uint8 or len(shape) != 1 or not 0 <= shape[0] <= most:
                raise Damaged("not so many bytes")
            content = np.empty(shape, np.uint8)
            _read_into(stream, content)
        return content.tobytes()

    def read_into(self, name: str, target: np.ndarray) -> None:
        """Fill an array with the one of this name, which must have its shape and its type."""
        with self._opened(name) as stream:
            if _read_description(stream) != (target.dtype, target.shape):
                raise Damaged("not of this shape")
            _read_into(stream, target.reshape(-1).view(np.uint8))

    @contextmanager
    def _opened(self, name: str) -> Iterator[IO[bytes]]:
        with telling_damage():
            entry = self._file.getinfo(name + ENDING)
            if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise Damaged("compressed otherwise")
            with self._file.open(entry) as stream:
                yield stream


@contextmanager
def telling_damage() -> Iterator[None]:
    """Turn whatever readers raise on a malformed file into `Damaged`."""
    try:
        yield
    except Exception as error:
        raise Damaged from error


def _read_description(stream: IO[bytes]) -> tuple[np.dtype, tuple[int, ...]]:
    """The type and shape that an array's header declares."""
    if np.lib.format.read_magic(stream) != (1, 0):
        raise Damaged("not our version")
    shape, by_columns, dtype = np.lib.format.read_array_header_1_0(stream)
    if by_columns and len(shape) > 1:
        raise Damaged("not our order")
    return dtype, shape


def _read_into(stream: IO[bytes], target: np.ndarray) -> None:
    """Fill `target`, an array of bytes; then nothing may be left to read, and the checksum must be right."""
    done = 0
    while done < len(target):
        content = stream.read(min(len(target) - done, MOST_READ))
        if not content:
            raise Damaged("it ends too early")
        target[done : done + len(content)] = np.frombuffer(content, np.uint8)
        done += len(content)
    if stream.read(1):
        raise Damaged("there is more than its shape says")


def _without_waiting(path: str, flags: int) -> int:
    """Like `os.open`, but a pipe without a writer does not block."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


@contextmanager
def reading(path: Path) -> Iterator[Archive]:
    """A file that is open as an archive."""
    with _telling(path, "read"):
        stream = open(path, "rb", opener=_without_waiting)  # noqa: SIM115
    with stream:
        with _telling(path, "read"):
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise ValueError("it is a device or a pipe; name a file")
        with telling_damage():
            begins = stream.read(len(MAGIC))
        if not MAGIC.startswith(begins):
            raise Alien
        with telling_damage():
            bounded: Any = Bounded(stream)
            file = zipfile.ZipFile(bounded)
            archive = Archive(file)
        yield archive
