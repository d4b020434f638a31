"""Files that only their owner can have written, each with a checksum: where `cache.py` stores compiled kernels.

What is read here becomes code that runs, so a file is used only if nobody else can have put it there. As ssh requires for its
keys, the folder and its parents, up to the home folder, must belong to the user or to root, and nobody else may write
to them. The same holds for a file, which must also begin with a checksum of its name and its content: one that is damaged,
truncated or renamed counts as missing.
"""

import contextlib
import errno
import functools
import hashlib
import os
import shlex
import stat
import time
from pathlib import Path
from typing import Any, NamedTuple

from platformdirs import user_cache_dir

try:
    import fcntl as _fcntl
except ImportError:  # Windows
    fcntl: Any = None
else:
    fcntl = _fcntl

CHECKSUM = hashlib.sha256().digest_size  # bytes at the start of a file
READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
LOCK = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
PATIENCE = 60.0  # seconds to wait for another process: longer than any kernel takes, unless that process has been stopped
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
REMEDY = "set ANABRANCH_CACHE to a folder of your own"


class Folder(NamedTuple):
    """Where kernels are kept."""

    path: Path
    problem: str | None  # why nothing is read from it or written to it, and what to do


def folder() -> Folder:
    """The folder below $ANABRANCH_CACHE if that is set and not empty, else below the user's cache folder."""
    return _prepared(os.environ.get("ANABRANCH_CACHE", ""))


def read(path: Path) -> bytes | None:
    """The content of a file that was written here under this name; None if it is missing, damaged or not trusted."""
    try:
        with open(path, "rb", opener=lambda name, _: os.open(name, READ)) as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode) or not _is_ours(found) or _others_write(found):
                return None
            checksum, content = file.read(CHECKSUM), file.read()
    except (OSError, MemoryError):
        return None
    return content if checksum == _checksum(path.name, content) else None


def write(path: Path, content: bytes) -> str | None:
    """Write this content atomically; returns None, or why it failed. It is written under an unpredictable name and then
    renamed, so that no reader ever sees half a file, and a link in its place is replaced, not followed."""
    temporary = path.with_name(f"{path.name}.{os.urandom(8).hex()}")
    try:
        try:
            with open(temporary, "wb", opener=lambda name, _: os.open(name, CREATE, 0o600)) as file:
                file.write(_checksum(path.name, content))
                file.write(content)
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            return f"the cache folder {path.parent} is read-only; {REMEDY}"
        room = "make room there, or " if error.errno in (errno.ENOSPC, errno.EDQUOT) else ""
        return f"{path.parent}: {error.strerror}; {room}{REMEDY}"
    return None


def claim(path: Path) -> int | None:
    """Wait while another process makes this file. Gives a descriptor for `release`; None if nothing can be claimed here."""
    if fcntl is None:
        return None
    try:
        lock = os.open(_lock_of(path), LOCK, 0o600)
    except OSError:
        return None
    given_up = time.monotonic() + PATIENCE
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return lock
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES, errno.EINTR) or time.monotonic() > given_up:
                os.close(lock)
                return None
        time.sleep(0.02)


def release(path: Path, lock: int) -> None:
    """Let others have it. Who has opened the lock already finds it free, and the file that it is about."""
    with contextlib.suppress(OSError):
        _lock_of(path).unlink(missing_ok=True)
    fcntl.flock(lock, fcntl.LOCK_UN)  # a fork of this process may have the descriptor, too
    os.close(lock)


def _lock_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.lock")


def _checksum(name: str, content: bytes) -> bytes:
    digest = hashlib.sha256(name.encode() + b"\0")
    digest.update(content)
    return digest.digest()


@functools.cache
def _prepared(chosen: str) -> Folder:
    """Create missing folders and check existing ones. Links are resolved once, so that nobody can redirect them later."""
    path = Path(chosen)
    try:
        path = Path(chosen or user_cache_dir("anabranch", appauthor=False)).expanduser()
        path = Path(os.path.realpath(path), "kernels")
        return Folder(path, _make_safe(path))
    except RuntimeError:  # from either of the two calls that look for a home folder
        return Folder(path, f"no cache folder: there is no home folder for {chosen or 'this user'}; {REMEDY}")
    except OSError as error:
        return Folder(path, f"no cache folder: {error.filename or chosen}: {error.strerror}; {REMEDY}")


def _make_safe(path: Path) -> str | None:
    """Make every folder exist, created by us or already safe, from the home folder down, or from the root; or say why not."""
    downwards = [*reversed(path.parents), path]
    home = Path(os.path.realpath(os.path.expanduser("~")))
    if home in downwards:
        del downwards[: downwards.index(home)]
    for place in downwards:
        if not place.exists():
            place.mkdir(0o700, exist_ok=True)  # another process may just have created it
        problem = _unsafe(place, levels_up=len(path.parts) - len(place.parts))
        if problem:
            return problem
    if not os.access(path, os.R_OK | os.X_OK):
        return f"the cache folder {path} cannot be read; {REMEDY}"
    return None


def _unsafe(place: Path, levels_up: int) -> str | None:
    """Why others could change the contents of this folder; `levels_up` counts from the folder of the files."""
    found = os.lstat(place)
    if not stat.S_ISDIR(found.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(place))
    if not _is_ours(found):
        return f"the cache is not used: {place} belongs to another user; {REMEDY}"
    if not _others_write(found):
        return None
    if levels_up >= 1 and found.st_mode & stat.S_ISVTX:
        return None  # as in /tmp: others can add to it, but not rename what is ours
    if levels_up >= 2 and not found.st_mode & stat.S_IWOTH and _is_private(found.st_gid):
        return None
    return f"the cache is not used: others can write to {place}; run chmod go-w {shlex.quote(str(place))}, or {REMEDY}"


def _is_ours(found: os.stat_result) -> bool:
    return not hasattr(os, "geteuid") or found.st_uid in (os.geteuid(), 0)  # Windows: access lists guard the user's folders


def _others_write(found: os.stat_result) -> bool:
    return hasattr(os, "geteuid") and bool(found.st_mode & OTHERS_WRITE)


def _is_private(group: int) -> bool:
    """Whether this group is the user's alone: many systems create one per user, which may write to all new folders."""
    import grp
    import pwd

    try:
        user, found = pwd.getpwuid(os.geteuid()), grp.getgrgid(group)
    except KeyError:
        return False
    return user.pw_gid == group and found.gr_name == user.pw_name and set(found.gr_mem) <= {user.pw_name}
