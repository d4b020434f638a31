"""Numbers in plain Python with the arithmetic of compiled code.

Numba widens integers to 64 bits before it computes: signed ones wrap around at 2^63, unsigned ones among themselves at
2^64, and a mix of both is signed. Only `-x`, `~x` and `abs(x)` are computed at the width of x and widened afterwards: `-x` of a
`u1` that holds 5 is 251. An `f4` stays `f4` with other `f4`s and with very small integers, and becomes an `f8` otherwise.
NumPy's scalars do none of that (100 + 100 is -56 in an `i1`), and Python's have no width. What plain rules read from a record
is therefore

    bool               `Flag`
    i1, i2             `Byte`, `Short`: ints; no result computed from a few of them exceeds 64 bits
    i4                 an int
    i8                 `Signed`
    u1, u2, u4, u8     `UnsignedByte`, `UnsignedShort`, `UnsignedLong`, `Unsigned`
    f4                 `Single`
    f8                 a float

`read` makes them, `fitted` converts them back for a field. A result that does not fit a narrow field, a division by zero and an
index out of range still raise, so that they are noticed. Next: `records.py`.
"""

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

BITS = 64
ALL = (1 << BITS) - 1
TOP = 1 << (BITS - 1)
EXACT_IN_SINGLE = (bool, np.bool_, np.int8, np.int16, np.uint8)  # with an f4, Numba computes these as f4


def wrapped(number: int) -> int:
    """The number whose low 64 bits are read as a signed integer."""
    return ((number + TOP) & ALL) - TOP


class Short(int):
    """An `i2`: an int, but computed as f4 with an f4; the lowest one has no negative."""

    __slots__ = ()
    bits = 16

    def __neg__(self) -> int:
        return -int(self) if self != -1 << (self.bits - 1) else int(self)

    def __abs__(self) -> int:
        return -self if self < 0 else int(self)


class Byte(Short):
    """An `i1`."""

    __slots__ = ()
    bits = 8


class Flag(int):
    """A bool, which Numba treats as a number in arithmetic, and whose `~` is `not`."""

    __slots__ = ()

    def __invert__(self) -> "Flag":
        return _flags[not self]

    def __repr__(self) -> str:
        return repr(bool(self))


class Whole(Byte):  # a subclass of `Byte` and `Short`, so that Python tries its operators first
    """What `Signed` and `Unsigned` share: arithmetic that chooses the type of its result as Numba does."""

    __slots__ = ()
    __array_priority__ = 1000.0  # NumPy's scalars defer to these operators
    bits = BITS

    def __hash__(self) -> int:
        return int.__hash__(self)

    def __truediv__(self, other: Any) -> Any:
        return _beside_float(operator.truediv, self, other) if _is_float(other) else float(self) / float(other)

    def __rtruediv__(self, other: Any) -> Any:
        return _beside_float(operator.truediv, other, self) if _is_float(other) else float(other) / float(self)

    def __lshift__(self, other: Any) -> "Whole":
        return _kind(self)(int(self) << int(other))

    def __rlshift__(self, other: Any) -> "Whole":
        return _kind(other)(int(other) << int(self))

    def __rshift__(self, other: Any) -> "Whole":
        return _kind(self)(int(self) >> int(other))

    def __rrshift__(self, other: Any) -> "Whole":
        return _kind(other)(int(other) >> int(self))

    def __neg__(self) -> "Whole":
        return _kind(self)(-int(self))

    def __pos__(self) -> "Whole":
        return self

    def __invert__(self) -> "Whole":
        return _kind(self)(~int(self))

    def __abs__(self) -> "Whole":
        return _kind(self)(abs(int(self)))


class Signed(Whole):
    """A signed 64-bit integer."""

    __slots__ = ()

    def __new__(cls, number: Any = 0) -> "Signed":
        """The number, wrapped around."""
        number = int(number)
        return int.__new__(cls, number if -TOP <= number < TOP else wrapped(number))


class Unsigned(Whole):
    """An unsigned integer, widened to 64 bits in arithmetic."""

    __slots__ = ()

    def __new__(cls, number: Any = 0) -> "Unsigned":
        """The number, wrapped around."""
        return int.__new__(cls, int(number) & ALL)

    def __neg__(self) -> "Unsigned":
        return Unsigned(-int(self) & ((1 << self.bits) - 1))

    def __invert__(self) -> "Unsigned":
        return Unsigned(~int(self) & ((1 << self.bits) - 1))


class UnsignedLong(Unsigned):
    """A `u4`."""

    __slots__ = ()
    bits = 32


class UnsignedShort(Unsigned):
    """A `u2`."""

    __slots__ = ()
    bits = 16


class UnsignedByte(Unsigned):
    """A `u1`: computed as f4 with an f4."""

    __slots__ = ()
    bits = 8


class Single(float):
    """An f4."""

    __slots__ = ()
    __array_priority__ = 1000.0

    def __new__(cls, number: Any = 0.0) -> "Single":
        """The number, rounded."""
        return float.__new__(cls, np.float32(number))

    def __hash__(self) -> int:
        return float.__hash__(self)

    def __neg__(self) -> "Single":
        return Single(-float(self))

    def __pos__(self) -> "Single":
        return self

    def __abs__(self) -> "Single":
        return Single(abs(float(self)))


def _is_float(number: Any) -> bool:
    return isinstance(number, (float, np.floating))


def _is_unsigned(number: Any) -> bool:
    return isinstance(number, (Unsigned, np.unsignedinteger))


def _kind(number: Any) -> type[Whole]:
    return Unsigned if _is_unsigned(number) else Signed


