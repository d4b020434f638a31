"""Archives of arrays on disk: written whole or not at all, and read as if they came from a stranger.

An archive is a compressed NumPy one (`.npz`) without pickles. Who reads one says which arrays are expected and of what shape,
and has them written into memory that is there already: how much is taken never depends on what a file says of itself.
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
MOST_READ = 2**20  # bytes in one go; also the most that the directory of an archive may take
ENDING = ".npy"


class Damaged(Exception):
    """A file is not whole, or holds what nobody writes."""


class Alien(Exception):
    """A file is not an archive at all."""


# --- writing ---------------------------------------------------------------------------------------------------------------


def write(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write an archive beside `path` under a name of its own, and let it take that name when it is complete and on disk."""
    check_target(path)
    partial = path.parent / f".{secrets.token_hex(8)}.part"
    with _telling(path, "written"):
        try:
            with open(partial, "xb") as stream:  # a file that is new, never what a link leads to
                np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(partial, path)
        finally:
            partial.unlink(missing_ok=True)
    _sync_folder(path.parent)


def check_target(path: Path) -> None:
    """Whether a file may be written there: only another file is replaced. A link is not followed, and not replaced either: it
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
    """Say in one line what the system does not do."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise SearchError(f"{path} cannot be {what}: {getattr(error, 'strerror', None) or error}") from None


def _sync_folder(folder: Path) -> None:
    """Have the new name on disk, too, where folders can be synced."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


# --- reading ---------------------------------------------------------------------------------------------------------------


class Bounded:
    """A stream that gives no more than MOST_READ bytes in one go, whatever is asked for."""

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
            raise Damaged("a name is there twice, or what is no array")

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
    """Whatever readers raise at a file that nobody wrote like this is damage."""
    try:
        yield
    except Exception as error:
        raise Damaged from error


def _read_description(stream: IO[bytes]) -> tuple[np.dtype, tuple[int, ...]]:
    """What an array says of itself: its type and shape."""
    if np.lib.format.read_magic(stream) != (1, 0):
        raise Damaged("not our version")
    shape, by_columns, dtype = np.lib.format.read_array_header_1_0(stream)
    if by_columns and len(shape) > 1:
        raise Damaged("not our order")
    return dtype, shape


def _read_into(stream: IO[bytes], target: np.ndarray) -> None:
    """Fill `target`, an array of bytes; then nothing may be left, and the checksum must be right."""
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
    """As `os.open`; a pipe to which nobody writes does not hold us up."""
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
