"""What is too much for the engines, and that they end when nobody is there any more: real programs at the end of real pipes."""

import contextlib
import gc
import json
import os
import select
import subprocess
import sys

import pytest

from anabranch.goengine.turns import LONGEST_GAME
from anabranch.protocols.analysis import MOST_OPEN
from anabranch.protocols.lines import LONGEST_LINE, MOST_AHEAD, ReadAhead, read_lines
from anabranch.protocols.queries import LONGEST_ID
from anabranch.search.searcher import Search
from tests.conftest import when_compiled
from tests.protocols.asking import GOOD, answer_to, answers_to
from tests.protocols.talk import PATIENCE, converse

ENDLESS = str(10**12)  # visits
TO_END = 15.0  # seconds; they need one on a machine that has nothing else to do
TOO_LONG = "he line is too long: at most 1,048,576 bytes are read"


def started(*arguments, **more):
    command = [sys.executable, "-m", "anabranch", *arguments]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **more)


def told(process, *lines):
    process.stdin.write("".join(line + "\n" for line in lines).encode())
    process.stdin.flush()


@pytest.fixture
def orphan():
    """Start a program; whatever becomes of the test, it does not stay."""
    processes = []

    def start(*arguments, **more):
        processes.append(started(*arguments, **more))
        return processes[-1]

    yield start
    for process in processes:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                stream.close()


# --- nobody listens -----------------------------------------------------------------------------------------------------------


@when_compiled
@pytest.mark.parametrize("command", ["genmove b", "kata-genmove_analyze b 10", "kata-analyze b 10", "reg_genmove b"])
def test_the_engine_ends_in_mid_search_when_both_pipes_are_closed(orphan, command):
    engine = orphan("gtp", "--visits", ENDLESS)
    told(engine, "name", command)
    assert engine.stdout.readline() == b"= Anabranch\n"
    engine.stdout.close()
    engine.stdin.close()
    engine.wait(TO_END)


@when_compiled
@pytest.mark.parametrize("command", ["genmove b", "kata-analyze b 10"])
def test_a_closed_output_alone_is_enough(orphan, command):
    engine = orphan("gtp", "--visits", ENDLESS)
    told(engine, "name", command)
    assert engine.stdout.readline() == b"= Anabranch\n"
    engine.stdout.close()
    engine.wait(TO_END)


@when_compiled
def test_the_engine_ends_while_it_compiles(orphan, tmp_path):
    engine = orphan("gtp", "--visits", "10", env={**os.environ, "ANABRANCH_CACHE": str(tmp_path)})
    told(engine, "name", "genmove b")
    assert engine.stdout.readline() == b"= Anabranch\n"
    engine.stdout.close()
    engine.stdin.close()
    engine.wait(TO_END)


@when_compiled
def test_an_analysis_ends_when_nobody_listens(orphan):
    server = orphan("analyze", "--threads", "2", "--size", "9")
    requests = [{**GOOD, "id": str(number), "maxVisits": 10**12} for number in range(5)]
    told(server, *map(json.dumps, requests), json.dumps({"id": "v", "action": "query_version"}))
    assert json.loads(server.stdout.readline())["id"] == "v"
    server.stdout.close()
    server.stdin.close()
    server.wait(TO_END)


@when_compiled
def test_the_end_of_the_input_alone_leaves_nothing_unanswered():
    """So that a script can be piped in: each search goes on to its end."""
    lines = b"1 genmove b\n2 genmove w\n3 move_history\n4 name"
    piped = subprocess.run(
        [sys.executable, "-m", "anabranch", "gtp", "--visits", "3000"], input=lines, capture_output=True, timeout=PATIENCE
    )
    answers = piped.stdout.decode().split("\n\n")
    moves = [answer.split()[-1] for answer in answers[:2]]
    assert answers[2:] == [f"=3 white {moves[1]}\nblack {moves[0]}", "=4 Anabranch", ""]
    assert converse("genmove b\ngenmove w\n", visits=3000, memory="512MB", resign=0.05) == [f"= {move}" for move in moves]


# --- long lines ---------------------------------------------------------------------------------------------------------------


def test_a_line_of_fifty_megabytes_is_refused_by_its_id_and_the_next_one_is_answered():
    lines = b"1 name\n2 echo " + b"x" * 50_000_000 + b"\n3 name\n"
    done = subprocess.run([sys.executable, "-m", "anabranch", "gtp"], input=lines, capture_output=True, timeout=PATIENCE)
    assert done.stdout.decode() == f"=1 Anabranch\n\n?2 t{TOO_LONG}\n\n=3 Anabranch\n\n"


def test_a_request_of_fifty_megabytes_is_refused():
    lines = b'{"id":"' + b"x" * 50_000_000 + b'"}\n{"id":"v","action":"query_models"}\n'
    done = subprocess.run([sys.executable, "-m", "anabranch", "analyze"], input=lines, capture_output=True, timeout=PATIENCE)
    first, second = map(json.loads, done.stdout.splitlines())
    assert first == {"error": f"T{TOO_LONG}"} and second["id"] == "v"


def lines_in(text):
    """What the reader makes of bytes that come in pieces of all sizes."""
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as stream:
        stream.write(text)  # less than what a pipe holds
    try:
        return list(read_lines(reading))
    finally:
        os.close(reading)


