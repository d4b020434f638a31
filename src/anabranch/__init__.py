"""Anabranch: Monte-Carlo search in games, in Python, at machine speed.

The usual names are here (`_names.py` lists them), all options in groups: `ab.select`, `ab.evaluate`, `ab.backup`, `ab.final`,
`ab.graphs`, `ab.simultaneous`, `ab.errors`. They are imported when they are first used, so that `import anabranch` (and
`anabranch --help`) does not wait for the compiler.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from anabranch._version import __version__ as __version__

if TYPE_CHECKING:
    from anabranch import backup, errors, evaluate, final, graphs, select, simultaneous  # noqa: F401
    from anabranch._names import *  # noqa: F403

GROUPS = ("backup", "errors", "evaluate", "final", "graphs", "select", "simultaneous")


def __getattr__(name: str) -> Any:
    if name in GROUPS:
        return import_module(f"anabranch.{name}")
    if name == "__all__":
        return ["__version__", *GROUPS, *_top()]
    if name.startswith("_") or find_spec(f"anabranch.{name}"):  # a module is there once it is imported, which asks here first
        raise AttributeError(f"module 'anabranch' has no attribute {name!r}")
    names = _top()
    if name not in names:
        raise AttributeError(f"module 'anabranch' has no attribute {name!r}{_elsewhere(name)}")
    globals()[name] = names[name]
    return names[name]


def __dir__() -> list[str]:
    return ["__version__", *GROUPS, *_top()]


def _top() -> dict[str, Any]:
    """The names at the top."""
    return {name: value for name, value in vars(import_module("anabranch._names")).items() if not name.startswith("_")}


def _elsewhere(name: str) -> str:
    """Where a name is that is not at the top."""
    homes = [group for group in GROUPS if hasattr(import_module(f"anabranch.{group}"), name)]
    return f"; it is ab.{homes[0]}.{name}" if homes else ""
