"""Generic functions: one name, many implementations, chosen by the type of the first argument.

    @generic
    def score(rule, parent, edge): ...

    @score.register(UCT)
    def score_uct(rule, parent, edge): ...

The first argument is either an option (a `NamedTuple`, found by its class and that class's bases) or a game's state
(a record, found by its tag: a zero-length field `game:NAME` in its dtype). Inside a kernel the choice is made while
compiling, through `numba.extending.overload`, and costs nothing; in plain Python the same table is looked up at run
time. Next: `kernels.py`.
"""

import functools
import inspect
from collections.abc import Callable, Hashable, Iterator
from typing import Any, NamedTuple
from weakref import WeakSet

import numpy as np
from numba import types
from numba.core import errors as numba_errors
from numba.extending import overload

from anabranch.jit.pointers import class_of
from anabranch.jit.settings import CALLED, INLINED

TAG_PREFIX = "game:"  # marks the zero-length field that distinguishes two games whose records look alike
PAD_PREFIX = "pad:"  # and this the fields that are padding


def tag_field(name: str) -> tuple[str, str, tuple[int]]:
    """The zero-length dtype field that ties a record to the game called `name`."""
    return (TAG_PREFIX + name, "u1", (0,))


def tag_of(field_names: Any) -> str | None:
    """The tag among a record's field names, if it has one."""
    for name in reversed(tuple(field_names or ())):
        if name.startswith(TAG_PREFIX):
            return str(name)
    return None


def keys_of_value(value: Any) -> Iterator[Hashable]:
    """The registry keys under which a plain-Python argument is looked up, best first."""
    fields = getattr(getattr(value, "dtype", None), "names", None)
    if fields:
        yield tag_of(fields)
    else:
        yield from type(value).__mro__


def keys_of_type(numba_type: Any) -> Iterator[Hashable]:
    """The same for the Numba type of an argument."""
    if isinstance(numba_type, types.Record):
        yield tag_of(numba_type.fields)
    elif class_of(numba_type) is not None:
        yield from class_of(numba_type).__mro__


class Choice(NamedTuple):
    """A function that Numba was asked to compile for these types, recorded for `diagnose.py`."""

    owner: Hashable  # the option class or state tag that selected it; None for a helper
    name: str
    function: Callable[..., Any]
    types: tuple[Any, ...]


choices: list[Choice] = []  # in the order in which Numba asked; it asks once for each function and types
quiet: set[Hashable] = set()  # owners that are not named in the line printed when a kernel is compiled
helpers: WeakSet[Callable[..., Any]] = WeakSet()  # functions marked as helpers
generics: dict[str, str] = {}  # the module of each generic function
owners: set[Hashable] = set()  # every option class and state tag that has an implementation of something


class Generic:
    """The registry behind one generic function; reachable as `function.generic`."""

    def __init__(self, declaration: Callable[..., Any], has_default: bool) -> None:
        self.declaration = declaration
        self.name = declaration.__name__
        self.default = declaration if has_default else None
        self.implementations: dict[Hashable, Callable[..., Any]] = {}

    def find(self, keys: Iterator[Hashable]) -> Callable[..., Any] | None:
        """The implementation for the first key that has one, else the default, else None."""
        for key in keys:
            if key in self.implementations:
                return self.implementations[key]
        return self.default


def generic(declaration: Callable[..., Any] | None = None, *, default: bool = False) -> Any:
    """Declare a generic function. With `default=True` the declaration's own body is used for every other type."""
    if declaration is None:
        return functools.partial(generic, default=default)
    table = Generic(declaration, default)
    generics[table.name] = declaration.__module__

    @functools.wraps(declaration)
    def dispatch(first: Any, *rest: Any) -> Any:
        found = table.find(keys_of_value(first))
        if found is None:
            raise TypeError(f"`{table.name}` is not defined for {_describe(first)}")
        return found(first, *rest)

    def register(*keys: Hashable) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Use the decorated function for these option classes or state tags."""

        def keep(implementation: Callable[..., Any]) -> Callable[..., Any]:
            for key in keys:
                table.implementations[key] = implementation
                owners.add(key)
            return implementation

        return keep

    def choose(first: Any, *rest: Any) -> Any:
        found = table.find(keys_of_type(first))
        if found is None:
            raise numba_errors.TypingError(f"`{table.name}` is not defined for {first}")
        choices.append(Choice(next(keys_of_type(first), None), table.name, found, (first, *rest)))
        return found

    overload(dispatch, jit_options=INLINED, strict=False)(choose)
    dispatch.register = register  # type: ignore[attr-defined]
    dispatch.generic = table  # type: ignore[attr-defined]
    dispatch.__signature__ = inspect.signature(declaration)  # type: ignore[attr-defined]
    return dispatch


def helper(function: Callable[..., Any], options: dict[str, Any] = INLINED) -> Callable[..., Any]:
    """Let kernels call this function, inlined into its caller; plain Python calls it as it is."""

    def same(*arguments: Any) -> Callable[..., Any]:
        choices.append(Choice(None, function.__name__, function, arguments))
        return function

    overload(function, jit_options=options, strict=False)(same)
    helpers.add(function)
    return function


def routine(function: Callable[..., Any]) -> Callable[..., Any]:
    """A helper that is not inlined: large, rarely called, or called in several places."""
    return helper(function, CALLED)


def _describe(value: Any) -> str:
    if isinstance(value, np.void):
        return f"a record with the fields {', '.join(value.dtype.names or ())}"
    return type(value).__name__
