"""What networks see of the games, and the sides from which they may look."""

import numpy as np
import pytest
from tests.nets.games import played

import anabranch as ab
from anabranch.games.connectfour import ConnectFour
from anabranch.games.encoding import encode
from anabranch.games.go import Go
from anabranch.games.go.planes import ATARI, KO, OTHER, OWN, PASSED, POINTS, WHITE_MOVES
from anabranch.games.hex import Hex
from anabranch.games.nim import Nim
from anabranch.games.othello import Othello
from anabranch.games.symmetry import dihedral, half_turn, identity, mirror, on_points
from anabranch.games.tictactoe import TicTacToe
from anabranch.jit import readable

SEEN = [TicTacToe(), ConnectFour(), Othello(), Hex(4), Go(5), Go((4, 3)), Go(11)]


def planes_of(position):
    return encode(position.game, position.record())[0]


def drawn(plane):
    return [" ".join("x" if cell else "." for cell in row) for row in plane]


# --- planes ---


def test_connect_four_shows_who_moves_first_and_the_top_row_first():
    planes = planes_of(ConnectFour().position("dde"))
    assert drawn(planes[0]) == [". . . . . . ."] * 4 + [". . . x . . .", ". . . . . . ."]
    assert drawn(planes[1]) == [". . . . . . ."] * 5 + [". . . x x . ."]
    assert (planes[2] == 1).all() and (planes_of(ConnectFour().start()) == 0).all()


def test_hex_shows_whose_edges_are_the_movers():
    planes = planes_of(Hex(3).position(["a1", "b2", "c1"]))
    assert drawn(planes[0]) == [". . .", ". x .", ". . ."]
    assert drawn(planes[1]) == ["x . x", ". . .", ". . ."]
    assert (planes[2] == 1).all()


def test_othello_shows_where_the_mover_may_play():
    position = Othello().start()
    cells = np.flatnonzero(planes_of(position)[2])
    assert list(cells) == position.legal_actions


def test_go_shows_stones_atari_ko_and_komi_in_the_movers_view():
    board = """
        . X O .
        X . X O
        . X O .
        . . . .
    """
    game = Go(4, komi=6.5)
    before = game.drawn(board, to_play=1)
    assert planes_of(before)[POINTS][0, 0] == np.float32(6.5 / 20)
    planes = planes_of(before.play("b3"))  # takes c3: a ko
    assert drawn(planes[OWN][::-1]) == [". x . .", "x . . .", ". x . .", ". . . ."]
    assert drawn(planes[OTHER][::-1]) == [". . x .", ". x . x", ". . x .", ". . . ."]
    assert drawn(planes[KO][::-1]) == [". . . .", ". . x .", ". . . .", ". . . ."]
    assert drawn(planes[ATARI][::-1]) == [". x . .", ". x . .", ". . . .", ". . . ."]
    assert (planes[POINTS] == np.float32(-6.5 / 20)).all()
    assert (planes[WHITE_MOVES] == 0).all() and (planes[PASSED] == 0).all()
    after = planes_of(before.play("b3").play("pass"))
    assert (after[PASSED] == 1).all() and (after[WHITE_MOVES] == 1).all() and not after[KO].any()


def test_territory_counts_the_balance_of_moves_as_points():
    game = Go(5, komi=0.5, rules="japanese")
    assert planes_of(game.position(["c3"]))[POINTS][0, 0] == np.float32((0.5 + 1) / 20)


@pytest.mark.parametrize("game", SEEN, ids=repr)
def test_many_states_are_encoded_as_each_one_by_itself(game):
    states = played(game, 7)
    planes = encode(game, states)
    assert planes.shape == (7, *game.planes) and planes.dtype == np.float32
    for state, seen in zip(states, planes, strict=True):
        plain = np.zeros(game.planes, np.float32)
        game.ask("encode", readable(np.array([state], game.record))[0], plain)
        assert np.array_equal(seen, plain)


@pytest.mark.parametrize("body", [{"planes": (1, 1, 1)}, {"encode": ab.rule(lambda state, planes: None)}])
def test_planes_and_encode_come_together(body):
    with pytest.raises(ab.errors.GameError, match="both a rule `encode` and the shape"):
        type("Half", (Nim,), body)


# --- symmetries ---


def test_permutations_of_a_board():
    assert identity(2, 3).tolist() == [[0, 1, 2, 3, 4, 5]]
    assert mirror(2, 3)[1].tolist() == [2, 1, 0, 5, 4, 3]
    assert half_turn(2, 3)[1].tolist() == [5, 4, 3, 2, 1, 0]
    assert dihedral(2, 3).shape == (4, 6) and dihedral(3, 3).shape == (8, 9)


@pytest.mark.parametrize("ways", [mirror(3, 4), half_turn(3, 4), dihedral(3, 4), dihedral(4, 4)], ids=len)
def test_symmetries_are_a_group_that_begins_with_the_identity(ways):
    rows = {tuple(row) for row in ways.tolist()}
    assert len(rows) == len(ways)
    assert ways[0].tolist() == list(range(ways.shape[1]))
    assert {tuple(one[other].tolist()) for one in ways for other in ways} == rows


def test_actions_that_are_no_points_stay():
    assert on_points(half_turn(2, 2), 5).actions.tolist() == [[0, 1, 2, 3, 4], [3, 2, 1, 0, 4]]


def test_games_have_the_symmetries_of_their_boards():
    counts = {TicTacToe(): 8, ConnectFour(): 2, Othello(): 8, Hex(5): 2, Go(9): 8, Go((9, 7)): 4, Nim(): 1}
    assert {game: len(game.symmetries()) for game in counts} == counts


def test_othello_is_the_same_through_mirrors_that_do_not_keep_its_start():
    game = Othello()
    ways = game.symmetries()
    for state in played(game, 5):
        for points, actions in zip(ways.points, ways.actions, strict=True):
            image = readable(game.start().record())
            for name in ("mover", "other", "moves"):
                bits = [int(state[name]) >> int(point) & 1 for point in points]
                image[name] = sum(bit << cell for cell, bit in enumerate(bits))
            image["turn"] = state["turn"]
            for action in range(game.actions):
                if game.ask("is_legal", image[0], action):
                    after, other = image.copy(), readable(np.array([state], game.record))
                    game.ask("play", after[0], action, np.zeros(2))
                    game.ask("play", other[0], int(actions[action]), np.zeros(2))
                    seen, expected = (encode(game, states)[0].reshape(3, -1) for states in (after, other))
                    assert np.array_equal(seen, expected[:, points])
