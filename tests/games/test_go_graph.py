"""Searches on graphs of Go, where whether a move is legal depends on the way to a position."""

from collections import Counter
from itertools import count, islice

import pytest
from tests.games.boards import SEND_TWO, SUPERKO_RULES, TRIPLE_CYCLE, TRIPLE_KO, can_play, drawn, play, rule_set, with_ko
from tests.games.compared import Compared
from tests.reference.go import WHITE

import anabranch as ab
from anabranch.jit import COMPILED

VISITS = 300 if COMPILED else 30


def positions_with_forbidden_moves(size, ko):
    """Positions of random games where superko forbids something, for ever."""
    for seed in count():
        game = Compared(size, rule_set(ko=ko), 0, seed, Counter())
        for _ in range(30):
            game.step()
            if game.slow.is_over:
                break
            if len(game.ours.legal_actions) < len(game.ours.without_past().legal_actions):
                yield game.ours


@pytest.mark.when_compiled
@pytest.mark.parametrize("size", [(2, 3), (3, 3)], ids=str)
@pytest.mark.parametrize("ko", SUPERKO_RULES)
def test_a_search_on_a_graph_never_plays_what_superko_forbids(size, ko):
    for position in islice(positions_with_forbidden_moves(size, ko), 6):
        search = ab.Search(position.game, graph=True, seed=3)
        for _ in range(3):
            if position.is_over:
                break
            best = search.run(position, visits=VISITS).best
            assert best in position.legal_actions, position
            position = position.play(best)


@pytest.mark.parametrize(("ko", "moves", "forbidden"), [("positional", "A1 C1", "B1"), ("situational", "A1 C1 B1 pass", "A1")])
def test_a_search_on_a_graph_does_not_send_two_to_return_one(ko, moves, forbidden):
    position = play(drawn(with_ko(ko, 4), SEND_TWO, to_play=WHITE), moves)
    assert can_play(position.without_past(), forbidden) and not can_play(position, forbidden)
    result = ab.Search(position.game, graph=True, seed=3).run(position, visits=VISITS)
    assert result.best in position.legal_actions


@pytest.mark.when_compiled
@pytest.mark.parametrize("ko", SUPERKO_RULES)
def test_a_search_on_a_graph_knows_that_closing_a_triple_ko_is_lost_only_where_it_repeats(ko):
    last = play(drawn(with_ko(ko, (4, 9)), TRIPLE_KO), TRIPLE_CYCLE)
    closing = last.game.action("B2")
    results = [ab.Search(last.game, graph=True, seed=3).run(p, visits=VISITS) for p in (last, last.without_past())]
    assert results[0].best != closing
    if COMPILED:  # in plain Python there are too few visits for every move to be tried
        forbidden, free = (next(move for move in result.moves if move.action == closing) for result in results)
        assert forbidden.value == last.game.value_range[0] < free.value


@pytest.mark.when_compiled
@pytest.mark.parametrize("ko", SUPERKO_RULES)
def test_a_search_on_a_graph_finds_positions_by_several_ways(ko):
    assert ab.Search(with_ko(ko, 4), graph=True, seed=3).run(visits=20 * VISITS).stats.merges > 0
