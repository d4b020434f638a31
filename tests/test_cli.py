"""The program as a person uses it: what it prints, what it refuses, how fast it answers."""

import json
import os
import re
import resource
import signal
import statistics
import subprocess
import sys
import time
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.cli import show_review
from anabranch.cli.show import ConsoleReporter
from anabranch.games.registry import names

NIM = """
import numpy as np
import anabranch as ab

class Nim(ab.Game):
    \"\"\"Take one to three stones.\"\"\"
    players, actions = 2, 3
    state = np.dtype([("stones", "i4"), ("turn", "i1")])
    @ab.rule
    def setup(state): state.stones, state.turn = 21, 0
    @ab.rule
    def to_play(state): return state.turn
    @ab.rule
    def is_legal(state, action): return action < state.stones
    @ab.rule
    def play(state, action):
        state.stones -= action + 1
        state.turn = 1 - state.turn
    @ab.rule
    def is_over(state): return state.stones == 0
    @ab.rule
    def returns(state, out):
        out[state.turn], out[1 - state.turn] = -1.0, 1.0
"""


@pytest.fixture(autouse=True)
def no_module_stays_behind(monkeypatch, tmp_path):
    """Users' files are imported as modules; those of one test are not those of another."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


def test_search_shows_board_table_and_speed(program):
    code, out, _ = program("search", "connectfour", "--moves", "d,d c", "--visits", "500")
    assert code == 0
    assert ". . X X . . ." in out or ". . X X O . ." in out
    assert "principal variation" in out and "best=" in out and "a second" in out


def test_search_as_json_is_read_by_a_program(program):
    _, out, _ = program("search", "tictactoe", "--visits", "100", "--json", "--seed", "3", "--select", "puct", "--c", "2")
    found = json.loads(out)
    assert sum(found["visits"]) == 100
    assert found["settings"]["seed"] == 3 and found["settings"]["select"].startswith("PUCT(c=2.0")


@pytest.mark.parametrize(("rule", "name"), [("best", "UCT"), ("rave", "Rave"), ("uct", "UCT")])
def test_search_by_a_rule_of_that_name(program, rule, name):
    _, out, _ = program("search", "tictactoe", "--visits", "50", "--json", "--select", rule)
    assert json.loads(out)["settings"]["select"].startswith(name)


def test_search_draws_the_position(program, tmp_path):
    program("search", "othello", "--visits", "10", "--svg", str(tmp_path / "board.svg"))
    assert (tmp_path / "board.svg").read_text().startswith("<svg")


def test_search_go_shows_visits_on_the_board_and_whose_points_are_whose(program, tmp_path):
    moves = ("search", "go:size=5", "--moves", "C3,B3", "--visits", "300")
    _, out, _ = program(*moves, "--ownership", "--svg", str(tmp_path / "board.svg"))
    heat = out[out.index("visits, in percent") :].splitlines()
    assert "X O: sure, x o: likely" in heat[0]
    rows = [line.split() for line in heat[1:6]]
    assert [row[0] for row in rows] == list("54321") and all(row[6] == row[0] for row in rows)  # two boards beside each other
    assert rows[2][2:4] == ["O", "X"]
    shown = [int(cell) for row in rows for cell in row[1:6] if cell.isdigit()]
    assert shown and 0 < sum(shown) <= 110
    assert {cell for row in rows for cell in row[7:]} <= set("XxOo.")
    assert heat[6].split() == [*"ABCDE"] * 2
    drawn = ElementTree.parse(tmp_path / "board.svg").getroot()
    kinds = [element.get("class") for element in drawn.iter()]
    assert kinds.count("heat") == kinds.count("share") > 0 and "owned" in kinds
    numbers = [element.text for element in drawn.iter() if element.get("class") == "mark"]
    assert numbers[:3] == ["1", "2", "3"]
    assert "visits, in percent" not in program(*moves, "--no-heat")[1]


def test_search_go_as_json_has_ownership_if_it_is_asked_for(program):
    words = ("search", "go:size=5", "--moves", "C3,B3", "--visits", "50", "--json")
    assert "ownership" not in json.loads(program(*words)[1])
    owned = json.loads(program(*words, "--ownership")[1])["ownership"]
    assert len(owned) == 25 and all(-1 <= own <= 1 for own in owned)


def test_play_go_shows_what_the_engine_looked_at_if_that_is_wanted(program):
    words = ("play", "go:size=5", "--visits", "50")
    _, out, _ = program(*words, "--heat", "--ownership", answers=["C3", "quit"])
    assert out.count("visits, in percent") == out.count("X O: sure") == out.count("engine plays") == 1
    assert "visits, in percent" not in program(*words, answers=["C3", "quit"])[1]


GAME = "(;GM[1]FF[4]SZ[5]KM[0.5]PB[Ann]PW[Bob]RE[B+R];B[cc];W[cb];B[bb];W[dc];B[dd];W[bc])"


@pytest.fixture
def record(tmp_path):
    path = tmp_path / "game.sgf"
    path.write_text(GAME)
    return path


def test_review_shows_the_curve_the_worst_moves_and_both_sides(program, record):
    code, out, err = program("review", str(record), "--visits", "60", "--swings", "2")
    assert code == 0
    assert "Ann (black) - Bob (white), B+R" in out and "60 visits a position" in out
    assert "black's win rate" in out and "100 %" in out and " 50 %" in out
    table = out[out.index("mover's win rate") :].split("\n\n")[0].splitlines()
    assert len(table) in (2, 3) and all("% -> " in row for row in table[1:])
    assert re.search(r"^standard error of a loss [\d.]+%; \d of 6 moves lost more than twice their own$", out, re.M)
    assert "too few visits for this board" in err
    for colour in ("black", "white"):
        assert re.search(rf"^{colour}: average loss -?[\d.]+% a move, the search's first choice \d of 3 times", out, re.M)


def test_review_writes_a_picture_a_record_and_json(program, record, tmp_path):
    files = ("--svg", str(tmp_path / "r.svg"), "--sgf", str(tmp_path / "r.sgf"))
    words = ("review", str(record), "--visits", "40", "--first", "2", "--last", "4", "--json", *files)
    told = json.loads(program(*words)[1])
    assert [move["number"] for move in told["moves"]] == [2, 3, 4] and told["complete"]
    assert told["game"] == "Go(size=5, komi=0.5, rules='chinese')"
    ElementTree.parse(tmp_path / "r.svg")
    assert (tmp_path / "r.sgf").read_text().count("SBKV[") == 4
    assert json.loads(program(*words)[1]) == told  # one seed, one answer
    other = json.loads(program(*words, "--komi", "6.5", "--rules", "japanese")[1])
    assert other["game"] == "Go(size=5, komi=6.5, rules='japanese')"


BAD_RECORDS = {
    "(;GM[1]SZ[9]": "game.sgf: ",
    "no game": "the text contains no game",
    "(;GM[2]SZ[8];B[aa])": "this is not a game of Go",
    "(;GM[1]SZ[9]C[hello])": "game.sgf: there are no moves in the game",
    "(;GM[1]SZ[9];B[aa];W[aa])": "game.sgf: move 2, by white: A9 is not legal here: there is a stone",
}


@pytest.mark.parametrize("text", BAD_RECORDS)
def test_review_says_what_is_wrong_with_a_record(program, record, text):
    record.write_text(text)
    code, _, err = program("review", str(record), "--visits", "5")
    assert code == 2 and BAD_RECORDS[text] in err and len(err.strip().splitlines()) == 1


def test_review_says_what_is_wrong_with_its_options(program, record):
    for words, complaint in {
        ("--first", "9"): "there is no move 9 to begin with: the game has 6 moves",
        ("--first", "3", "--last", "2"): "--last=2: comes before --first=3",
        ("--visits", "0"): "--visits=0: must be a whole number of 1 or more",
        ("--swings", "-1"): "--swings=-1: must be 0 or more",
        ("--rules", "mine"): "there are no rules called 'mine'",
        ("--komi", "0.3"): "komi=0.3",
    }.items():
        code, _, err = program("review", str(record), *words)
        assert code == 2 and complaint in err and len(err.strip().splitlines()) == 1


CURVES = st.lists(st.floats(0, 1), min_size=2, max_size=400).map(lambda rates: list(enumerate(rates)))


@given(CURVES, st.integers(10, 150))
def test_a_curve_fits_its_place_and_is_higher_where_the_win_rate_is(curve, width):
    *rows, numbers = show_review.curve_lines(curve, width)
    assert len(rows) == show_review.ROWS
    assert max(map(len, rows)) <= show_review.MARGIN + width
    assert len(numbers) <= show_review.MARGIN + width + 3
    each = max(1, min(width // len(curve), show_review.WIDEST))
    if each * len(curve) <= width:
        columns = zip(*(row[show_review.MARGIN :].ljust(each * len(curve)) for row in rows), strict=True)
        heights = [sum(show_review.BLOCKS.index(cell) for cell in column) for column in columns][::each]
        for (_, rate), height in zip(curve, heights, strict=True):
            assert abs(height / (8 * show_review.ROWS) - rate) <= 1 / (8 * show_review.ROWS)


def test_search_on_a_graph_tells_merges_and_evaluations_and_what_is_proven(program):
    moves = ("--moves", "b2,a1,c3", "--visits", "1000")
    _, out, _ = program("search", "tictactoe", *moves, "--graph", "--prove")
    assert " merges" in out and " evaluations" in out
    assert "(proven), stopped by proven" in out
    assert " merges" not in program("search", "tictactoe", *moves)[1]


def test_a_search_is_saved_and_goes_on_from_its_file(program, tmp_path):
    file = str(tmp_path / "kept.search")
    options = ("search", "tictactoe", "--graph", "--visits", "60", "--json")
    first = json.loads(program(*options, "--moves", "b2", "--save", file)[1])
    second = json.loads(program(*options, "--load", file)[1])
    assert second["moves_played"] == first["moves_played"] == [4]
    assert second["stats"]["kept"] == 60 and sum(second["visits"]) == 120


def test_graph_draws_what_was_searched(program, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, _ = program("graph", "tictactoe", "--visits", "300", "--nodes", "15")
    assert code == 0
    counts = re.fullmatch(r"([\d,]+) nodes, ([\d,]+) edges tried, ([\d,]+) merges; 15 nodes are in graph.svg\n", out)
    nodes, edges, merges = (int(count.replace(",", "")) for count in counts.groups())
    assert edges == nodes - 1 + merges
    assert (tmp_path / "graph.svg").read_text().count('class="node"') == 15


def test_graph_draws_searches_in_which_both_move_at_once(program, tmp_path):
    code, _, _ = program("graph", RAT, "--visits", "60", "--nodes", "20", "-o", str(tmp_path / "a.svg"))
    drawing = (tmp_path / "a.svg").read_text()
    assert code == 0 and " / " not in drawing and "up/" in drawing


def test_graph_writes_what_the_files_name_says(program, tmp_path):
    for name, begins in (("a.svg", "<svg"), ("a.dot", "digraph"), ("A.JSON", "{")):
        code, out, _ = program("graph", "tictactoe", "--moves", "b2", "--visits", "50", "--tree", "-o", str(tmp_path / name))
        assert code == 0 and " 0 merges" in out
        assert (tmp_path / name).read_text().startswith(begins)
    told = json.loads((tmp_path / "A.JSON").read_text())
    assert told["settings"]["graph"] is False and len(told["edges"]) > 8


def test_games_lists_every_game(program):
    _, out, _ = program("games", "--json")
    assert json.loads(out) == names()
    assert "othello" in program("games")[1]


def test_a_users_own_game_is_checked_searched_and_played(program, tmp_path):
    path = tmp_path / "mygame.py"
    path.write_text(NIM)
    assert "all is well" in program("check", f"{path}:Nim")[1]
    assert program("search", f"{path}:Nim", "--visits", "2000", "--json")[0] == 0
    code, out, _ = program("play", f"{path}:Nim", "--visits", "500", answers=["0"] * 21)
    assert code == 0 and ("wins" in out or "You win" in out)


def test_check_fails_with_exit_code_1_on_a_broken_game(program, tmp_path):
    path = tmp_path / "broken.py"
    path.write_text(NIM.replace("-1.0, 1.0", "-5.0, 5.0"))
    code, out, _ = program("check", f"{path}:Nim")
    assert code == 1 and "value_range" in out


def test_play_understands_help_hint_undo_and_nonsense(program):
    answers = ["?", "zz", "a1", "hint", "undo", "b2", "quit"]
    code, out, _ = program("play", "tictactoe", "--visits", "100", answers=answers)
    assert code == 0
    assert "a1 b1 c1" in out and "'zz' is not a move" in out and "engine plays" in out


def test_the_engine_plays_alone_to_the_end_also_with_dice(program):
    _, out, _ = program("play", "pig", "--player", "-1", "--visits", "50")
    assert "chance: " in out and "The game is over" in out


RAT = "pyrat:width=3,height=3,cheese=3,walls=0,mud=0,max_turns=10"


def test_search_shows_both_players_where_they_move_at_once(program):
    code, out, _ = program("search", RAT, "--visits", "60", "--evaluate", "uniform", "--moves", "right/left")
    assert code == 0
    assert "both players to move" in out and "turn 1 of 10" in out
    head = next(line for line in out.splitlines() if line.startswith("first"))
    assert head.split() == ["first", "visits", "policy", "value", "prior", "second", "visits", "policy", "value", "prior"]
    assert re.search(r"best=(up|right|left|stay)/(down|right|left|stay), 60 visits, values=", out)


def test_search_as_json_gives_pairs_where_both_move_at_once(program):
    _, out, _ = program("search", RAT, "--visits", "60", "--evaluate", "uniform", "--moves", "right/left", "--json")
    found = json.loads(out)
    assert [sum(visits) for visits in found["visits"]] == [60, 60]
    assert len(found["best"]) == len(found["value"]) == len(found["policy"]) == 2
    assert found["moves_played"] == [[1, 3]]


def test_a_person_and_the_engine_move_at_once(program):
    words = ("play", RAT, "--visits", "20", "--evaluate", "uniform")
    _, out, _ = program(*words, answers=["?", "hint", "north", "right", "undo", "up", "quit"])
    assert "up right down left stay" in out  # what is legal
    assert "'north' is not a move" in out
    assert re.search(r"played: right/\w+", out) and re.search(r"played: up/\w+", out)
    assert out.count("turn 0 of 10") == 2  # after undo again


def test_the_engine_plays_both_sides_at_once(program):
    _, out, _ = program("play", RAT, "--visits", "20", "--evaluate", "uniform", "--player", "-1")
    assert re.search(r"The game is over: player 0 \+\d", out)


def test_bench_measures_a_game(program):
    rows = json.loads(program("bench", "tictactoe", "--seconds", "0.1", "--json")[1])
    assert rows[0]["game"] == "tictactoe" and rows[0]["simulations_per_second"] > 0


@pytest.mark.when_compiled
def test_demo_ends_with_three_commands_that_exist(program):
    _, out, _ = program("demo")
    commands = [line.split()[1] for line in out.splitlines() if line.strip().startswith("anabranch ")]
    assert len(commands) == 3
    for command in commands:
        assert program(command, "--help")[0] == 0


BAD = {
    ("search", "connectfor"): "did you mean connectfour",
    ("search", "nowhere.py:Nim"): "nowhere.py",
    ("search", "connectfour", "--moves", "d,d,d,d,d,d,d"): "move 7: d is not legal here; legal: a b c e f g",
    ("search", "connectfour", "--moves", "d,x9"): "move 2: 'x9' is not a move of ConnectFour()",
    ("search", "connectfour", "--visits", "0"): "visits=0: must be a whole number of 1 or more",
    ("search", "connectfour", "--visits", "-3"): "visits=-3: must be a whole number of 1 or more",
    ("search", "connectfour", "--seconds", "0"): "seconds=0.0: must be above 0",
    ("search", "connectfour", "--memory", "lots"): 'such as "512MB"',
    ("search", "connectfour", "--memory", "100"): "give it at least",
    ("search", "connectfour", "--depth", "0"): "depth=0: must be a whole number of 1 or more",
    ("search", "tictactoe", "--moves", "a1,b1,a2,b2,a3", "--visits", "5"): "the game is over in this position",
    ("search", "tictactoe", "--moves", "a1,b1,a2,b2,a3,c3"): "move 6: c3: the game is over",
    ("search", "hex:size=99"): "size",
    ("search", "nim:stones=5"): "rule `setup` changes `stones`",
    ("play", "nim", "--player", "5"): "players 0 to 1",
    ("search", "connectfour", "--select", "greedy", "--c", "1"): "the greedy rule has no exploration constant",
    ("search", "pyrat", "--select", "regret", "--c", "1"): "the regret rule has no exploration constant; use --select deco",
    ("search", "pyrat", "--select", "uct"): "is for players who take turns",
    ("search", "tictactoe", "--select", "decoupled"): "is for games in which both move at once",
    ("search", "pyrat", "--moves", "up"): "both players move at once, so give two actions",
    ("search", "pyrat", "--moves", "up/north"): "'north' is not a move",
    ("search", "pyrat:width=4,cheese=5"): "centre",
    ("search", "tictactoe", "--load", "nowhere.search"): "nowhere.search cannot be read: No such file",
    ("search", "tictactoe", "--load", __file__): "is not a saved search",
    ("search", "tictactoe", "--load", "some.search", "--moves", "b2"): "leave one of them out",
    ("search", "tictactoe", "--visits", "5", "--svg", "nowhere/a.svg"): "nowhere/a.svg cannot be written: No such file",
    ("search", "tictactoe", "--visits", "5", "--json", "--save", "nowhere/a.search"): "cannot be written: No such file",
    ("search", "tictactoe", "--visits", "5", "--json", "--save", "."): ". cannot be written: it is a folder; name a file in it",
    ("search", "tictactoe", "--load", "."): ". cannot be read: Is a directory",
    ("graph", "tictactoe", "--visits", "5", "-o", "nowhere/a.svg"): "nowhere/a.svg cannot be written: No such file",
    ("graph", "tictactoe", "-o", "a.png"): "use .svg, .dot or .json",
    ("graph", "tictactoe", "--nodes", "0"): "--nodes=0: must be a whole number of 1 or more",
    ("graph", "tictactoe", "--visits", "0"): "visits=0: must be a whole number of 1 or more",
    ("graph", "connectfor"): "did you mean connectfour",
    ("search", "othello", "--ownership"): "--ownership works only in Go, not in Othello()",
    ("play", "othello", "--heat"): "--heat works only in Go, not in Othello()",
    ("review", "nowhere.sgf"): "nowhere.sgf cannot be read: No such file",
}


@pytest.mark.parametrize("arguments", BAD, ids=" ".join)
def test_bad_input_gives_one_clear_error_and_no_traceback(program, arguments):
    code, _, err = program(*arguments)
    assert code == 2
    assert BAD[arguments] in err
    told = [line for line in err.strip().splitlines() if not line.startswith("compiling ")]
    assert "Traceback" not in err and len(told) == 1


def test_brackets_in_the_name_of_a_folder_are_printed_as_they_are(capsys):
    ConsoleReporter().finished("simulate", 1.0, "the cache folder /a[/b]/[red] is read-only")
    assert "/a[/b]/[red]" in capsys.readouterr().err


def test_a_users_game_with_a_typing_error_is_told_by_its_rule(program, tmp_path):
    path = tmp_path / "wrong.py"
    path.write_text(NIM.replace("state.stones -= action + 1", "state.stones -= action + '1'"))
    code, _, err = program("search", f"{path}:Nim", "--visits", "10")
    assert code == 2
    assert "rule `play` of Nim, line 17" in err and "Traceback" not in err


def run_program(*arguments, **options):
    return subprocess.Popen([sys.executable, "-m", "anabranch", *arguments], text=True, **options)


def test_help_answers_in_under_half_a_second():
    """Of CPU time: the machine may be busy."""

    def once():
        began = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert run_program("--help", stdout=subprocess.DEVNULL).wait() == 0
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        return ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime

    assert statistics.median(once() for _ in range(5)) < 0.5


@pytest.mark.when_compiled
def test_ctrl_c_shows_the_best_so_far():
    for seconds in (4, 16, 64):  # on a busy machine the program may not have begun to search before it is interrupted
        words = ("search", "tictactoe", "--seconds", "300", "--json")
        searching = run_program(*words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(seconds)
        os.kill(searching.pid, signal.SIGINT)
        out, _ = searching.communicate(timeout=60)  # of the 300 seconds that were asked for
        if out:
            break
    assert json.loads(out)["stopped_by"] == "Ctrl-C"


def test_options_are_named_as_players_of_matches_name_them(program):
    words = ("search", "tictactoe", "--visits", "20", "--json")
    found = json.loads(program(*words, "--select", "UCT(c=0.7)", "--backup", "Mix")[1])["settings"]
    assert found["select"].startswith("UCT(c=0.7") and found["backup"].startswith("Mix(")


@pytest.mark.parametrize("command", ["search", "play", "gtp", "analyze"])
def test_help_lists_every_rule_that_can_be_chosen(program, command):
    from anabranch.games.go import Go
    from anabranch.option_names import short_names

    _, out, _ = program(command, "--help")
    listed = set(re.split(r"[\s,;]+", out))
    assert set(short_names("select", Go())) <= listed and "{" not in out.replace("{GAME}", "")


def test_an_unknown_rule_is_refused_with_the_nearest_one(program):
    code, _, err = program("search", "tictactoe", "--select", "pukt")
    assert code == 2 and "did you mean puct?" in err
