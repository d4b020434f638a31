"""Inputs of KataGo's networks, against a slow implementation and against boards whose planes are known."""

import random

import numpy as np
import pytest

from anabranch.errors import NetworkError
from anabranch.games.go import RULE_SETS, Go, RuleSet
from anabranch.goengine.turns import resumed, with_turn
from anabranch.jit import COMPILED
from anabranch.nets.katago.inputs import encode_inputs, encode_position, encode_states
from anabranch.nets.katago.ladder_board import new_board
from anabranch.protocols.kata_rules import NAMES
from tests.reference import katago_planes as slow

SIZES = (5, 7, 9, (4, 11), (8, 5))
KOMI = (7.5, 7.0, 6.5, -3.5, 100.0)
MORE_RULES = {
    "seki": RuleSet(ko="situational", tax="seki", suicide=True, dead="none"),
    "territory": RuleSet(ko="positional", scoring="territory", tax="none"),
}
RULES = {**NAMES, **MORE_RULES}
GAMES = [(size, name) for place, name in enumerate(RULES) for size in (SIZES[place % 5], SIZES[(place + 2) % 5])]
PLANES = (
    "on board", "own stones", "other stones", "1 liberty", "2 liberties", "3 liberties", "ko", "encore ko", "encore ko too",
    "last move", "second last", "third last", "fourth last", "fifth last", "laddered", "laddered a move ago",
    "laddered two moves ago", "ladder moves", "own area", "other area", "encore own", "encore other",
)  # fmt: skip


def twin_of(position):
    """The slow game with the stones of a position and no moves."""
    game = position.game
    stones = {}
    for x, y in ((x, y) for y in range(game.height) for x in range(game.width)):
        content = position.state.colour[(game.height - y) * game_stride(game) + x + 1]
        if content in (1, 2):
            stones[x, y] = int(content) - 1
    return slow.Game(game.width, game.height, game.rules, game.komi, stones, position.to_play)


def game_stride(game):
    from anabranch.games.go.game import bucket_of
    from anabranch.games.go.layout import stride_of

    return stride_of(bucket_of(type(game)))


def follow(twin, game, action):
    """Play an action of ours in the slow game."""
    row, column = divmod(action, game.width)
    twin.play(None if action == game.actions - 1 else (column, game.height - 1 - row))


def assert_same(position, twin):
    planes, of_globals, legal = encode_position(position)
    wanted = twin.planes()
    for plane, name in enumerate(PLANES):
        assert np.array_equal(planes[0, plane], wanted[plane]), f"{name}, after {position.moves}:\n{position}"
    assert np.array_equal(of_globals[0], twin.numbers()), position.moves
    assert np.array_equal(legal[0], twin.legal())
    in_search, _ = encode_inputs(position.game, position.record())
    assert np.array_equal(in_search[0], twin.planes(superko=False))


def random_move(position, chance):
    """Mostly a point, sometimes a pass."""
    legal = position.legal_actions
    return chance.choice(legal[:-1]) if len(legal) > 1 and chance.random() > 0.05 else legal[-1]


@pytest.mark.parametrize(("size", "name"), GAMES, ids=str)
def test_random_games_are_seen_as_the_slow_implementation_sees_them(size, name):
    chance = random.Random(f"{size}{name}")
    game = Go(size, chance.choice(KOMI), RULES[name])
    position, twin = game.start(), slow.Game(game.width, game.height, game.rules, game.komi)
    assert_same(position, twin)
    for _ in range(2 * game.actions):
        if position.is_over:
            break
        position = position.play(random_move(position, chance))
        follow(twin, game, position.moves[-1])
        if position.is_over or chance.random() < 0.15:
            assert_same(position, twin)


def drawn(drawing, to_play=0, rules=RULE_SETS["tromp-taylor"], moves=()):
    """A position drawn as text and what follows it, checked against the slow one; gives its planes and globals."""
    rows = [line.split() for line in drawing.strip().splitlines()]
    game = Go((len(rows[0]), len(rows)), 7.5, rules)
    position = game.drawn(drawing, to_play)
    twin = twin_of(position)
    for name in moves:
        position = position.play(name)
        follow(twin, game, position.moves[-1])
    assert_same(position, twin)
    planes, of_globals, _ = encode_position(position)
    return planes[0], of_globals[0], game


def named(plane, game):
    """The points of a plane by their names."""
    rows, columns = np.nonzero(plane)
    actions = [(game.height - 1 - row) * game.width + column for row, column in zip(rows, columns, strict=True)]
    return {game.name_of(int(action)) for action in actions}


