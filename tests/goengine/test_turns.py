"""Positions for those who do not take turns."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.errors import IllegalMove
from anabranch.games.go import RULE_SETS, Go
from anabranch.goengine.game_tree import stones_of
from anabranch.goengine.turns import played, resumed, under, with_turn

MOVES = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 9)), max_size=30)  # on 3x3: repetitions are certain


@given(st.sampled_from(sorted(RULE_SETS)), MOVES)
def test_either_player_can_always_move(rules, moves):
    position = Go(3, 0.5, rules).start()
    for player, action in moves:
        turned = with_turn(position, player)
        assert not turned.is_over and turned.to_play == player
        assert stones_of(turned) == stones_of(position)
        assert action in turned.legal_actions or action != 9  # a pass at least
        try:
            position = played(turned, action)
        except IllegalMove:
            assert action not in turned.legal_actions


@given(st.sampled_from(sorted(RULE_SETS)), st.sampled_from(sorted(RULE_SETS)), MOVES)
def test_a_game_keeps_its_stones_under_other_rules(before, after, moves):
    history = [Go(3, 0.5, before).start()]
    for player, action in moves:
        turned = with_turn(history[-1], player)
        if action in turned.legal_actions:
            history.append(turned.play(action))
    game = Go(3, 7.5, after)
    for old, new in zip(history, under(game, history), strict=True):
        assert stones_of(old) == stones_of(new) and old.moves == new.moves and new.game is game
        assert int(new.state.half_komi) == 15
        assert not new.state.passes or new.state.passes == old.state.passes
        assert with_turn(new, 0).legal_actions


def test_the_past_is_the_same_under_the_same_rules():
    game = Go(5, 0.5)
    history = [game.start()]
    for name in ("B2", "C3", "A1", "pass", "D4"):
        history.append(history[-1].play(name))
    assert [position.past for position in under(Go(5, 6.5), history)] == [position.past for position in history]


def test_after_two_passes_the_game_goes_on_with_its_past():
    ended = Go(5).position(["B2", "C3", "pass", "pass"])
    on = resumed(ended)
    assert ended.is_over and not on.is_over and on.to_play == 0
    assert set(on.past) == set(ended.past) - {ended.repetition_key}
    assert on.play("D4").play("pass").play("pass").is_over


def test_a_repetition_that_somebody_allowed_keeps_the_rest_of_the_past():
    game = Go(5, rules="chinese")
    taken = game.drawn(
        """
        . . . . .
        . . . . .
        . X O . .
        X O . O .
        . X O . .
        """
    ).play("C2")
    lifted = with_turn(taken.play("pass"), 1)
    with pytest.raises(IllegalMove, match="repeats"):
        lifted.play("B2")
    again = played(lifted, game.action("B2"))
    assert again.past == (*lifted.past[1:], lifted.repetition_key) and stones_of(again)[game.action("B2")] == 1
    assert not again.is_over and not again.repeats
    with pytest.raises(IllegalMove, match="there is a stone"):
        played(again, game.action("B2"))
