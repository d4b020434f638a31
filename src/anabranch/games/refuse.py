"""Checks of a class of rules before anything is played or compiled: mistakes that would otherwise surface late, in obscure
errors, or never. `game.py` runs them when a class is defined; each error names the rule, the line and what to write.
"""

import dis
import inspect
import random
import types as python_types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numba.np.numpy_support import from_dtype

from anabranch.errors import GameError
from anabranch.jit.remedies import source_lines

# Rules that return a value, and what an author may have meant to write; the others change their arguments.
ANSWERS = {
    "to_play": "return state.turn",
    "is_legal": "return True, or False, on every way through it",
    "is_over": "return True, or False, on every way through it",
    "may_play": "return True, or False, on every way through it",
    "legal_actions": "return how many actions it wrote",
    "random_action": "return an action",
    "key": "return two np.uint64",
    "outcome": "return an action",
    "stake": "return a number",
    "actions_each": "return a number",
    "action_limit": "return a number",
}
CHANGES = {
    "setup": "set the fields of `state`",
    "play": "change the fields of `state`",
    "play_both": "change the fields of `state`",
    "happen": "change the fields of `state`",
    "returns": "write into `out`, one number a player: out[0], out[1] = 1.0, -1.0",
    "chance": "write into `probabilities`",
    "encode": "write into `planes`",
    "heuristic": "write into `out`",
}
WRITTEN = ("state", "out", "rewards", "probabilities", "planes")  # parameters that rules write into


def refuse_unmarked(cls: Any) -> None:
    """Refuse a method with the name of a rule but without `@rule`, which would be ignored."""
    for name, value in vars(cls).items():
        if isinstance(value, python_types.FunctionType) and name in cls._means:
            line = value.__code__.co_firstlineno
            raise GameError(
                f"{cls.__name__}: the method `{name}`, line {line}, is not a rule yet: write @anabranch.rule above it"
            )


def refuse_parameters(cls: Any, name: str, function: Callable[..., Any], allowed: list[list[str]]) -> None:
    """Refuse `self` in a rule (rules work on records, not on objects), and a wrong number of parameters. The first of the
    allowed lists is what most games want."""
    takes, write = list(inspect.signature(function).parameters), f"write def {name}({', '.join(allowed[0])})"
    if takes[:1] == ["self"]:
        raise GameError(f"{_who(cls, name, function)}: rules have no `self`; {write}")
    if len(takes) not in map(len, allowed):
        raise GameError(f"{_who(cls, name, function)}: it takes {len(allowed[0])} arguments, not {len(takes)}; {write}")


def refuse_answers(cls: Any) -> None:
    """Refuse a rule that should return a value and does not always, or one that should not and does."""
    for name, function in cls._rules.items():
        meaning = cls._means[name]
        ends = list(_ends(function.__code__))
        if meaning in ANSWERS and any(end == "nothing" for end, _ in ends):
            never = all(end == "nothing" for end, _ in ends)
            what = "it has no `return`, so it returns None" if never else "there is a way through it without `return`"
            raise GameError(f"{_who(cls, name, function)}: {what}; {_write(ANSWERS[meaning])}")
        for end, line in ends:
            where = f"{cls.__name__}: rule `{name}`, line {line}"
            if meaning in ANSWERS and end == "text":
                raise GameError(f"{where}: it returns text; {_write(ANSWERS[meaning])}")
            if meaning in CHANGES and end in ("value", "text"):
                raise GameError(f"{where}: nobody reads what it returns; {_write(CHANGES[meaning])}")


def refuse_replaced(cls: Any) -> None:
    """Refuse `out = ...` in a rule whose caller reads `out`: the caller would never see it."""
    for name, function in cls._rules.items():
        meaning, code = cls._means[name], function.__code__
        for step in dis.get_instructions(code) if meaning in CHANGES else ():
            if step.opname == "STORE_FAST" and step.argval in code.co_varnames[: code.co_argcount] and step.argval in WRITTEN:
                line = step.positions.lineno if step.positions else code.co_firstlineno
                raise GameError(
                    f"{cls.__name__}: rule `{name}`, line {line}: `{step.argval} = ...` gives the name to something else, and "
                    f"nobody sees it; it must {CHANGES[meaning]}"
                )


def refuse_fields(cls: Any) -> None:
    """Refuse fields that cannot be compiled."""
    assert cls.state.fields
    for name, (dtype, *_) in cls.state.fields.items():
        try:
            if dtype.hasobject:
                raise TypeError("Numba takes objects, but kernels have no use for them")
            from_dtype(dtype)
        except Exception:
            kind = f"an array of {dtype.base}" if dtype.shape else str(dtype)
            instead = "i1 (0 and 1)" if dtype.base == np.bool_ else "whole numbers (i1, i4, u8) or f8"
            raise GameError(
                f"{cls.__name__}: the field `{name}` of `state` is {kind}, which rules cannot read; use {instead}"
            ) from None


def _who(cls: Any, name: str, function: Callable[..., Any]) -> str:
    return f"{cls.__name__}: rule `{name}`, line {_def_line(function)}"


def _def_line(function: Callable[..., Any]) -> int:
    lines, first = source_lines(function)
    return first + next((i for i, text in enumerate(lines) if "def " in text), 0)


def _write(instead: str) -> str:
    return f"write `{instead}`" if instead.startswith("return state") else f"it must {instead}"


def _ends(code: python_types.CodeType) -> Iterator[tuple[str, int]]:
    """How a function may return, and in which line: with "nothing", "text", another "value", or the result
    of another function, "calls"."""
    line, before = code.co_firstlineno, None
    for step in dis.get_instructions(code):
        line = step.positions.lineno if step.positions and step.positions.lineno else line
        if step.opname == "RETURN_CONST":
            yield ("nothing" if step.argval is None else "text" if isinstance(step.argval, str) else "value"), line
        elif step.opname == "RETURN_VALUE" and before is not None:
            if before.opname == "LOAD_CONST" and (before.argval is None or isinstance(before.argval, str)):
                yield ("nothing" if before.argval is None else "text"), line
            else:
                yield ("calls" if before.opname.startswith(("CALL", "PRECALL")) else "value"), line
        before = step


def drawn_elsewhere(game: Any) -> Iterator[str]:
    """Rules that use Python's or NumPy's own random numbers: their searches could not be reproduced."""
    for name, function in type(game)._rules.items():
        source = _draws(function, set())
        if source:
            where = _def_line(function)
            yield (
                f"rule `{name}` of {type(game).__name__}, line {where}: draws from {source}, but the same action must always "
                "do the same; luck has a turn of its own: `to_play` answers anabranch.CHANCE, and rule `chance` gives the "
                "probabilities"
            )


def _draws(function: Any, seen: set[Any]) -> str:
    """The source of random numbers that a function or its callees use, or an empty string."""
    function = getattr(function, "py_func", function)
    code = getattr(function, "__code__", None)
    if code is None or function in seen or (function.__module__ or "").startswith("anabranch."):
        return ""
    seen.add(function)
    for name in code.co_names:
        value = function.__globals__.get(name)
        if value is random or value is np.random or (value is np and "random" in code.co_names):
            return "np.random" if value is not random else "random"
        if (getattr(value, "__module__", None) or "").startswith(("numpy.random", "random")):
            return f"`{name}`"
        found = _draws(value, seen) if inspect.isfunction(value) else ""
        if found:
            return found
    return next(filter(None, (_draws(cell.cell_contents, seen) for cell in function.__closure__ or ())), "")
