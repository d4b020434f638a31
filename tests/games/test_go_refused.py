"""What Go refuses, and in which words: sizes, rules, komi, handicaps, moves and boards that cannot be."""

import pytest

from anabranch.errors import AnabranchError, GameError, IllegalMove
from anabranch.games.go import RULE_SETS, Go, Go13, RuleSet


@pytest.mark.parametrize("size", [1, 26, 0, -9, (9, 1), (26, 9)], ids=str)
def test_boards_that_are_too_small_or_too_large_are_refused(size):
    with pytest.raises(GameError, match=r"boards with sides of 2 to 25, not"):
        Go(size)


@pytest.mark.parametrize("size", ["x", "9", 9.0, None, (9,), (9, 9, 9), True, ("a", "b")], ids=str)
def test_sizes_that_are_no_sizes_are_refused(size):
    with pytest.raises(GameError, match=r"give a number such as 19, or \(width, height\)"):
        Go(size)


def test_rule_sets_that_do_not_exist_are_refused():
    with pytest.raises(GameError, match=r"there is no rule set 'japonese'; did you mean 'japanese'\?"):
        Go(rules="japonese")
    with pytest.raises(GameError, match=r"rules=7: give a name .* or a RuleSet"):
        Go(rules=7)
    with pytest.raises(GameError, match=r"ko='none' is not a rule of Go; it is one of 'simple', 'positional', 'situational'"):
        RuleSet(ko="none")
    with pytest.raises(GameError, match=r"a rule set has no point 'superko'"):
        RULE_SETS["aga"].but(superko=True)


@pytest.mark.parametrize("komi", [7.3, "many", None, float("nan"), float("inf"), 1e9], ids=str)
def test_komi_is_whole_or_half_points(komi):
    with pytest.raises(GameError, match=r"komi=.*: give"):
        Go(komi=komi)


@pytest.mark.parametrize(("size", "handicap"), [(19, 10), (19, 1), (9, -2), (7, 5), (8, 5), (5, 2)], ids=str)
def test_handicaps_that_do_not_exist_are_refused(size, handicap):
    with pytest.raises(GameError, match=rf"no fixed handicap of {handicap} stones on {size}x{size}"):
        Go(size, handicap=handicap)


@pytest.mark.parametrize("handicap", ["two", 2.5, None], ids=str)
def test_a_handicap_is_a_number_of_stones(handicap):
    with pytest.raises(GameError, match=r"handicap"):
        Go(9, handicap=handicap)


def test_what_is_played_for_must_be_known():
    with pytest.raises(GameError, match=r"returns='points': Go is played for one of 'win', 'score', 'mix'"):
        Go(returns="points")


@pytest.mark.parametrize("move", ["I5", "K1", "A0", "A10", "", "A", "85", "A-1", "passs"])
def test_points_that_are_not_on_the_board_are_told(move):
    with pytest.raises(IllegalMove, match=r"is not a move of Go\(size=9"):
        Go(9).start().play(move)


@pytest.mark.parametrize("action", [-1, 82, 1000])
def test_actions_out_of_range_are_told(action):
    with pytest.raises(IllegalMove, match=rf"action {action} is out of range: Go\(size=9.* has 0 to 81"):
        Go(9).start().play(action)


def test_a_point_with_a_stone_is_told():
    with pytest.raises(IllegalMove, match=r"move 2: E5 is not legal here: there is a stone"):
        Go(9).position(["E5", "E5"])


def test_nothing_is_played_after_two_passes():
    over = Go(9).position(["pass", "pass"])
    assert over.is_over and over.legal_actions == []
    with pytest.raises(IllegalMove, match=r"E5: the game is over"):
        over.play("E5")


def test_boards_that_cannot_be_are_not_arranged():
    game = Go(3)
    with pytest.raises(IllegalMove, match=r"A1 has two stones"):
        game.arranged(black=["A1"], white=["A1"])
    with pytest.raises(IllegalMove, match=r"pass is not a point"):
        game.arranged(black=["pass"])
    with pytest.raises(IllegalMove, match=r"libert"):
        game.arranged(black=["A2", "B1"], white=["A1"])
    with pytest.raises(IllegalMove, match=r"libert"):
        game.arranged(black=["A1"], white=["A2", "B1"])
    with pytest.raises(AnabranchError, match=r"to_play"):
        game.arranged(to_play=2)


def test_a_bucket_refuses_boards_that_it_cannot_hold():
    with pytest.raises(GameError):
        Go13(19)
