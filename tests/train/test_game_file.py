"""Games on disk: whole or not at all, whatever happens to the file."""

import os
import resource
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.errors import TrainingError
from anabranch.games.tictactoe import TicTacToe
from anabranch.train.game_file import MAGIC, GameWriter, PlayedGame, read_games, read_header, row_type

DTYPE = row_type(TicTacToe())
HEADER = {"game": "tictactoe", "row": DTYPE.itemsize}


def a_game(number, rows=2):
    random = np.random.default_rng(number)
    content = np.frombuffer(random.bytes(rows * DTYPE.itemsize), DTYPE)
    return PlayedGame(0, number, "000000.onnx", [0, 4, 8], 1, [1.0, -1.0], "over", content, final=bytes([number, 0, 255, 0]))


def written(path, games):
    writer = GameWriter(path, HEADER)
    for game in games:
        writer.write(game)
    writer.close()
    return path


def facts(games):
    """What can be compared of games."""
    return [(game.facts(), game.rows.tobytes()) for game in games]


def found(path, offset=0):
    return [game for game, _ in read_games(path, DTYPE, offset)]


GAMES = [a_game(number, rows) for number, rows in enumerate([1, 0, 1])]


# --- whole files ---


def test_games_come_back_as_they_were(tmp_path):
    path = written(tmp_path / "a.games", GAMES)
    assert facts(found(path)) == facts(GAMES)
    assert read_header(path) == HEADER
    assert found(path)[0].rows.dtype == DTYPE


def test_reading_goes_on_where_it_ended(tmp_path):
    path = written(tmp_path / "a.games", GAMES)
    ends = [end for _, end in read_games(path, DTYPE)]
    assert ends[-1] == path.stat().st_size
    for count, end in enumerate(ends, start=1):
        assert facts(found(path, end)) == facts(GAMES[count:])


def test_a_file_is_read_while_it_grows(tmp_path):
    writer, place, seen = GameWriter(tmp_path / "a.games", HEADER), 0, []
    for game in GAMES:
        writer.write(game)
        for played, end in read_games(writer.path, DTYPE, place):
            seen.append(played)
            place = end
    writer.close()
    assert facts(seen) == facts(GAMES)


def test_games_of_another_form_are_refused(tmp_path):
    path = written(tmp_path / "a.games", [a_game(0)])
    with pytest.raises(TrainingError, match="games of another form"):
        list(read_games(path, np.dtype([("a", "u1", (DTYPE.itemsize - 1,))])))


# --- damaged files ---


def test_a_file_that_is_cut_anywhere_has_the_games_before_the_cut(tmp_path):
    path = written(tmp_path / "a.games", GAMES)
    content, ends = path.read_bytes(), [end for _, end in read_games(path, DTYPE)]
    for length in range(len(content)):
        path.write_bytes(content[:length])
        whole = sum(end <= length for end in ends)
        assert facts(found(path)) == facts(GAMES[:whole])
        assert read_header(path) in (None, HEADER)


def test_a_flipped_bit_loses_nothing_before_it(tmp_path):
    path = written(tmp_path / "a.games", GAMES)
    content, ends = path.read_bytes(), [end for _, end in read_games(path, DTYPE)]
    expected = facts(GAMES)
    for place in range(len(content)):
        damaged = bytearray(content)
        damaged[place] ^= 1 << place % 8
        path.write_bytes(damaged)
        before = sum(end <= place for end in ends) if place >= len(MAGIC) else 0
        assert facts(found(path)) == expected[:before]


@given(st.data())
def test_any_bytes_in_the_middle_lose_nothing_before_them_and_invent_nothing(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "any.games"
    path.unlink(missing_ok=True)
    content = written(path, GAMES).read_bytes()
    ends = [end for _, end in read_games(path, DTYPE)]
    place = data.draw(st.integers(0, len(content)))
    other, more = data.draw(st.binary(max_size=40)), data.draw(st.integers(0, 60))
    path.write_bytes(content[:place] + other + content[place + more :])
    games = facts(found(path))
    assert games == facts(GAMES)[: len(games)]
    assert len(games) >= sum(end <= place for end in ends)


@given(st.binary(max_size=300))
def test_a_file_of_anything_has_no_games(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "none.games"
    path.write_bytes(content)
    assert found(path) == [] and read_header(path) is None
    path.write_bytes(MAGIC + content)
    assert found(path) == []


# --- writing that fails ---


@contextmanager
def little_space(path, more):
    """No file may become longer than this one is, and so many bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, ((path.stat().st_size if path.exists() else 0) + more, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("more", [0, 1, 7, 8, 9, 100])
def test_a_game_for_which_there_is_no_space_leaves_the_file_whole(tmp_path, more):
    writer = GameWriter(tmp_path / "a.games", HEADER)
    writer.write(GAMES[0])
    before = writer.path.read_bytes()
    with little_space(writer.path, more), pytest.raises(TrainingError, match=r"a\.games cannot be written: File too large"):
        writer.write(a_game(5, rows=20))
    assert writer.path.read_bytes() == before
    writer.write(GAMES[2])
    writer.close()
    assert facts(found(writer.path)) == facts([GAMES[0], GAMES[2]])


@pytest.mark.parametrize("more", [0, 5, 20, 30])
def test_a_file_that_cannot_be_begun_can_be_begun_later(tmp_path, more):
    path = tmp_path / "a.games"
    opened = len(os.listdir("/dev/fd"))
    with little_space(path, more), pytest.raises(TrainingError, match="cannot be written"):
        GameWriter(path, HEADER)
    assert not path.exists() and len(os.listdir("/dev/fd")) == opened
    assert facts(found(written(path, GAMES))) == facts(GAMES)


def test_writes_that_the_system_cuts_short_are_continued(tmp_path, monkeypatch):
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, content: write(file, content[:7]))
    path = written(tmp_path / "a.games", GAMES)
    monkeypatch.undo()
    assert facts(found(path)) == facts(GAMES)


def test_a_second_writer_does_not_write_to_a_file_that_is_there(tmp_path):
    path = written(tmp_path / "a.games", GAMES)
    with pytest.raises(TrainingError, match="File exists"):
        GameWriter(path, HEADER)
    assert facts(found(path)) == facts(GAMES)
