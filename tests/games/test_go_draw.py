"""Go boards for people: text that can be read back, and drawings."""

from textwrap import dedent
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anabranch.errors import GameError, IllegalMove
from anabranch.games.go import Go, draw

SVG = "{http://www.w3.org/2000/svg}"
SIDES = st.integers(2, 25)


def board(text):
    return dedent(text).strip("\n")


def walk(game, choices):
    """The position after these choices among all actions, as far as they are legal and do not end the game."""
    position = game.start()
    for choice in choices:
        action = choice % (game.actions - 1)
        if position.game.ask("is_legal", position.state, action):
            following = position.after(action)
            position = position if following.repeats else following
    return position


def parts(svg, tag, kind):
    """The elements of a drawing with this tag and class."""
    return [element for element in ElementTree.fromstring(svg).iter(SVG + tag) if element.get("class") == kind]


def words(svg, kind):
    return [element.text for element in parts(svg, "text", kind)]


# --- text ---


def test_a_board_shows_coordinates_star_points_stones_the_last_move_and_whose_turn_it_is():
    position = Go(9, komi=6.5).position(["E5", "C3", "G7", "G3", "C7", "D7", "C6"])
    assert str(position) == board("""
        9 . . . . . . . . .
        8 . . . . . . . . .
        7 . . X O + . X . .
        6 . .(X). . . . . .
        5 . . + . X . + . .
        4 . . . . . . . . .
        3 . . O . + . O . .
        2 . . . . . . . . .
        1 . . . . . . . . .
          A B C D E F G H J
        white (O) to move, komi 6.5
        """)


@pytest.mark.parametrize(
    ("moves", "drawing"),
    [
        (["A1"], "2 . .\n1(X).\n  A B\nwhite (O) to move, komi 0"),
        (["A1", "B2"], "2 .(O)\n1 X .\n  A B\nblack (X) to move, komi 0"),
        (["A1", "pass"], "2 . .\n1 X .\n  A B\nblack (X) to move, komi 0"),
        (["A1", "pass", "pass"], "2 . .\n1 X .\n  A B\nthe game is over, komi 0"),
    ],
)
def test_the_last_move_may_stand_at_an_edge_and_a_pass_is_not_marked(moves, drawing):
    assert str(Go(2, komi=0).position(moves)) == drawing


def test_rows_with_two_digits_and_columns_without_i_line_up():
    lines = str(Go((19, 10)).position(["T10"])).splitlines()
    assert lines[0] == "10" + " ." * 18 + "(X)"
    assert lines[9] == " 1" + " ." * 19
    assert lines[10] == "   A B C D E F G H J K L M N O P Q R S T"


def test_a_move_that_kills_itself_is_not_marked():
    position = Go(3, komi=0, rules="tromp-taylor").position(["A1", "A2", "C3", "B2", "pass", "C1", "B1"])
    assert str(position) == "3 . . X\n2 O O .\n1 . . O\n  A B C\nwhite (O) to move, komi 0"
    assert parts(position.svg(), "circle", "last") == []


# --- text back to stones ---


@given(SIDES, SIDES, st.lists(st.integers(0, 10**6), max_size=25))
@settings(max_examples=25)
def test_what_is_drawn_is_read_back(width, height, choices):
    position = walk(Go((width, height)), choices)
    found_width, found_height, black, white = draw.parse(str(position))
    assert (found_width, found_height) == (width, height)
    state = position.state
    colours = [int(state.colour[draw.cell_of(state, action)]) for action in range(width * height)]
    assert black == [action for action, colour in enumerate(colours) if colour == 1]
    assert white == [action for action, colour in enumerate(colours) if colour == 2]


@pytest.mark.parametrize(
    "drawing",
    [
        "..X\nO.+",
        ". . X\nO . ,",
        "\n   . .X  \n\n   O ., \n",
        "2 . . X\n1 O . .",
        "2 . .(X)\n1 O . .\n  A B C",
        "  A B C\n2 . . X 2\n1(O). . 1\n  A B C\nblack (X) to move, komi 7.5",
        "2 . . X\n1 O . .\n  A B C\nthe game is over, komi -3",
    ],
)
def test_coordinates_blanks_and_the_line_below_are_optional(drawing):
    assert draw.parse(drawing) == (3, 2, [5], [0])


