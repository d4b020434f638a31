"""What a Go player thinks of a move at first sight: each thing that is weighed, on a board where only that is to be seen."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import in_soak

import anabranch as ab
from anabranch.evaluate import advise
from anabranch.games.go import Go, Handcrafted, Sense
from anabranch.jit import kernel

NOTHING = Sense(*[0] * 11, own=0.0)


def seen(drawing, move, heuristic, to_play=0, moves=()):
    """H, C and C~ of a move."""
    lines = drawing.strip().splitlines()
    position = Go((len(lines[0].split()), len(lines))).drawn(drawing.strip(), to_play)
    for name in moves:
        position = position.play(name)
    return advise(heuristic, position.state, position.game.action(move))


CAPTURE = """
. . . . .
. . X . .
. X O . .
. . X . .
. . . . ."""
SAVE = """
. . . . .
. . O . .
. O X . .
. . O . .
. . . . ."""
ATTACK = """
. . . . .
. . . . .
. X O . .
. . X . .
. . . . ."""
SELF_ATARI = """
. O . . .
O . . . .
. . . . .
. . . . .
. . . . ."""
EYE = """
. X . . .
X X . . .
. . . . .
. . . . .
. . . . ."""
HANE = """
. . . . . . .
. . . . . . .
. . . X O X .
. . . . . . .
. . . . . . .
. . . . . . .
. . . . . . ."""
EMPTY = "\n".join([" ".join("." * 9)] * 9)


@pytest.mark.parametrize(
    ("drawing", "move", "field", "value"),
    [
        (CAPTURE, "D3", "capture", 1.0),
        (SAVE, "D3", "save", 1.0),
        (ATTACK, "C4", "attack", 1.0),
        (ATTACK, "D3", "attack", 1.0),
        (SELF_ATARI, "A5", "self_atari", 0.0),
        (EYE, "A5", "eye", 0.0),
        (HANE, "E4", "pattern", 1.0),
        (EMPTY, "A5", "first_line", 0.0),
        (EMPTY, "B5", "second_line", 0.0),
        (EMPTY, "H2", "second_line", 0.0),
        (EMPTY, "C5", "third_line", 1.0),
    ],
)
def test_what_speaks_for_a_move_or_against_it(drawing, move, field, value):
    weight = 7
    assert seen(drawing, move, NOTHING) == (0.5, 0, 0)
    assert seen(drawing, move, NOTHING._replace(**{field: weight})) == (value, 0, weight)
    h, own, amaf = seen(drawing, move, NOTHING._replace(**{field: weight}, even=7, own=0.5))
    assert (h, own, amaf) == ((value + 0.5) / 2, 7, 14)


@pytest.mark.parametrize(
    ("drawing", "move", "field"),
    [
        (CAPTURE, "E3", "capture"),
        (SAVE, "B4", "save"),
        (ATTACK, "E3", "attack"),
        (SELF_ATARI, "C3", "self_atari"),
        (EYE, "C3", "eye"),
        (HANE, "A1", "pattern"),
        (EMPTY, "B5", "first_line"),
        (EMPTY, "A5", "second_line"),
        (EMPTY, "C5", "second_line"),
        (HANE, "D6", "second_line"),  # there are stones around
        (EMPTY, "E5", "third_line"),
        (HANE, "C5", "third_line"),  # there are stones around
    ],
)
def test_other_moves_are_left_alone(drawing, move, field):
    assert seen(drawing, move, NOTHING._replace(**{field: 7})) == (0.5, 0, 0)


def test_a_chain_that_cannot_be_saved_is_not():
    drawing = ". O .\nO X O\n. . O"  # b1 has one liberty then
    assert seen(drawing, "B1", NOTHING._replace(save=7)) == (0.5, 0, 0)
    assert seen(drawing, "B1", NOTHING._replace(self_atari=7)) == (0.0, 0, 7)


def test_a_capture_is_no_self_atari():
    drawing = ". O X\nX X .\n. . ."
    assert seen(drawing, "A3", NOTHING._replace(capture=7, self_atari=9)) == (1.0, 0, 7)


def test_nearness_fades_with_distance():
    moves = ("E6", "F6", "E7", "F7", "G7", "A1")
    assert [seen(EMPTY, move, NOTHING._replace(near=9), 1, ["pass", "E5"])[2] for move in moves] == [9, 6, 3, 0, 0, 0]


def test_a_pass_is_even():
    assert seen(EMPTY, "pass", Sense()) == (0.5, 0, Sense().even)
    assert seen(EMPTY, "pass", Handcrafted(3, 20)) == (0.5, 3, 20)


@pytest.mark.parametrize(
    ("drawing", "move", "value"),
    [
        (CAPTURE, "D3", 1.0),
        (SAVE, "D3", 1.0),
        (HANE, "E4", 1.0),
        (SELF_ATARI, "A5", 0.0),
        (EYE, "A5", 0.0),
        (EMPTY, "C5", 0.5),
        (ATTACK, "E5", 0.5),
    ],
)
def test_handcrafted_knows_good_and_bad(drawing, move, value):
    assert seen(drawing, move, Handcrafted(4, 30)) == (value, 4, 30)


@kernel
def advise_compiled(states, heuristic, actions, out):
    """What a compiled heuristic says of actions."""
    for i in range(len(actions)):
        out[i, 0], out[i, 1], out[i, 2] = advise(heuristic, states[0], actions[i])


@given(st.lists(st.integers(0, 200), max_size=60))
def test_compiled_says_the_same_as_plain_python(choices):
    game = Go(9)
    position = game.start()
    for choice in choices:
        legal = position.legal_actions
        position = position.play(legal[choice % len(legal)])
        if position.is_over:
            return
    actions = np.array(position.legal_actions)
    for heuristic in (Sense(), Handcrafted()):
        out = np.zeros((len(actions), 3))
        advise_compiled(position.record(), heuristic, actions, out)
        assert out.tolist() == [list(map(float, advise(heuristic, position.state, action))) for action in actions]
        assert ((out[:, 0] >= 0) & (out[:, 0] <= 1)).all()


@in_soak
@pytest.mark.parametrize("heuristic", [None, Sense()], ids=repr)
def test_rave_learns_nothing_about_a_pass_from_the_passes_at_the_end_of_playouts(heuristic):
    """Who is about to win passes last in playouts; to pass now may well lose."""
    moves = ab.Search(Go(5), select=ab.Rave(), heuristic=heuristic).run(visits=30).moves
    assert {move.name: move.amaf_visits for move in moves}["pass"] == 0
    assert sum(move.amaf_visits > 0 for move in moves) > 10
