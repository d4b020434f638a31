"""What to write instead of code that does not compile, for `diagnose.py`: Numba's messages are about types, these about rules.

Numba says that something failed, but often not where. So the function's source is searched for what is known not to work:
lists, dicts, strings, arrays that are allocated, names of things that are not numbers.
"""

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numba import types

from anabranch.jit.dispatch import generics
from anabranch.jit.records import nearest

UNDEFINED = re.compile(r"name '(\w+)' is not defined")
GLOBAL = re.compile(r"[Uu]ntyped global name '(\w+)'|assigned to variable '(\w+)' in globals")
NO_IMPLEMENTATION = re.compile(r"No implementation of function|Unknown attribute|has no attribute")
MAKES_ARRAY = re.compile(r">>> (zeros|ones|empty|full|array|arange|copy)\w*\(")
NO_CAST = re.compile(r"Cannot cast (.+?) to (\S+?):")
MAKERS = ("zeros", "ones", "empty", "full", "array", "arange", "copy", "zeros_like", "ones_like", "empty_like", "where", "roll")
NO_MEMORY = "rules cannot make arrays, lists or dicts while they run"


class Remedy(NamedTuple):
    """What is wrong and what to do."""

    text: str
    line: int | None = None  # if it is known more precisely than from Numba


def remedy(error: Exception, text: str, function: Callable[..., Any], argument_types: tuple[Any, ...]) -> Remedy | None:
    """What is known about this error, or None."""
    if isinstance(error, KeyError):
        return Remedy(f"the state has no field {error}{nearest(str(error.args[0]), _fields(argument_types))}")
    named = GLOBAL.search(text)
    if named:
        name = named.group(1) or named.group(2)
        return Remedy(_about_global(name, function.__globals__.get(name)))
    missing = UNDEFINED.search(text)
    if missing:
        name = missing.group(1)
        return Remedy(missing.group(0) + (_maybe_a_rule(name) or _maybe_of_the_class(name, function)))
    for called in (function, *map(function.__globals__.get, function.__code__.co_names)):
        if called is not None and _calls_itself(called):
            return Remedy(f"`{called.__name__}` calls itself, and recursion does not compile; write a loop")
    if "STORE_GLOBAL" in text:
        return Remedy("rules cannot change global variables; what they remember is a field of the state")
    if "exception_match" in text:
        return Remedy("rules cannot catch exceptions; test beforehand, with `if`, what could go wrong")
    if "IMPORT_NAME" in text:
        return Remedy("rules cannot import; write the import at the top of the file")
    found = next(_in_source(function, argument_types), None)
    if "NRT required" in text or MAKES_ARRAY.search(text):
        return found or Remedy(f"{NO_MEMORY}; keep what they need in the state's record")
    if "yield" in text or "generator" in text:
        return Remedy("generators do not compile; write a loop", found.line if found else None)
    cast = NO_CAST.search(text)
    if cast:
        return _about_cast(cast.group(1), found)
    if NO_IMPLEMENTATION.search(text):
        called = re.search(r">>> (.*)", text)
        if called is None:
            return found
        loop = "; for arrays write a loop over the elements" if "array(" in called.group(1) else ""
        return Remedy(f"no such operation: {_in_short(called.group(1))}{loop}")
    return None


# --- names ---


def _about_global(name: str, value: Any) -> str:
    """A global name whose value cannot be compiled."""
    if isinstance(value, (dict, list, set)):
        kind = type(value).__name__
        return f"`{name}` is a {kind}, and rules can only read numbers, tuples and arrays; write {name} = np.array(...)"
    if inspect.isfunction(value):
        return f"`{name}` is a plain function; write @anabranch.helper above it so that rules can call it"
    if isinstance(value, type) and hasattr(value, "_rules"):
        return f"`{name}` is a game's class; call a rule as rules.NAME(state, ...) after `from anabranch.games import rules`"
    if isinstance(value, type):
        return f"`{name}` is a Python class, and rules know only numbers and arrays; keep its data in fields of the state"
    kind = type(value).__name__
    return (
        f"`{name}` is a {kind}, and rules can only read numbers, tuples and arrays; keep what they need in fields of the state"
    )


def _maybe_a_rule(name: str) -> str:
    module = generics.get(name)
    if module is None:
        return ""
    package, _, short = module.rpartition(".")
    return f"; the rule of that name is `{short}.{name}(state, ...)` after `from {package} import {short}`"


def _maybe_of_the_class(name: str, function: Callable[..., Any]) -> str:
    owner = function.__globals__.get(function.__qualname__.rpartition(".")[0])
    if not hasattr(owner, name):
        return ""
    return (
        "; rules see the names of their module, not of their class: write it above the class, or make it a field of the state"
    )


