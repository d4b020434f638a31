"""Options by name: what people type where Python has objects. The registry behind players of the arena (`arena/notation.py`)
and options of the command line (`cli/`).

    uct, katagopuct, rollout, max           a short name: a class in lower case, with its defaults
    UCT(c=0.5), Rollout(policy=MoGo)        an option with fields; a class without brackets has its defaults
    MyRule                                  a class in the module of the game that is played

Whatever the groups export (`ab.select`, `ab.evaluate`, ...) has a name here; nothing is registered twice. Text is parsed with
`ast` and names are looked up; nothing is executed.
"""

import ast
import difflib
import inspect
import math
import sys
from collections.abc import Callable, Iterable, Mapping
from types import FunctionType
from typing import Any

from anabranch import backup, evaluate, final, graphs, select, simultaneous
from anabranch.errors import OptionError
from anabranch.games.game import Game
from anabranch.games.playout import pick
from anabranch.games.simultaneous import SimultaneousGame
from anabranch.jit.options import coerce, is_option
from anabranch.search.checks import serves
from anabranch.search.configure import selects
from anabranch.search.select.base import chooses_pairs

GROUPS = (select, evaluate, backup, final, graphs, simultaneous)
ROLES: dict[str, Callable[[Any], bool]] = {
    "select": selects,
    "evaluate": serves(evaluate.evaluate),
    "backup": serves(backup.carry),
    "policy": serves(pick),
}
SHORT_NAMES = {"regret": "RegretMatching"}  # besides the class in lower case
WORDS = {"true": True, "false": False, "none": None, "inf": math.inf}


# --- names ------------------------------------------------------------------------------------------------------------


def option_names(game: Game | None = None) -> dict[str, Any]:
    """What may be named: the option classes of all groups; option classes, options and functions of the game's own module."""
    found = {name: value for group in GROUPS for name, value in vars(group).items() if is_option_class(value)}
    for module in _modules_of(type(game)) if game is not None else ():
        for name, value in vars(sys.modules[module]).items():
            is_own = isinstance(value, FunctionType) and value.__module__ == module and not module.startswith("anabranch.")
            if not name.startswith("_") and (is_option_class(value) or is_option(value) or is_own):
                found[name] = value
    return found


def short_names(role: str, game: Game | None = None) -> dict[str, Any]:
    """The classes that can be used for a role without arguments, by short name: `uct` for `UCT`. Selection rules are those for
    games of this kind, in which players take turns or both move at once; without a game, all of them."""
    names = option_names(game)
    found = {name.lower(): kind for name, kind in names.items() if is_option_class(kind) and _fits(role, kind, game)}
    return found | {short: found[full.lower()] for short, full in SHORT_NAMES.items() if full.lower() in found}


def is_option_class(value: Any) -> bool:
    """Whether options are made of this."""
    return inspect.isclass(value) and issubclass(value, tuple) and hasattr(value, "_fields")


def _fits(role: str, kind: Any, game: Game | None) -> bool:
    if len(kind._fields) > len(kind._field_defaults) or not ROLES[role](kind()):
        return False
    return role != "select" or game is None or chooses_pairs(kind()) == isinstance(game, SimultaneousGame)


def _modules_of(kind: type) -> list[str]:
    """The module that defines a game's class, and the package around it if that is the game's own."""
    package, _, _ = kind.__module__.rpartition(".")
    packages = [package] if package.startswith("anabranch.games.") else []
    return [name for name in [*packages, kind.__module__] if name in sys.modules]


# --- text -------------------------------------------------------------------------------------------------------------


def option_of(role: str, text: str, game: Game | None = None) -> Any:
    """The option that is written like this, for a role: a short name, or an option with fields."""
    known, names = {**short_names(role), **short_names(role, game)}, option_names(game)
    if text in known:
        return known[text]()
    option = None if text.isidentifier() and text not in names else parse_value(text, names)
    if not is_option(option) or not ROLES[role](option):
        fitting = list(short_names(role, game))
        near = difflib.get_close_matches(text.lower(), fitting, n=1)
        hint = f"did you mean {near[0]}? Use" if near else "use"
        raise OptionError(f"{text!r} cannot be used for {role}; {hint} one of {', '.join(fitting)}")
    return option


def parse_value(text: str, names: Mapping[str, Any]) -> Any:
    """A literal, an option by name, or, if it has the form of neither, the text itself (512MB)."""
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    return _evaluated(tree, names, text)


def _evaluated(node: ast.expr, names: Mapping[str, Any], text: str) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return tuple(_evaluated(part, names, text) for part in parts)
        case ast.Name(id=name):
            if name.lower() in WORDS:
                return WORDS[name.lower()]
            found = _find(name, names)
            return make_option(found, [], {}) if isinstance(found, type) else found
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=keywords) if all(pair.arg for pair in keywords):
            kind = _find(name, names)
            if not isinstance(kind, type):
                raise OptionError(f"`{name}` takes no arguments")
            fields = {str(pair.arg): _evaluated(pair.value, names, text) for pair in keywords}
            return make_option(kind, [_evaluated(argument, names, text) for argument in arguments], fields)
    raise OptionError(f"{text!r} is not a value; write a number, a text, or an option such as UCT(c=0.5)")


def _find(name: str, names: Mapping[str, Any]) -> Any:
    if name not in names:
        near = [known for known in names if known.lower() == name.lower()] or difflib.get_close_matches(name, names, n=1)
        hint = f"did you mean {near[0]}? Known options:" if near else "known options:"
        raise OptionError(f"there is no option `{name}`; {hint} {', '.join(sorted(names))}")
    return names[name]


def make_option(kind: Any, arguments: list[Any], fields: dict[str, Any]) -> Any:
    """An option of this class, its fields checked."""
    for key in fields:
        if key not in kind._fields:
            raise OptionError(f"{kind.__name__} has no field `{key}`{suggestion(key, kind._fields)}")
    try:
        return coerce(kind(*arguments, **fields))
    except TypeError:
        raise OptionError(f"{kind.__name__} takes {', '.join(kind._fields) or 'no arguments'}") from None


def suggestion(word: str, known: Iterable[str]) -> str:
    """How an error about an unknown word goes on: with the nearest one, and with all that are known."""
    known = list(known)
    near = difflib.get_close_matches(word, known, n=1)
    known_words = ", ".join(known) or "no fields"
    return f"; did you mean {near[0]}? It has {known_words}" if near else f"; it has {known_words}"