@pytest.mark.parametrize(
    ("drawing", "complaint"),
    [
        ("", "there is no board"),
        ("  A B C\n", "there is no board"),
        ("...\n..\n...", "row 2 from the top has 2 points, the first has 3"),
        ("..#\n...", "'#' is not one of"),
        ("..x\n...", "'x' is not one of"),
        ("2 . .\n. 1 .", "'1' is not one of"),
        ("..\n3\n..", "a number alone"),
        ("3 . .\n1 . .", "row 1 from the top is numbered 3; of 2 rows it is 2"),
        ("A B C D\n. .\n. .", "lettered to D, but rows have 2 points"),
        ("black to play\n..\n..", "is not a row of a board"),
    ],
)
def test_what_is_no_board_is_refused_in_one_line(drawing, complaint):
    with pytest.raises(GameError, match=complaint) as refused:
        draw.parse(drawing)
    assert "\n" not in str(refused.value)


def test_a_drawn_position_has_the_stones_and_the_player_to_move():
    position = Go((3, 2)).drawn(". . X\nO . .", to_play=1)
    assert position.to_play == 1
    assert str(position) == "2 . . X\n1 O . .\n  A B C\nwhite (O) to move, komi 7.5"
    assert position.play("A2").moves == (3,)
    with pytest.raises(IllegalMove, match="there is a stone"):
        position.play("C2")


def test_a_drawing_of_another_size_is_refused():
    with pytest.raises(GameError, match=r"the drawing has 3x2 points, .* has 9x9"):
        Go(9).drawn("...\n...")


# --- SVG ---


@given(SIDES, SIDES, st.lists(st.integers(0, 10**6), max_size=12), st.text(max_size=8), st.booleans(), st.integers(0, 2**32))
@settings(max_examples=20)
def test_every_drawing_is_xml_with_all_that_was_asked_for(width, height, choices, mark, coordinates, seed):
    game = Go((width, height))
    position = walk(game, choices)
    random = np.random.default_rng(seed)
    points = width * height
    marks = {0: mark, points - 1: "cross"}
    ownership = random.uniform(-1, 1, points)
    svg = game.svg(position.state, marks=marks, heat=random.random(game.actions), ownership=ownership, coordinates=coordinates)
    _, _, black, white = draw.parse(str(position))
    assert len(parts(svg, "circle", "black")) == len(black)
    assert len(parts(svg, "circle", "white")) == len(white)
    assert len(parts(svg, "text", "label")) == (2 * (width + height) if coordinates else 0)
    assert len(parts(svg, "rect", "owned")) == int((np.abs(ownership) >= draw.LEAST_OWNED).sum())


def test_a_position_draws_itself_with_its_last_move():
    position = Go(9).position(["E5", "C3"])
    assert position.svg() == position._repr_svg_() == position.game.svg(position.state)
    (last,) = parts(position.svg(), "circle", "last")
    (white,) = parts(position.svg(), "circle", "white")
    assert (last.get("cx"), last.get("cy")) == (white.get("cx"), white.get("cy"))
    assert parts(position.play("pass").svg(), "circle", "last") == []
    assert len(parts(position.svg(), "circle", "star")) == 9


def test_a1_is_at_the_bottom_left():
    (stone,) = parts(Go((5, 3)).position(["A1"]).svg(), "circle", "black")
    (other,) = parts(Go((5, 3)).position(["E3"]).svg(), "circle", "black")
    assert float(stone.get("cx")) < float(other.get("cx"))
    assert float(stone.get("cy")) > float(other.get("cy"))


