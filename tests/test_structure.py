"""What readers of the code may rely on: functions have names and explanations, modules keep private names to themselves."""

import ast
import inspect
from pathlib import Path

import pytest

import anabranch as ab

SOURCES = Path(ab.__file__).parent
MODULES = sorted(SOURCES.rglob("*.py"))


def is_registered(function):
    """Whether this implements a generic function, which explains it."""
    calls = [part for part in function.decorator_list if isinstance(part, ast.Call)]
    return any(isinstance(call.func, ast.Attribute) and call.func.attr == "register" for call in calls)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCES)))
def test_functions_have_names_and_public_ones_are_explained(path):
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            assert node.name != "_", f"line {node.lineno}"
            if not node.name.startswith("_") and not is_registered(node):
                assert ast.get_docstring(node), f"line {node.lineno}: {node.name}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCES)))
def test_no_module_imports_private_names_of_another(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("anabranch"):
            private = [name.name for name in node.names if name.name.startswith("_") and not name.name.startswith("__")]
            assert not private, f"line {node.lineno}: {private}"


def test_the_top_of_the_package_has_about_25_names_and_errors_for_others_say_where_they_are():
    names = [name for name in dir(ab) if name not in ab.GROUPS and not name.startswith("_")]
    assert len(names) <= 28
    for name in ("Search", "Result", "Game", "rule", "Position", "check", "UCT", "PUCT", "Greedy", "Rave", "Decoupled"):
        assert name in names
    with pytest.raises(AttributeError, match=r"it is ab\.select\.MuZero"):
        ab.MuZero  # noqa: B018
    with pytest.raises(AttributeError, match=r"has no attribute 'nothing_of_the_kind'$"):
        ab.nothing_of_the_kind  # noqa: B018


def test_a_search_has_at_most_15_parameters_and_explains_each():
    parameters = [name for name in inspect.signature(ab.Search.__init__).parameters if name != "self"]
    assert len(parameters) <= 15
    for name in parameters:
        assert name in (ab.Search.__init__.__doc__ or ""), name
