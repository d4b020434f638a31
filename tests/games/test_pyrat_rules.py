"""PyRat's rules, one by one; boards are drawn as `text` draws them. Random games are in test_pyrat_slow.py."""

import numpy as np
import pytest

from anabranch.errors import IllegalMove
from anabranch.games import PyRat
from anabranch.games.encoding import encode
from anabranch.games.pyrat import PRESETS, PyRat64, PyRat1280
from anabranch.games.rules import EVERYONE

CORRIDOR = """
+---+---+---+---+---+
|A    *   *   *    B|
+---+---+---+---+---+
"""
MUD = """
+---+---+---+---+
|     *   *    B|
+   +---+---+   +
|A  3 *         |
+---+---+---+---+
"""
SHARED = """
+---+---+---+
|A    *    B|
+   +   +   +
| *       * |
+---+---+---+
"""
SQUARE = """
+---+---+---+
|     *    B|
+   +   +   +
|           |
+   +   +   +
|A    *     |
+---+---+---+
"""


def place(position, player):
    """Where a player is, (x, y)."""
    return divmod(int(position.state.place[player]), int(position.state.width))[::-1]


def score(position):
    return [points / 2 for points in position.state.points]


# --- the board and the start --------------------------------------------------------------------------------------------------


def test_the_default_board_is_21_by_15_with_41_cheese_and_300_turns():
    game = PyRat()
    assert (game.maze.width, game.maze.height, len(game.maze.cheese), game.max_turns) == (21, 15, 41, 300)
    assert game.options.walls == 0.7 and game.options.mud == 0.1
    assert set(game.maze.mud.values()) == {2, 3}


@pytest.mark.parametrize(
    ("name", "width", "height", "cheese", "turns"),
    [
        ("tiny", 11, 9, 13, 150),
        ("small", 15, 11, 21, 200),
        ("default", 21, 15, 41, 300),
        ("large", 31, 21, 85, 400),
        ("huge", 41, 31, 165, 500),
        ("open", 21, 15, 41, 300),
        ("5x5", 5, 5, 5, 30),
        ("7x7", 7, 7, 10, 50),
    ],
)
def test_presets_have_these_sizes(name, width, height, cheese, turns):
    game = PyRat(preset=name)
    assert (game.maze.width, game.maze.height, len(game.maze.cheese), game.max_turns) == (width, height, cheese, turns)
    assert (name in ("open", "5x5", "7x7")) == (not game.maze.walls and not game.maze.mud)
    assert len(PRESETS) == 8


def test_what_is_given_changes_a_preset():
    game = PyRat(preset="7x7", cheese=4, max_turns=20, seed=3)
    assert (game.maze.width, len(game.maze.cheese), game.max_turns) == (7, 4, 20)


def test_a_small_board_has_a_small_record():
    assert type(PyRat(preset="7x7")) is PyRat64 and PyRat64.record.itemsize < 300
    assert type(PyRat()) is PyRat and type(PyRat(preset="huge")) is PyRat1280
    assert type(PyRat(8, 8, cheese=2)) is PyRat64 and type(PyRat(13, 5, cheese=2)) is PyRat


def test_players_begin_in_opposite_corners():
    start = PyRat(preset="tiny").start()
    assert place(start, 0) == (0, 0) and place(start, 1) == (10, 8)
    assert start.to_play == EVERYONE and score(start) == [0, 0] and start.state.turn == 0


def test_players_may_begin_elsewhere():
    start = PyRat(5, 5, cheese=[(2, 2)], walls=0, mud=0, starts=[(1, 3), (1, 3)]).start()
    assert place(start, 0) == place(start, 1) == (1, 3)


# --- moving -------------------------------------------------------------------------------------------------------------------


def test_actions_are_up_right_down_left_stay_with_x_to_the_right_and_y_upwards():
    game = PyRat(5, 5, cheese=[(0, 4), (4, 0)], walls=0, mud=0, starts=[(2, 2), (2, 2)])
    names = ["up", "right", "down", "left", "stay"]
    assert [game.name_of(action) for action in range(game.actions)] == names
    for action, there in enumerate([(2, 3), (3, 2), (2, 1), (1, 2), (2, 2)]):
        assert place(game.start().play((action, 4)), 0) == there
        assert place(game.start().play((4, action)), 1) == there
        assert game.action(names[action]) == game.action(names[action][0].upper()) == game.action(str(action)) == action


def test_all_five_actions_are_always_legal():
    start = PyRat.drawn(MUD).start()
    assert start.legal_actions == (list(range(5)), list(range(5)))
    assert start.play("right/stay").legal_actions == (list(range(5)), list(range(5)))


