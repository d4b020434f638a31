"""Unconditional life, and the scores that depend on it; both have slow twins, on the board of `tests/reference/go.py`."""

from itertools import product

import numpy as np
import pytest
from tests.games.shapes import DEAD_STONE, contents, drawn, pattern, rows
from tests.reference.go import BLACK, WHITE, Board

from anabranch.games.go import Go, RuleSet
from anabranch.games.go.life import unconditional
from anabranch.games.go.score import half_points
from anabranch.jit import COMPILED, kernel, readable


def over(position):
    return position.play("pass").play("pass")


def life(text, **points):
    position = drawn(text, **points)
    return pattern(position, unconditional(position))


def random_board(random, width, height, black, white):
    """Stones at random, where all chains have liberties; such shares of the points are black and white."""
    while True:
        board = Board(width, height)
        chosen = random.choice([None, BLACK, WHITE], size=len(board.points), p=[1 - black - white, black, white])
        board.stones = {point: stone for point, stone in zip(board.points, chosen, strict=True) if stone is not None}
        if all(board.liberties(board.stones, board.connected(board.stones, point)) for point in board.stones):
            return board


def position_of(board, **points):
    game = Go((board.width, board.height), komi=0, rules=RuleSet(**{"ko": "simple", "dead": "none", **points}), returns="score")
    black, white = ([x + y * board.width for (x, y), stone in board.stones.items() if stone == c] for c in (BLACK, WHITE))
    return game.arranged(black, white)


# --- unconditional life -------------------------------------------------------------------------------------------------------


def test_two_eyes_live_and_are_territory():
    assert life("""
        . X . X .
        X X X X .
        . . . . .
        . . . . .
    """) == rows("""
        X X X X .
        X X X X .
        . . . . .
        . . . . .
    """)  # fmt: skip


def test_one_eye_does_not_live_and_an_empty_board_is_nobodys():
    assert set(life("""
        . . X X .
        X X X X .
        . . . . .
    """)) == {".", " ", "\n"}  # fmt: skip
    assert not unconditional(Go(5).start()).any()


def test_chains_that_share_two_eyes_live_together():
    assert life("""
        . . . .
        X X . .
        X . X .
        . X X .
    """) == rows("""
        . . . .
        X X . .
        X X X .
        X X X .
    """)  # fmt: skip


def test_an_eye_that_hangs_on_a_chain_without_life_is_none():
    assert set(life("""
        . X . X .
        X X X . .
        . . . . .
    """)) == {".", " ", "\n"}  # fmt: skip


def test_life_and_death_of_both_colours_are_told_apart():
    assert life("""
        . X . O X
        X X X X X
        O O O O O
        . O . O .
        O O O O O
    """) == rows("""
        X X X X X
        X X X X X
        O O O O O
        O O O O O
        O O O O O
    """)  # fmt: skip


ENEMY_INSIDE = """
    . X X X X
    X X X X X
    X . . . X
    X . O . X
    X . . . X
    X X X X X
"""


def test_an_eye_with_an_enemy_in_its_middle_counts_unless_he_can_take_himself_off():
    assert set(life(ENEMY_INSIDE)) == {"X", " ", "\n"}
    assert set(life(ENEMY_INSIDE, suicide=True)) == {".", " ", "\n"}


def test_territory_has_no_room_for_two_eyes():
    assert life("""
        . X . X X
        X X X X X
        X . . . X
        X . . . X
        X . . . X
        X . . . X
        X X X X X
    """) == rows("""
        X X X X X
        X X X X X
        X . . . X
        X . . . X
        X . . . X
        X . . . X
        X X X X X
    """)  # fmt: skip


def taken_by_a_lone_attacker(board, owner):
    """The stones of a player that the other one can take if he alone plays: all that he can bring about is tried."""
    board.to_play = 1 - owner
    own = {point for point, stone in board.stones.items() if stone == owner}
    seen, to_do, taken = set(), [board.stones], set()
    while to_do:
        board.stones = to_do.pop()
        for point in board.points:
            if point not in board.stones:
                stones, _, lost = board.after(point)
                if len(lost) != 1 and not (lost and not board.suicide) and frozenset(stones.items()) not in seen:
                    seen.add(frozenset(stones.items()))
                    to_do.append(stones)
                    taken |= own - stones.keys()
    return taken


@pytest.mark.when_compiled
@pytest.mark.parametrize("suicide", [False, True])
def test_what_lives_is_exactly_what_a_lone_attacker_cannot_take(suicide):
    random = np.random.default_rng(1)
    lived = died = 0
    while min(lived, died) < (15 if COMPILED else 10):
        board = random_board(random, *random.choice([(3, 3), (4, 3), (5, 2)]), black=0.6, white=0.1)
        if list(board.stones.values()).count(BLACK) < len(board.points) - 5:
            continue  # too much that an attacker can try
        board.suicide = suicide
        alive = unconditional(position_of(board, suicide=suicide)) == 1
        own = {point for point, stone in board.stones.items() if stone == BLACK}
        drawing = board.rows()
        living = {point for point in own if alive[point[0] + point[1] * board.width]}
        assert living == own - taken_by_a_lone_attacker(board, BLACK), drawing
        lived, died = lived + bool(living), died + (living != own)


