"""Records as plain Python sees them, and their bytes as kernels do.

In a kernel, `state.turn` reads a field of a record. `readable` views structured arrays so that plain Python can write the same
and get the same numbers. `word` reads a record eight bytes at a time, for hashing.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload


class PlainRecord(np.record):  # type: ignore[misc]
    """A record in plain Python that behaves as in a kernel: fields are attributes whatever their name (`state.size`), and
    arithmetic on them is as wide (an `i1` reads as an int, an `f4` as a float; a `u8` stays one and wraps around)."""

    def __getattribute__(self, name: str) -> Any:
        dtype = np.void.__getattribute__(self, "dtype")
        if name not in dtype.fields:
            if name.startswith("_") or hasattr(np.void, name):
                return np.void.__getattribute__(self, name)
            raise AttributeError(f"the state has no field {name!r}")
        value = self[name]
        return value if isinstance(value, (np.ndarray, np.uint64)) else value.item()

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


def readable(argument: Any) -> Any:
    """Structured arrays, alone or in a named tuple, as arrays of `PlainRecord`."""
    if isinstance(argument, np.ndarray) and argument.dtype.names:
        return argument.view(np.dtype((PlainRecord, argument.dtype)))
    if isinstance(argument, tuple) and hasattr(argument, "_fields"):
        return type(argument)(*(readable(field) for field in argument))
    return argument


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
