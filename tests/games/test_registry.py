"""Games by name: the package's own, and those of a user's file or module."""

import pickle
import subprocess
import sys
from textwrap import dedent

import pytest

from anabranch.errors import GameError, UnknownGame
from anabranch.games import ConnectFour, Hex, registry
from anabranch.games.registry import load

NIM = """
    import numpy as np
    from anabranch.games.game import Game, rule

    class Heap(Game):
        \"\"\"Take one or two stones.\"\"\"
        actions = 2
        state = np.dtype([("stones", "i4"), ("turn", "i4")])

        def __init__(self, stones=7):
            super().__init__(stones=stones)

        @rule
        def setup(state): state.turn = 0
        @rule
        def to_play(state): return state.turn
        @rule
        def is_legal(state, action): return action < state.stones
        @rule
        def play(state, action):
            state.stones -= action + 1
            state.turn = 1 - state.turn
        @rule
        def is_over(state): return state.stones == 0
        @rule
        def returns(state, out): out[state.turn], out[1 - state.turn] = -1.0, 1.0
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder for a user's files; what is imported from it is forgotten afterwards."""
    before = set(sys.modules)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def written(folder, name, text):
    path = folder / name
    path.write_text(dedent(text))
    return path


# --- the package's own ---


@pytest.mark.parametrize("name", ["connectfour", "ConnectFour", "connect-four", "Connect Four", "connect_four"])
def test_a_name_is_understood_however_it_is_written(name):
    assert type(load(name)) is ConnectFour


def test_options_come_as_keywords_or_behind_a_colon():
    assert load("hex") == Hex(11)
    assert load("hex", size=7) == load("hex:size=7") == load("Hex: size = 7") == Hex(7)


def test_every_game_is_listed_with_a_line_about_it_and_can_be_loaded():
    listed = registry.names()
    assert {"tictactoe", "connectfour", "othello", "hex", "nim", "pig", "treasure", "trinim"} <= set(listed)
    assert "opaque" not in listed and "game" not in listed
    assert all(line.endswith(".") for line in listed.values())


def test_an_unknown_name_is_told_with_the_nearest_ones():
    with pytest.raises(UnknownGame, match=r"no game is called 'conect4'; did you mean connectfour\?"):
        load("conect4")
    with pytest.raises(UnknownGame, match=r"there are connectfour, go, goofspiel, hex, .* path/to/file.py:ClassName"):
        load("zzzz")
    with pytest.raises(UnknownGame):
        load("rules")


def test_wrong_options_are_told_with_the_right_ones():
    with pytest.raises(GameError, match=r"Hex has no option `sise`; it takes size=11"):
        load("hex:sise=7")
    with pytest.raises(GameError, match=r"'7' is not an option of Hex; write key=value: it takes size=11"):
        load("hex:7")
    with pytest.raises(GameError, match=r"boards of size 1 to 19, not 'big'"):
        load("hex:size=big")


def test_a_missing_class_of_the_package_is_an_attribute_error():
    with pytest.raises(ImportError, match=r"cannot import name 'Chess'"):
        from anabranch.games import Chess  # noqa: F401


def test_importing_one_game_does_not_import_the_others():
    script = "import sys; from anabranch.games import Hex; print('anabranch.games.othello' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "False\n"


# --- a user's own ---


def test_a_game_is_loaded_from_a_file(folder):
    path = written(folder, "heap_a.py", NIM)
    game = load(f"{path}:Heap")
    assert repr(game) == "Heap(stones=7)"
    assert load(f"{path}:Heap:stones=3") == load(f"{path}:Heap", stones=3)
    assert game.position([1, 1, 1, 0]).returns == [-1.0, 1.0]


def test_a_file_is_imported_once_so_that_its_game_stays_the_same(folder):
    path = written(folder, "heap_b.py", NIM)
    assert type(load(f"{path}:Heap")) is type(load(f"{path}:Heap"))
    assert pickle.loads(pickle.dumps(load(f"{path}:Heap"))) == load(f"{path}:Heap")


def test_the_only_game_of_a_file_need_not_be_named(folder):
    path = written(folder, "heap_c.py", NIM)
    assert load(str(path)) == load(f"{path}:Heap")


def test_a_file_may_have_the_name_of_a_module_that_exists(folder):
    path = written(folder, "random.py", NIM)
    assert repr(load(f"{path}:Heap")) == "Heap(stones=7)"


def test_a_file_may_import_its_neighbours(folder):
    written(folder, "heap_tables.py", "STONES = 7")
    path = written(folder, "heap_d.py", "from heap_tables import STONES\n" + dedent(NIM))
    assert repr(load(f"{path}:Heap")) == "Heap(stones=7)"


def test_a_game_is_loaded_from_a_module(folder):
    (folder / "heaps").mkdir()
    written(folder, "heaps/__init__.py", "")
    written(folder, "heaps/small.py", NIM)
    sys.path.append(str(folder))
    assert repr(load("heaps.small:Heap")) == "Heap(stones=7)"


@pytest.mark.parametrize("file", ["nowhere/mygame.py", "~nosuchuser/mygame.py", 300 * "x" + ".py"])
def test_a_missing_file_is_told(file):
    with pytest.raises(GameError, match=rf"there is no file {file}; .* path/to/file.py:ClassName"):
        load(f"{file}:Nim")


def test_a_missing_module_is_told_with_the_remedy():
    with pytest.raises(GameError, match=r"there is no module `nowhere`; install it, or name the file instead"):
        load("nowhere.games:Nim")


def test_a_missing_class_is_told_with_those_that_exist(folder):
    path = written(folder, "heap_e.py", NIM)
    with pytest.raises(GameError, match=r"there is no game `Haep` in .*heap_e.py; it has Heap"):
        load(f"{path}:Haep")
    with pytest.raises(GameError, match=r"`np` in .*heap_e.py is not a game; it has Heap"):
        load(f"{path}:np")
    with pytest.raises(GameError, match=r"it has none: a game is a subclass of anabranch.Game"):
        load(f"{written(folder, 'heap_f.py', 'x = 1')}:Heap")


def test_an_error_while_importing_is_told_with_its_line(folder):
    with pytest.raises(GameError, match=r"heap_g.py cannot be imported: ZeroDivisionError in line 2: division by zero"):
        load(f"{written(folder, 'heap_g.py', 'x = 1' + chr(10) + 'y = x / 0')}:Heap")
    with pytest.raises(GameError, match=r"heap_h.py cannot be imported: SyntaxError in line 1"):
        load(f"{written(folder, 'heap_h.py', 'class Heap(:')}:Heap")
    with pytest.raises(GameError, match=r"heap_i.py cannot be imported: ModuleNotFoundError in line 1: .*nowhere_at_all"):
        load(f"{written(folder, 'heap_i.py', 'import nowhere_at_all')}:Heap")


def test_a_class_that_breaks_the_contract_is_told_as_such(folder):
    text = "from anabranch.games.game import Game, rule\nclass Heap(Game):\n    @rule\n    def setup(state): pass"
    with pytest.raises(GameError, match=r"GameError in line 2: Heap lacks the rules to_play, is_legal"):
        load(f"{written(folder, 'heap_j.py', text)}:Heap")
