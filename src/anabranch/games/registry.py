"""Finds games by name, for the command-line program and for other callers that have a name instead of a class.

    load("hex")    load("hex", size=7)    load("hex:size=7")    load("connect-four")
    load("path/to/mygame.py:Nim")    load("package.module:Nim")    load("mygame.py:Maze:width=15")

Case, `-`, `_` and blanks do not matter in a name. Options are `key=value`, separated by commas; values are Python literals, or
else strings. A module of this package that defines a `Game` of the same name (`MatrixGame` is in `matrix`) is found by that
name: there is no list to maintain.
"""

import ast
import difflib
import hashlib
import importlib
import importlib.util
import inspect
import os
import pkgutil
import re
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from anabranch.errors import GameError, UnknownGame
from anabranch.games.game import Game

PACKAGE = __name__.rpartition(".")[0]
FILE = re.compile(r"(?P<where>.+\.py)(:(?P<name>[^\W\d]\w*))?(:(?P<options>.*))?")
MODULE = re.compile(r"(?P<where>[\w.]+):(?P<name>[^\W\d]\w*)(:(?P<options>.*))?")


def load(name: str, **options: Any) -> Game:
    """The game of this name, or of this class in a file or module; options also after a colon."""
    if users := FILE.fullmatch(name):
        game = _class_in(_import_file(users["where"]), users["where"], users["name"])
    elif users := MODULE.fullmatch(name):
        game = _class_in(_import_module(users["where"]), users["where"], users["name"])
    else:
        game = _built_in(name.partition(":")[0])
    written = users["options"] if users else name.partition(":")[2]
    return _make(game, {**_parsed(written or "", game), **options})


def names() -> dict[str, str]:
    """The games that `load` finds by name, with a line about each."""
    return {name: (inspect.getdoc(game) or "").partition("\n")[0] for name, game in _all().items()}


def find(name: str) -> type[Game] | None:
    """This package's game of that name, if there is one; only its own module is imported."""
    module = _module_of(name)
    if module not in _modules():
        return None
    found = _games_in(importlib.import_module(f"{PACKAGE}.{module}"))
    return next((game for own, game in found.items() if _module_of(own) == module), None)


def _all() -> dict[str, type[Game]]:
    return {name: game for name in _modules() if (game := find(name)) is not None}


def _modules() -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules(sys.modules[PACKAGE].__path__))


def _plain(name: str) -> str:
    return re.sub(r"[-_\s]", "", name).lower()


def _module_of(name: str) -> str:
    """The module that a game of this name would be in."""
    return _plain(name).removesuffix("game")


def _built_in(name: str) -> type[Game]:
    game = find(name)
    if game is None:
        known = _all()
        near = difflib.get_close_matches(_plain(name), known, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known)}."
        raise UnknownGame(f"no game is called {name!r}; {hint} A game of your own is named as path/to/file.py:ClassName")
    return game


def _games_in(module: ModuleType) -> dict[str, type[Game]]:
    """The complete games that are defined in this module, or in this package."""
    return {
        name: value
        for name, value in vars(module).items()
        if inspect.isclass(value)
        and issubclass(value, Game)
        and hasattr(value, "record")
        and f"{value.__module__}.".startswith(f"{module.__name__}.")
    }


def _class_in(module: ModuleType, where: str, name: str | None) -> type[Game]:
    """The class of this name; without a name, the only game in the module."""
    found = _games_in(module)
    if name is None and len(found) == 1:
        return next(iter(found.values()))
    chosen = getattr(module, name, None) if name else None
    if inspect.isclass(chosen) and issubclass(chosen, Game):
        return chosen
    there = f"it has {', '.join(sorted(found))}" if found else "it has none: a game is a subclass of anabranch.Game"
    if name is None:
        raise GameError(f"say which game of {where}, as {where}:ClassName; {there}")
    if chosen is not None:
        raise GameError(f"`{name}` in {where} is not a game; {there}")
    raise GameError(f"there is no game `{name}` in {where}; {there}")


def _import_module(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and f"{name}.".startswith(f"{error.name}."):
            remedy = "install it, or name the file instead: path/to/file.py:ClassName"
            raise GameError(f"there is no module `{error.name}`; {remedy}") from None
        raise _broken(name, error) from error
    except Exception as error:
        raise _broken(name, error) from error


def _import_file(where: str) -> ModuleType:
    """The module in this file, under a name by which other processes can import it as well, if that name is free."""
    path = Path(os.path.realpath(os.path.expanduser(where)))  # unlike Path's own methods, these accept any name
    if not os.path.isfile(path):
        raise GameError(f"there is no file {where}; a game of your own is named as path/to/file.py:ClassName")
    for module in list(sys.modules.values()):
        if getattr(module, "__file__", None) == str(path):
            return module
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    specification = importlib.util.spec_from_file_location(_module_name(path), path)
    assert specification and specification.loader
    module = importlib.util.module_from_spec(specification)
    sys.modules[module.__name__] = module
    try:
        specification.loader.exec_module(module)
    except Exception as error:
        del sys.modules[module.__name__]
        raise _broken(where, error) from error
    return module


def _module_name(path: Path) -> str:
    """The file's own name, unless another module has it."""
    known = importlib.util.find_spec(path.stem) if path.stem.isidentifier() else None
    if path.stem.isidentifier() and known and known.origin and Path(known.origin).resolve() == path:
        return path.stem
    return f"{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"


def _broken(where: str, error: Exception) -> GameError:
    """Which line of the user's code could not be imported, and why."""
    stem = Path(where.removesuffix(".py")).name.rpartition(".")[2]
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).stem == stem]
    line, reason = (error.lineno, error.msg) if isinstance(error, SyntaxError) else (lines[-1] if lines else None, error)
    return GameError(f"{where} cannot be imported: {type(error).__name__}{f' in line {line}' if line else ''}: {reason}")


def _parsed(written: str, game: type[Game]) -> dict[str, Any]:
    """Options from `key=value,key=value`."""
    options = {}
    for part in re.split(r",(?=\s*\w+=)", written) if written else []:
        key, equals, value = part.partition("=")
        if not equals:
            raise GameError(f"{part!r} is not an option of {game.__name__}; write key=value: it takes {_takes(game)}")
        try:
            options[key.strip()] = ast.literal_eval(value.strip())
        except (ValueError, SyntaxError):
            options[key.strip()] = value.strip()
    return options


def _make(game: type[Game], options: dict[str, Any]) -> Game:
    known = _options_of(game)
    for key in options:
        if key not in known:
            raise GameError(f"{game.__name__} has no option `{key}`; it takes {_takes(game)}")
    try:
        return game(**options)
    except TypeError as error:
        raise GameError(f"{game.__name__} cannot be made with these options: {error}; it takes {_takes(game)}") from error


def _options_of(game: type[Game]) -> dict[str, str]:
    """Each option as it is written; a game without its own constructor takes its record's fields."""
    if game.__init__ is Game.__init__:
        return {name: f"its record's field {name}" for name in game.state.names or ()}
    parameters = list(inspect.signature(game.__init__).parameters.values())[1:]
    return {p.name: p.name if p.default is p.empty else f"{p.name}={p.default!r}" for p in parameters}


def _takes(game: type[Game]) -> str:
    return ", ".join(_options_of(game).values()) or "none"
