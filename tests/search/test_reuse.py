"""Keeping the tree: `advance` keeps the counts below, compaction keeps the tree as it was, and both keep it right."""

import numpy as np
import pytest

import anabranch as ab
from anabranch.games import ConnectFour, Pig, TicTacToe
from anabranch.jit import COMPILED
from anabranch.search.memory.graph import MOVED
from anabranch.search.memory.layout import SLOTS
from anabranch.search.memory.reroot import reroot
from tests.conftest import in_soak
from tests.search.games import Board, Take
from tests.search.trees import assert_rules_hold, read_graph, read_tree

VISITS = 2000 if COMPILED else 150


def edge_of(search, action):
    return next(edge for edge in read_tree(search)[0].edges if edge.action == action)


def test_advance_keeps_the_tree_below_the_action():
    search = ab.Search(ConnectFour())
    best = search.run(visits=VISITS).best
    kept = edge_of(search, best)
    search.advance(best)
    assert read_tree(search)[0] == kept.child
    assert search.position == ConnectFour().start().play(best)


def test_the_visits_kept_are_the_edges_less_the_positions_own_evaluation():
    search = ab.Search(ConnectFour())
    result = search.run(visits=VISITS)
    search.advance(result.best)
    after = search.run(visits=10)
    assert after.stats.kept == result.visits[result.best] - 1
    assert after.visits.sum() == after.stats.kept + 10
    assert after.stats.evaluations <= 10


def test_a_name_does_as_well_as_a_number():
    search = ab.Search(ConnectFour())
    search.run(visits=50)
    search.advance("d")
    assert search.position.moves == (3,)


def test_a_given_position_that_is_the_root_keeps_the_tree_and_another_one_does_not():
    search = ab.Search(ConnectFour())
    search.run(visits=100)
    search.advance("d")
    kept = search.run(ConnectFour().position("d"), visits=1).stats.kept
    assert kept > 0
    assert search.run(ConnectFour().position("e"), visits=1).stats.kept == 0


def test_an_action_that_was_never_tried_starts_a_new_tree():
    search = ab.Search(ConnectFour())
    search.run(visits=1)
    untried = next(edge.action for edge in read_tree(search)[0].edges if edge.visits == 0)
    search.advance(untried)
    result = search.run(visits=10)
    assert (result.stats.kept, result.visits.sum()) == (0, 10)


def test_a_whole_game_is_played_on_one_tree():
    search = ab.Search(TicTacToe(), seed=1)
    position = TicTacToe().start()
    while not position.is_over:
        action = search.run(position, visits=VISITS).best
        assert_rules_hold(search)
        position = position.play(action)
        search.advance(action)
    if COMPILED:
        assert position.returns == [0.0, 0.0]
    with pytest.raises(ab.errors.SearchError, match="the game is over"):
        search.run(visits=1)


def test_advance_goes_through_chance_as_well():
    search = ab.Search(Pig())
    search.run(visits=VISITS)
    search.advance("roll")
    kept = edge_of(search, 4).visits
    search.advance("5")
    assert search.position.moves == (0, 4)
    result = search.run(visits=10)
    assert result.stats.kept == kept - 1
    assert {move.name for move in result.moves} == {"roll", "hold"}
    assert_rules_hold(search)


def test_advance_needs_a_root_and_a_legal_action():
    search = ab.Search(TicTacToe())
    with pytest.raises(ab.errors.SearchError, match="no root yet"):
        search.advance(0)
    search.run(visits=10)
    search.advance("b2")
    with pytest.raises(ab.errors.IllegalMove, match="b2 is not legal"):
        search.advance("b2")


# --- compaction ---


@pytest.mark.parametrize("game", [TicTacToe(), Pig()], ids=repr)
def test_compaction_keeps_the_tree_below_the_new_root_and_nothing_else(game):
    search = ab.Search(game)
    search.run(visits=VISITS)
    graph = search.rooted.graph
    node = search.rooted.root
    for _ in range(2):  # two plies down, along the most visited edges
        edges = graph.edges[node + 1 : node + 1 + graph.nodes["count"][node]]
        node = int(edges["child"][edges["visits"].argmax()])
    before, used = read_graph(graph, node), int(graph.used[SLOTS])
    moved_to = reroot(graph, node)
    after = read_graph(graph, 0)
    assert after == before
    assert graph.used[SLOTS] == sum(1 + len(facts.edges) for facts in after) < used
    assert moved_to[node] == 0
    assert np.count_nonzero(moved_to >= 0) == len(after)


@pytest.mark.when_compiled
@pytest.mark.parametrize("evaluate", [ab.Rollout(), lambda states: (None, [0.0])], ids=["in the kernel", "in Python"])
@pytest.mark.parametrize("memory", ["4KB", "6KB"])
def test_a_tree_that_was_full_grows_on_rightly_after_advance(memory, evaluate):
    """Positions where the game is over, too, met while there was no room for them, get their place later."""
    search = ab.Search(TicTacToe(), memory=memory, evaluate=evaluate)
    assert search.run(visits=VISITS).memory_full
    for _ in range(3):
        search.advance(search.run(visits=VISITS).best)
        search.run(visits=VISITS)
        assert_rules_hold(search)


