"""Records as plain Python sees them, and their bytes as kernels see them.

In a kernel, `state.turn` reads a field of a record. `readable` views structured arrays so that the same expression works in
plain Python and gives the same numbers. `word` reads a record eight bytes at a time, for hashing.
"""

import difflib
import functools
from collections.abc import Iterable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from anabranch.jit.numbers import READERS, fitted, read

_own, _field = np.void.__getattribute__, np.void.__getitem__


class PlainRecord(np.record):  # type: ignore[misc]
    """A record in plain Python that behaves as in a kernel: fields are attributes whatever their name (`state.size`), and
    numbers read from them have the arithmetic of a kernel (`numbers.py`)."""

    __slots__ = ()  # a record that referred to its own array would leak both: Python's collector cannot see such a cycle

    def __getattribute__(self, name: str) -> Any:
        dtype = _own(self, "dtype")
        if name not in dtype.fields:
            if name.startswith("_") or hasattr(np.void, name):
                return _own(self, name)
            raise AttributeError(f"the state has no field {name!r}{nearest(name, dtype.names)}")
        value = _field(self, name)
        reader = READERS.get(type(value))
        if reader is not None:
            return reader(value)
        return as_plain(value) if isinstance(value, np.ndarray) else value

    def __getitem__(self, name: Any) -> Any:
        return getattr(self, name) if isinstance(name, str) and ":" not in name else _field(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        dtype = _own(self, "dtype")
        if name not in dtype.fields:
            raise AttributeError(f"the state has no field {name!r}{nearest(name, dtype.names)}")
        np.void.__setitem__(self, name, fitted(value, dtype.fields[name][0].base))

    def __setitem__(self, name: Any, value: Any) -> None:
        setattr(self, name, value) if isinstance(name, str) and ":" not in name else np.void.__setitem__(self, name, value)


class PlainArray(np.ndarray):
    """An array of a record in plain Python. Its elements, however they are accessed, are read like fields."""

    def __getitem__(self, index: Any, get: Any = np.ndarray.__getitem__, reader_of: Any = READERS.get) -> Any:
        value = get(self, index)
        reader = reader_of(type(value))
        return value if reader is None else reader(value)

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    @property
    def flat(self) -> Any:
        """All elements in one dimension."""
        return self.reshape(-1)

    def item(self, *index: Any) -> Any:
        """One element."""
        return read(np.asarray(self).flat[index[0]] if len(index) == 1 else np.asarray(self)[index or ((0,) * self.ndim)])

    def sum(self, *arguments: Any, **options: Any) -> Any:
        """The sum, in 64 bits."""
        return read(np.asarray(self).sum(*arguments, **options))

    def prod(self, *arguments: Any, **options: Any) -> Any:
        """The product, in 64 bits."""
        return read(np.asarray(self).prod(*arguments, **options))


class PlainWideArray(PlainArray):
    """An array of 64-bit elements, into which signed and unsigned numbers may be stored."""

    def __setitem__(self, index: Any, value: Any) -> None:
        np.ndarray.__setitem__(self, index, fitted(value, self.dtype))


def as_plain(array: np.ndarray) -> np.ndarray:
    """The same array, its elements as plain rules need them."""
    if array.dtype.type in (np.int64, np.uint64):
        return array.view(PlainWideArray)
    return array if array.dtype.names or array.dtype == np.float64 else array.view(PlainArray)


def nearest(name: str, names: Iterable[str] | None) -> str:
    """The field that was probably meant; else the names of all fields."""
    own = [field for field in names or () if ":" not in field]  # the others are internal: the game's tag, padding
    near = difflib.get_close_matches(name, own, n=1)
    return f"; did you mean {near[0]!r}?" if near else f"; it has {', '.join(own)}"


def readable(argument: Any) -> Any:
    """Structured arrays, alone or in a named tuple, as arrays of `PlainRecord`."""
    if isinstance(argument, np.ndarray) and argument.dtype.names:
        return argument.view(_readable_dtype(argument.dtype))
    if isinstance(argument, tuple) and hasattr(argument, "_fields"):
        return type(argument)(*(readable(field) for field in argument))
    return argument


@functools.cache
def _readable_dtype(dtype: np.dtype) -> np.dtype:
    """The same layout, nested records included."""
    assert dtype.names and dtype.fields
    inner = {}
    for name in dtype.names:
        field, offset = dtype.fields[name][:2]
        inner[name] = (np.dtype((_readable_dtype(field.base), field.shape)) if field.base.names else field, offset)
    if all(inner[name][0] is dtype.fields[name][0] for name in dtype.names):
        return np.dtype((PlainRecord, dtype))
    layout: Any = {
        "names": list(inner),
        "formats": [field for field, _ in inner.values()],
        "offsets": [offset for _, offset in inner.values()],
        "itemsize": dtype.itemsize,
    }
    return np.dtype((PlainRecord, np.dtype(layout, align=dtype.isalignedstruct)))


def words(state):
    """How many u8 the record fills."""
    return state.dtype.itemsize // 8


def word(state, index):
    """The record's u8 number `index`."""
    return np.frombuffer(state.tobytes(), np.uint64)[index]


@overload(words)
def _compile_words(state):
    count = state.size // 8
    return lambda state: count


@overload(word)
def _compile_word(state, index):
    return lambda state, index: _word(state, index)


@intrinsic
def _word(typing, state, index):
    def build(context, builder, signature, arguments):
        start = builder.bitcast(arguments[0], ir.IntType(64).as_pointer())
        offset = context.cast(builder, arguments[1], signature.args[1], types.int64)
        return builder.load(builder.gep(start, [offset]))

    return types.uint64(state, index), build