def _stays_single(number: Any) -> bool:
    return type(number) in (Byte, Short) or isinstance(number, (Single, np.float32, UnsignedByte, Flag, *EXACT_IN_SINGLE))


def _beside_float(operation: Callable[..., Any], left: Any, right: Any) -> Any:
    """An operation with a float on one side: in single precision if both sides stay single."""
    result = operation(float(left), float(right))
    return Single(result) if _stays_single(left) and _stays_single(right) else result


def _compute(operation: Callable[..., Any], left: Any, right: Any) -> Any:
    """An operation with one of our numbers on at least one side."""
    if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
        return operation(_beside(left, right), _beside(right, left))
    if _is_float(left) or _is_float(right):
        return _beside_float(operation, left, right)
    if _is_unsigned(left) and _is_unsigned(right):
        return Unsigned(operation(int(left), int(right)))
    return Signed(operation(int(Signed(left)), int(Signed(right))))


def _beside(number: Any, array: Any) -> Any:
    """A number converted for an operation with an array, or the array itself: the lowest bits of the result are the same."""
    if isinstance(number, Whole):
        return np.uint64(int(number) & ALL) if array.dtype.kind == "u" else np.int64(wrapped(int(number)))
    return np.float32(number) if isinstance(number, Single) else number


def _arithmetic(number_class: type, python: type, names: tuple[str, ...]) -> None:
    """Give a class both forms of each binary operator. The most frequent cases take a fast path: boards are read a lot."""
    for name in names:
        for form in (f"__{name}__", f"__r{name}__"):
            setattr(number_class, form, _operator(number_class, getattr(python, form), name, form))


def _operator(number_class: type, quick: Any, name: str, form: str) -> Callable[..., Any]:
    operation = getattr(operator, f"{name}_" if name in ("and", "or") else name)
    forward = form == f"__{name}__"

    def signed(self: Any, other: Any) -> Any:
        if type(other) in LIKE_SIGNED:
            result = quick(self, other)
            if -TOP <= result < TOP:
                return int.__new__(Signed, result)
        return _compute(operation, self, other) if forward else _compute(operation, other, self)

    def unsigned(self: Any, other: Any) -> Any:
        if type(other) in LIKE_UNSIGNED:
            return int.__new__(Unsigned, quick(self, int(other)) & ALL)
        return _compute(operation, self, other) if forward else _compute(operation, other, self)

    def single(self: Any, other: Any) -> Any:
        return _compute(operation, self, other) if forward else _compute(operation, other, self)

    if number_class is Single:
        return single
    return signed if number_class is Signed else unsigned


def _arithmetic_of_flags() -> None:
    """A flag defers to `Whole` in an operation with one, and stays a flag with another flag in "and", "or", "xor"."""
    for name in WHOLE:
        quick = getattr(int, f"__{name}__")

        def forward(self: Any, other: Any, quick: Any = quick, stays: bool = name in ("and", "or", "xor")) -> Any:
            if isinstance(other, Whole):
                return NotImplemented
            result = quick(self, other)
            return _flags[bool(result)] if stays and isinstance(other, (Flag, bool)) else result

        setattr(Flag, f"__{name}__", forward)


def _comparisons(number_class: type, python: type) -> None:
    """Define comparisons, too, for which NumPy's scalars defer to us."""
    for name in ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"):
        quick = getattr(python, name)

        def compare(self: Any, other: Any, quick: Any = quick) -> Any:
            return quick(self, other.item() if isinstance(other, np.generic) else other)

        setattr(number_class, name, compare)


LIKE_SIGNED = frozenset((int, bool, Flag, Byte, Short, Signed))
LIKE_UNSIGNED = frozenset((Unsigned, UnsignedByte, UnsignedShort, UnsignedLong, np.uint64))
WHOLE = ("add", "sub", "mul", "floordiv", "mod", "and", "or", "xor")
_arithmetic(Signed, int, (*WHOLE, "pow"))
_arithmetic(Unsigned, int, (*WHOLE, "pow"))
_arithmetic(Single, float, ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"))
_arithmetic_of_flags()
_comparisons(Whole, int)
_comparisons(Single, float)

# All values of one byte, made once: boards are read often. Negative ones are last, where a negative index finds them.
_bytes = tuple(map(Byte, (*range(128), *range(-128, 0))))
_unsigned_bytes = tuple(map(UnsignedByte, range(256)))
_flags = tuple(map(Flag, (0, 1)))
_bare_item = np.generic.item
# By the type of NumPy's scalar: what plain rules get instead. Arrays and records are not in here, and stay as they are.
READERS: dict[type, Callable[[Any], Any]] = {
    np.bool_: lambda value: _flags[bool(value)],
    np.int8: _bytes.__getitem__,
    np.int16: Short,
    np.int32: _bare_item,
    np.int64: functools.partial(int.__new__, Signed),
    np.uint8: _unsigned_bytes.__getitem__,
    np.uint16: functools.partial(int.__new__, UnsignedShort),
    np.uint32: functools.partial(int.__new__, UnsignedLong),
    np.uint64: functools.partial(int.__new__, Unsigned),
    np.float32: Single,
    np.float64: _bare_item,
}


def read(value: Any) -> Any:
    """What plain rules get for a value read by NumPy."""
    reader = READERS.get(type(value))
    return value if reader is None else reader(value)


def fitted(value: Any, dtype: np.dtype) -> Any:
    """A value as it is stored: 64 bits are reinterpreted, signed or not. Everything else is left to NumPy, which raises if
    it does not fit."""
    if isinstance(value, Whole) and dtype.itemsize * 8 == BITS:
        if dtype.kind == "u":
            return int(value) & ALL
        if dtype.kind == "i":
            return wrapped(int(value))
    return value
