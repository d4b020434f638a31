"""GTP: what is a line, what is an answer, what every single command does, and the search and the program behind it."""

import io
import json
import os
import re
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from anabranch._version import __version__
from anabranch.goengine.engine import Engine
from anabranch.protocols.gtp import Session
from anabranch.protocols.gtp_words import COMMANDS, parsed
from tests.conftest import when_compiled
from tests.protocols.talk import OPTIONS, Client, converse

# --- lines and answers --------------------------------------------------------------------------------------------------------


def test_a_line_is_read_as_gtp_2_says():
    assert parsed("play b D4\n") == ("", "play", "b D4")
    assert parsed("12 play\tb  D4 # a good move\r\n") == ("12", "play", "b  D4")
    assert parsed("\x07genmove\x00 b") == ("", "genmove", "b")
    assert parsed("007 name") == ("007", "name", "")
    for nothing in ("", "\n", "   \r\n", "# only words", "\t#\n"):
        assert parsed(nothing) is None


def test_an_answer_repeats_the_id_and_ends_with_an_empty_line():
    out = io.StringIO()
    Session(Engine(OPTIONS), ["1 name\n", "name\n", "99 nonsense\n", "nonsense\n", "3 komi 6.5\n"], out).run()
    assert out.getvalue() == "=1 Anabranch\n\n= Anabranch\n\n?99 unknown command\n\n? unknown command\n\n=3 \n\n"


def test_comments_and_empty_lines_get_no_answer_and_any_line_end_will_do():
    assert converse("\n\r\n# hello\n   # hello\nname # hello\r\n\t\n") == ["= Anabranch"]
    out = io.StringIO()
    Session(Engine(OPTIONS), [b"name\r\n", b"\xff\xfe\n", b"echo \xc3\xa9"], out).run()
    assert out.getvalue() == "= Anabranch\n\n? unknown command\n\n= \\xe9\n\n"  # answers are plain ASCII


def test_an_answer_never_has_an_empty_line_inside():
    for answer in converse("showboard\nlist_commands\ngogui-analyze_commands\nprintsgf\nhelp\n"):
        assert answer.startswith("= ") and "\n\n" not in answer


def test_a_number_alone_is_an_id_without_a_command():
    assert converse("13\n") == ["?13 unknown command"]


def test_nothing_is_answered_after_quit():
    assert converse("1 quit\n2 name\n") == ["=1 "]


def test_an_error_of_our_own_is_an_answer_too(monkeypatch, capsys):
    monkeypatch.setitem(COMMANDS, "name", lambda session, arguments: 1 / 0)
    assert converse("name\nversion\n") == ["? internal error: ZeroDivisionError: division by zero", f"= {__version__}"]
    assert "ZeroDivisionError" in capsys.readouterr().err


# --- every command ------------------------------------------------------------------------------------------------------------

VERTEX = "([A-HJ][1-9]|pass)"
INFO = rf"info move {VERTEX} visits \d+ .* pv {VERTEX}.*"
BOARD9 = r"\n9( [.X+O()]){9}\n(.*\n){8}  A B C D E F G H J\n"

