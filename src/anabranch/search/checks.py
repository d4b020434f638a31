"""Checks of the arguments of `Search`: each mistake raises an error of one sentence that names the remedy."""

import math
import numbers
import re
from collections.abc import Callable
from numbers import Real
from typing import Any

from anabranch.errors import SearchError
from anabranch.games.game import Game
from anabranch.games.objects import ObjectGame
from anabranch.jit.dispatch import keys_of_value
from anabranch.jit.options import coerce, is_option

GROUP_OF = {  # the group that has an option's functions, where its name differs from the option's
    "heuristic": "evaluate",
    "noise": "final",
    "update": "graphs",
    "ahead": "graphs",
    "stale": "graphs",
    "collect": "graphs",
    "virtual": "select",
}


UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}


def parse_memory(memory: int | str) -> int:
    """Bytes from 1_000_000, "512MB" or "1GiB"."""
    if isinstance(memory, str):
        match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([A-Za-z]*)\s*", memory)
        if not match or match.group(2).upper() not in UNITS:
            raise SearchError(f'memory={memory!r}: write a number of bytes, or one with a unit such as "512MB" or "2GB"')
        memory = int(float(match.group(1)) * UNITS[match.group(2).upper()])
    if not isinstance(memory, Real) or not 1 <= memory < math.inf:
        raise SearchError(f"memory={memory!r}: must be above 0")
    return int(memory)


def whole_seed(seed: Any) -> int:
    """The seed as an integer."""
    if not isinstance(seed, numbers.Integral) and not (isinstance(seed, float) and seed.is_integer()):
        raise SearchError(f"seed={seed!r}: must be a whole number")
    return int(seed)


def as_game(game: Any) -> Game | ObjectGame:
    """The game; any other Python object becomes an `ObjectGame`."""
    if isinstance(game, (Game, ObjectGame)):
        return game
    if isinstance(game, type) and issubclass(game, Game):
        raise SearchError(f"Search wants a game, not its class: write {game.__name__}()")
    return ObjectGame(game)


def option(given: Any, default: Any, name: str, fits: Callable[[Any], bool]) -> Any:
    """The given option, with its fields converted to their declared types, or the default."""
    if given is None:
        return default
    if isinstance(given, type):
        raise SearchError(f"{name}={given.__name__}: give an instance, {given.__name__}()")
    if not is_option(given) or not fits(given):
        raise SearchError(f"{name}={given!r}: not an option for {name}; the default is {default!r}{_of_ones_own(name, fits)}")
    return coerce(given)


def _of_ones_own(name: str, fits: Any) -> str:
    """The part of an error message that says how to write such an option."""
    if not isinstance(fits, Serves):
        return ""
    wanted = " or ".join(f"`ab.{GROUP_OF.get(name, name)}.{function.__name__}`" for function in fits.functions)
    return f". A class of your own is a NamedTuple that {wanted} is registered for"


class Serves:
    """Whether one of these generic functions is registered for an option."""

    def __init__(self, functions: tuple[Any, ...]) -> None:
        self.functions = functions

    def __call__(self, option: Any) -> bool:
        """Whether one is registered."""
        return any(set(keys_of_value(option)) & set(function.generic.implementations) for function in self.functions)


def serves(*functions: Any) -> Serves:
    """Whether one of these generic functions is registered for an option; if none is, `option` says what to register."""
    return Serves(functions)


def one_of(word: Any, words: tuple[str, ...], name: str) -> str:
    """The word, if it is one of these."""
    if word not in words:
        raise SearchError(f"{name}={word!r}: must be one of {', '.join(map(repr, words))}")
    return str(word)


def is_a(kind: Any) -> Callable[[Any], bool]:
    """Whether an option is of this class."""
    return lambda option: isinstance(option, kind)


def is_function(evaluate: Any) -> bool:
    """Whether this is a callable, and not an option's class."""
    return callable(evaluate) and not isinstance(evaluate, type)


def describe(option: Any) -> str | None:
    """An option as written in code."""
    if option is None or is_option(option):
        return None if option is None else repr(option)
    return getattr(option, "__qualname__", type(option).__qualname__)


def at_least_one(value: Any, name: str) -> int:
    """The value as an integer of 1 or more."""
    whole = isinstance(value, Real) and not isinstance(value, bool) and float(value).is_integer()
    if not whole or value < 1:
        raise SearchError(f"{name}={value!r}: must be a whole number of 1 or more")
    return int(value)


def check_limits(visits: int | None, total: int | None, seconds: float | None) -> None:
    """Raise unless there is at least one limit, and all of them are valid."""
    if visits is None and total is None and seconds is None:
        raise SearchError("how long? give visits=, total= or seconds=")
    for name, value in (("visits", visits), ("total", total)):
        if value is not None:
            at_least_one(value, name)
    if seconds is not None and (not isinstance(seconds, numbers.Real) or not seconds > 0):
        raise SearchError(f"seconds={seconds!r}: must be above 0")
