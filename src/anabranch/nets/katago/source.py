"""A KataGo file as a stream of words and blocks of weights, read with little memory however faulty it is.

The file may be gzipped. What it declares is compared with what it can hold before memory is taken for it: a plain file holds as
many bytes as it has, and a gzipped one may grow to `EXPANSION` times its size. Every fault is one `NetworkError` that names the
file. `file.py` knows what the words mean.
"""

import math
import os
import re
import zlib
from pathlib import Path
from types import TracebackType
from typing import NoReturn

import numpy as np

from anabranch.errors import NetworkError

GZIP = b"\x1f\x8b"
CHUNK = 1 << 18  # bytes that are read or unpacked at a time
EXPANSION = 50  # times its size; weights hardly shrink when they are packed: by 10 % as binary, to a third as text
ALLOWANCE = 1 << 20  # bytes more, for files so small that headers outweigh weights
MOST_WEIGHTS = (
    400_000_000  # of all layers: 1.6 GB, as an ONNX graph ends at 2 GiB; the largest networks of 2025 have 73 million
)
LONGEST_WORD = 256
LONGEST_NUMBER = 64
BINARY = b"@BIN@"  # before a block of little-endian f4
NUMERALS = b"0123456789+-.eE"
SPACES = b" \t\r\n\v\f"
WHOLE = re.compile(r"[+-]?[0-9]{1,9}")


