"""Numba's errors, explained: which function of which game or option, which line, what is wrong.

While kernels compile, `dispatch.py` records every implementation and helper that they request. When a kernel fails, those that
belong to the same game are compiled one by one to find the innermost that fails by itself; its short error is the one reported.
Next: `remedies.py`, what to write instead.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba

from anabranch.errors import RuleError
from anabranch.jit.dispatch import TAG_PREFIX, Choice, choices, keys_of_type
from anabranch.jit.fingerprint import leaves
from anabranch.jit.remedies import UNDEFINED, remedy, source_lines
from anabranch.jit.settings import OPTIONS

COLOURS = re.compile(r"\x1b\[[0-9;]*m")
RAISED = re.compile(r"Raised from (\S+) \((\d+)\)")
CALLED = re.compile(r"Function\(<function (\w+) at")
PLACE = re.compile(r'File "([^"]+)", line (\d+)')
BOILERPLATE = re.compile(r"Failed in nopython mode pipeline|During:|^\s*$|^- |There are \d+ candidate|Of which|Overload")


def explain(error: Exception, kernel: Callable[..., Any], argument_types: tuple[Any, ...]) -> RuleError:
    """One clear error for a kernel that does not compile for these types."""
    concerned = _tags(argument_types)
    asked = [choice for choice in choices if concerned & _tags(choice.types)]
    asked = asked or _reached(kernel)
    culprit, error = _innermost(asked, error, set())
    if culprit is None:
        return RuleError(f"`{kernel.__name__}` does not compile: {_reason(error)}")
    known = remedy(error, COLOURS.sub("", str(error)), culprit.function, culprit.types)
    line = known.line if known and known.line else _line(error, culprit.function)
    reason = known.text if known else _reason(error)
    return RuleError(f"{_describe(culprit)}, line {line}: {reason}\n    {_source(culprit.function, line)}")


def _tags(argument_types: tuple[Any, ...]) -> set[Any]:
    """The state tags among the types, nested ones included."""
    return {key for leaf in leaves(argument_types) for key in keys_of_type(leaf) if isinstance(key, str)}


def _reached(kernel: Callable[..., Any]) -> list[Choice]:
    """What a kernel without a game calls, directly or indirectly: functions that failed in other kernels are not the cause."""
    found: dict[int, Choice] = {}
    callers = [kernel]
    while callers:
        code = callers.pop().__code__
        names = {*code.co_names, *code.co_freevars}
        new = [choice for choice in choices if _is_called(choice, names) and id(choice) not in found]
        found |= {id(choice): choice for choice in new}
        callers.extend(choice.function for choice in new)
    return [choice for choice in choices if id(choice) in found]


def _innermost(asked: list[Choice], error: Exception, tried: set[int]) -> tuple[Choice | None, Exception]:
    """The function that fails by itself, not because of what it calls, and its error."""
    named = set(CALLED.findall(str(error)))
    suspects = asked[::-1]  # the last one requested is the likeliest, after those that the error names
    suspects.sort(key=lambda choice: choice.function.__name__ not in named)
    for choice in suspects:
        if id(choice.function) in tried:
            continue
        tried.add(id(choice.function))
        try:
            numba.njit(**OPTIONS)(choice.function).compile(choice.types)
        except Exception as own_error:
            called = set(CALLED.findall(str(own_error)))
            inner, inner_error = _innermost([other for other in asked if _is_called(other, called)], own_error, tried)
            return (inner, inner_error) if inner is not None else (choice, own_error)
    return None, error


def _is_called(choice: Choice, names: set[str]) -> bool:
    return bool({choice.name, choice.function.__name__} & names)


def _describe(choice: Choice) -> str:
    owner, _, name = choice.function.__qualname__.rpartition(".")
    if choice.owner is None and owner and "<locals>" not in owner:  # a `play` without rewards is called through a wrapper
        return f"rule `{name}` of {owner}"
    if choice.owner is None:
        return f"helper `{choice.name}`"
    if isinstance(choice.owner, str):
        return f"rule `{choice.name}` of {choice.owner.removeprefix(TAG_PREFIX)}"
    return f"`{choice.name}` of {getattr(choice.owner, '__name__', choice.owner)}"


def _line(error: Exception, function: Callable[..., Any]) -> int:
    """The line of the function that the error names; else the first that contains what it complains about; else its `def`."""
    file = Path(function.__code__.co_filename).name
    text = COLOURS.sub("", str(error))
    places = [int(line) for path, line in PLACE.findall(text) if Path(path).name == file]
    raised = RAISED.search(text)
    if raised and Path(raised.group(1)).name == file:
        return int(raised.group(2))
    if places:
        return places[-1]
    lines, first = source_lines(function)
    missing = UNDEFINED.search(str(error))
    name = missing.group(1) if missing else str(error).strip("'")
    wanted = (i for wish in (name, "def ") for i, line in enumerate(lines) if wish and wish in line)
    return first + next(wanted, 0)


def _reason(error: Exception) -> str:
    """The first informative line of Numba's error."""
    text = COLOURS.sub("", str(error))
    for line in text.splitlines():
        if not BOILERPLATE.search(line):
            return line.strip()
    return type(error).__name__


def _source(function: Callable[..., Any], line: int) -> str:
    lines, first = source_lines(function)
    return lines[line - first].strip() if 0 <= line - first < len(lines) else ""
