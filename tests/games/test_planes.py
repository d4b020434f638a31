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
from anabranch.games.pyrat import PyRat
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
    counts = {
        TicTacToe(): 8,
        ConnectFour(): 2,
        Othello(): 8,
        Hex(5): 2,
        Go(9): 8,
        Go((9, 7)): 4,
        Nim(): 1,
        PyRat(preset="7x7"): 16,
    }
    assert {game: len(game.symmetries()) for game in counts} == counts


@pytest.mark.parametrize("width, height, ways", [(4, 4, 16), (5, 3, 8)])
def test_pyrat_is_the_same_on_boards_turned_over_and_with_players_exchanged(width, height, ways):
    game = PyRat(width, height, cheese=4, walls=0.4, mud=0.5, max_turns=40, seed=3)
    assert len(game.symmetries()) == ways
    for side in range(ways):
        image, random = image_of(game, side), np.random.default_rng(side)
        position, turned = game.start(), image.start()
        while not position.is_over:
            seen = game.symmetries().of_planes(encode(game, position.record()), np.array([side]))
            assert np.array_equal(encode(image, turned.record()), seen)
            pair = random.integers(game.actions, size=2)
            position, turned = position.play(tuple(pair)), turned.play(actions_in(game, side, pair))
            assert position.rewards == tuple(turned.rewards[player] for player in game.symmetries().players[side])
        assert turned.is_over


def image_of(game, side):
    """The same maze seen through a symmetry."""
    ways, maze = game.symmetries(), game.maze
    now = np.argsort(ways.points[side])  # where each cell has gone

    def at(cell):
        return int(now[cell]) % maze.width, int(now[cell]) // maze.width

    return PyRat(
        maze.width,
        maze.height,
        cheese=[at(cell) for cell in maze.cheese],
        walls=[(at(low), at(high)) for low, high in maze.walls],
        mud={(at(low), at(high)): turns for (low, high), turns in maze.mud.items()},
        max_turns=game.max_turns,
        starts=[at(maze.starts[player]) for player in ways.players[side]],
    )


def actions_in(game, side, pair):
    """The actions in the image that do what this pair does."""
    ways = game.symmetries()
    renamed = np.argsort(ways.actions[side])
    return tuple(int(renamed[pair[player]]) for player in ways.players[side])


def test_policies_and_values_go_through_a_symmetry_and_back():
    ways, random = PyRat(preset="5x5").symmetries(), np.random.default_rng(0)
    policies, values, sides = random.random((16, 2, 5), np.float32), random.random((16, 2)), np.arange(16)
    seen, worth = ways.of_policies(policies, sides), ways.of_values(values, sides)
    for side in range(16):
        for player in range(2):
            was = ways.players[side, player]
            assert np.array_equal(seen[side, player], policies[side, was, ways.actions[side]])
            assert worth[side, player] == values[side, was]
    assert np.array_equal(ways.of_policies(seen, sides, back=True), policies)
    assert np.array_equal(ways.of_values(worth, sides, back=True), values)
    assert np.array_equal(ways.of_values(values[:, 0], sides), values[:, 0])


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