LADDER = """
. . . . . . . . .
. . . . . . . . .
. . . . . . . . .
. . . . . . . . .
. . . . . . . . .
. . . . . . . . .
. . X X . . . . .
. X O . . . . . .
. . X . . . . . .
"""


SNAPBACK = """
. . . . . .
. . . . . .
O O O . . .
X X O . . .
. X O O . .
O . X O . .
"""


def test_a_snapback_is_no_escape():
    planes, _, game = drawn(SNAPBACK, to_play=1)
    assert named(planes[14], game) >= {"C1"}


KO = """
. . . . . .
. X O . . .
X . X O . .
. X O . . .
. . . . . .
"""


def test_the_ko_that_may_not_be_retaken_and_its_ladders():
    planes, _, game = drawn(KO, to_play=1, moves=["B3"])
    assert named(planes[6], game) == {"C3"}
    assert named(planes[9], game) == {"B3"}
    planes, of_globals, game = drawn(KO, to_play=1, moves=["B3", "pass"], rules=NAMES["japanese"])
    assert named(planes[6], game) == set() and of_globals[0] == 1.0 and of_globals[14] == 1.0


def test_random_kos_and_two_liberties_are_read_alike():
    """Dense boards, where most chains are short of liberties and captures and kos are everywhere."""
    chance = random.Random(11)
    laddered = 0
    for _ in range(60):
        game = Go((chance.randint(4, 7), chance.randint(4, 7)), 0.5, "tromp-taylor")
        black, white = [], []
        position = game.start()
        for action in chance.sample(range(game.actions - 1), int(0.7 * game.actions)):
            mine = black if chance.random() < 0.5 else white
            mine.append(action)
            try:
                position = game.arranged(black, white, chance.randint(0, 1))
            except Exception:
                mine.pop()
        assert_same(position, twin_of(position))
        laddered += int(encode_position(position)[0][0, 14].sum())
    assert laddered > 200


# --- area ---------------------------------------------------------------------------------------------------------------------

ALIVE = """
. X . X O .
X X X X O .
O O O O O O
. . . . . .
. X . . . .
. . . . . .
"""
SEKI = """
. O X . O X .
X O X . O X X
X O X X O O X
X O O O X X X
X X X X X . X
. X . . . . .
"""


def test_area_is_what_lives_and_then_what_touches_one_colour():
    planes, _, game = drawn(ALIVE)
    assert named(planes[18], game) >= {"A6", "C6", "B5"}
    planes, _, game = drawn(ALIVE, rules=NAMES["japanese"])
    assert not planes[18:20].any()  # KataGo shows area under area scoring only


@pytest.mark.parametrize("tax", ["none", "seki", "all"])
def test_territory_in_seki_counts_without_a_tax(tax):
    planes, _, game = drawn(SEKI, rules=RuleSet(ko="simple", tax=tax))
    counted = named(planes[18], game) | named(planes[19], game)
    assert "D6" not in counted  # both touch it
    assert "C6" in counted  # a stone counts in any case


def test_pass_alive_area_may_be_asked_for_as_if_suicide_were_legal():
    board = """
. O . X .
O O X X .
X X X . .
. . . . .
. . . . .
"""
    game = Go(5, 7.5, RULE_SETS["chinese"])
    for drawing in (board, board.replace(". O . X", "O . O X")):
        position = game.drawn(drawing)
        twin = twin_of(position)
        for with_suicide in (False, True):
            planes, of_globals, _ = encode_position(position, with_suicide)
            assert np.array_equal(planes[0], twin.planes(with_suicide=with_suicide))
            assert of_globals[0, 8] == 0.0


# --- the game so far ----------------------------------------------------------------------------------------------------------


def test_points_that_superko_forbids_are_shown_where_the_whole_game_is_known():
    # Sending two and returning one: white may not put the second stone back.
    board = """
. O O X . .
O X X X . .
. O . X . .
O X X X . .
O O O X . .
. . . . . .
"""
    chance = random.Random(5)
    banned = 0
    for rules in ("tromp-taylor", "new-zealand"):
        for _ in range(12):
            game = Go((2, 3), 0.5, rules)
            position, twin = game.start(), slow.Game(2, 3, game.rules, 0.5)
            for _ in range(40):
                if position.is_over:
                    break
                legal = position.legal_actions
                position = position.play(chance.choice(legal[:-1] or legal))
                follow(twin, game, position.moves[-1])
                assert_same(position, twin)
                alone, _ = encode_inputs(game, position.record())
                banned += int((encode_position(position)[0] - alone).sum())
    assert banned > 20
    assert drawn(board)[0].any()