# What to say (the last line is the command) and what the answer looks like. Those that search are tried in `SEARCHES`.
EXAMPLES = {
    "protocol_version": ("protocol_version", "= 2"),
    "name": ("name", "= Anabranch"),
    "version": ("version", rf"= {re.escape(__version__)}"),
    "known_command": ("known_command genmove", "= true"),
    "list_commands": ("list_commands", r"= all_legal\n(\S+\n)*undo\nversion"),
    "help": ("help", r"= all_legal\n(\S+\n)*version"),
    "quit": ("quit", "= "),
    "boardsize": ("boardsize 7", "= "),
    "rectangular_boardsize": ("rectangular_boardsize 5 8\nquery_boardsize", "= 5 8"),
    "clear_board": ("play b D4\nclear_board\nlist_stones b", "= "),
    "komi": ("komi 0.5\nget_komi", r"= 0\.5"),
    "fixed_handicap": ("fixed_handicap 5", "= C3 G7 C7 G3 E5"),
    "place_free_handicap": ("boardsize 9\nplace_free_handicap 12", r"= ([A-J]\d ){11}[A-J]\d"),
    "set_free_handicap": ("set_free_handicap A1 B2 J9\nlist_stones b", "= A1 B2 J9"),
    "loadsgf": ("loadsgf {folder}/game.sgf 3\nmove_history", "= white C3\nblack E5"),
    "play": ("play black d4\nlist_stones b", "= D4"),
    "undo": ("play b D4\nplay w E5\nundo\nlist_stones w", "= "),
    "time_settings": ("time_settings 60 30 5", "= "),
    "time_left": ("time_settings 60 30 5\ntime_left b 31 0", "= "),
    "showboard": ("play b D4\nshowboard", rf"= {BOARD9}white \(O\) to move, komi 7\.5\nmove 1: B D4; black has captured 0, .*"),
    "list_stones": ("play w J9\nplay w A1\nlist_stones white", "= A1 J9"),
    "captures": ("gogui-play_sequence w A1 b A2 b B1\ncaptures black", "= 1"),
    "is_legal": ("play b D4\nis_legal w D4", "= 0"),
    "all_legal": ("boardsize 2\nplay b A1\nall_legal w", "= B1 A2 B2"),
    "last_move": ("play b D4\nlast_move", "= black D4"),
    "move_history": ("play b D4\nplay w pass\nmove_history", "= white pass\nblack D4"),
    "get_komi": ("get_komi", r"= 7\.5"),
    "query_boardsize": ("query_boardsize", "= 9"),
    "gg-undo": ("play b D4\nplay w E5\ngg-undo 2\nmove_history", "= "),
    "printsgf": ("play b D4\nprintsgf", r"= \(;GM\[1\]FF\[4\].*SZ\[9\]KM\[7\.5\]RU\[Chinese\];B\[df\]\)"),
    "cputime": ("cputime", r"= 0\.000"),
    "gomill-cpu_time": ("gomill-cpu_time", r"= 0\.000"),
    "echo": ("echo hello  there", "= hello  there"),
    "clear_cache": ("clear_cache", "= "),
    "set_random_seed": ("set_random_seed 5\nget_random_seed", "= 5"),
    "get_random_seed": ("get_random_seed", "= 0"),
    "kgs-rules": ("kgs-rules new_zealand\nkata-get-rules", r'= .*"suicide":true.*'),
    "kgs-time_settings": ("kgs-time_settings byoyomi 1200 30 5", "= "),
    "kata-time_settings": ("kata-time_settings fischer 60 5", "= "),
    "kata-list_time_settings": ("kata-list_time_settings", "= none absolute byoyomi canadian fischer fischer-capped"),
    "kgs-game_over": ("kgs-game_over", "= "),
    "kgs-chat": ("kgs-chat game somebody hello", "= I am Anabranch.*"),
    "gogui-analyze_commands": ("gogui-analyze_commands", r"= (\w+/[^/\n]+/[^/\n]+\n?)+"),
    "gogui-interrupt": ("gogui-interrupt", "= "),
    "gogui-title": ("gogui-title", "= Anabranch"),
    "gogui-play_sequence": ("gogui-play_sequence b D4 w E5 b pass\nmove_history", "= black pass\nwhite E5\nblack D4"),
    "play_sequence": ("play_sequence b D4 w E5\nlist_stones w", "= E5"),
    "gogui-setup": ("gogui-setup b A1 b B2 w J9\ngogui-setup e B2\nlist_stones b", "= A1"),
    "gogui-setup_player": ("gogui-setup b A1\ngogui-setup_player w\nshowboard", r"(?s)= .*white \(O\) to move.*"),
    "set_position": ("play b D4\nset_position w A1 b J9\nlist_stones b", "= J9"),
    "anabranch-options": ("anabranch-options visits 7\nanabranch-options", r"= \[string\] visits 7\n(.*\n)*\[bool\] ponder 0"),
    "kata-raw-nn": ("kata-raw-nn 0", r"\? there is no network; start the engine with --net FILE"),
    "kata-get-models": ("kata-get-models", r"= \[\]"),
    "kata-get-rules": ("kata-get-rules", r'= \{"friendlyPassOk":true,.*"ko":"POSITIONAL".*\}'),
    "kata-set-rules": ("kata-set-rules tromp-taylor\nkata-get-rules", r'= \{"friendlyPassOk":false,.*Bonus":"0"\}'),
    "kata-set-rule": ("kata-set-rule ko SIMPLE\nkata-get-rules", r'= .*"ko":"SIMPLE".*'),
    "kata-list-params": ("kata-list-params", "= maxVisits maxTime analysisWideRootNoise ponderingEnabled allowResignation"),
    "kata-get-param": ("kata-get-param maxVisits", "= 40"),
    "kata-set-param": ("kata-set-param maxVisits 9\nkata-get-param maxVisits", "= 9"),
    "kata-get-params": ("kata-get-params", r'= \{"maxVisits": 40, "maxTime": 0, .*\}'),
    "kata-set-params": ('kata-set-params {"maxVisits": 9, "maxTime": 2.5}\nkata-get-param maxTime', r"= 2\.5"),
    "kata-raw-human-nn": ("kata-raw-human-nn 0", r"\? there is no human-like network; start the engine with --human-net FILE"),
    "stop": ("stop", "= "),
}  # fmt: skip
SEARCHES = {
    "genmove": ("genmove b", rf"= {VERTEX}"),
    "reg_genmove": ("reg_genmove w\nmove_history", "= "),
    "kgs-genmove_cleanup": ("kgs-genmove_cleanup w", rf"= {VERTEX}"),
    "final_score": ("final_score", r"= W\+7\.5"),
    "final_status_list": ("play b D4\nfinal_status_list alive", "= D4"),
    "lz-analyze": ("lz-analyze b 10", r"=(\ninfo move .*)*"),
    "kata-analyze": ("kata-analyze 10 ownership true", r"=(\ninfo move .*)*"),
    "analyze": ("analyze B 10", r"=(\ninfo move .*)*"),
    "lz-genmove_analyze": ("lz-genmove_analyze w 10", rf"=(\n{INFO})+\nplay {VERTEX}"),
    "kata-genmove_analyze": ("kata-genmove_analyze b 10 rootInfo true", rf"=(\n{INFO} rootInfo .*)+\nplay {VERTEX}"),
    "kata-search": ("kata-search b\nmove_history", "= "),
    "kata-search_cancellable": ("kata-search_cancellable b", rf"= {VERTEX}|= cancelled"),
    "kata-search_analyze_cancellable": ("kata-search_analyze_cancellable b", rf"=(\n{INFO})+\nplay ({VERTEX}|cancelled)"),
    "kata-benchmark": ("kata-benchmark 20", r"= 20 visits in .* visits a second"),
    "kata-search_analyze": ("kata-search_analyze b 10", rf"=(\n{INFO})+\nplay {VERTEX}"),
    "genmove_analyze": ("genmove_analyze W 10", rf"=(\n{INFO})+\nplay {VERTEX}"),
    "anabranch-ownership": ("anabranch-ownership", r"= ((-?\d\.\d\d ?){9}\n?){9}"),
    "anabranch-moves": ("anabranch-moves", r"= VAR b [A-J]\d.*\nLABEL .*\nINFLUENCE .*\nTEXT best=.*"),
}


