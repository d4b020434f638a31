"""Packages that not everyone has: imported when they are needed, and missed in one line."""

from importlib import import_module
from typing import Any

from anabranch.errors import MissingExtra


def needed(module: str, extra: str) -> Any:
    """The module; if it is not installed, an error that says which extra brings it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != module.partition(".")[0]:
            raise  # it is there, and lacks something itself
        raise MissingExtra(f'needs {module}: pip install "anabranch[{extra}]"') from None
