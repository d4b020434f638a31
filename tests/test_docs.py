"""The pages for people are run: every Python block, every command, and what they are said to print.

A Python block whose first line is a file's name (`# mygame.py`) is written to that file; others run in order in one namespace
a page. A `text` block after a Python block is what that prints. In a `console` block lines after `$` are commands, the others
are lines that they print. Digits are not compared in what commands print, since they change with every improvement.
"""

import contextlib
import io
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple
from xml.etree import ElementTree

import pytest

from tests.conftest import when_compiled

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE_NAME = re.compile(r"# (\w+\.py)\n")
LINK = re.compile(r"\]\((?!https?://)([^)#]*)(?:#([\w-]+))?\)")
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGE = "page_under_test"  # the module whose namespace a page's blocks share; games in it can be pickled
PLAYED = b"?\nhint\nquit\n"  # what is typed where a command asks
HERE = ("check", "games", "graph", "search")  # commands for which no other process is started: it would import and compile anew


class Block(NamedTuple):
    line: int
    language: str
    text: str


def blocks_of(page: Path) -> list[Block]:
    content = page.read_text(encoding="utf-8")
    return [Block(content[: m.start()].count("\n") + 2, m[1], m[2]) for m in BLOCK.finditer(content)]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def pages_with(*languages: str) -> list[Path]:
    return [page for page in PAGES if any(block.language in languages for block in blocks_of(page))]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to work in, from which modules are imported, and nothing of it stays behind."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    known = set(sys.modules)
    yield tmp_path
    sys.modules.pop(PAGE, None)
    for name in set(sys.modules) - known:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


@when_compiled
@pytest.mark.parametrize("page", pages_with("python", "console"), ids=name_of)
def test_what_a_page_shows_runs_and_prints_what_it_says(page, folder, program, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    names = vars(sys.modules.setdefault(PAGE, ModuleType(PAGE)))
    printed = None  # by the Python block just before
    for block in blocks_of(page):
        where = f"{page.name}, line {block.line}"
        if block.language == "python":
            file = FILE_NAME.match(block.text)
            if file:
                (folder / file[1]).write_text(block.text[file.end() :], encoding="utf-8")
                printed = None
            else:
                printed = run_python(block, where, names)
        elif block.language == "text" and printed is not None:
            assert_prints(block.text, printed, where)
            printed = None
        elif block.language == "console":
            run_commands(block, where, folder, program)
            printed = None


def run_python(block: Block, where: str, names: dict[str, Any]) -> str:
    code = compile("\n" * (block.line - 1) + block.text, where, "exec")
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(code, names)
    return out.getvalue()


def run_commands(block: Block, where: str, folder: Path, program: Callable[..., tuple[int, str, str]]) -> None:
    commands = re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]
    for command in commands:
        line, _, shown = command.partition("\n")
        words = line.split()
        if words[0] != "anabranch":  # make, pip: not for a test to run
            continue
        code, *printed_by_it = program(*words[1:]) if words[1] in HERE else run_process(words[1:], folder)
        output = "".join(printed_by_it)
        failing = "  - " in shown or shown.startswith("anabranch: ")
        assert (code != 0) == failing, f"{where}: {line} ended with {code}\n{output}"
        assert "Traceback" not in output, f"{where}: {line}\n{output}"
        printed = {plain(printed) for printed in output.splitlines()}
        for wanted in shown.splitlines():
            assert plain(wanted) in printed, f"{where}: {line} does not print\n  {wanted}\nbut\n{output}"


def run_process(words: list[str], folder: Path) -> tuple[int, str, str]:
    """Its exit code, and what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "anabranch", *words],
        cwd=folder,
        input=PLAYED,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        timeout=300,
        check=False,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def assert_prints(shown: str, printed: str, where: str) -> None:
    """Exactly this; of a search's table, which changes with every improvement, only the head and the moves in some order."""
    if "principal variation" not in shown:
        assert printed == shown, where
        return
    assert printed.splitlines()[0].split() == shown.splitlines()[0].split(), where
    assert {line.split()[0] for line in printed.splitlines()[1:-1]} == {line.split()[0] for line in shown.splitlines()[1:-1]}, (
        where
    )


def plain(line: str) -> str:
    """Without digits and the width of gaps."""
    return re.sub(r"\s+", " ", re.sub(r"[\d.,]+", "#", line)).strip()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_to_files_and_headings_that_are_there(page):
    for target, anchor in LINK.findall(page.read_text(encoding="utf-8")):
        there = (page.parent / target).resolve() if target else page
        assert there.exists(), f"{page.name} links to {target}"
        if anchor:
            headings = re.findall(r"^#+ (.*)$", there.read_text(encoding="utf-8"), re.MULTILINE)
            slugs = {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}
            assert anchor in slugs, f"{page.name} links to {target}#{anchor}"


def test_every_game_has_its_section():
    from anabranch.games.registry import find, names

    page = (ROOT / "docs" / "games.md").read_text(encoding="utf-8")
    for name in names():
        assert f"\n## {find(name).__name__}\n" in page


@pytest.mark.parametrize("picture", sorted((ROOT / "docs" / "images").glob("*.svg")), ids=lambda path: path.stem)
def test_pictures_are_well_formed(picture):
    ElementTree.parse(picture)


def test_the_page_on_graphs_quotes_what_its_example_prints():
    done = subprocess.run(
        [sys.executable, "examples/graph_wrong_ways.py"], cwd=ROOT, capture_output=True, text=True, timeout=300, check=True
    )
    page = (ROOT / "docs" / "algorithms" / "graph.md").read_text(encoding="utf-8")
    assert f"```console\n$ python examples/graph_wrong_ways.py\n{done.stdout}```" in page


def test_the_picture_of_the_wrong_ways_has_the_numbers_that_the_example_computes(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    monkeypatch.setattr(sys, "path", list(sys.path))  # the script adds the folder of examples
    import draw_graph

    drawn = (ROOT / "docs" / "images" / "graph_wrong_ways.svg").read_text(encoding="utf-8")
    assert drawn == draw_graph.wrong_ways()


def test_every_promise_has_the_test_that_it_names():
    text = (ROOT / "docs" / "trust.md").read_text()
    sources = {path: path.read_text() for path in (ROOT / "tests").rglob("*.py")}
    for name in re.findall(r"`(test_\w+)`", text):
        assert any(f"def {name}(" in source for source in sources.values()), name
    for name in re.findall(r"`((?:tests/)?[\w/]*\w+\.py)`", text):
        assert any(str(path).endswith("/" + name) for path in sources) or (ROOT / name).exists(), name
