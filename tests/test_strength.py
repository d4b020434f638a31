"""Strength: UCT finds the one right move of Connect Four positions, more often with more visits; and the set itself is right.

The whole set, with more visits, is measured by benchmarks/strength_connect_four.py.
"""

import pytest
from benchmarks.connect_four_set import OUTCOMES, PLIES, is_forced, judge, mirrored, read, solver, wins_at_once

from anabranch import UCT, Search
from anabranch.games import ConnectFour
from tests.conftest import needs, when_compiled

GAME = ConnectFour()
ROWS = read()
SUBSET = [ROWS[i * len(ROWS) // 150] for i in range(150)]  # all plies
SAMPLE = [row for row in SUBSET if row.ply >= 14][::5]  # those that the solver answers at once
LEAST_SHARE = 0.70  # with 1,000 visits; the whole set measured 0.80


@pytest.fixture(scope="module")
def found():
    """In how many positions of the subset UCT finds the right move, by visits."""

    def right(seed, row, visits):
        search = Search(GAME, select=UCT(c=1.4), seed=seed)
        return search.run(GAME.position(row.moves), visits=visits).best == GAME.action(row.best)

    return {visits: sum(right(seed, row, visits) for seed, row in enumerate(SUBSET)) for visits in (100, 1_000, 10_000)}


def test_the_set_is_large_and_spread_over_the_plies():
    assert len(ROWS) >= 300
    assert {row.ply for row in ROWS} == set(PLIES)
    assert all(len(row.moves) == row.ply for row in ROWS)


def test_no_two_positions_are_the_same_or_mirrored():
    keys = {GAME.position(row.moves).key for row in ROWS}
    mirror_keys = {GAME.position(mirrored(row.moves)).key for row in ROWS}
    itself = sum(GAME.position(row.moves).key == GAME.position(mirrored(row.moves)).key for row in ROWS)
    assert len(keys) == len(ROWS)
    assert len(keys & mirror_keys) == itself


def test_nobody_wins_at_once_and_forced_moves_are_marked():
    for row in ROWS:
        position = GAME.position(row.moves)
        assert not position.is_over and not wins_at_once(position), row
        assert is_forced(position) == row.forced, row


def test_the_solver_confirms_the_one_right_move():
    needs("bitbully")
    bully = solver()
    for row in SAMPLE:
        outcome, keeping = judge(bully, row.moves)
        assert (OUTCOMES[outcome], [GAME.name_of(column) for column in keeping]) == (row.outcome, [row.best]), row


@when_compiled
def test_uct_finds_most_right_moves(found):
    assert found[1_000] >= LEAST_SHARE * len(SUBSET)


@when_compiled
def test_more_visits_find_more(found):
    assert found[100] < found[1_000] < found[10_000]