@pytest.mark.parametrize("text", [b"", b"a", b"a\n", b"\n\n", b"a\nb", b"a\r\n\xff\n", b"\n" * 3000])
def test_lines_are_read_as_they_stand(text):
    assert lines_in(text) == text.removesuffix(b"\n").split(b"\n") * bool(text)


def test_a_line_of_the_longest_size_is_read_and_one_byte_more_is_not(tmp_path):
    for extra in (0, 1, 1000):
        (tmp_path / "lines").write_bytes(b"x" * (LONGEST_LINE + extra) + b"\nnext\n")
        with open(tmp_path / "lines", "rb") as stream:
            long, following = read_lines(stream.fileno())
        assert len(long) == LONGEST_LINE + min(extra, 1) and following == b"next"


def test_many_arguments_take_time_in_proportion():
    pairs = LONGEST_LINE // len("b a1 ") - 10
    assert converse("gogui-setup " + "b a1 " * pairs + "\nlist_stones b\n") == ["= ", "= A1"]


# --- reading ahead ------------------------------------------------------------------------------------------------------------


@when_compiled
def test_what_is_read_ahead_is_bounded(orphan):
    """While a move is searched, a client that does not stop to write must wait at some point."""
    engine = orphan("gtp", "--visits", ENDLESS)
    told(engine, "name", "genmove b")
    assert engine.stdout.readline() == b"= Anabranch\n"
    descriptor, taken, lines = engine.stdin.fileno(), 0, b"version\n" * 8192
    os.set_blocking(descriptor, False)
    while taken < 2 * MOST_AHEAD and select.select([], [descriptor], [], 2.0)[1]:
        taken += os.write(descriptor, lines)
    assert taken < MOST_AHEAD


def test_whoever_reads_ahead_waits_for_room_and_gives_up_when_nothing_is_wanted():
    ahead = ReadAhead()
    assert ahead.put("large", MOST_AHEAD)
    assert ahead.take() == "large"  # now there is room again
    assert ahead.put("first", 1) and ahead.put("second", 1)
    ahead.close()
    assert not ahead.put("late", 1)
    assert [ahead.take(), ahead.take(), ahead.take()] == ["first", "second", None]
    ahead.drop()
    assert ahead.take() is None


# --- long games ---------------------------------------------------------------------------------------------------------------


def passes(count):
    return [["BW"[number % 2], "pass"] for number in range(count)]


def test_a_request_has_a_longest_game_and_a_largest_number_of_turns():
    long = answer_to({**GOOD, "moves": passes(LONGEST_GAME + 1)})
    assert long["error"].startswith("Must be an array of at most 4,000 pairs") and long["field"] == "moves"
    turns = answer_to({**GOOD, "analyzeTurns": [0] * (LONGEST_GAME + 2)})
    assert turns["error"] == "Must be an array of at most 4,001 turns" and turns["field"] == "analyzeTurns"


def test_a_turn_that_is_named_often_is_answered_once():
    answers = answers_to({**GOOD, "analyzeTurns": [1, 2] * 2000, "maxVisits": 2})
    assert sorted(answer["turnNumber"] for answer in answers) == [1, 2]


def test_an_id_is_no_novel():
    """Each answer repeats it."""
    assert answer_to({**GOOD, "id": "x" * (LONGEST_ID + 1)}) == {
        "error": "A request must have an id, which is a string of at most 1,000 characters",
        "field": "id",
    }


def test_fields_that_are_not_used_are_told_of_up_to_a_number():
    answers = answers_to({**GOOD, **{f"field{number}": 0 for number in range(1000)}, "maxVisits": 2})
    assert sum("warning" in answer for answer in answers) == 20 and len(answers) == 21


@when_compiled
def test_requests_wait_when_too_many_are_open(monkeypatch):
    assert MOST_OPEN == 10_000
    monkeypatch.setattr("anabranch.protocols.analysis.MOST_OPEN", 3)
    answers = answers_to(*({**GOOD, "id": str(number), "maxVisits": 2} for number in range(20)))
    assert sorted(int(answer["id"]) for answer in answers) == list(range(20))


@when_compiled
def test_a_game_over_gtp_has_a_longest_size_too(monkeypatch):
    monkeypatch.setattr("anabranch.goengine.turns.LONGEST_GAME", 6)
    lines = "play b pass\nplay w pass\n" * 3
    answers = converse(lines + "play b a1\ngenmove b\ngogui-play_sequence b a1\nundo\nplay b a1\nclear_board\nplay b a1\n")
    refused = "the game is too long: it has 6 moves, which is the limit; begin another"
    assert answers[6:] == [f"? illegal move: {refused}", f"? {refused}", f"? illegal move: {refused}", *["= "] * 4]


@when_compiled
def test_a_search_is_forgotten_with_its_answer():
    """If its memory waited for the collector of garbage, a server would grow to a gigabyte."""
    gc.collect()
    gc.disable()
    try:
        before = sum(type(thing) is Search for thing in gc.get_objects())  # isinstance() would follow weak references
        answers_to(*({**GOOD, "id": str(number), "maxVisits": 2} for number in range(5)))
        assert sum(type(thing) is Search for thing in gc.get_objects()) == before
    finally:
        gc.enable()