def answer_to(lines, folder=None):
    if folder is not None:
        (folder / "game.sgf").write_text("(;SZ[9]KM[6.5]AB[aa][ab];B[ee];W[cg];B[gc])", encoding="utf-8")
        lines = lines.replace("{folder}", str(folder))
    return converse(lines)[-1]


def test_every_command_is_tried():
    assert set(EXAMPLES) | set(SEARCHES) == set(COMMANDS)
    assert all(name in lines for name, (lines, _) in (EXAMPLES | SEARCHES).items())


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_command_does_what_it_should(name, tmp_path):
    lines, expected = EXAMPLES[name]
    assert re.fullmatch(expected, answer_to(lines, tmp_path))


@when_compiled
@pytest.mark.parametrize("name", SEARCHES)
def test_a_command_that_searches_does_what_it_should(name):
    lines, expected = SEARCHES[name]
    assert re.fullmatch(expected, answer_to(lines))


# --- the search behind it -----------------------------------------------------------------------------------------------------


def test_it_plays_also_without_a_compiler():
    answers = converse("boardsize 3\nkomi 0.5\nplay b B2\ngenmove w\nkata-genmove_analyze b\nfinal_score\n", visits=3)
    assert re.fullmatch(rf"= {VERTEX}", answers[3]) and re.fullmatch(rf"=\n{INFO}\nplay {VERTEX}", answers[4])
    assert re.fullmatch(r"= ([BW]\+\S+|0)", answers[5])


@when_compiled
@pytest.mark.parametrize("graph", [True, False], ids=["graph", "tree"])
def test_what_was_searched_is_kept_from_move_to_move(graph):
    engine = Engine(replace(OPTIONS, visits=200, graph=graph))
    first = engine.choose(0)
    engine.commit(first)
    second = engine.choose(1)
    expected = next(move.visits for move in first.result.moves if move.action == first.action)
    assert second.result.stats.kept == expected - 1
    assert int(second.result.visits.sum()) == 200