def test_a_step_into_a_wall_or_off_the_board_is_to_stay():
    start = PyRat.drawn(MUD).start()
    staying = start.play("stay/stay")
    assert start.play("left/stay") == start.play("down/stay") == start.play("stay/up") == start.play("stay/right") == staying
    at_a_wall = start.play("up/left").play("right/stay")  # player 0 stands above a wall
    assert place(at_a_wall, 0) == (1, 1)
    assert at_a_wall.play("down/stay") == at_a_wall.play("stay/stay")


def test_players_pass_through_each_other():
    position = PyRat.drawn("+---+---+---+\n|A     B  * |\n+---+---+---+").start()
    assert (place(position, 0), place(position, 1)) == ((0, 0), (1, 0))
    after = position.play("right/left")
    assert (place(after, 0), place(after, 1)) == ((1, 0), (0, 0))


def test_players_may_stand_on_one_cell():
    position = PyRat.drawn(CORRIDOR).position(["right/left", "right/left"])
    assert place(position, 0) == place(position, 1) == (2, 0)


# --- cheese -------------------------------------------------------------------------------------------------------------------


def test_a_cheese_is_one_point_and_is_gone():
    position = PyRat.drawn(SQUARE).position(["right/stay"])
    assert position.rewards == (1.0, 0.0) and score(position) == [1, 0]
    assert position.state.left == 1
    assert position.play("left/stay").play("right/stay").rewards == (1.0, 0.0)


def test_both_on_a_cheese_get_half_of_it_each():
    position = PyRat.drawn(SHARED).position(["right/left"])
    assert position.rewards == (0.5, 0.5) and score(position) == [0.5, 0.5] and position.state.left == 2


def test_each_collects_its_own_cheese_in_one_turn():
    assert PyRat.drawn(CORRIDOR).position(["right/left"]).rewards == (1.0, 1.0)


def test_the_end_itself_pays_nothing():
    position = PyRat.drawn(CORRIDOR).position(["right/stay", "right/stay"])
    assert position.is_over and position.returns == [0.0, 0.0] and position.rewards == (2.0, 0.0)


# --- mud ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("turns", range(2, 10))
def test_a_passage_of_mud_n_takes_n_turns_in_all(turns):
    game = PyRat(3, 1, cheese=[(1, 0)], walls=0, mud={((0, 0), (1, 0)): turns}, starts=[(0, 0), (2, 0)], max_turns=20)
    position = game.start()
    for passed in range(1, turns + 1):
        assert not position.is_over
        position = position.play("right/stay")
        assert place(position, 0) == (1, 0)  # from the entry on
        assert position.state.stuck[0] == turns - passed
    assert position.rewards == (1.0, 0.0)


def test_actions_are_ignored_in_mud():
    position = PyRat.drawn(MUD).position(["right/stay"])
    assert position.state.stuck[0] == 2 and place(position, 0) == (1, 0)
    assert len({position.play((action, 4)) for action in range(5)}) == 1
    assert position.play("up/stay").play("up/stay").state.stuck[0] == 0


def test_mud_takes_as_long_in_the_other_direction():
    position = PyRat.drawn(MUD).position(["right/stay"] * 3 + ["left/stay"])
    assert place(position, 0) == (0, 0) and position.state.stuck[0] == 2


def test_nothing_is_collected_while_stuck():
    position = PyRat.drawn(MUD).position(["right/stay", "right/stay"])
    assert position.rewards == (0.0, 0.0) and position.state.stuck[0] == 1
    assert position.play("stay/stay").rewards == (1.0, 0.0)


def test_who_is_free_takes_the_whole_cheese_from_under_who_is_stuck():
    position = PyRat.drawn(MUD).position(["stay/down", "right/left", "stay/left"])
    assert place(position, 0) == place(position, 1) == (1, 0) and position.state.stuck[0] == 1
    assert position.rewards == (0.0, 1.0)


def test_who_comes_out_of_mud_as_the_other_arrives_shares_the_cheese():
    assert PyRat.drawn(MUD).position(["right/down", "stay/left", "stay/left"]).rewards == (0.5, 0.5)
    assert PyRat.drawn(MUD).position(["right/down", "stay/left", "stay/stay", "stay/left"]).rewards == (1.0, 0.0)


# --- outcomes -----------------------------------------------------------------------------------------------------------------


def test_actions_with_the_same_effect_are_one_outcome():
    start = PyRat.drawn(MUD).start()
    assert start.outcomes(0) == {0: [0], 1: [1], 4: [2, 3, 4]}
    assert start.outcomes(1) == {4: [0, 1, 4], 2: [2], 3: [3]}
    assert start.edges == [2, 3, 4, 7, 8, 9, 22, 23, 24]


def test_all_five_actions_are_one_outcome_in_mud():
    assert PyRat.drawn(MUD).position(["right/stay"]).outcomes(0) == {4: [0, 1, 2, 3, 4]}