def test_marks_are_signs_or_texts_and_points_may_be_named():
    game = Go(5)
    state = game.position(["C3"]).state
    svg = game.svg(state, marks={0: "triangle", 1: "square", "C1": "circle", "D1": "cross", "E1": "a", "C3": "<&>"})
    assert len(parts(svg, "path", "mark")) == 3
    assert len(parts(svg, "circle", "mark")) == 1
    assert words(svg, "mark") == ["a", "<&>"]
    assert parts(svg, "circle", "last") == []  # the mark stands there


def test_texts_that_are_long_or_no_xml_are_made_fit():
    game = Go(5)
    svg = game.svg(game.start().state, marks={0: "a long text", 1: "\x00\ud800\x1b"})
    assert words(svg, "mark") == ["a lo…", "\ufffd\ufffd\ufffd"]
    assert "<title>a long text</title>" in svg


def test_heat_is_shown_as_shares_and_a_pass_below_the_board():
    game = Go(3)
    visits = [0, 600, 0, 0, 199, 1, 0, 0, 0, 200]
    svg = game.svg(game.start().state, heat=visits)
    assert words(svg, "share") == ["60%", "20%"]  # a thousandth is too little to be shown
    assert words(svg, "pass") == ["pass 20%"]
    strong, weak = parts(svg, "circle", "heat")
    assert float(strong.get("fill-opacity")) > float(weak.get("fill-opacity"))
    assert game.svg(game.start().state, heat=np.array(visits) / 1000) == svg
    assert words(game.svg(game.start().state, heat=np.zeros(10)), "share") == []
    assert words(game.svg(game.start().state, heat=np.full(9, 1e308)), "share") == ["11%"] * 9


def test_a_text_on_a_heated_point_stands_above_its_share_and_ownership_beside_both():
    game = Go(3)
    heat = [0, 600, 0, 0, 390, 10, 0, 0, 0, 0]
    svg = game.svg(game.start().state, heat=heat, marks={1: "1", 4: "cross", 0: "a"}, ownership=[0.9] * 9)
    assert words(svg, "share") == ["60%", "39%"]  # the last one has less than a tenth of the most
    (disc, other) = parts(svg, "circle", "heat")
    above, below = (float(parts(svg, "text", kind)[0].get("y")) for kind in ("mark", "share"))
    middle = float(disc.get("cy"))
    assert words(svg, "mark")[0] == "1" and above - 5 < middle < below - 5
    sizes = [float(parts(svg, "text", kind)[0].get("font-size")) for kind in ("mark", "share")]
    assert above + sizes[1] * 0.8 <= below  # the feet of one are above the heads of the other
    alone = float(parts(svg, "text", "share")[1].get("y"))  # a sign does not push the share aside
    assert abs(alone - 0.36 * 12.8 - float(other.get("cy"))) < 0.1
    squares = {float(square.get("width")) for square in parts(svg, "rect", "owned")}
    assert len(squares) == 2 and words(svg, "mark")[1] == "a"


def test_ownership_is_black_above_zero_and_larger_where_it_is_surer():
    game = Go(3)
    svg = game.svg(game.start().state, ownership=[1, -1, 0.5, 0, 0, 0, 0, 0, 0])
    black, white, half = parts(svg, "rect", "owned")
    assert black.get("fill") == half.get("fill") != white.get("fill")
    assert float(black.get("width")) == float(white.get("width")) > float(half.get("width"))


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"marks": {9: "triangle"}}, "9 is not a point of a board of 3x3"),
        ({"marks": {"D4": "triangle"}}, "'D4' is not a point"),
        ({"marks": {"pass": "x"}}, "'pass' is not a point"),
        ({"heat": [0.5, 0.5]}, "this board has 9 points and a pass"),
        ({"heat": [-1.0] + [0] * 8}, "below 0"),
        ({"heat": [float("nan")] * 9}, "not finite"),
        ({"ownership": [2] + [0] * 8}, "from -1"),
        ({"ownership": [[0] * 3] * 3}, "shape"),
    ],
)
def test_numbers_that_do_not_fit_the_board_are_refused(wrong, complaint):
    game = Go(3)
    with pytest.raises(GameError, match=complaint):
        game.svg(game.start().state, **wrong)
