"""Text is text, whoever wrote it, and tables fit the terminal."""

import io
import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from anabranch.cli.terminal import NARROWEST, Rows, Terminal
from anabranch.games import Pig, TicTacToe
from tests.cli.conftest import unstyled

# Markup that closes what was never opened, markup that would vanish, a picture's name, and a command to a terminal.
HOSTILE = "[/75] [a1=2] [bold]x[/bold] :ant: \x1b[2J"
SHOWN = HOSTILE.replace("\x1b", "\ufffd")


@pytest.fixture(params=["a file", "a terminal"])
def target(request, terminal):
    if request.param == "a terminal":
        terminal(2000)


@pytest.fixture
def hostile(monkeypatch, target):
    """Games all of whose texts are hostile; their rules stay as they are, so nothing is compiled anew."""
    for game in (TicTacToe, Pig):
        name_of = game.name_of
        monkeypatch.setattr(game, "name_of", lambda self, action, name_of=name_of: f"{name_of(self, action)}{HOSTILE}")
        monkeypatch.setattr(game, "text", lambda self, state: f"a board: {HOSTILE}\n{HOSTILE}")
        monkeypatch.setattr(game, "__repr__", lambda self: f"Game({HOSTILE})")
        monkeypatch.setattr(game, "player_names", (f"one {HOSTILE}", f"two {HOSTILE}"))
    monkeypatch.setattr(Pig, "event_name", lambda self, event: f"{event}{HOSTILE}")


def assert_shown(text, *wanted):
    plain = unstyled(text)
    assert "\x1b" not in plain and "\U0001f41c" not in plain
    for part in wanted:
        assert part in plain


def test_search_shows_names_boards_and_variations_as_they_are(program, hostile):
    code, out, _ = program("search", "tictactoe", "--moves", "4", "--visits", "60")
    assert code == 0
    assert_shown(out, f"a board: {SHOWN}", f"Game({SHOWN}), ply 2", f"two {SHOWN} to move")
    assert len(re.findall(r"^[abc]\d\[/75\] \[a1=2\]", unstyled(out), re.M)) >= 8  # moves
    assert re.search(r"% +[+-][\d.]+ +[abc]\d\[/75\] \[a1=2\].* [abc]\d\[/75\]", unstyled(out))  # variations


def test_chance_events_are_shown_in_variations(program, hostile):
    code, out, _ = program("search", "pig", "--visits", "100")
    assert code == 0 and re.search(r"\[\d\[/75\] \[a1=2\] \[bold\]x\[/bold\] :ant: \ufffd\[2J\]", unstyled(out))


def test_play_shows_names_chance_answers_and_errors_as_they_are(program, hostile):
    answers = ["?", "[/75]nothing", "hint", "0", "undo", "1", "resign"]
    code, out, _ = program("play", "tictactoe", "--visits", "40", answers=answers)
    assert code == 0
    assert_shown(out, f"You are one {SHOWN}", f"a1{SHOWN} b1{SHOWN}", "'[/75]nothing' is not a move of", f"two {SHOWN} wins")
    assert re.search(r"engine plays [abc]\d\[/75\]", unstyled(out))
    code, out, _ = program("play", "pig:target=6", "--visits", "5", "--player", "-1")
    assert code == 0
    assert_shown(out, f"plays roll{SHOWN}", f" {SHOWN} wins.")
    assert re.search(r"chance: \d\[/75\] \[a1=2\]", unstyled(out))


def test_graph_check_bench_and_games_show_names_and_files_as_they_are(program, hostile, monkeypatch, tmp_path):
    folder = tmp_path / "[b] :ant:"
    folder.mkdir()
    for kind in ("svg", "dot", "json"):
        file = folder / f"[75]\x1b.{kind}"
        code, out, _ = program("graph", "tictactoe", "--visits", "40", "-o", str(file))
        assert code == 0
        assert_shown(out, f"nodes are in {file}".replace("\x1b", "\ufffd"))
    ElementTree.parse(folder / "[75]\x1b.svg")
    code, out, _ = program("check", "tictactoe", "--games", "2")
    assert_shown(out, f"Game({SHOWN}): 2 random games")
    assert program("bench", "tictactoe", "--seconds", "0.05")[0] == 0
    monkeypatch.setattr("anabranch.games.registry.names", lambda: {HOSTILE: HOSTILE})
    assert_shown(program("games")[1], f"{SHOWN}  {SHOWN}")


def test_drawings_of_positions_are_well_formed(program, hostile, tmp_path):
    assert program("search", "tictactoe", "--visits", "5", "--svg", str(tmp_path / "a.svg"))[0] == 0
    ElementTree.parse(tmp_path / "a.svg")


RAISING = """
import anabranch as ab
from anabranch.games import TicTacToe

class Raising(TicTacToe):
    @ab.rule
    def setup(state):
        raise ValueError("[/75] [a1=2] [bold]x[/bold] :ant: \\x1b[2J")
"""