def test_compaction_while_searching_is_as_if_there_had_been_room():
    """Until memory is full, how much of it there is makes no difference."""
    small, large = ab.Search(TicTacToe(), memory="40KB"), ab.Search(TicTacToe())
    for search in (small, large):
        for _ in range(3):
            result = search.run(visits=250 if COMPILED else 100)
            assert not result.memory_full
            search.advance(result.best)
        search.run(visits=10)
    assert read_tree(small) == read_tree(large)
    assert small.rooted.graph.used[SLOTS] == large.rooted.graph.used[SLOTS] < 40_000 // small.rooted.graph.nodes.itemsize


def test_objects_move_with_their_nodes():
    for positions in (Take, Board):
        search = ab.Search(positions, memory="8KB", evaluate=ab.Uniform())
        search.run(visits=200)
        action = search.run(visits=1).best
        search.advance(action)
        for number, position in search.rooted.driver.objects.items():
            edges = search.rooted.graph.edges[number + 1 : number + 1 + search.rooted.graph.nodes["count"][number]]
            assert search.game.is_over(position) or search.rooted.graph.nodes["own"][number] > 0
            if len(edges):  # else there was no room for them
                assert sorted(edges["action"]) == search.game.legal_actions(position)
        search.run(visits=100)


@pytest.mark.parametrize("evaluate", [None, lambda states: (None, np.zeros(len(states)))], ids=["playouts", "Python"])
@pytest.mark.parametrize("graph", [False, True])
def test_two_moves_may_be_played_without_a_search_in_between(graph, evaluate):
    """The first of them leads to a position that has no edges yet."""
    search = ab.Search(TicTacToe(), graph=graph, evaluate=evaluate, seed=1)
    search.run(visits=9)
    for action in range(4):
        search.advance(action)
    assert search.position.moves == (0, 1, 2, 3)
    assert search.run(visits=20).visits.sum() >= 20
    search.back()
    assert search.run(visits=20).visits.sum() >= 20


@pytest.mark.parametrize("graph", [False, True])
def test_a_position_that_came_another_way_is_where_the_root_is(graph):
    """What was found is kept, and the way that was gone is forgotten."""
    one, other = (TicTacToe().position(moves) for moves in ([0, 4, 8], [8, 4, 0]))
    search = ab.Search(TicTacToe(), graph=graph)
    search.run(one.game.position([0, 4]), visits=20)
    search.advance(8)
    kept = search.run(one, visits=5).visits.sum()
    assert search.run(other, visits=5).stats.kept == kept
    assert search.position.moves == other.moves
    with pytest.raises(ab.errors.SearchError, match="nothing to take back"):
        search.back()


@pytest.mark.parametrize("evaluate", [None, lambda states: (None, np.zeros(len(states)))], ids=["playouts", "Python"])
def test_on_a_graph_an_untried_action_may_lead_to_what_is_known(evaluate):
    """Its node has edges, and keeps them."""
    game = TicTacToe()
    search = ab.Search(game, graph=True, evaluate=evaluate, seed=1)
    search.run(game.start(), visits=1, action=0)
    for action, visits in ((0, 1), (4, 30)):
        search.advance(action)
        search.run(visits=visits, action=4 if visits == 1 else 8)
    search.back()
    search.back()
    search.run(visits=1, action=8)
    for action, following in ((8, 4), (4, 1)):
        search.advance(action)
        search.run(visits=1, action=following)
    search.advance(0)  # now 8, 4, 0; what is known is 0, 4, 8
    assert search.run(visits=5).stats.kept == 29


@pytest.mark.parametrize("evaluate", [None, lambda states: (None, np.zeros(len(states)))], ids=["playouts", "Python"])
@pytest.mark.parametrize("graph", [False, True])
def test_noise_belongs_to_the_root_that_it_was_drawn_for(graph, evaluate):
    search = ab.Search(TicTacToe(), graph=graph, evaluate=evaluate, select=ab.PUCT(), noise=ab.final.Dirichlet(), seed=1)
    best = search.run(visits=100).best
    search.advance(best)
    priors = search.graph.edges["prior"][:8]
    result = search.result()
    assert [move.prior for move in result.moves] == pytest.approx(priors.tolist())


@in_soak
def test_back_finds_a_root_that_was_a_leaf_and_is_one_no_more():
    """The second root had no edges when it was left, and got them by another path."""
    game = TicTacToe()
    search = ab.Search(game, graph=True, evaluate=ab.Uniform(), seed=1)
    search.run(game.position([0, 4]), visits=7)
    for action in (8, 1):
        search.advance(action)
    left = search.rooted.driver.roots_before[-1]
    assert search.rooted.graph.nodes["count"][left] == 0
    search.run(game.position([8, 4]), visits=200)
    search.rooted.driver.roots_before[:], search.rooted.before[:] = [left], [(game.position([0, 4, 8]), search.rooted.history)]
    search.back()
    assert search.position == game.position([0, 4, 8])
    assert not search.rooted.graph.nodes["flags"][search.rooted.root] & MOVED
    assert search.result().visits.sum() > 0


@in_soak
@pytest.mark.parametrize("stale", [ab.graphs.Ancestors(), ab.graphs.Parents()])
def test_news_does_not_reach_positions_of_which_only_the_evaluation_is_kept(stale):
    """Those have no visits to divide by."""
    search = ab.Search(
        TicTacToe(), graph=ab.graphs.GraphOptions(stale=stale), evaluate=lambda states: (None, np.zeros(len(states))), seed=1
    )
    search.run(visits=300)
    search.advance(0, keep="evaluations")
    search.run(visits=200)
    search.back()
    view = search.graph
    assert np.isfinite(view.nodes["value"]).all()
    assert np.isfinite(search.run(visits=20).value)
