"""Positions, as people meet them: names, errors, drawings, pickles and keys, over every game of the package."""

import pickle
import random
from textwrap import dedent
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anabranch.errors import GameError, IllegalMove
from anabranch.games import ConnectFour, Hex, Nim, Othello, Pig, TicTacToe, Treasure, TriNim

GAMES = [TicTacToe(), ConnectFour(), Othello(), Hex(3), Hex(11), Nim(), TriNim(7), Pig(), Treasure(6)]
every_game = pytest.mark.parametrize("game", GAMES, ids=repr)


def walk(game, choices):
    """The position after these choices among what is legal; it stops where the game ends."""
    position = game.start()
    for choice in choices:
        legal = position.legal_actions
        if not legal:
            break
        position = position.play(legal[choice % len(legal)])
    return position


def drawn(text):
    return dedent(text).strip("\n")


# --- names ---


@every_game
def test_every_action_is_found_by_its_name_and_by_its_number(game):
    for action in range(game.actions):
        assert game.action(game.name_of(action)) == action
        assert game.action(f" {game.name_of(action).upper()} ") == action
    if game.name_of(0).isalnum() and not game.name_of(0).isdecimal():
        assert game.action("0") == 0


@every_game
def test_every_chance_event_is_found_by_its_name(game):
    assert [game.event(game.event_name(event)) for event in range(game.events)] == list(range(game.events))


def test_black_opens_othello_on_d3_c4_f5_or_e6():
    game = Othello()
    assert [game.name_of(action) for action in game.start().legal_actions] == ["d3", "c4", "f5", "e6"]
    assert game.name_of(64) == "pass"


def test_numbers_and_names_lead_to_the_same_position():
    game = Hex(5)
    assert game.position(["a1", "b3", "e5"]) == game.position([0, 11, 24]) == game.position(["a1", 11, "24"])
    assert game.position(["a1", "b3", "e5"]).moves == (0, 11, 24)


def test_chance_events_are_played_by_name_as_well():
    assert Pig().position(["roll", "6", "hold"]) == Pig().position([0, 5, 1])


# --- errors ---


def test_an_unknown_name_is_told_with_names_that_look_like_it():
    with pytest.raises(IllegalMove, match=r"'d9' is not a move of Othello\(\); moves look like .*d"):
        Othello().start().play("d9")


def test_an_illegal_move_says_which_at_which_ply_and_what_is_legal():
    with pytest.raises(IllegalMove, match=r"move 2: d3 is not legal here; legal: c3 e3 c5"):
        Othello().position(["d3", "d3"])
    with pytest.raises(IllegalMove, match=r"move 3: a1 is not legal here"):
        TicTacToe().position(["a1", "b2", "a1"])


def test_a_pass_is_illegal_while_there_are_moves():
    with pytest.raises(IllegalMove, match=r"pass is not legal here"):
        Othello().start().play("pass")


@every_game
def test_actions_out_of_range_are_refused(game):
    for action in (-1, game.actions):
        with pytest.raises(IllegalMove, match=rf"action {action} is out of range: .* has 0 to {game.actions - 1}"):
            game.start().play(action)


def test_a_finished_game_takes_no_more_moves():
    won = TicTacToe().position(["a1", "a2", "b1", "b2", "c1"])
    assert won.is_over and won.legal_actions == [] and won.returns == [1.0, -1.0]
    with pytest.raises(IllegalMove, match=r"c3: the game is over"):
        won.play("c3")


@pytest.mark.parametrize("size", [0, 20, -1, 2.5, "11"])
def test_hex_says_which_sizes_there_are(size):
    with pytest.raises(GameError, match=r"size 1 to 19, not"):
        Hex(size)


@pytest.mark.parametrize("make", [lambda: Pig(0), lambda: TriNim(0), lambda: Treasure(0)])
def test_other_games_check_their_options_as_well(make):
    with pytest.raises(GameError, match=r"1 to .*, not 0"):
        make()


# --- what people see ---


def test_tic_tac_toe_prints_its_board():
    assert str(TicTacToe().position(["b2", "a1", "c3"])) == drawn("""
          a b c
        1 O . .
        2 . X .
        3 . . X
        """)


def test_connect_four_prints_its_board():
    assert str(ConnectFour().position("dded")) == drawn("""
        a b c d e f g
        . . . . . . .
        . . . . . . .
        . . . . . . .
        . . . O . . .
        . . . O . . .
        . . . X X . .
        """)


