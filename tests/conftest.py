"""What all tests share.

`needs("gnugo")` and `needs("pyspiel")` ask for a program or a module that not everyone has: without it a test is skipped, but
on the machines that decide about a change (CI is set there) it fails, so that nothing goes untested without a word.
`needs_folder("ANABRANCH_KATAGO_DATA")` asks for data that is not part of the project.
"""

import importlib.util
import os
import shutil
import signal
import sys
from pathlib import Path
from typing import NoReturn

import pytest
from hypothesis import settings

from anabranch.cli import main
from anabranch.jit import COMPILED

pytest.register_assert_rewrite("tests.games.compared")  # so that its failures show both sides, as those of tests do

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in what a shell runs in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)

IN_CI = os.environ.get("CI", "").lower() not in ("", "0", "false")

# A first example may wait for the compiler. In CI the same examples are tried every time.
settings.register_profile("anabranch", deadline=None, max_examples=60 if COMPILED else 10, derandomize=IN_CI)
settings.load_profile("anabranch")

# Tests that apply to compiled code only (plain Python is too slow for them, or has nothing to compile).
when_compiled = pytest.mark.when_compiled


def needs(*names: str) -> None:
    """Go on only if all of these programs or modules are there."""
    for name in names:
        if program(name) is None and not _is_module(name):
            _missing(f"needs {name}, which is neither a program nor a module here")


def needs_folder(variable: str) -> Path:
    """The folder that an environment variable names, with data that is not part of the project; skipped if it names none."""
    folder = os.environ.get(variable, "")
    if not folder:
        pytest.skip(f"needs {variable} to name a folder", allow_module_level=True)
    if not Path(folder).is_dir():
        _missing(f"needs {variable} to name a folder, which {folder} is not")
    return Path(folder)


def program(name: str) -> str | None:
    """Where a program is, if it is there; Debian keeps some in /usr/games, which is not on everybody's PATH."""
    return shutil.which(name) or shutil.which(name, path="/usr/games")


def _is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # the package around it is missing
        return False


def _missing(reason: str) -> NoReturn:
    if IN_CI:
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason, allow_module_level=True)


# Combinations of options that are tried in plain Python only, where they cost nothing to compile; the code is the same.
when_plain = pytest.mark.when_plain


# Combinations of options that take long to compile: `make test` tries them in plain Python, `make soak` (-m in_soak) compiled.
in_soak = pytest.mark.in_soak


def on_tree_and_graph(names: str, cases: list, graphs: int = 1) -> pytest.MarkDecorator:
    """Parametrise by these cases and by `graph`. Compiled, only so many of them, the first, are tried on graphs, too."""
    several, pairs = "," in names, []
    for number, case in enumerate(cases):
        given = case if hasattr(case, "marks") else pytest.param(*(case if several else [case]))
        for graph, layout in ((False, "tree"), (True, "graph")):
            marks = [*given.marks, *([when_plain] if graph and number >= graphs else [])]
            pairs.append(pytest.param(*given.values, graph, marks=marks, id="-".join([*map(repr, given.values), layout])))
    return pytest.mark.parametrize(f"{names}, graph", pairs)


# What takes long whatever it compiles. It comes first, so that at the end of a run no worker waits for it.
LONG = ("train/test_kills.py", "train/test_run.py", "soak/", "fuzz/", "test_docs.py", "test_examples.py", "test_strength.py")


def pytest_collection_modifyitems(config, items):
    """What does not apply is not there, rather than skipped: a skip means that something is missing."""
    unfit = {"when_plain"} if COMPILED else {"when_compiled"}
    if COMPILED and "in_soak" not in config.option.markexpr:
        unfit.add("in_soak")
    items[:] = [item for item in items if not any(item.get_closest_marker(marker) for marker in unfit)]
    items.sort(key=lambda item: not item.nodeid.removeprefix("tests/").startswith(LONG))


@pytest.fixture(name="program")
def in_this_process(monkeypatch, capsys):
    """Call the program in this process: gives (exit code, stdout, stderr)."""

    def call(*arguments, answers=()):
        replies = iter(answers)
        monkeypatch.setattr(sys, "argv", ["anabranch", *arguments])
        monkeypatch.setattr("builtins.input", lambda *_: next(replies, "quit"))
        code = 0
        try:
            main()
        except SystemExit as leaving:
            code = leaving.code or 0
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return call
