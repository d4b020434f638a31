"""The rules of Go on drawn boards. Their judges: test_go_slow_board.py, test_go_gnugo.py and test_openspiel.py."""

import pytest
from tests.games.boards import (
    KO,
    KO_RULES,
    SEND_TWO,
    SUPERKO_RULES,
    TRIPLE_CYCLE,
    TRIPLE_KO,
    board,
    can_play,
    drawn,
    more_prisoners,
    play,
    rows,
    rule_set,
    score,
    with_ko,
)
from tests.reference.go import WHITE

from anabranch.errors import IllegalMove
from anabranch.games.go import RULE_SETS, Go
from anabranch.games.go.layout import EMPTY, NO_CELL, cell_of

# --- drawn boards: ko and superko ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ko", KO_RULES)
def test_a_ko_may_not_be_retaken_at_once_but_after_a_move_elsewhere(ko):
    taken = play(drawn(with_ko(ko, 4), KO), "C3")
    assert board(taken) == rows("""
        . X O .
        X . X O
        . X O .
        . . . .
    """)
    assert not can_play(taken, "B3")
    with pytest.raises(IllegalMove, match=r"B3 is not legal here: it retakes a ko at once"):
        taken.play("B3")
    retaken = play(taken, "A1 D1 B3")
    assert board(retaken) == rows("""
        . X O .
        X O . O
        . X O .
        O . . X
    """)
    assert not can_play(retaken, "C3")


@pytest.mark.parametrize("ko", KO_RULES)
def test_a_pass_lifts_the_ko_but_repeats_nothing(ko):
    game = with_ko(ko, 4)
    passed = play(drawn(game, KO), "C3 pass")
    assert passed.state.ko_cell == NO_CELL
    assert not passed.repeats and not passed.is_over
    assert play(passed, "D1 B3").state.ko_cell != NO_CELL


def test_sending_two_and_returning_one_is_forbidden_by_positional_superko():
    returned = play(drawn(with_ko("positional", 4), SEND_TWO, to_play=WHITE), "A1 C1")
    assert board(returned) == rows("""
        . . . .
        . . . .
        X X O O
        . . X O
    """)
    assert not can_play(returned, "B1")
    with pytest.raises(IllegalMove, match=r"B1 is not legal here: it repeats an earlier position"):
        returned.play("B1")


def test_sending_two_and_returning_one_is_forbidden_by_situational_superko_one_move_later():
    returned = play(drawn(with_ko("situational", 4), SEND_TWO, to_play=WHITE), "A1 C1 B1")  # now black is to move
    passed = returned.play("pass")  # and now white, as at the beginning: a pass may repeat
    assert board(passed) == board(drawn(with_ko("simple", 4), SEND_TWO))
    assert not passed.repeats
    with pytest.raises(IllegalMove, match=r"A1 is not legal here: it repeats an earlier position"):
        passed.play("A1")


def test_sending_two_and_returning_one_is_a_draw_by_area_under_the_simple_rule():
    start = drawn(with_ko("simple", 4), SEND_TWO, to_play=WHITE)
    again = play(start, "A1 C1 B1 pass")
    assert not again.is_over and can_play(again, "A1")
    drawn_game = again.play("A1")
    assert drawn_game.is_over and drawn_game.repeats and drawn_game.returns == [0.0, 0.0]
    assert drawn_game.legal_actions == []
    with pytest.raises(IllegalMove, match=r"the game is over"):
        drawn_game.play("C1")


def test_sending_two_and_returning_one_goes_on_by_territory_since_it_costs_prisoners():
    start = drawn(with_ko("simple", 4, scoring="territory"), SEND_TWO, to_play=WHITE)
    first, second = play(start, "A1 C1 B1 pass"), play(start, "A1 C1 B1 pass A1 C1 B1 pass")
    assert not second.is_over and board(first) == board(second)
    assert (score(start), score(first), score(second)) == (-1.0, 0.0, 1.0)  # each time black gives one stone and gets two