def _fields(argument_types: tuple[Any, ...]) -> list[str]:
    return [name for kind in argument_types if isinstance(kind, types.Record) for name in kind.fields]


def _calls_itself(function: Any) -> bool:
    if not inspect.isfunction(function):
        return False
    name = function.__name__
    return name in function.__code__.co_names and function.__globals__.get(name) is function


# --- source ---


def _in_source(function: Callable[..., Any], argument_types: tuple[Any, ...]) -> Iterator[Remedy]:
    """Everything in a function's source that cannot work, the likeliest first."""
    lines, first = source_lines(function)
    try:
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except SyntaxError:  # a lambda within something larger
        return
    arrays = _array_fields(argument_types)
    for node in ast.walk(tree):
        said = _about_node(node, function, arrays)
        if said:
            yield Remedy(said, first + node.lineno - 1)  # type: ignore[attr-defined]


def _about_node(node: ast.AST, function: Callable[..., Any], arrays: set[str]) -> str:
    if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Call) and ast.unparse(node.func) in ("str", "repr", "format")):
        return "rules cannot make text; names for people belong in `name_of` and `text`"
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return "text cannot be stored in a state; use numbers, such as 0 and 1"
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.List) and isinstance(node.targets[0], ast.Attribute):
        target = ast.unparse(node.targets[0])
        return f"{NO_MEMORY}; set the elements one by one, or all at once: {target}[:] = 0"
    if isinstance(node, ast.Set) or (isinstance(node, ast.List) and isinstance(node.ctx, ast.Load)):
        return f"{NO_MEMORY}; write a tuple, (1, 2) instead of [1, 2], or keep what is needed in a field of the state"
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        return f"{NO_MEMORY}; write a loop"
    if isinstance(node, ast.Dict):
        return f"{NO_MEMORY}; write `if` and `elif`, or a global array as table"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in MAKERS:
        return f"{NO_MEMORY}, as `{ast.unparse(node.func)}` does; what they need as scratch is a field of the state"
    if isinstance(node, ast.Call) and ast.unparse(node.func) in ("list", "dict", "set", "sorted"):
        return f"{NO_MEMORY}, as `{ast.unparse(node.func)}` does; write a loop"
    if isinstance(node, (ast.Compare, ast.BinOp)):
        sides = [node.left, *node.comparators] if isinstance(node, ast.Compare) else [node.left, node.right]
        if any(_is_field(side, arrays) for side in sides):
            return f"`{ast.unparse(node)}` would make a new array; write a loop over the elements"
    if isinstance(node, ast.AugAssign) and _is_field(node.target, arrays):
        return f"`{ast.unparse(node)}` changes a whole array; write a loop over the elements"
    if isinstance(node, ast.Assign) and _is_field(node.value, arrays) and not isinstance(node.targets[0], ast.Name):
        return f"`{ast.unparse(node)}` copies a whole array; write a loop over the elements"
    return ""


def _is_field(node: ast.AST, names: set[str]) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in names


def _about_cast(what: str, found: Remedy | None) -> Remedy:
    if "str" in what or "unicode" in what:
        return Remedy("text cannot be stored in a state; use numbers, such as 0 and 1", found.line if found else None)
    if what.lower().startswith("none"):
        return Remedy("what is None cannot be used as a number; does something lack a `return`?")
    return found or Remedy(f"{_in_short(what)} cannot be used where a number is wanted")


def _array_fields(argument_types: tuple[Any, ...]) -> set[str]:
    """The fields of the records among the arguments that are arrays."""
    records = [kind for kind in argument_types if isinstance(kind, types.Record)]
    return {name for kind in records for name in kind.fields if isinstance(kind.typeof(name), types.NestedArray)}


def _in_short(signature: str) -> str:
    """Numba's types in readable form."""
    signature = re.sub(r"^(npy|numpy|array)_", "", signature)
    short = re.sub(r"nestedarray\((\w+), \(([\d, ]+)\)\)", lambda m: f"array of {_dtype(m.group(1))}", signature)
    short = re.sub(r"Record\([^)]*\)", "state", short)
    return re.sub(r"Literal\[\w+\]\((.*?)\)", r"\1", short)


def _dtype(name: str) -> str:
    try:
        kind = np.dtype(name)
    except TypeError:
        return name
    return f"{kind.kind}{kind.itemsize}"


def source_lines(function: Callable[..., Any]) -> tuple[list[str], int]:
    """A function's source and the number of its first line; empty if there is no source."""
    try:
        return inspect.getsourcelines(function)
    except (OSError, TypeError):
        return [], function.__code__.co_firstlineno
