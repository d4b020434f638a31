"""The rules of the games that no other program checks for us, and facts about the others that are known by heart."""

import functools

import pytest

from anabranch.errors import IllegalMove
from anabranch.games import Hex, Nim, Othello, Pig, TicTacToe, Treasure, TriNim
from anabranch.games.rules import CHANCE


def count_games(position, depth):
    """How many sequences of `depth` moves there are."""
    if depth == 0:
        return 1
    return sum(count_games(position.play(action), depth - 1) for action in position.legal_actions)


@functools.cache
def best(position):
    """What each player gets if all play for themselves; among equals the first action."""
    if position.is_over:
        return tuple(position.returns)
    results = [best(position.play(action)) for action in position.legal_actions]
    return max(results, key=lambda result: result[position.to_play])


def test_othello_has_as_many_openings_as_published():
    assert [count_games(Othello().start(), depth) for depth in (1, 2, 3, 4, 5)] == [4, 12, 56, 244, 1396]


@pytest.mark.when_compiled
def test_tic_tac_toe_is_a_draw():
    assert best(TicTacToe().start()) == (0.0, 0.0)


def test_nim_is_lost_on_multiples_of_four():
    position = Nim().start()
    assert best(position) == (1.0, -1.0)
    assert best(position.play("1")) == (1.0, -1.0)
    assert best(position.play("2")) == (-1.0, 1.0)


def test_nobody_takes_more_stones_than_there_are():
    position = Nim().position("3" * 6 + "1")
    assert position.legal_actions == [0, 1]
    with pytest.raises(IllegalMove, match="3 is not legal here; legal: 1 2"):
        position.play("3")


def test_a_full_board_of_hex_has_exactly_one_winner():
    assert Hex(1).position(["a1"]).returns == [1.0, -1.0]
    game = Hex(2)
    for ends in (["a1", "b1", "a2"], ["b1", "b2", "a2"]):
        assert game.position(ends).returns == [1.0, -1.0]
    assert game.position(["a1", "b1", "b2", "a2"]).returns == [-1.0, 1.0]


def test_two_by_two_hex_is_won_by_whoever_begins():
    assert best(Hex(2).start()) == (1.0, -1.0)


def test_a_chain_of_hex_that_grows_from_the_middle_is_joined_to_both_edges():
    game = Hex(5)
    position = game.position(["c3", "a1", "c2", "a2", "c4", "a3", "c1", "a4"])
    assert not position.is_over
    assert position.play("c5").is_over
    assert position.play("b5").is_over
    assert not position.play("d5").is_over


def test_a_one_in_pig_loses_the_pot_and_the_turn():
    position = Pig().position(["roll", "6", "roll"])
    assert position.to_play == CHANCE and position.legal_actions == list(range(6))
    assert position.probabilities == pytest.approx([1 / 6] * 6)
    lost = position.play("1")
    assert lost.to_play == 1 and str(lost).startswith("0 to 0 of 20, pot 0")
    kept = position.play("5").play("hold")
    assert kept.to_play == 1 and str(kept).startswith("11 to 0 of 20, pot 0")


def test_pig_is_won_by_banking_the_target_and_not_before():
    position = Pig(10).position(["roll", "6", "roll", "6"])
    assert not position.is_over
    assert position.play("hold").is_over and position.play("hold").returns == [1.0, -1.0]


def test_one_must_roll_in_pig_before_one_may_hold():
    with pytest.raises(IllegalMove, match="hold is not legal here; legal: roll"):
        Pig().start().play("hold")


def test_the_last_stone_of_three_player_nim_pays_who_took_it():
    assert TriNim(3).position(["3"]).returns == [1.0, -0.5, -0.5]
    assert TriNim(4).position(["3", "1"]).returns == [-0.5, 1.0, -0.5]
    assert TriNim(5).position(["3", "1", "1"]).returns == [-0.5, -0.5, 1.0]
    assert [TriNim(5).position("11"[:played]).to_play for played in range(3)] == [0, 1, 2]


def test_treasure_is_paid_when_it_is_reached_once_and_discounted():
    game = Treasure(5)
    position = game.position(["right", "right", "right", "right", "left"])
    assert position.is_over and position.returns == [0.0]
    assert position.rewards == pytest.approx([2 + 3 * 0.95**3])
    assert game.position(["right", "left", "right"]).rewards == (2.0,)


def test_the_walk_of_treasure_stays_on_the_map():
    assert [Treasure().name_of(action) for action in Treasure().start().legal_actions] == ["right", "down"]


@pytest.mark.parametrize(
    ("steps", "first", "value"), [(3, "right", 2), (4, "down", 9 * 0.95**3), (6, "right", 2 + 9 * 0.95**5)]
)
def test_the_number_of_steps_decides_where_treasure_is_sought_first(steps, first, value):
    @functools.cache
    def most(position):
        """The most that can still be collected, seen from here."""
        return 0.0 if position.is_over else max(gain(position, action) for action in position.legal_actions)

    def gain(position, action):
        after = position.play(action)
        paid = (after.rewards[0] - position.rewards[0]) / 0.95 ** len(position.moves)
        return paid + 0.95 * most(after)

    start = Treasure(steps).start()
    assert most(start) == pytest.approx(value)
    assert gain(start, start.game.action(first)) == pytest.approx(value)
