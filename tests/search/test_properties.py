"""What holds in every tree, whatever the game, the options and the seed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anabranch as ab
from anabranch.games import Pig, TicTacToe, Treasure, TriNim
from anabranch.jit import COMPILED
from anabranch.search.graph_options import grouped
from tests.search.trees import assert_rules_hold, read_tree

GAMES = [TicTacToe(), TriNim(7), Pig(target=8), Treasure(steps=4)]
MOST = 400 if COMPILED else 60

seeds = st.integers(0, 2**64 - 1)
exploration = st.floats(0.0, 10.0)
selects = exploration.map(lambda c: ab.UCT(c=c)) | st.tuples(exploration, st.floats(0.0, 2.0)).map(lambda pair: ab.PUCT(*pair))
growth = st.fixed_dictionaries(
    {"expand_after": st.integers(1, 3), "depth": st.none() | st.integers(1, 4), "memory": st.sampled_from(["6KB", "10MB"])}
)


@given(game=st.sampled_from(GAMES), select=selects, options=growth, seed=seeds, visits=st.integers(1, MOST))
def test_counts_add_up_in_every_tree(game, select, options, seed, visits):
    search = ab.Search(game, select=select, seed=seed, **grouped(options))
    result = search.run(visits=visits)
    nodes = read_tree(search)
    root = nodes[0]
    assert result.visits.sum() == result.stats.simulations == visits
    assert (root.visits, root.own) == (visits + 1, 1)
    assert_rules_hold(search)  # an edge's visits are its child's, priors add up to 1, ends have outcomes and no edges
    for node in nodes[1:]:
        if node.edges:
            assert node.own == options["expand_after"] or result.memory_full
    tried = 1 + sum(edge.visits > 0 for node in nodes for edge in node.edges)
    assert result.stats.nodes == tried
    assert result.stats.evaluations <= visits + 1


@given(game=st.sampled_from(GAMES), select=selects, seed=seeds, visits=st.integers(1, MOST))
def test_values_stay_in_the_declared_range(game, select, seed, visits):
    low, high = game.value_range
    search = ab.Search(game, select=select, seed=seed)
    result = search.run(visits=visits)
    values = np.atleast_1d(result.value)
    assert len(values) == game.value_width()
    assert (values >= low).all() and (values <= high).all()
    if game.players == 3:
        assert values.sum() == pytest.approx(0.0)  # a win and two halves lost
    for move in result.moves:
        assert move.value is None or low <= move.value <= high


@given(game=st.sampled_from(GAMES), select=selects, seed=seeds, first=st.integers(1, MOST), second=st.integers(1, 50))
def test_what_advance_keeps_is_what_was_there(game, select, seed, first, second):
    search = ab.Search(game, select=select, seed=seed, memory="6KB")
    result = search.run(visits=first)
    below = next(edge.child for edge in read_tree(search)[0].edges if edge.action == result.best)
    search.advance(result.best)
    if search.position.is_over:
        return
    if below is not None:
        assert read_tree(search)[0] == below
    after = search.run(visits=second)
    assert after.stats.kept == (0 if below is None else below.visits - below.own)
    assert after.visits.sum() == after.stats.kept + second
    assert_rules_hold(search)


@given(game=st.sampled_from(GAMES), select=selects, seed=seeds, cuts=st.lists(st.integers(1, 40), min_size=1, max_size=5))
def test_one_seed_gives_one_tree_however_the_search_is_cut(game, select, seed, cuts):
    parts, whole = (ab.Search(game, select=select, seed=seed, memory="1MB") for _ in range(2))
    for visits in cuts:
        parts.run(visits=visits)
    whole.run(visits=sum(cuts))
    assert read_tree(parts) == read_tree(whole)