def test_a_lone_attacker_cannot_live_in_unconditional_territory():
    random = np.random.default_rng(2)
    invaded = 0
    while invaded < (30 if COMPILED else 8):
        board = random_board(random, 5, 5, black=0.55, white=0.12)
        territory = (unconditional(position_of(board)) == 1) & (contents(position_of(board)) != 1)
        invaded += territory.sum() > 3
        board.to_play = WHITE
        for _ in range(12 if territory.sum() > 3 else 0):
            points = [point for point in board.points if point not in board.stones and not board.after(point)[2]]
            if not points:
                break
            board.stones, taken, _ = board.after(points[random.integers(len(points))])
            assert not taken & {board.point(action) for action in np.flatnonzero(territory)}
            assert (unconditional(position_of(board))[territory] != -1).all(), board.rows()


# --- scores -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scoring", "dead", "lead"),
    [
        ("area", "none", 11 - 13),
        ("area", "agreed", 10 - 15),
        ("territory", "none", 3 - 3),
        ("territory", "agreed", 3 - (5 + 1)),
    ],
)
def test_stones_in_unconditional_territory_are_dead_after_two_passes_where_that_is_agreed(scoring, dead, lead):
    position = drawn(DEAD_STONE, scoring=scoring, dead=dead)
    assert position.game.lead(over(position)) == lead
    without = drawn(DEAD_STONE, scoring=scoring, dead="none")
    assert position.game.lead(position) == without.game.lead(without)  # while the game goes on, all live


def test_playouts_know_no_dead_stones():
    state = readable(over(drawn(DEAD_STONE, dead="agreed")).record())[0]
    assert half_points(state) == 2 * (10 - 15)
    state.quick = 1
    assert half_points(state) == 2 * (11 - 13)


SEKI = """
    . X X . O O .
    . X X . O O O
"""


@pytest.mark.parametrize(
    ("scoring", "tax", "lead"),
    [
        ("area", "none", (4 + 2) - (5 + 1)),
        ("area", "seki", 4 - 5),
        ("area", "all", 4 - 5),
        ("territory", "none", 2 - 1),
        ("territory", "seki", 0),
    ],
)
def test_groups_at_a_neutral_point_are_in_seki_and_have_no_territory_where_that_is_taxed(scoring, tax, lead):
    position = drawn(SEKI, scoring=scoring, tax=tax)
    assert position.game.lead(position) == lead


@pytest.mark.parametrize(("tax", "lead"), [("none", 12 - 9), ("seki", 12 - 9), ("all", (12 - 4) - (9 - 2))])
def test_every_group_pays_for_two_eyes_where_all_are_taxed(tax, lead):
    position = drawn(
        """
        . X O . O X .
        X X O O O X X
        . X O . O X .
        """,
        tax=tax,
    )
    assert position.game.lead(position) == lead


def slow_area(board, dead, tax):
    """Black's area less white's without dead stones, taxes paid."""
    stones = {point: stone for point, stone in board.stones.items() if point not in dead}
    owners = dict(stones)
    for point in set(board.points) - stones.keys():
        region = board.connected(stones, point)
        around = {stones[near] for cell in region for near in board.neighbours(cell) if near in stones}
        owners[point] = around.pop() if len(around) == 1 else None
    points = [0, 0]
    left = {point for point, owner in owners.items() if owner is not None}
    while left:
        point = left.pop()
        group = board.connected(owners, point)
        left -= group
        territory = len(group - stones.keys())
        is_seki = any(owners[near] is None for cell in group for near in board.neighbours(cell))
        paid = territory if is_seki else min(territory, 2) if tax == "all" else 0
        points[owners[point]] += len(group) - (0 if tax == "none" else paid)
    return points[BLACK] - points[WHITE]


@kernel
def compiled_half_points(states):
    """The score as kernels count it."""
    return half_points(states[0])


@pytest.mark.parametrize(("tax", "dead"), list(product(("none", "seki", "all"), ("none", "agreed"))))
def test_scores_on_random_boards_are_those_of_the_slow_board(tax, dead):
    random = np.random.default_rng(3)
    taken_off = 0
    for _ in range(60 if COMPILED else 25):
        board = random_board(random, 6, 5, black=0.5, white=0.2)
        position = over(position_of(board, tax=tax, dead=dead))
        sides = contents(position) * unconditional(position)
        gone = {board.point(action) for action in np.flatnonzero(sides < 0)} if dead == "agreed" else set()
        expected = slow_area(board, gone, tax)
        assert position.game.lead(position) == expected, board.rows()
        assert position.returns == [expected, -expected]
        record = position.record()
        assert compiled_half_points(record) == 2 * expected
        assert record.tobytes() == position.data  # what counts points leaves nothing behind
        taken_off += bool(gone)
    assert taken_off > 3 or dead == "none"