@pytest.mark.parametrize("ko", SUPERKO_RULES)
def test_superko_forbids_to_close_the_cycle_of_a_triple_ko(ko):
    last = play(drawn(with_ko(ko, (4, 9)), TRIPLE_KO), TRIPLE_CYCLE)
    assert not can_play(last, "B2")
    with pytest.raises(IllegalMove, match=r"B2 is not legal here: it repeats an earlier position"):
        last.play("B2")
    assert can_play(play(last, "D1 A1"), "B2")  # with two more stones it is another board


@pytest.mark.parametrize("scoring", ["area", "territory"])
def test_a_triple_ko_is_a_draw_under_the_simple_rule(scoring):
    start = drawn(with_ko("simple", (4, 9), scoring=scoring), TRIPLE_KO)
    last = play(start, TRIPLE_CYCLE)
    assert can_play(last, "B2") and not last.is_over
    end = last.play("B2")
    assert board(end) == board(start)
    assert end.is_over and end.returns == [0.0, 0.0]


# --- drawn boards: taking stones ----------------------------------------------------------------------------------------------


SNAPBACK = """
    . X X X X .
    X O O O O X
    X O . . O X
"""


@pytest.mark.parametrize("ko", KO_RULES)
def test_a_snapback_takes_more_than_it_gave(ko):
    position = play(drawn(with_ko(ko, (6, 3)), SNAPBACK), "C1 D1")
    assert board(position) == rows("""
        . X X X X .
        X O O O O X
        X O . O O X
    """)
    assert board(position.play("C1")) == rows("""
        . X X X X .
        X . . . . X
        X . X . . X
    """)


SUICIDE = """
    . . . .
    . . . .
    O O . .
    X . O .
"""


@pytest.mark.parametrize("name", ["tromp-taylor", "new-zealand"])
def test_some_rules_let_two_stones_kill_themselves(name):
    after = drawn(Go(4, rules=name), SUICIDE).play("B1")
    assert board(after) == rows("""
        . . . .
        . . . .
        O O . .
        . . O .
    """)
    assert after.to_play == WHITE and more_prisoners(after.state) == -2


@pytest.mark.parametrize("name", ["chinese", "japanese", "aga"])
def test_other_rules_do_not_let_stones_kill_themselves(name):
    with pytest.raises(IllegalMove, match=r"B1 is not legal here: it is suicide"):
        drawn(Go(4, rules=name), SUICIDE).play("B1")


SURROUNDED = """
    . O .
    O . O
    . O .
"""


@pytest.mark.parametrize("name", sorted(RULE_SETS))
def test_no_rules_let_a_single_stone_kill_itself(name):
    position = drawn(Go(3, rules=name), SURROUNDED)
    assert [position.game.name_of(action) for action in position.legal_actions] == ["pass"]
    with pytest.raises(IllegalMove, match=r"B2 is not legal here: it is suicide"):
        position.play("B2")


LAST_LIBERTY = """
    . . . .
    X X . .
    O O X .
    . O X .
"""


@pytest.mark.parametrize("name", sorted(RULE_SETS))
def test_what_takes_stones_is_no_suicide(name):
    """Black's stone in the corner has no liberty until white's are gone."""
    position = drawn(Go(4, rules=name), LAST_LIBERTY)
    assert board(position.play("A1")) == rows("""
        . . . .
        X X . .
        . . X .
        X . X .
    """)


# --- drawn boards: the end ----------------------------------------------------------------------------------------------------

SEKI = """
    . X . X . .
    X X X X X X
    X O O O O X
    X O X X O X
    X O . . O X
"""


def test_in_a_seki_the_shared_liberties_are_nobodys():
    assert score(drawn(with_ko("positional", (6, 5)), SEKI)) == 20 - 8
    territory = drawn(with_ko("simple", (6, 5), scoring="territory"), SEKI)
    assert score(territory) == 4


