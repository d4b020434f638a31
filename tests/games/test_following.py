"""Moves in many positions at once."""

import numpy as np
import pytest

from anabranch.games import ConnectFour, Go
from anabranch.games.following import all_after
from anabranch.games.goofspiel import Goofspiel
from anabranch.games.pig import Pig
from anabranch.games.treasure import Treasure
from anabranch.games.tug import Tug

GAMES = [ConnectFour(), Go(5), Goofspiel(4), Pig(), Treasure(), Tug(5)]


@pytest.mark.parametrize("game", GAMES, ids=lambda game: type(game).__name__)
def test_positions_follow_as_if_each_were_played_by_itself(game):
    random = np.random.default_rng(0)
    positions = [game.start()] * 6
    for _ in range(12):
        edges = [int(random.choice(position.edges)) for position in positions]
        before = [position.data for position in positions]
        following = all_after(positions, edges)
        assert [position.data for position in positions] == before
        for position, edge, found in zip(positions, edges, following, strict=True):
            expected = position.after(edge)
            assert found.data == expected.data
            for name in ("moves", "rewards", "past", "before", "to_play", "is_over", "returns"):
                assert getattr(found, name) == getattr(expected, name), name
        positions = [game.start() if position.is_over else position for position in following]


def test_a_repetition_ends_a_game_that_its_rules_alone_would_continue():
    position, right, left = Tug().start(), 2, 1
    for edge in (right, left) * (Tug.repetition_count - 1):
        assert not position.is_over
        (position,) = all_after([position], [edge])
    assert position.is_over and not position._ask("is_over")


def test_nothing_follows_from_no_positions():
    assert all_after([], []) == []
