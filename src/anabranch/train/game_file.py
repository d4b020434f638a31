"""Finished games on disk: files to which games are only ever appended, each game whole or not at all.

    file    MAGIC, then frames: the first one is a header (JSON), each following one a game
    frame   length u4, CRC-32 u4 (little-endian), then so many bytes, compressed with zlib
    game    one line of JSON (moves, result, ...), then its rows: the positions to learn from, as an array of records

A process appends a game with one write; if it is killed in the middle, the incomplete frame at the end is ignored by readers.
Every process that plays begins a file of its own, so nobody appends to such an end. Above: `self_play.py` writes, `window.py`
reads.
"""

import json
import os
import struct
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from anabranch.errors import TrainingError
from anabranch.games.game import Game

MAGIC = b"anabranch games 1\n"
FRAME = struct.Struct("<II")
LARGEST = 1 << 28  # bytes of a game: more is damage
ENDING = ".games"


def row_type(game: Game) -> np.dtype:
    """A position to learn from. Values are in units of the game's returns, in the view of the player to move, or one per player
    where a value has several numbers; policies of both players follow one another where both move at once."""
    policy, width = int(np.prod(game.policy_shape)), game.value_width()
    return np.dtype(
        [
            ("state", np.void, game.record.itemsize),
            ("policy", "f2", (policy,)),  # the search's, as a target: visits, or what the selection rule made of them
            ("regularized", "f2", (policy,)),  # the exact regularised policy
            ("prior", "f2", (policy,)),  # the network's, before noise
            ("search", "f4", (width,)),  # the value that the search found
            ("outcome", "f4", (width,)),  # what was still paid from here on
            ("ply", "u2"),
            ("left", "u2"),  # plies until the end
            ("reply", "i4"),  # the edge that was followed in the next position, by whoever played there; -1 at the end
            ("proven", "?"),  # whether the search's value is proven
        ]
    )


@dataclass
class PlayedGame:
    """A finished game."""

    worker: int
    number: int  # of the worker's games: with it a game's identity
    network: str  # the file's name
    moves: list[Any]  # actions, events, pairs of actions (read back as lists), from the start
    opening: int  # how many of them were not chosen by a search
    returns: list[float]  # one number per player, rewards on the way included, discounted from the start
    ending: str  # "over", "resigned", "cap"
    rows: np.ndarray = field(repr=False)
    would_resign: int = -1  # the player who resigned or, in a game in which nobody does, would have
    final: bytes = b""  # the last position's record
    board: int | None = None  # the number of the board, as `Game.start_on` takes it

    def facts(self) -> dict[str, Any]:
        """All but the rows, as JSON has it."""
        facts = {name: value for name, value in asdict(self).items() if name != "rows"}
        return facts | {"final": self.final.hex()}


def packed(content: bytes) -> bytes:
    """A frame."""
    small = zlib.compress(content, 6)
    return FRAME.pack(len(small), zlib.crc32(small)) + small


class GameWriter:
    """Appends games to a new file."""

    def __init__(self, path: Path, header: dict[str, Any]) -> None:
        self.path = path
        content = MAGIC + packed(json.dumps(header).encode())
        try:
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o666)
        except OSError as error:
            raise TrainingError(f"{path} cannot be written: {error.strerror}") from None
        self.size = 0
        try:
            self._append(content)
        except OSError as error:
            self.close()
            path.unlink(missing_ok=True)  # so that it can be tried again
            raise TrainingError(f"{path} cannot be written: {error.strerror}") from None

    def write(self, game: PlayedGame) -> None:
        """Append a game. If it cannot be written whole (the disk is full), nothing of it is."""
        content = json.dumps(game.facts()).encode() + b"\n" + game.rows.tobytes()
        try:
            self._append(packed(content))
        except OSError as error:
            raise TrainingError(f"{self.path} cannot be written: {error.strerror}") from None

    def _append(self, content: bytes) -> None:
        try:
            written = os.write(self._file, content)
            while written < len(content):
                written += os.write(self._file, content[written:])  # raises if the disk is full
        except OSError:
            os.ftruncate(self._file, self.size)
            raise
        self.size += len(content)

    def close(self) -> None:
        """Nothing more is written."""
        os.close(self._file)


def read_games(path: Path, dtype: np.dtype, offset: int = 0) -> Iterator[tuple[PlayedGame, int]]:
    """The whole games of a file from a place in it on, each with the place behind it. What follows a damaged frame is lost."""
    for content, end, is_header in _frames(path, offset):
        if not is_header:
            yield _game_of(content, dtype, path), end


def read_header(path: Path) -> dict[str, Any] | None:
    """What the file says of itself; None if it has not been written whole."""
    for content, _, is_header in _frames(path, 0):
        return dict(json.loads(content)) if is_header else None
    return None


def _frames(path: Path, offset: int) -> Iterator[tuple[bytes, int, bool]]:
    """Whole frames: their content, the place behind them, and whether it is the header."""
    with open(path, "rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            return
        here = max(offset, len(MAGIC))
        file.seek(here)
        while True:
            head = file.read(FRAME.size)
            if len(head) < FRAME.size:
                return
            length, check = FRAME.unpack(head)
            small = file.read(length) if length <= LARGEST else b""
            if len(small) < length or zlib.crc32(small) != check:
                return
            is_header, here = here == len(MAGIC), here + FRAME.size + length
            yield zlib.decompress(small), here, is_header


def _game_of(content: bytes, dtype: np.dtype, path: Path) -> PlayedGame:
    line, _, rows = content.partition(b"\n")
    facts = json.loads(line)
    if len(rows) % dtype.itemsize:
        raise TrainingError(f"{path} has games of another form; were they played by another version, or for another game?")
    facts["final"] = bytes.fromhex(facts["final"])
    return PlayedGame(rows=np.frombuffer(rows, dtype), **facts)