def test_othello_prints_its_board():
    assert str(Othello().position(["d3", "c3"])) == drawn("""
          a b c d e f g h
        1 . . . . . . . .
        2 . . . . . . . .
        3 . . O X . . . .
        4 . . . O X . . .
        5 . . . X O . . .
        6 . . . . . . . .
        7 . . . . . . . .
        8 . . . . . . . .
        """)


def test_hex_prints_its_board_slanted():
    assert str(Hex(4).position(["b2", "c3", "d1"])) == drawn("""
          a b c d
        1 . . . X
         2 . X . .
          3 . . O .
           4 . . . .
        """)


def test_treasure_prints_its_map():
    assert str(Treasure(3).position(["right"])) == drawn("""
        a b c d e
        . @ . . 3
        . . . . .
        . . 3 . .
        . . . . .
        9 . . . 4
        2 steps left
        """)


def test_games_without_a_board_print_a_line():
    assert str(Pig().position(["roll", "4"])) == "0 to 0 of 20, pot 4, player 0 to decide"
    assert str(TriNim(7).position(["2"])) == "5 stones, player 1 to take"


@every_game
def test_drawings_are_well_formed_xml(game):
    for length in (0, 3, 200):
        root = ElementTree.fromstring(walk(game, range(length)).svg())
        assert root.tag.endswith("svg") and float(root.get("width")) > 0


def test_a_drawing_of_hex_has_a_hexagon_a_cell_inside_the_frame():
    root = ElementTree.fromstring(Hex(5).start().svg())
    cells = [element for element in root if element.tag.endswith("polygon")]
    assert len(cells) == 25
    corners = [tuple(map(float, corner.split(","))) for cell in cells for corner in cell.get("points").split()]
    assert all(0 <= x <= float(root.get("width")) and 0 <= y <= float(root.get("height")) for x, y in corners)


# --- pickles and equality ---


@every_game
def test_positions_survive_pickling(game):
    position = walk(game, [2, 1, 3])
    copy = pickle.loads(pickle.dumps(position))
    assert copy == position and copy.moves == position.moves and copy.rewards == position.rewards
    assert copy.game == game and str(copy) == str(position) and copy.legal_actions == position.legal_actions


def test_sizes_of_hex_are_different_games():
    assert Hex(5) == Hex(5) != Hex(6)
    assert Hex.record == type(Hex(6)).record and Hex(6).actions == 36


# --- keys ---


@pytest.mark.parametrize(
    ("game", "one_way", "another"),
    [
        (TicTacToe(), "a1 b2 c3", "c3 b2 a1"),
        (ConnectFour(), "a b c", "c b a"),
        (Othello(), "d3 c3 c4", "c4 c3 d3"),
        (Othello(), "d3 c3 f5 f6", "f5 f6 d3 c3"),
        (Hex(5), "a1 e5 a2 e4 b3 d2 c2", "c2 e4 b3 d2 a2 e5 a1"),
        (TriNim(15), "1 3 2", "2 1 3"),
    ],
    ids=repr,
)
def test_transpositions_have_the_same_key_and_are_equal(game, one_way, another):
    first, second = game.position(one_way.split()), game.position(another.split())
    assert str(first) == str(second)
    assert first.key == second.key
    assert first == second


def test_whose_turn_it_is_makes_another_key_in_othello():
    for seed in range(40):
        position = walk(Othello(), random.Random(seed).choices(range(100), k=70))
        after_pass = [before for before in _all_positions(position) if before.legal_actions == [64]]
        for before in after_pass:
            assert before.key != before.play("pass").key
        if after_pass:
            return
    pytest.fail("no pass in any of these games")


def _all_positions(last):
    positions = [last.game.start()]
    for action in last.moves:
        positions.append(positions[-1].play(action))
    return positions


def test_a_won_game_of_hex_has_one_key_whichever_stone_came_last():
    column = ["a1", "a2", "a3", "a4"]
    keys = set()
    for last in column:
        mine = [cell for cell in column if cell != last] + [last]
        position = Hex(4).position([move for pair in zip(mine, ["d1", "d2", "d3", None], strict=True) for move in pair if move])
        assert position.is_over and position.returns == [1.0, -1.0]
        keys.add(position.key)
    assert len(keys) == 1


choices = st.lists(st.integers(0, 10_000), max_size=20)


@every_game
@settings(max_examples=30, deadline=None)
@given(first=choices, second=choices)
def test_keys_are_equal_exactly_where_positions_are(game, first, second):
    one, other = walk(game, first), walk(game, second)
    same = (str(one), one.to_play, one.is_over) == (str(other), other.to_play, other.is_over)
    assert (one.key == other.key) == same