def test_in_a_seki_who_plays_first_loses_stones():
    game = with_ko("positional", (6, 5))
    assert board(play(drawn(game, SEKI, to_play=WHITE), "C1 D1")) == rows("""
        . X . X . .
        X X X X X X
        X . . . . X
        X . X X . X
        X . . X . X
    """)
    assert board(play(drawn(game, SEKI), "C1 D1")) == rows("""
        . X . X . .
        X X X X X X
        X O O O O X
        X O . . O X
        X O . O O X
    """)


BENT_FOUR = """
    X X . . .
    O O X . .
    . O X X .
    X O O O X
    X X . O X
"""


@pytest.mark.parametrize("ko", KO_RULES)
def test_a_bent_four_in_the_corner_is_played_out_as_a_ko(ko):
    taken = play(drawn(with_ko(ko, 5), BENT_FOUR), "A3 C1")  # black makes the bent four, white takes it
    assert board(taken) == rows("""
        X X . . .
        O O X . .
        . O X X .
        . O O O X
        . . O O X
    """)
    fought = play(taken, "A2 A1 B1")
    assert not can_play(fought, "A1")  # the ko; white looks for a threat elsewhere, and black does not answer
    assert board(play(fought, "E5 A3")) == rows("""
        X X . . O
        . . X . .
        X . X X .
        X . . . X
        . X . . X
    """)


# --- sizes --------------------------------------------------------------------------------------------------------------------


def test_the_largest_board_has_25_lettered_columns_and_takes_stones_in_its_far_corner():
    game = Go(25, komi=0, rules=rule_set(), returns="score")
    assert [game.name_of(action) for action in (0, 7, 8, 24, 25, 624, 625)] == ["A1", "H1", "J1", "Z1", "A2", "Z25", "pass"]
    position = game.position(["Y25", "Z25", "Z24"])
    assert position.state.colour[cell_of(position.state, game.action("Z25"))] == EMPTY
    assert more_prisoners(position.state) == 1
    assert score(position.play("A1")) == 3 - 1


def test_on_two_by_three_points_one_stone_can_take_all():
    game = Go((2, 3), komi=0, rules=rule_set(), returns="score")
    position = game.position(["A2", "B2", "B1", "A3"])
    assert board(position) == rows("""
        O .
        X O
        . X
    """)
    taken = position.play(5)
    assert game.name_of(5) == "B3" and board(taken) == rows("""
        . X
        X .
        . X
    """)
    assert score(taken) == 6


# --- keys ---------------------------------------------------------------------------------------------------------------------


def test_the_same_stones_in_another_order_share_a_key_where_no_cycle_is_near():
    game = Go(9)
    one, other = game.position(["C3", "G7", "G3", "C7"]), game.position(["G3", "C7", "C3", "G7"])
    assert board(one) == board(other) and one.key == other.key
    assert one.key != game.position(["C3", "G7", "G3", "C6"]).key
    assert one.key != game.position(["C7", "G3", "G7", "C3"]).key  # the other colours


@pytest.mark.parametrize("ko", KO_RULES)
def test_in_a_ko_fight_the_same_stones_with_another_past_have_another_key(ko):
    start = drawn(with_ko(ko, 4), KO)
    fought, quiet = play(start, "C3 B1 D1 B3"), play(start, "D1 B1")
    assert board(fought) == board(quiet) and fought.to_play == quiet.to_play
    assert can_play(quiet, "C3") and not can_play(fought, "C3")
    assert fought.key != quiet.key
    assert fought.play("pass").key != quiet.play("pass").key  # there is no ko any more, but the past


def test_after_a_pass_the_same_stones_have_another_key():
    game = Go(9)
    passed, placed = game.position(["C3", "pass"]), game.arranged(black=["C3"])
    assert board(passed) == board(placed) and passed.to_play == placed.to_play
    assert passed.key != placed.key
