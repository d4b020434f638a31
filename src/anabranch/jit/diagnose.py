"""Numba's errors, told as a person would: which function of which game or option, which line, what is wrong.

When a kernel does not compile, every implementation that its argument types select is looked at; the line of the
error tells which of them it is in. Next: `dispatch.py` for what "selects" means.
"""

import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from anabranch.errors import RuleError
from anabranch.jit.dispatch import TAG_PREFIX
from anabranch.jit.fingerprint import implementations

PLACE = re.compile(r'File "([^"]+)", line (\d+)')
NOISE = re.compile(r"\x1b\[[0-9;]*m")


def explain(error: Exception, function: Callable[..., Any], argument_types: list[Any]) -> RuleError:
    """One clear error for a kernel that does not compile."""
    text = NOISE.sub("", str(error))
    candidates = list(implementations(function, argument_types))
    for path, line in reversed([(path, int(line)) for path, line in PLACE.findall(text)]):
        for owner, name, implementation in candidates:
            if _holds(implementation, path, line):
                return RuleError(f"rule `{name}` of {_owner(owner)}, line {line}: {_reason(text)}\n  {_source(implementation, line)}")
    return RuleError(f"`{function.__name__}` does not compile: {_reason(text)}")


def _holds(function: Callable[..., Any], path: str, line: int) -> bool:
    code = getattr(function, "__code__", None)
    if code is None or Path(code.co_filename).name != Path(path).name:
        return False
    lines = [number for *_, number in code.co_lines() if number is not None]
    return bool(lines) and code.co_firstlineno <= line <= max(lines)


def _owner(key: Any) -> str:
    return key.removeprefix(TAG_PREFIX) if isinstance(key, str) else key.__name__


def _source(function: Callable[..., Any], line: int) -> str:
    try:
        lines, first = inspect.getsourcelines(function)
        return lines[line - first].strip()
    except (OSError, IndexError):
        return f"{function.__code__.co_filename}:{line}"


def _reason(text: str) -> str:
    """The sentence of Numba's message that says what is wrong, without its frames."""
    for line in _sentences(text):
        match = re.match(r"No implementation of function Function\((.*)\) found for signature:", line)
        if match:
            call = re.search(r">>> (.*)", text)
            return f"no such operation on these types: {call.group(1) if call else match.group(1)}"
        return line
    return "Numba gives no reason"


def _sentences(text: str) -> Iterator[str]:
    skipped = ("Failed in", "During:", "File ", "<source", "^", "This error", "- Resolution", "[", "-", ">>>", "There are", "Overload", "Of which", "def ", "raised", "Traceback")
    lines = [line.strip() for line in text.splitlines()]
    for line in reversed(lines):  # the innermost cause is told last
        if line and not line.startswith(skipped) and re.search(r"[a-z]{3,} ", line) and ("'" in line or "not" in line.lower() or "Cannot" in line or "annot" in line or ":" in line):
            yield line
