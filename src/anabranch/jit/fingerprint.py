"""A fingerprint of everything that a compiled kernel depends on.

Numba's own cache checks only the kernel's file: after an edit of a rule, its helper or a table that it reads, the old
machine code would still run. So the cache key contains a digest of what the kernel reaches: bytecode, constants, default
arguments, the helpers it calls, the global arrays and numbers it reads, and, for generic functions, the
implementations that the argument types select. Next: `cache.py`.

`fingerprint_of_source` is the same for results that users keep, which must stay valid under another version of Python: it
reads source instead of bytecode.
"""

import hashlib
import inspect
import io
import sys
import textwrap
import tokenize
import types as python_types
from collections.abc import Callable, Hashable, Iterable
from typing import Any

import numpy as np
from numba import types

from anabranch.jit.dispatch import Generic, helpers, keys_of_type
from anabranch.jit.pointers import class_of, fields_of

# Code below these names is pinned by the versions in the cache key, so it is not read.
PINNED = ("numba", "llvmlite", "numpy", "math", "builtins", "typing", "collections", "operator", *sys.stdlib_module_names)


def fingerprint(function: Callable[..., Any], argument_types: Iterable[Any]) -> str:
    """A hex digest that changes when anything behind `function`, called with these Numba types, changes."""
    walker = _Walker(_selectors(argument_types))
    walker.function(function)
    return walker.digest.hexdigest()


def fingerprint_of_source(functions: Iterable[Callable[..., Any]], key: Hashable, *facts: Any) -> str:
    """A hex digest that changes with the text of these functions (except comments), with what they reach, where `key` selects
    implementations, and with the other facts."""
    walker = _SourceWalker(key)
    for function in functions:
        walker.function(function)
    for fact in facts:
        walker.value(fact)
    return walker.digest.hexdigest()


def uncachable(argument_types: Iterable[Any]) -> str | None:
    """Why another process cannot find stored kernels for these types, or None if it can."""
    for numba_type in leaves(argument_types):
        made_by = class_of(numba_type)
        if made_by is not None and (made_by.__module__ == "__main__" or "<locals>" in made_by.__qualname__):
            return f"{made_by.__qualname__} is not defined at the top of an imported module"
    return None


def leaves(argument_types: Iterable[Any]) -> Iterable[Any]:
    """The types, and those nested in named tuples and arrays."""
    for numba_type in argument_types:
        yield numba_type
        yield from leaves(fields_of(numba_type))
        if isinstance(numba_type, types.Array):
            yield from leaves([numba_type.dtype])


def _selectors(argument_types: Iterable[Any]) -> list[list[Hashable]]:
    """For each type that can select an implementation: its registry keys, best first."""
    found = [list(keys_of_type(leaf)) for leaf in leaves(argument_types)]
    return [keys for keys in found if keys]


def is_unmarked(function: Any) -> bool:
    """Whether this is a user's plain function that kernels cannot call because it is not marked. (What our kernels call may be
    known to Numba in other ways, too.)"""
    if not isinstance(function, python_types.FunctionType) or hasattr(function, "generic"):
        return False
    return function not in helpers and (function.__module__ or "").split(".")[0] not in ("anabranch", *PINNED)


class _Walker:
    """Feeds everything reachable into one digest, each function once."""

    def __init__(self, selectors: list[list[Hashable]]) -> None:
        self.selectors = selectors
        self.digest = hashlib.sha256()
        self.seen: set[int] = set()
        for keys in selectors:
            self.value(keys[0])

    def feed(self, *parts: Any) -> None:
        for part in parts:
            self.digest.update(part if isinstance(part, bytes) else str(part).encode())
            self.digest.update(b"\0")

    def function(self, function: Callable[..., Any]) -> None:
        if id(function) in self.seen:
            return
        self.seen.add(id(function))
        table = getattr(function, "generic", None)
        if isinstance(table, Generic):
            self._generic(table)
            return
        function = getattr(function, "py_func", function)
        code = getattr(function, "__code__", None)
        if code is None or (function.__module__ or "").split(".")[0] in PINNED:
            self.feed(getattr(function, "__qualname__", type(function).__name__))
            return
        self.feed(function.__qualname__)
        for default in function.__defaults__ or ():
            self.value(default)
        for cell in function.__closure__ or ():
            self.value(cell.cell_contents)
        self._code(code, function.__globals__, function.__doc__)

    def _generic(self, table: Generic) -> None:
        self.feed("generic", table.name)
        for keys in self.selectors:
            found = table.find(iter(keys))
            if found is not None:
                self.function(found)

    def _code(self, code: python_types.CodeType, global_names: dict[str, Any], docstring: str | None = None) -> None:
        self.feed(code.co_code, code.co_names, code.co_varnames)
        described = docstring is not None and code.co_consts[:1] == (docstring,)
        for constant in code.co_consts[1:] if described else code.co_consts:
            if isinstance(constant, python_types.CodeType):
                self._code(constant, global_names)
            else:
                self.feed(repr(constant))
        for name in code.co_names:
            if name in global_names:
                self.value(global_names[name], code.co_names)

    def value(self, value: Any, names: Iterable[str] = ()) -> None:
        if isinstance(value, np.ndarray):
            self.feed(str(value.dtype), value.shape, value.tobytes())
        elif isinstance(value, (bool, int, float, complex, str, bytes, np.generic, type(None))):
            self.feed(type(value).__name__, repr(value))
        elif isinstance(value, type):
            self.feed(value.__module__, value.__qualname__, getattr(value, "_fields", ()))
        elif isinstance(value, (tuple, list)):
            for item in value:
                self.value(item)
        elif isinstance(value, python_types.ModuleType):
            if value.__name__.split(".")[0] not in PINNED:
                for name in names:
                    if hasattr(value, name):
                        self.value(getattr(value, name))
        elif callable(value):
            if is_unmarked(value):
                self.feed("not a helper")  # so that removing the mark changes the digest although the code is the same
            self.function(value)
        else:
            self.feed(type(value).__qualname__)


class _SourceWalker(_Walker):
    """The same from source, where it is available."""

    def __init__(self, key: Hashable) -> None:
        super().__init__([])
        self.selectors = [[key]]  # which only selects: tags of games depend on what else was loaded

    def _code(self, code: python_types.CodeType, global_names: dict[str, Any], docstring: str | None = None) -> None:
        try:
            lines = inspect.getsource(code)
        except (OSError, TypeError):
            super()._code(code, global_names, docstring)
            return
        self.feed(*_tokens(lines))
        names = sorted(_names(code))
        for name in names:
            if name in global_names:
                self.value(global_names[name], names)


IGNORED = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
ENDS = (tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT)  # before a string without effect


def _tokens(source: str) -> Iterable[str]:
    """The tokens of a source, without comments and docstrings."""
    before = tokenize.NEWLINE
    depth = 0
    for token in tokenize.generate_tokens(io.StringIO(textwrap.dedent(source)).readline):
        if token.type == tokenize.INDENT:
            depth += 1
        is_documentation = token.type == tokenize.STRING and before in ENDS
        if token.type == tokenize.DEDENT:
            depth -= 1
        elif token.type not in IGNORED and not is_documentation:
            yield f"{depth} {token.string}"
        before = token.type


def _names(code: python_types.CodeType) -> set[str]:
    """The global names that a function and its inner functions use."""
    inside = (_names(constant) for constant in code.co_consts if isinstance(constant, python_types.CodeType))
    return set(code.co_names).union(*inside)
