"""Files that commands write. Whether they can be is found out before the time is spent: `check_outputs` is called first, and
`write` at the end."""

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from anabranch.errors import SearchError


def check_outputs(*paths: Path | None) -> None:
    """Raise what is wrong with the first of these files that cannot be written; what is there stays as it is."""
    for path in paths:
        if path is not None:
            with _telling(path, "written"):
                _try(path)


def check_replaced(path: Path) -> None:
    """The same for a file that is written beside its place, and then takes it."""
    from anabranch.search.results.archive import check_target

    check_target(path)
    with _telling(path, "written"), tempfile.TemporaryFile(dir=path.parent):
        pass


def check_folder(path: Path | None) -> None:
    """The same for a folder in which files are written; it is made if it is not there."""
    if path is not None:
        with _telling(path, "made"):
            path.mkdir(parents=True, exist_ok=True)
        with _telling(path, "written"), tempfile.TemporaryFile(dir=path):
            pass


def write(path: Path, text: str) -> None:
    """Write a file, or say in one line why not."""
    with _telling(path, "written"):
        path.write_text(text, encoding="utf-8")


def _try(path: Path) -> None:
    """Open a file as if to write at its end, and write nothing. Pipes and devices would notice that, and are left alone."""
    is_new = not path.exists()
    if path.is_dir():
        raise ValueError("it is a folder; name a file in it")
    if is_new or stat.S_ISREG(path.stat().st_mode):
        os.close(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666))
        if is_new:
            path.resolve().unlink()


@contextlib.contextmanager
def _telling(path: Path, what: str) -> Iterator[None]:
    """Say in one line what the system does not do."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise SearchError(f"{path} cannot be {what}: {getattr(error, 'strerror', None) or error}") from None
