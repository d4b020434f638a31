"""Ladders on drawn boards, and on random ones beside a slow reader."""

from copy import deepcopy
from itertools import product

import numpy as np
import pytest
from tests.games.shapes import drawn, midgame
from tests.reference.go import BLACK, WHITE, Board

from anabranch.errors import GameError
from anabranch.games.go import Go, RuleSet
from anabranch.games.go.ladder import SPARE, is_captured, read_ladder
from anabranch.jit import COMPILED

LADDER = """
    . . . . . . . . .
    . . . . . . . . .
    . . . . . . . . .
    . . . . . . . . .
    . . . . . . . . .
    . X . . . . . . .
    . X O . . . . . .
    . . X . . . . . .
    . . . . . . . . .
"""


def test_a_ladder_works_and_its_chain_gets_away_if_it_moves_first():
    assert is_captured(drawn(LADDER), "C3")
    assert not is_captured(drawn(LADDER, to_play=WHITE), "C3")
    assert not is_captured(drawn(LADDER), "C3", to_play=WHITE)


def test_a_stone_on_the_way_breaks_a_ladder_and_one_beside_it_does_not():
    board = drawn(LADDER)
    for white, is_broken in (("F6", True), ("G7", True), ("G6", True), ("H8", True), ("A9", False), ("J1", False)):
        assert is_captured(board.game.arranged(["B3", "B4", "C2"], ["C3", white]), "C3") == (not is_broken), white


def test_a_stone_of_the_attacker_makes_a_ladder():
    game = drawn(LADDER).game
    assert not is_captured(game.arranged(["B3", "C2"], ["C3"]), "C3")
    assert is_captured(game.arranged(["B3", "C2", "D2"], ["C3"]), "C3")
    assert is_captured(game.arranged(["B3", "B4", "C2", "G7"], ["C3", "H8"]), "C3")  # before the breaker


def test_a_chain_that_runs_along_the_edge_is_caught_in_the_corner():
    assert is_captured(drawn("""
        . . . . . . .
        . . X . . . .
        . X O . . . .
    """, to_play=WHITE), "C1")  # fmt: skip
    assert not is_captured(drawn("""
        . . . . . . .
        . . X . O . .
        . X O . . . .
    """, to_play=WHITE), "C1")  # fmt: skip


def test_taking_an_attacker_saves_the_chain():
    board = """
        . . . . .
        . . X O .
        . X O X O
        . X . . .
    """
    assert not is_captured(drawn(board, to_play=WHITE), "C2")
    assert is_captured(drawn(board.replace("X O\n        . X .", "X .\n        . X ."), to_play=WHITE), "C2")  # not in atari


def test_three_liberties_are_no_ladder_and_one_is_the_end():
    board = """
        . . . . .
        . . . . .
        . X O . .
        . . . . .
        . . . . .
    """
    assert not is_captured(drawn(board), "C3")
    assert not is_captured(drawn(board), "B3", to_play=WHITE)
    around = drawn(board).game.arranged(["B3", "C2", "D3"], ["C3"])
    assert is_captured(around, "C3")


def test_a_ko_is_not_taken_back():
    board = drawn(
        """
        . X O . .
        X . X O .
        . X O . .
        . . . . .
        """,
        to_play=WHITE,
    )
    taken = board.play("B3")
    assert not is_captured(taken, "B3")
    assert is_captured(taken.play("pass").play("pass").without_past(), "B3")


def test_a_chain_with_two_liberties_may_be_caught_even_if_it_moves_first():
    board = """
        . X X . X
        X X X X X
        X . O . X
        X X X X X
    """
    assert is_captured(drawn(board, to_play=WHITE), "C2")
    assert not is_captured(drawn(board.replace(". X X . X", "X X X X X"), to_play=WHITE), "C2")  # black has no other liberty


def test_what_takes_too_long_to_read_counts_as_an_escape():
    assert not is_captured(drawn(LADDER), "C3", most_moves=5)
    position = drawn(LADDER)
    action = position.game.action("C3")
    assert read_ladder(position.record(), np.empty(40, position.game.record), action, 1_000)
    assert not read_ladder(position.record(), np.empty(6, position.game.record), action, 1_000)


def test_a_ladder_runs_across_the_whole_board():
    game = Go(19)
    assert is_captured(game.arranged(["B3", "B4", "C2"], ["C3"]), "C3")
    assert not is_captured(game.arranged(["B3", "B4", "C2"], ["C3", "Q16"]), "C3")


def test_there_must_be_a_stone():
    with pytest.raises(GameError, match="no stone at A1"):
        is_captured(drawn(LADDER), "A1")
    with pytest.raises(GameError, match="no stone at 81"):
        is_captured(drawn(LADDER), 81)


def slow_is_captured(board, stone, left, is_root=True):
    """The same by recursion, with so many moves left: in atari the defender tries everything there is."""
    owner = board.stones.get(stone)
    chain = board.connected(board.stones, stone)
    liberties = board.liberties(board.stones, chain)
    actions = {x + y * board.width for x, y in liberties}
    legal = [action for action in board.legal_actions() if action != board.pass_action]
    if board.to_play != owner:
        if len(liberties) == 1:
            return bool(actions & set(legal))
        if len(liberties) > 2:
            return False
        tries = [action for action in legal if action in actions]
    elif len(liberties) == 1:
        tries = legal
    elif len(liberties) > 2 or not is_root:
        return False
    else:
        beside = {near for point in chain for near in board.neighbours(point)}
        saving = [action for action in legal if board.after(board.point(action))[1] & beside]
        tries = [*(action for action in legal if action in actions), *saving, board.pass_action]
    wants = board.to_play != owner  # the attacker: one move that captures; the defender: one that does not
    if left == 1 and tries:
        return False
    return wants if any(slow_after(board, action, stone, left) == wants for action in tries) else not wants


def slow_after(board, action, stone, left):
    following = deepcopy(board)
    following.play(action)
    following.is_draw = False  # a position that comes again is a matter of the game, not of the ladder
    return slow_is_captured(following, stone, left - 1, is_root=False)


def replayed(position, to_play):
    """The slow board after the same moves; if it is the other player's turn, as after a pass."""
    board = Board(position.game.width, position.game.height, ko="simple")
    for action in position.moves:
        board.play(action)
        board.is_draw = False
    board.past = board.past[-1:] if to_play == board.to_play else []
    board.to_play = to_play
    return board


def test_ladders_on_random_boards_are_those_of_the_slow_reader():
    results = {True: 0, False: 0}
    game = Go(5, rules=RuleSet(ko="simple"))
    for seed, to_play in product(range(25 if COMPILED else 10), (BLACK, WHITE)):
        position = midgame(game, 12 + seed % 9, seed)
        board = replayed(position, to_play)
        for stone in board.stones:
            chain = board.connected(board.stones, stone)
            if stone == min(chain) and len(board.liberties(board.stones, chain)) <= 2:
                action = stone[0] + 5 * stone[1]
                expected = slow_is_captured(deepcopy(board), stone, int(position.state.empty_count) + SPARE)
                assert is_captured(position, action, to_play) == expected, f"{position}\n{game.name_of(action)}, {to_play}"
                results[expected] += 1
    assert min(results.values()) > 10, results
