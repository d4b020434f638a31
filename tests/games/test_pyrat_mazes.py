"""Mazes of PyRat: what is true of all random ones, given ones, and how they are drawn."""

import pickle
from xml.etree import ElementTree

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from anabranch.games import PyRat
from anabranch.games.registry import load

sides = st.integers(2, 12)
shares = st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0, 1))
seeds = st.integers(0, 2**40)


@st.composite
def mazes(draw):
    """Options of a game that can be."""
    width, height = draw(sides), draw(sides)
    has_centre = width % 2 and height % 2
    cheese = draw(st.integers(1, width * height - 2))
    assume(cheese % 2 == 0 or has_centre)
    return {"width": width, "height": height, "cheese": cheese, "walls": draw(shares), "mud": draw(shares), "seed": draw(seeds)}


def neighbours(maze, cell):
    """The cells that one step leads to."""
    steps = {cell + maze.width, cell - maze.width}
    steps |= {cell + 1} if cell % maze.width < maze.width - 1 else set()
    steps |= {cell - 1} if cell % maze.width > 0 else set()
    return {other for other in steps if 0 <= other < maze.cells and (min(cell, other), max(cell, other)) not in maze.walls}


def reached(maze, start):
    found, new = {start}, [start]
    while new:
        for other in neighbours(maze, new.pop()) - found:
            found.add(other)
            new.append(other)
    return found


@given(mazes())
def test_every_cell_can_be_reached(options):
    maze = PyRat(**options).maze
    assert reached(maze, 0) == set(range(maze.width * maze.height))


@given(mazes())
def test_walls_mud_and_cheese_are_the_same_after_half_a_turn(options):
    maze = PyRat(**options).maze
    last = maze.cells - 1
    assert {(last - high, last - low) for low, high in maze.walls} == maze.walls
    assert {(last - high, last - low): turns for (low, high), turns in maze.mud.items()} == maze.mud
    assert {last - cell for cell in maze.cheese} == maze.cheese


@given(mazes())
def test_there_is_as_much_cheese_as_asked_for_and_none_where_players_begin(options):
    maze = PyRat(**options).maze
    assert len(maze.cheese) == options["cheese"]
    assert not maze.cheese & set(maze.starts)
    assert (maze.cells // 2 in maze.cheese) or options["cheese"] % 2 == 0 or maze.cells % 2 == 0


@given(mazes())
def test_mud_takes_two_or_three_turns_and_lies_in_passages(options):
    maze = PyRat(**options).maze
    assert set(maze.mud.values()) <= {2, 3}
    assert not set(maze.mud) & maze.walls


@given(mazes())
def test_one_seed_is_one_maze(options):
    game = PyRat(**options)
    assert game == PyRat(**options) and game.maze == PyRat(**options).maze
    assert pickle.loads(pickle.dumps(game)) == game


@given(mazes())
def test_a_drawn_maze_is_read_as_it_was(options):
    game = PyRat(**options)
    assert PyRat.drawn(str(game.start()), max_turns=300) == game


def test_another_seed_is_another_maze():
    assert len({PyRat(preset="tiny", seed=seed).start().data for seed in range(20)}) == 20


def test_mud_and_cheese_do_not_move_the_walls():
    assert PyRat(seed=5).maze.walls == PyRat(seed=5, mud=0.9, cheese=2).maze.walls
    assert PyRat(seed=5).maze.cheese == PyRat(seed=5, mud=0.9, walls=0.1).maze.cheese


def test_densities_are_kept_on_the_whole():
    open_board, closed = PyRat(preset="huge", walls=0.0, mud=0.0).maze, PyRat(preset="huge", walls=1.0, mud=1.0).maze
    passages = 2 * 41 * 31 - 41 - 31
    assert not open_board.walls and not open_board.mud
    assert passages - len(closed.walls) < 1.02 * 41 * 31  # little more than it takes to join all cells
    assert len(closed.mud) == passages - len(closed.walls)
    half = PyRat(preset="huge", walls=0.5, mud=0.3).maze
    assert 0.4 < len(half.walls) / passages < 0.52
    assert 0.26 < len(half.mud) / (passages - len(half.walls)) < 0.34


def test_a_maze_is_given_by_hand():
    game = PyRat(
        3, 2, cheese=[(1, 1), (2, 0)], walls=[((0, 0), (1, 0))], mud={((1, 0), (2, 0)): 4}, starts=[(0, 0), (2, 1)], max_turns=9
    )
    assert str(game.start()) == "\n".join(
        [
            "+---+---+---+",
            "|     *    B|",
            "+   +   +   +",
            "|A  |   4 * |",
            "+---+---+---+",
            "A 0, B 0; turn 0 of 9",
        ]
    )
    assert repr(game) == "PyRat(width=3, height=2, cheese=<2 given>, walls=<1 given>, mud=<1 given>, max_turns=9)"


def test_text_tells_scores_turn_and_who_is_stuck():
    game = PyRat.drawn("+---+---+---+\n|A  3 *    B|\n+---+---+---+")
    assert str(game.position(["right/stay"])).splitlines()[-1] == "A 0, B 0; turn 1 of 1000; A is stuck for 2 turns"
    assert str(game.position(["right/left"])).splitlines() == [
        "+---+---+---+",
        "|   3A B    |",
        "+---+---+---+",
        "A 0, B 1; turn 1 of 1000; A is stuck for 2 turns",
    ]


def test_pictures_are_well_formed_and_show_what_there_is():
    for position in (PyRat(preset="tiny").start(), PyRat(preset="5x5").position(["right/left"] * 4)):
        drawn = ElementTree.fromstring(position.svg())
        texts = [element.text for element in drawn.iter("{http://www.w3.org/2000/svg}text")]
        wedges = list(drawn.iter("{http://www.w3.org/2000/svg}polygon"))
        assert {"A", "B"} <= set(texts) and len(wedges) == position.state.left
        assert str(position).splitlines()[-1] in texts  # the score


@pytest.mark.parametrize("name", ["pyrat", "PyRat", "py-rat"])
def test_the_game_is_found_by_name(name):
    assert load(name) == PyRat()
    assert load(f"{name}:preset=tiny,seed=4") == PyRat(preset="tiny", seed=4)


def test_a_game_prints_as_it_is_written():
    game = PyRat(preset="7x7", seed=2, turn_in_key=False)
    shown = "PyRat(width=7, height=7, cheese=10, walls=0.0, mud=0.0, max_turns=50, seed=2, turn_in_key=False)"
    assert repr(game) == shown and eval(shown, {"PyRat": PyRat}) == game


def test_boards_are_drawn_by_their_numbers_and_belong_to_the_game():
    game = PyRat(5, 5, cheese=4, walls=0.5, mud=0.3, seed=1)
    assert game.draws_boards
    for board in (0, 2, 2**53 - 1):
        start = game.start_on(board)
        assert start.game is game and start.data == PyRat(5, 5, cheese=4, walls=0.5, mud=0.3, seed=board).start().data
    assert game.start_on(1).data == game.start().data != game.start_on(2).data
    drawn = PyRat.drawn(game.text(game.start().state))
    assert drawn.start_on(5).data == drawn.start().data


def test_keys_tell_mazes_apart():
    open_way, wall = (PyRat(3, 3, cheese=[(1, 0)], walls=walls, mud={}) for walls in ([], [((0, 1), (0, 2))]))
    assert open_way.start().key != wall.start().key