def test_errors_show_what_others_wrote_as_it_is(program, target, tmp_path):
    for words in (
        ("search", f"nowhere {HOSTILE}.py:Nim"),
        ("search", "tictactoe", "--moves", f"b2,{HOSTILE}".replace(" ", "")),
    ):
        code, _, err = program(*words)
        assert code == 2 and "Traceback" not in err
        assert_shown(err, "[/75]", "[a1=2]", ":ant:")
    (tmp_path / "raising.py").write_text(RAISING)
    code, _, err = program("search", f"{tmp_path}/raising.py:Raising")
    assert code == 2
    assert_shown(err, f"rule `setup` of Raising, line 8: ValueError: {SHOWN}")


def test_review_shows_what_a_record_says_as_it_is(program, target, tmp_path):
    name = HOSTILE.replace("]", "\\]").replace(":", "\\:")
    path = tmp_path / "[75] :ant:.sgf"
    path.write_text(f"(;GM[1]FF[4]SZ[5]KM[0.5]PB[{name}]PW[Bob];B[cc];W[cb])")
    code, out, _ = program("review", str(path), "--visits", "10")
    assert code == 0
    assert_shown(out, "[/75] [a1=2] [bold]x[/bold] :ant:")
    path.write_text("no game")
    assert_shown(program("review", str(path))[2], f"anabranch: {path}: ")


# --- tables -------------------------------------------------------------------------------------------------------------------


def lines_of(rows, width):
    stream = io.StringIO()
    console = Terminal()
    console.file, console._force_terminal = stream, width is not None
    console.width = width or 80
    console.say(rows)
    return unstyled(stream.getvalue()).splitlines()


WORDS = st.text("abc xyz", min_size=1, max_size=14).map(lambda text: " ".join(text.split()) or "a")
NUMBERS = st.integers(0, 10**7).map("{:,}".format)
SENTENCES = st.lists(st.sampled_from(["d3", "[4]", "pass", "up/left"]), max_size=30).map(" ".join)


@given(st.lists(st.tuples(WORDS, NUMBERS, NUMBERS, SENTENCES), min_size=1, max_size=5), st.integers(20, 120))
def test_a_table_fits_its_terminal_and_loses_nothing(cells, width):
    rows = Rows(("move", "visits", "share", "line"), cells, sentences=True)
    lines = lines_of(rows, width)
    assert max(map(cell_len, lines)) <= width
    together = " ".join(lines)
    for row in cells:
        for word in " ".join(row).split():
            assert word in together
    wide = lines_of(rows, None)
    assert len(wide) == 1 + len(cells)  # in a file, a line a row
    if rows.width <= width:
        assert [line.rstrip() for line in lines] == [line.rstrip() for line in wide]


def test_a_column_of_sentences_is_broken_into_lines_beside_the_others():
    rows = Rows(("game", "what it is"), [("hex", "Join your two sides of the board"), ("nim", "Take the last")], sentences=True)
    assert lines_of(rows, 6 + NARROWEST + 12) == [
        "game  what it is",
        "hex   Join your two sides of",
        "      the board",
        "nim   Take the last",
    ]


def test_a_row_that_does_not_fit_becomes_a_name_and_its_cells_below():
    rows = Rows(("player", "points", "won", "lost"), [("uct visits=1000", "12.5", "12", "3"), ("random", "3", "3", "12")])
    assert lines_of(rows, 24) == [
        "uct visits=1000",
        "  points 12.5  won 12",
        "  lost 3",
        "random",
        "  points 3  won 3",
        "  lost 12",
    ]


def test_wide_letters_take_two_columns():
    rows = Rows(("name", "n"), [("囲碁", "1"), ("go", "22")])
    assert lines_of(rows, 80) == ["name   n", "囲碁   1", "go    22"]


@pytest.mark.parametrize("columns", [40, 80])
def test_every_table_of_a_search_fits_its_terminal(program, terminal, columns):
    terminal(columns)
    rat = ("pyrat:width=3,height=3,cheese=3,walls=0,mud=0,max_turns=10", "--evaluate", "uniform")
    for words in (("games",), ("search", "connectfour"), ("search", *rat)):
        _, out, _ = program(*words, *(("--visits", "60") if words[0] == "search" else ()))
        shown = unstyled(out)
        lines = shown.splitlines()
        table = [line for line in lines if not line.startswith(("best=", "60 simulations", "ConnectFour(", "PyRat("))]
        assert max(map(cell_len, table)) <= columns
        assert (
            "othello" in shown
            if words == ("games",)
            else re.search(r"visits +(share|policy)|visits \d+  (share|policy)", shown)
        )


def test_styles_stand_beside_texts():
    stream = io.StringIO()
    console = Terminal()
    console.file = stream
    console.say(Text("[red]").append("[/red]", "bold"))
    assert stream.getvalue() == "[red][/red]\n"
