"""Saved searches: a file is loaded and searched on, or refused. An input is a file, or, if it begins with a number of `MADE`,
changes to a good file: five bytes each, which say the member, the place (two bytes), how, and with what. The members are then
packed anew, so that checksums of the archive are right and only the search's own checks are left."""

import atexit
import contextlib
import io
import shutil
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from anabranch.errors import SearchError
from anabranch.games.tictactoe import TicTacToe
from anabranch.games.tug import Tug
from anabranch.search.searcher import Search

VISITS = 20
MEMORY = "1MB"
WORDS = ["header", "PK\x03\x04", "slots", "table", "used", "random", "\x93NUMPY", '"version"', '"root"', '"moves"', '"memory"']
MADE: list[tuple[Any, dict[str, Any]]] = [
    (TicTacToe(), {}),
    (TicTacToe(), {"graph": True, "prove": True}),
    (Tug(), {"graph": True, "prove": True}),
]
FOLDER = Path(tempfile.mkdtemp(prefix="fuzz-saves-"))
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)


def _members(game: Any, options: dict[str, Any]) -> list[tuple[str, bytes]]:
    """What a good file holds."""
    search = Search(game, memory=MEMORY, **options)
    search.run(game.start(), visits=30)
    path = FOLDER / "good"
    search.save(path)
    with zipfile.ZipFile(path) as archive:
        return [(name, archive.read(name)) for name in sorted(archive.namelist())]


GOOD = [_members(game, options) for game, options in MADE]


def check(data: bytes) -> None:
    """Load and go on."""
    kind = data[0] if data else 0
    is_made = kind < len(MADE)
    game, options = MADE[kind if is_made else 0]
    path = FOLDER / "search"
    path.write_bytes(_changed(GOOD[kind], data[1:]) if is_made else data)
    search = Search(game, memory=MEMORY, **options)
    with contextlib.suppress(SearchError):
        search.load(path)
        search.run(visits=VISITS)
        for move in search.result().moves[:1]:
            search.advance(move.action)
            search.run(visits=VISITS)


def _changed(members: list[tuple[str, bytes]], changes: bytes) -> bytes:
    """A file with these changes."""
    contents = {name: bytearray(content) for name, content in members}
    names = list(contents)
    for start in range(0, len(changes) - 4, 5):
        member, high, low, how, value = changes[start : start + 5]
        content = contents[names[member % len(names)]]
        if not content:
            continue
        place = (high << 8 | low) % len(content)
        if how % 4 == 0:
            content[place] = value
        elif how % 4 == 1:
            content[place] ^= 1 << value % 8
        elif how % 4 == 2:
            del content[place : place + value]
        else:
            content[place : place + 8] = bytes([value]) * 8
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(name, bytes(content))
    return out.getvalue()
