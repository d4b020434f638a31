"""The rules of Go before the slow board of `tests/reference/go.py`; and the compiled rules before the plain ones."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import when_compiled
from tests.games.boards import KO, KO_RULES, SEND_TWO, TRIPLE_KO, named, rule_set
from tests.games.compared import Compared

import anabranch as ab
from anabranch.games import rules
from anabranch.games.go import Go
from anabranch.games.go.layout import pass_of
from anabranch.jit import kernel

# --- against the slow board ---------------------------------------------------------------------------------------------------

SMALL = [(2, 2), (2, 3), (3, 2), (3, 3), (4, 3), (2, 7), (4, 4), (5, 4)]
MEDIUM = [(5, 5), (6, 6), (7, 7), (9, 5), (9, 9), (7, 10), (13, 13)]
every_point = st.builds(
    rule_set, ko=st.sampled_from(KO_RULES), scoring=st.sampled_from(["area", "territory"]), suicide=st.booleans()
)
any_rules = st.one_of(st.sampled_from([named[name] for name in sorted(named)]), every_point)
half_points = st.integers(-20, 20).map(lambda number: number / 2)
seeds = st.integers(0, 2**32)

once = pytest.mark.when_compiled
STARTS = [(size, None) for size in SMALL] + [((4, 4), KO), ((4, 4), SEND_TWO), ((4, 9), TRIPLE_KO)]


@once
@pytest.mark.parametrize("ko", KO_RULES)
def test_on_small_boards_kos_suicides_and_repetitions_are_those_of_the_slow_board(ko):
    happened = Counter()
    for seed, ((size, start), scoring, suicide) in enumerate(product(STARTS, ("area", "territory"), (False, True))):
        chosen = rule_set(ko=ko, scoring=scoring, suicide=suicide)
        Compared(size, chosen, komi=seed / 2, seed=seed, happened=happened, start=start).run(plies=35, every=1)
    for event in ("captures", "suicides", "suicide", "ko", "ends by passes"):
        assert happened[event] > 3, (event, happened)
    assert (happened["draws by repetition"] > 3) == (ko == "simple"), happened
    assert (happened["superko"] > 3) == (ko != "simple"), happened


@once
@settings(max_examples=20)
@given(st.sampled_from(SMALL + MEDIUM), any_rules, half_points, seeds)
def test_random_games_are_those_of_the_slow_board(size, chosen, komi, seed):
    happened = Counter()
    Compared(size, chosen, komi, seed, happened).run(plies=80, every=20)
    assert happened["ends by passes"] + happened["draws by repetition"] == 1


@once
@pytest.mark.parametrize(("size", "name"), [(19, "chinese"), (25, "new-zealand"), ((25, 2), "japanese")], ids=str)
def test_a_random_game_on_a_large_board_is_that_of_the_slow_board(size, name):
    happened = Counter()
    Compared(size, named[name], 7.5, 8, happened).run(plies=150, every=75)
    assert happened["captures"] > 3 and happened["suicide"] > 3, happened


# --- compiled and plain -------------------------------------------------------------------------------------------------------


@when_compiled
@pytest.mark.parametrize(("size", "games"), [((2, 3), 20), (4, 10), (9, 1), ((10, 6), 1)], ids=str)
@pytest.mark.parametrize("name", ["tromp-taylor", "japanese"])
def test_compiled_rules_are_the_plain_ones_on_boards_of_two_buckets(size, games, name):
    report = ab.check(Go(size, rules=name, returns="mix"), games=games)
    assert report.ok, report
    assert report.games == games


@kernel
def play_many(states, actions, seen, legal, rewards):
    """Play `actions` from states[0]; note which points are legal before each of them, and the record after it."""
    state = states[0]
    for ply in range(len(actions)):
        for point in range(pass_of(state)):
            legal[ply, point] = rules.is_legal(state, point)
        rules.play(state, actions[ply], rewards)
        seen[ply] = state


@when_compiled
@pytest.mark.parametrize("size", [13, 19, 25])
def test_compiled_plays_leave_the_bytes_that_plain_ones_leave_on_large_boards(size):
    happened = Counter()
    compared = Compared(size, named["new-zealand"], 7.5, seed=size, happened=happened)
    positions = [compared.ours]
    while len(positions) <= 120 and not positions[-1].is_over:
        compared.step()
        positions.append(compared.ours)
    game, plies = compared.game, len(positions) - 1
    seen, legal = np.zeros(plies, game.record), np.zeros((plies, game.actions), bool)
    play_many(positions[0].record(), np.array(positions[-1].moves), seen, legal, np.zeros(2))
    assert [record.tobytes() for record in seen] == [position.data for position in positions[1:]]
    for ply in range(0, plies, 20):
        assert np.flatnonzero(legal[ply]).tolist() == positions[ply].without_past().legal_actions[:-1]
    assert happened["captures"] > 3