def test_in_the_middle_of_an_open_board_all_actions_differ():
    game = PyRat(3, 3, cheese=[(2, 2)], walls=0, mud=0, starts=[(1, 1), (0, 0)])
    assert game.start().outcomes(0) == {action: [action] for action in range(5)}


# --- the end ------------------------------------------------------------------------------------------------------------------


def test_more_than_half_of_the_cheese_ends_the_game():
    position = PyRat.drawn(CORRIDOR).position(["right/stay"])
    assert not position.is_over  # 1 of 3
    assert position.play("right/stay").is_over  # 2 of 3, and one is left
    assert position.play("right/stay").state.left == 1


def test_half_of_the_cheese_is_not_enough():
    position = PyRat.drawn(SQUARE).position(["right/stay"])
    assert score(position) == [1, 0] and position.state.total == 2
    assert not position.is_over


def test_a_half_point_above_half_is_enough():
    game = PyRat(5, 1, cheese=[(1, 0), (2, 0), (3, 0)], walls=0, mud=0, max_turns=9)
    position = game.position(["right/left"])
    assert score(position) == [1, 1] and not position.is_over
    assert position.play("right/left").is_over  # 1.5 each


def test_the_last_cheese_ends_the_game():
    position = PyRat.drawn(SQUARE).position(["right/left"])
    assert position.is_over and position.state.left == 0 and position.rewards == (1.0, 1.0)


def test_the_turn_limit_ends_the_game():
    position = PyRat.drawn(SQUARE, max_turns=2).position(["stay/stay"])
    assert not position.is_over and position.state.turn == 1
    assert position.play("stay/stay").is_over
    with pytest.raises(IllegalMove, match="up/up: the game is over"):
        position.play("stay/stay").play("up/up")


def test_cheese_of_the_last_turn_counts():
    assert PyRat.drawn(SQUARE, max_turns=1).position(["right/stay"]).rewards == (1.0, 0.0)


# --- for the search -----------------------------------------------------------------------------------------------------------


def test_values_are_cheese_one_number_a_player():
    game = PyRat(preset="7x7")
    assert game.value_range == (0.0, 10.0) and game.value_width() == 2 and not game.zero_sum


def test_the_stake_is_the_cheese_that_is_left():
    position = PyRat.drawn(CORRIDOR).start()
    assert position._ask("stake") == 3.0
    assert position.play("right/left")._ask("stake") == 1.0
    assert position.play("right/left").play("right/left")._ask("stake") > 0.0  # there is none left


def test_a_playout_that_is_cut_off_expects_half_of_what_is_left_for_each():
    out = np.zeros(2)
    PyRat.drawn(CORRIDOR).position(["right/stay"])._ask("heuristic", out)
    assert out.tolist() == [1.0, 1.0]


def test_networks_see_walls_mud_cheese_players_and_what_counts():
    game = PyRat.drawn(MUD, max_turns=10)
    position = game.position(["right/down"])
    assert game.planes == (16, 2, 4)
    planes = encode(game, position.record())[0]
    up, right, down, left = planes[:4]  # rows from the bottom
    assert up.tolist() == [[0, 1, 1, 0], [1, 1, 1, 1]] and down.tolist() == [[1, 1, 1, 1], [0, 1, 1, 0]]
    assert left.tolist() == [[1, 0, 0, 0], [1, 0, 0, 0]] and right.tolist() == [[0, 0, 0, 1], [0, 0, 0, 1]]
    assert planes[4:8].sum() == pytest.approx(2 * 2 / 9)  # to the right of (0, 0) and to the left of (1, 0), two turns longer
    assert planes[5, 0, 0] == planes[7, 0, 1] == pytest.approx(2 / 9)
    assert planes[8].tolist() == [[0, 1, 0, 0], [0, 1, 1, 0]]
    assert planes[9].tolist() == [[0, 1, 0, 0], [0, 0, 0, 0]] and planes[10].tolist() == [[0, 0, 0, 1], [0, 0, 0, 0]]
    assert (planes[11] == np.float32(2 / 9)).all() and not planes[12].any()  # player 0 is stuck for two turns more
    assert not planes[13:15].any() and planes[15] == pytest.approx(np.full((2, 4), 0.9))
    scored = encode(game, position.play("stay/left").play("stay/left").record())[0]
    assert (scored[13] == np.float32(1 / 6)).all() and (scored[14] == np.float32(1 / 6)).all()  # half a cheese of three


def test_networks_are_not_shown_the_turn_if_the_key_does_not_tell_it():
    game = PyRat.drawn(MUD, turn_in_key=False)
    assert not encode(game, game.start().record())[0, 15].any()
