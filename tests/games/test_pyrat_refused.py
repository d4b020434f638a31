"""What PyRat does not accept, and how it says so."""

import pytest

from anabranch.errors import GameError, IllegalMove
from anabranch.games import PyRat
from anabranch.games.pyrat import PyRat64


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"width": 0}, r"sides of 1 to 63, not 0 x 15"),
        ({"height": 64}, r"sides of 1 to 63, not 21 x 64"),
        ({"width": 2.5}, r"sides of 1 to 63, not 2.5 x 15"),
        ({"width": True}, r"sides of 1 to 63"),
        ({"width": 1, "height": 1}, r"boards of 2 to 1,280 cells, not 1 x 1"),
        ({"width": 36, "height": 36}, r"boards of 2 to 1,280 cells, not 36 x 36"),
        ({"walls": 1.5}, r"walls=1.5: give a density from 0 to 1"),
        ({"walls": -0.1}, r"walls=-0.1: give a density from 0 to 1"),
        ({"mud": 2}, r"mud=2: give a density from 0 to 1"),
        ({"walls": float("nan")}, r"walls=nan: give a density"),
        ({"walls": "many"}, r"walls='many': give a number, or a list of places"),
        ({"mud": "some"}, r"mud='some': give a density, or a dict such as"),
        ({"cheese": 0}, r"cheese=0: there must be some"),
        ({"cheese": -3}, r"cheese=-3: there must be some"),
        ({"cheese": 2.5}, r"cheese=2.5: give a number, or a list of places"),
        ({"cheese": True}, r"cheese=True: give a number"),
        ({"cheese": 314}, r"cheese=314: a board of 21 x 15 has room for 313"),
        (
            {"width": 6, "height": 5, "cheese": 5},
            r"cheese=5: an odd number needs a cell in the centre, and a board of 6 x 5 has none",
        ),
        (
            {"cheese": 5, "starts": [(10, 7), (0, 0)]},
            r"cheese=5: an odd number needs the cell in the centre, and a player begins",
        ),
        ({"max_turns": 0}, r"max_turns=0: PyRat lasts 1 to 1,000 turns"),
        ({"max_turns": 1001}, r"max_turns=1001: PyRat lasts 1 to 1,000 turns"),
        ({"seed": -1}, r"seed=-1: give a whole number"),
        ({"seed": "x"}, r"seed='x': give a whole number"),
        ({"preset": "gigantic"}, r"preset='gigantic': there are 'tiny', 'small'"),
        ({"cheese": []}, r"there is no cheese"),
        ({"cheese": [(0, 0)]}, r"there is cheese on \(0, 0\), where a player begins"),
        ({"cheese": [(21, 0)]}, r"cheese \(21, 0\) is not on a board of 21 x 15: x is 0 to 20, y 0 to 14"),
        ({"cheese": [7]}, r"cheese 7: give a cell as \(x, y\)"),
        ({"walls": [((0, 0), (1, 1))]}, r"wall between \(0, 0\) and \(1, 1\): these are not neighbours"),
        ({"walls": [((20, 0), (0, 1))]}, r"these are not neighbours"),
        ({"walls": [(0, 0, 1)]}, r"wall \(0, 0, 1\): give two neighbouring cells"),
        ({"mud": {((0, 0), (0, 1)): 1}}, r"mud of 1 turns: a passage of mud takes 2 to 9 turns in all"),
        ({"mud": {((0, 0), (0, 1)): 10}}, r"mud of 10 turns: a passage of mud takes 2 to 9 turns in all"),
        ({"walls": [((0, 0), (0, 1))], "mud": {((0, 1), (0, 0)): 3}}, r"both mud and a wall between \(0, 0\) and \(0, 1\)"),
        ({"walls": [((0, 0), (0, 1)), ((0, 0), (1, 0))]}, r"the maze is not connected: no way leads from \(0, 0\) to \(1, 0\)"),
        ({"starts": [(0, 0)]}, r"starts=\[\(0, 0\)\]: give two cells"),
        ({"starts": [(0, 0), (0, 99)]}, r"start \(0, 99\) is not on a board"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, dict) else "",
)
def test_a_board_that_cannot_be_is_refused(options, complaint):
    with pytest.raises(GameError, match=complaint):
        PyRat(**options)


def test_a_class_is_for_boards_up_to_its_size():
    with pytest.raises(GameError, match=r"PyRat64 has up to 64 cells; write PyRat\(9, 9\)"):
        PyRat64(9, 9, cheese=2)


@pytest.mark.parametrize("pair", [(5, 0), (0, 5), (-1, 0), "5/0", "north/up", "up", ("up", "up", "up"), 3])
def test_an_action_that_is_none_is_refused(pair):
    with pytest.raises(IllegalMove):
        PyRat(preset="5x5").start().play(pair)


@pytest.mark.parametrize(
    ("drawing", "complaint"),
    [
        ("", "a maze is drawn in lines of one length"),
        ("+---+\n|A B|", "a maze is drawn in lines of one length"),
        ("+---+---+\n|A  |\n+---+---+", "a maze is drawn in lines of one length"),
        ("+---+---+\n|A    * |\n+---+---+", "player B is not in the drawing"),
        ("+---+---+\n|A   C* |\n+---+---+", "'C' stands for nothing"),
        ("+---+---+\n|A  x*B |\n+---+---+", "'x' stands for no passage"),
        ("+---+---+\n|A  1*B |\n+---+---+", "'1' stands for no passage"),
        ("+---+---+\n|A B| * |\n+---+---+", "the maze is not connected"),
    ],
)
def test_a_drawing_that_is_no_maze_is_refused(drawing, complaint):
    with pytest.raises(GameError, match=complaint):
        PyRat.drawn(drawing)
