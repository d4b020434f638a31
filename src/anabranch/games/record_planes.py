"""What networks see of a game without `planes`: the fields of its record as numbers, one after the other.

    a whole number   its size on a logarithmic scale from -1 to 1; if its type has a sign, whether it is negative; its binary
                     digits without the sign, lowest first
    a float          arcsinh(x): about x near 0, and no more than its logarithm far away
    a truth value    0 or 1

Digits lose nothing and need no range: a layer can add them up to the number, and can tell small numbers apart that stand for
different things (0, 1 and 2 for an empty cell and two colours); those of a bit board are its points. Fields are in the record's
order, arrays flattened; neither padding nor the tag of the game is shown. Next: `encoding.py`, which adds who is to move.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from anabranch.jit.dispatch import PAD_PREFIX, TAG_PREFIX

KINDS = "biuf"  # of NumPy's types: truth values, whole numbers with and without a sign, floats


class Leaf(NamedTuple):
    """A field that is no record itself."""

    path: tuple[str, ...]  # its name, after those of the records that it is in
    dtype: np.dtype
    size: int  # how many of them there are: an array's, times those of the records around it

    @property
    def width(self) -> int:
        """How many numbers show one of them."""
        return {"b": 1, "f": 1, "u": 1 + 8 * self.dtype.itemsize, "i": 2 + 8 * self.dtype.itemsize}[self.dtype.kind]


@lru_cache(maxsize=64)
def leaves_of(record: np.dtype) -> tuple[Leaf, ...]:
    """The fields of a record that are shown, in order. Some may be of a type that cannot be: see `KINDS`."""
    return tuple(_leaves(record, (), 1))


def _leaves(record: np.dtype, path: tuple[str, ...], count: int) -> Iterator[Leaf]:
    assert record.fields is not None
    for name in record.names or ():
        if not path and name.startswith((TAG_PREFIX, PAD_PREFIX)):
            continue
        whole = record.fields[name][0]
        inside = count * int(np.prod(whole.shape, dtype=np.int64))
        if whole.base.names:
            yield from _leaves(whole.base, (*path, name), inside)
        else:
            yield Leaf((*path, name), whole.base, inside)


def show_fields(states: np.ndarray, out: np.ndarray) -> None:
    """Write the fields of n states into `out`, f4 (n, numbers)."""
    begin = 0
    for leaf in leaves_of(states.dtype):
        values: Any = states
        for name in leaf.path:
            values = values[name]
        width = leaf.size * leaf.width
        out[:, begin : begin + width] = numbers_of(values.reshape(len(states), leaf.size)).reshape(len(states), width)
        begin += width


def numbers_of(values: np.ndarray) -> np.ndarray:
    """Values (n, count) of one type, as numbers: (n, count, width)."""
    if values.dtype.kind == "b":
        return values[:, :, None]
    if values.dtype.kind == "f":
        return np.arcsinh(np.nan_to_num(values.astype(np.float64)))[:, :, None]
    largest = np.arcsinh(float(np.iinfo(values.dtype).max))
    parts = [(np.arcsinh(values.astype(np.float64)) / largest)[:, :, None]]
    if values.dtype.kind == "i":
        parts.append((values < 0)[:, :, None])
    unsigned = np.abs(values).astype(f"<u{values.dtype.itemsize}")  # also of the least number, which has no opposite
    digits = np.unpackbits(unsigned[:, :, None].view(np.uint8), axis=2, bitorder="little")
    return np.concatenate([*parts, digits], axis=2)