@when_compiled
def test_undo_restores_the_position_and_the_search_goes_on_from_there():
    with Client(visits=300) as client:
        client.ok("play b E5")
        before = client.ok("showboard")
        client.ok("genmove w")
        searched = client.engine.searcher()
        client.ok("undo")
        assert client.ok("showboard") == before
        choice = client.engine.choose(1)
        assert client.engine.searcher() is searched
        assert choice.result.stats.kept == 300  # all that was found before the move
        client.ok("genmove w")
        client.ok("gg-undo 2")
        assert client.engine.choose(0).result.stats.kept == 0  # a position that was never searched


@when_compiled
def test_one_seed_is_one_game_and_the_next_game_is_another():
    def game(client):
        client.ok("clear_board")
        return [client.ok(f"genmove {'bw'[i % 2]}") for i in range(8)]

    with Client() as one, Client() as other:
        first = game(one)
        assert game(other) == first
        assert game(one) != first


@when_compiled
def test_a_hopeless_game_is_given_up_after_some_moves_and_not_before():
    lost = "boardsize 5\nkomi 0.5\ngogui-setup b A2 b B2 b C2 b D2 b E2 b C3 b A4 b B4 b D4 b E4\n"
    moves = "genmove w\nplay b pass\n" * 4
    answers = converse(lost + moves, resign=0.3)
    replies = [answer for answer in answers if re.fullmatch(r"= (\S+)", answer)]
    assert "= resign" in replies and replies.index("= resign") >= 2
    assert "= resign" not in converse(lost + moves, resign=0)


@when_compiled
def test_a_clock_is_kept_to_and_time_is_used():
    with Client(visits=None, lag=2.0) as client:  # much lag: this machine may have much else to do
        client.engine.warm()
        client.ok("kgs-time_settings byoyomi 0 4 1")  # what is not used is lost
        began = time.monotonic()
        client.ok("genmove w")
        assert 1.5 < time.monotonic() - began < 4.0
        client.ok("time_settings 300 0 0")
        client.ok("time_left b 3 0")
        began = time.monotonic()
        client.ok("genmove b")
        assert time.monotonic() - began < 3.0
        assert 0 < client.engine.clock.left[0].main < 3


@when_compiled
def test_time_passes_while_other_commands_wait_in_line_but_is_not_counted_twice():
    """A script that comes all at once: each move has its own time."""
    out = io.StringIO()
    engine = Engine(replace(OPTIONS, visits=None, seconds=0.3))
    engine.warm()
    began = time.monotonic()
    Session(engine, ["genmove b\n", "genmove w\n", "genmove b\n"], out).run()
    assert time.monotonic() - began > 0.85


# --- the program --------------------------------------------------------------------------------------------------------------


def start(*arguments, **options):
    command = [sys.executable, "-m", "anabranch", *arguments]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


@when_compiled
def test_the_program_speaks_gtp_on_stdout_and_nothing_else():
    rules = json.dumps({"ko": "SIMPLE", "scoring": "TERRITORY", "tax": "SEKI"})  # as KataGo writes them
    options = ("--size", "7", "--komi", "5.5", "--rules", rules, "--visits", "20", "--resign", "0")
    engine = start("gtp", *options)
    out, _ = engine.communicate("1 name\n2 query_boardsize\n3 get_komi\n4 kata-get-rules\n5 genmove b\n6 quit\n", timeout=300)
    answers = out.split("\n\n")
    assert engine.returncode == 0
    assert answers[:3] == ["=1 Anabranch", "=2 7", "=3 5.5"] and '"scoring":"TERRITORY"' in answers[3]
    assert re.fullmatch(rf"=5 {VERTEX}", answers[4]) and answers[5:] == ["=6 ", ""]


@when_compiled
def test_what_is_compiled_is_told_in_whole_lines_on_stderr(tmp_path):
    """Lizzie reads both streams as one, so a line that is not ended would swallow the answer that follows."""
    environment = {**os.environ, "ANABRANCH_CACHE": str(tmp_path), "ANABRANCH_QUIET": ""}
    engine = start("gtp", "--size", "5", "--visits", "1", env=environment)
    try:
        engine.stdin.write("1 name\n")
        engine.stdin.flush()
        assert re.match(r"anabranch: compiling \w+ for .*\n", engine.stderr.readline())
        engine.stdin.write("quit\n")
        engine.stdin.flush()
        assert engine.stdout.readline() == "=1 Anabranch\n"
        assert engine.wait(timeout=60) == 0  # it does not wait for the compiler
    finally:
        engine.kill()


def test_the_program_ends_when_nobody_listens_any_more():
    engine = start("gtp", "--visits", "1")
    engine.stdout.close()
    engine.stdin.write("name\nname\n")
    engine.stdin.close()
    assert engine.wait(timeout=60) == 0