class Source:
    """A file that is being read; use it in a `with`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.is_file():
            raise NetworkError(f"{path}: there is no such file")
        try:
            self._file = path.open("rb")
        except OSError as error:
            raise NetworkError(f"{path} cannot be read: {error.strerror}") from None
        size = os.fstat(self._file.fileno()).st_size
        self._buffer, self._at = b"", 0  # what was unpacked, and how far it was used
        self._unpacked, self._weights = 0, 0  # bytes and weights so far
        self._binary: bool | None = None  # whether weights are; the first block tells
        self._gzip = zlib.decompressobj(wbits=31) if self._file.read(2) == GZIP else None  # 31: gzip, with its checksum
        self._file.seek(0)
        self._limit = EXPANSION * size + ALLOWANCE if self._gzip else size

    def __enter__(self) -> "Source":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._file.close()

    def fail(self, what: str) -> NoReturn:
        """Say what is wrong with the file."""
        raise NetworkError(f"{self.path} cannot be used as a KataGo network: {what}")

    # --- bytes ---

    def _fill(self) -> bool:
        """Have more bytes in the buffer; False at the end of the file."""
        try:
            more = self._read() if self._gzip is None else self._unpack(self._gzip)
        except zlib.error:
            self.fail("its gzip data is damaged")
        except OSError as error:
            self.fail(f"{error.strerror} while it was read")
        self._unpacked += len(more)
        if self._unpacked > self._limit:
            self.fail(f"it unpacks to more than {EXPANSION} times its size")
        self._buffer, self._at = self._buffer[self._at :] + more, 0
        return bool(more)

    def _read(self) -> bytes:
        return self._file.read(CHUNK)

    def _unpack(self, gzip: "zlib._Decompress") -> bytes:
        """The next bytes, none only at the end of the gzip member; whatever follows that is a fault."""
        while not gzip.eof:
            packed = gzip.unconsumed_tail or self._file.read(CHUNK)
            more = gzip.decompress(packed, CHUNK) if packed else gzip.flush()
            if more:
                return more
            if not packed:
                self.fail("it ends before its gzip data does: it is cut short")
        if gzip.unused_data or self._file.read(1):
            self.fail("something follows its gzip data")
        return b""

    def _next_byte(self, what: str) -> bytes:
        """The first byte that is not a space, which stays in the buffer."""
        while True:
            while self._at < len(self._buffer) and self._buffer[self._at] in SPACES:
                self._at += 1
            if self._at < len(self._buffer):
                return self._buffer[self._at : self._at + 1]
            if not self._fill():
                self.fail(f"it ends where {what} should be")

    def finish(self) -> None:
        """See that nothing but spaces is left, and, if it is gzipped, that its checksum is right."""
        while True:
            if self._buffer[self._at :].strip(SPACES):
                self.fail("something follows its last weights")
            self._at = len(self._buffer)
            if not self._fill():
                return

    # --- words ---

    def word(self, what: str) -> str:
        """The next word."""
        self._next_byte(what)
        length = 0
        while True:
            while self._at + length < len(self._buffer) and self._buffer[self._at + length] not in SPACES:
                length += 1
                if length > LONGEST_WORD:
                    self.fail(f"{what} is more than {LONGEST_WORD} characters long")
            if self._at + length < len(self._buffer) or not self._fill():
                break
        word = self._buffer[self._at : self._at + length]
        self._at += length
        if not all(33 <= byte < 127 for byte in word):
            self.fail(f"{what} is not text")
        return word.decode("ascii")

    def whole(self, what: str, least: int, most: int) -> int:
        """The next word as an integer within bounds."""
        word = self.word(what)
        if not WHOLE.fullmatch(word) or not least <= int(word) <= most:
            bounds = f"a whole number from {least} to {most}" if least < most else f"{least}"
            self.fail(f"{what} is {word[:LONGEST_NUMBER]!r}, not {bounds}")
        return int(word)

    def positive(self, what: str) -> float:
        """The next word as a number above 0."""
        word = self.word(what)
        try:
            number = float(word) if not word.encode().translate(None, NUMERALS) else math.nan
        except ValueError:
            number = math.nan
        if not 0.0 < number < math.inf:
            self.fail(f"{what} is {word[:LONGEST_NUMBER]!r}, not a number above 0")
        return number

    # --- weights ---

    def weights(self, name: str, *shape: int) -> np.ndarray:
        """The next block of weights, f4, all finite."""
        count = math.prod(shape)
        first = self._next_byte(f"the weights of {name}")
        if self._binary is None:
            self._binary = first == BINARY[:1]
        self._weights += count
        left = self._limit - self._unpacked + len(self._buffer) - self._at
        if self._weights > MOST_WEIGHTS or count * (4 if self._binary else 2) > left:
            self.fail(f"{name} should have {count:,} weights, more than the file can hold")
        weights = np.empty(count, "<f4")
        if self._binary:
            self._fill_binary(name, weights)
        else:
            self._fill_text(name, weights)
        if not np.isfinite(weights).all():
            self.fail(f"a weight of {name} is not finite")
        return weights.astype(np.float32, copy=False).reshape(shape)

    def _fill_binary(self, name: str, weights: np.ndarray) -> None:
        while len(self._buffer) - self._at < len(BINARY) and self._fill():
            pass
        if self._buffer[self._at : self._at + len(BINARY)] != BINARY:
            self.fail(f"the weights of {name} do not begin with {BINARY.decode()}")
        self._at += len(BINARY)
        target, done = weights.view(np.uint8), 0
        while done < len(target):
            if self._at == len(self._buffer) and not self._fill():
                self.fail(f"it ends in the weights of {name}: it is cut short")
            piece = self._buffer[self._at : self._at + len(target) - done]
            target[done : done + len(piece)] = np.frombuffer(piece, np.uint8)
            self._at += len(piece)
            done += len(piece)

    def _fill_text(self, name: str, weights: np.ndarray) -> None:
        done = 0
        while done < len(weights):
            self._next_byte(f"the weights of {name}")
            end = 1 + max(self._buffer.rfind(space, self._at) for space in SPACES)  # up to here words are complete
            if end == 0:
                if len(self._buffer) - self._at > LONGEST_NUMBER:
                    self.fail(f"a weight of {name} is not a number")
                if not self._fill():
                    self.fail(f"it ends in a weight of {name}: it is cut short")
                continue
            words = self._buffer[self._at : end].split(None, len(weights) - done)
            self._at = end - len(words.pop()) if len(words) > len(weights) - done else end
            weights[done : done + len(words)] = self._numbers(name, words)
            done += len(words)

    def _numbers(self, name: str, words: list[bytes]) -> np.ndarray:
        try:
            if b"".join(words).translate(None, NUMERALS) or max(map(len, words)) > LONGEST_NUMBER:
                raise ValueError
            with np.errstate(over="ignore"):  # what is too large becomes infinite, and is refused with that
                return np.array([float(word) for word in words]).astype(np.float32)
        except ValueError:
            self.fail(f"a weight of {name} is not a number")
