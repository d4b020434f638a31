"""Records as plain Python sees them, and their bytes as kernels do.

In a kernel, `state.turn` reads a field of a record. `readable` views structured arrays so that plain Python can write the same
and get the same numbers. `word` reads a record eight bytes at a time, for hashing.
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


class PlainRecord(np.record):  # type: ignore[misc]
    """A record in plain Python that behaves as in a kernel: fields are attributes whatever their name (`state.size`), and what
    is read from them is computed with as in a kernel (`numbers.py`)."""

    def __getattribute__(self, name: str) -> Any:
        dtype = np.void.__getattribute__(self, "dtype")
        if name not in dtype.fields:
            if name.startswith("_") or hasattr(np.void, name):
                return np.void.__getattribute__(self, name)
            raise AttributeError(f"the state has no field {name!r}{nearest(name, dtype.names)}")
        value = self[name]
        if isinstance(value, np.ndarray):
            return value if value.dtype.type in AS_THEY_ARE else value.view(PlainArray)
        return read(value)

    def __setattr__(self, name: str, value: Any) -> None:
        dtype = np.void.__getattribute__(self, "dtype")
        if name not in dtype.fields:
            raise AttributeError(f"the state has no field {name!r}{nearest(name, dtype.names)}")
        self[name] = fitted(value, dtype.fields[name][0].base)


class PlainArray(np.ndarray):
    """An array of a record in plain Python. Its elements, however they are reached, are read as fields are."""

    def __getitem__(self, index: Any) -> Any:
        value = np.ndarray.__getitem__(self, index)
        reader = READERS.get(type(value))
        return value if reader is None else reader(value)

    def __setitem__(self, index: Any, value: Any) -> None:
        np.ndarray.__setitem__(self, index, fitted(value, self.dtype))

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    @property
    def flat(self) -> Any:
        """All elements in one row."""
        return self.reshape(-1)

    def item(self, *index: Any) -> Any:
        """One element."""
        return read(np.asarray(self).flat[index[0]] if len(index) == 1 else np.asarray(self)[index or ((0,) * self.ndim)])

    def sum(self, *arguments: Any, **options: Any) -> Any:
        """As wide as 64 bits."""
        return read(np.asarray(self).sum(*arguments, **options))

    def prod(self, *arguments: Any, **options: Any) -> Any:
        """As wide as 64 bits."""
        return read(np.asarray(self).prod(*arguments, **options))


AS_THEY_ARE = (np.float64, PlainRecord)  # elements that NumPy reads as plain rules need them


def nearest(name: str, names: Iterable[str] | None) -> str:
    """The field that was meant, as far as one can tell; else those that there are."""
    own = [field for field in names or () if ":" not in field]  # the others are ours: the game's tag, what fills up
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
    """The same layout, records within records included."""
    assert dtype.names and dtype.fields
    inner = {}
    for name in dtype.names:
        field, offset = dtype.fields[name][:2]
        inner[name] = (np.dtype((_readable_dtype(field.base), field.shape)) if field.base.names else field, offset)
    if all(inner[name][0] is dtype.fields[name][0] for name in dtype.names):
        return np.dtype((PlainRecord, dtype))
    layout = {
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