def test_after_a_pass_moves_are_hidden_where_dead_stones_are_agreed_upon():
    moves = ["C3", "D4", "pass"]
    for rules, is_hidden in (("chinese", True), ("tromp-taylor", False), ("japanese", False)):
        planes, of_globals, _ = encode_position(Go(7, rules=rules).position(moves))
        assert planes[0, 9:14].any() != is_hidden
        assert of_globals[0, 0] == of_globals[0, 14] == (0.0 if is_hidden else 1.0)


def test_once_a_game_is_over_one_move_is_shown():
    for rules in ("chinese", "tromp-taylor", "japanese"):
        position = Go(7, rules=rules).position(["C3", "D4", "pass", "pass"])
        planes, of_globals, _ = encode_position(position)
        assert not planes[0, 9:14].any() and list(of_globals[0, :2]) == [1.0, 0.0] and of_globals[0, 14] == 1.0
        planes, of_globals, _ = encode_position(resumed(position).play("E5"))  # and goes on from there
        assert list(planes[0, 9:14].sum(axis=(1, 2))) == [1, 0, 0, 0, 0] and list(of_globals[0, :3]) == [0.0, 1.0, 0.0]


def test_moves_are_shown_as_long_as_players_take_turns():
    position = Go(7).position(["C3", "D4"])
    twice = with_turn(position.play("E5"), 0).play("B2")  # black again
    planes, _, _ = encode_position(twice)
    assert list(planes[0, 9:14].sum(axis=(1, 2))) == [1, 0, 0, 0, 0]
    planes, _, _ = encode_position(with_turn(position, 1))  # white, who has just moved
    assert not planes[0, 9:14].any()


def test_an_arranged_position_has_no_history():
    planes, of_globals, _ = encode_position(Go(7, handicap=4, rules="aga").start())
    assert planes[0, 2].sum() == 4 and not planes[0, 9:14].any()
    assert of_globals[0, 5] == np.float32((7.5 + 3) / 20)


def test_the_button_is_there_until_the_first_pass():
    game = Go(7, 7.0, NAMES["aga-button"])
    shown = [encode_position(game.position(moves))[1][0] for moves in ([], ["pass"], ["pass", "C3"], ["C3", "pass"])]
    assert [numbers[17] for numbers in shown] == [1.0, 0.0, 0.0, 0.0]
    assert [20 * numbers[5] for numbers in shown] == pytest.approx([-7.0, 6.5, -6.5, -7.5])
    assert [numbers[14] for numbers in shown] == [0.0] * 4
    assert game.position(["pass", "pass"]).is_over is False and game.position(["pass"] * 3).is_over


# --- many states at once ------------------------------------------------------------------------------------------------------


def test_states_are_encoded_one_by_one_and_left_as_they_were():
    game = Go(9)
    chance, position, positions = random.Random(3), game.start(), []
    while len(positions) < 40:
        position = position.play(random_move(position, chance))
        positions.append(position)
    states = np.concatenate([position.record() for position in positions])
    before = states.tobytes()
    planes, of_globals = encode_inputs(game, states)
    assert states.tobytes() == before
    for place, one in enumerate(positions):
        alone = encode_inputs(game, one.record())
        assert np.array_equal(planes[place], alone[0][0]) and np.array_equal(of_globals[place], alone[1][0])


@pytest.mark.skipif(not COMPILED, reason="compares plain with compiled code")
def test_plain_python_computes_the_same():
    game, chance = Go((6, 5), rules="tromp-taylor"), random.Random(8)
    position = game.start()
    for _ in range(25):
        position = position.play(random_move(position, chance))
    out = np.zeros((1, 22, 5, 6), np.float32), np.zeros((1, 19), np.float32), np.zeros((1, game.actions), np.bool_)
    encode_states.plain(position.record(), np.empty(1, game.record), new_board(), False, *out)
    planes, of_globals = encode_inputs(game, position.record())
    assert np.array_equal(out[0], planes) and np.array_equal(out[1], of_globals) and planes[0, 14:18].any()


def test_boards_that_are_too_large_are_refused():
    with pytest.raises(NetworkError, match="up to 19 lines, not on 25x3"):
        encode_inputs(Go((25, 3)), Go((25, 3)).start().record())
