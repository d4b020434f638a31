"""Every part of a search can be replaced by a class of one's own, on trees and graphs, in batches and with threads, or the
search says why not."""

import functools

import numpy as np
import pytest
from pytest import approx

import anabranch as ab
from anabranch.games import ConnectFour, MatrixGame
from anabranch.search.graph_options import grouped
from tests.conftest import in_soak, when_plain
from tests.search.evaluators import Counting
from tests.search.games import Duel, Echo, Trio
from tests.search.invariants import check_counts
from tests.search.own_parts import (
    Affine,
    Always,
    AtMost,
    Beside,
    Busiest,
    Frozen,
    Gloomy,
    Hoarder,
    Index,
    LeastVisits,
    Says,
    Stubborn,
    Triple,
    Unsure,
    Upwards,
    VirtualWin,
)
from tests.search.trees import digest

GAME = ConnectFour()
VISITS = 80
LAYOUTS = {  # where a part must work
    "tree": {},
    "graph": {"graph": True},
    "batches": {"evaluate": Counting(4)},
    "batches on a graph": {"evaluate": Counting(4), "graph": True},
    "threads": {"threads": 2},
    "threads on a graph": {"threads": 2, "graph": True},
    "threads with batches": {"threads": 2, "evaluate": Counting(4), "graph": True},
}
GRAPHS = [name for name, options in LAYOUTS.items() if "graph" in options]
IN_PYTHON = [name for name, options in LAYOUTS.items() if "evaluate" in options]


def over(names):
    """One test a layout, in plain Python. Compiled, docs/replace-any-part.md has each part run once; the code is the same."""
    return lambda test: when_plain(pytest.mark.parametrize("layout", names)(test))


def new_search(game, **options):
    """A search whose options for graphs are written one by one."""
    return ab.Search(game, **grouped(options))


def search_with(layout, game=GAME, **options):
    return new_search(game, seed=3, **{"memory": "20MB"} | LAYOUTS[layout] | options)


# --- selection, evaluation, final choice ----------------------------------------------------------------------------------


@over(LAYOUTS)
def test_a_selection_rule_of_ones_own_is_followed(layout):
    result = search_with(layout, select=Stubborn()).run(visits=40)
    assert result.visits.tolist() == [40] + [0] * 6


@over([name for name in LAYOUTS if name not in IN_PYTHON])
def test_an_evaluator_of_ones_own_says_what_leaves_are_worth(layout):
    result = search_with(layout, evaluate=Says(0.375)).run(GAME.position(["d"]), visits=60)  # too few for an end of the game
    assert result.value == approx(-0.375, abs=1e-12)
    assert [move.value for move in result.moves] == approx([-0.375] * 7, abs=1e-12)


@over(LAYOUTS)
def test_a_final_choice_of_ones_own_is_made(layout):
    result = search_with(layout, select=ab.PUCT(), final=LeastVisits()).run(visits=100)
    tried = result.visits[result.visits > 0]
    assert result.visits[result.best] == tried.min() < tried.max()


@when_plain
def test_a_final_choice_of_ones_own_is_made_for_both_who_move_at_once():
    search = new_search(MatrixGame([[1.0, 0.0], [0.9, 0.8]]), final=LeastVisits())
    result = search.run(visits=50)
    assert result.best == tuple(int(visits.argmin()) for visits in result.visits)


@when_plain
def test_a_final_choice_of_ones_own_may_ask_for_standard_errors():
    result = new_search(GAME, select=ab.UCT(), final=Unsure()).run(visits=100)
    assert 0 < result.visits[result.best] < result.visits.max()
    with pytest.raises(ab.errors.SearchError, match="no bounds are kept"):
        new_search(MatrixGame([[1.0, 0.0], [0.9, 0.8]]), final=Unsure())


@when_plain
@pytest.mark.parametrize("says", [-1, 7, 1.0, None, "a"])
@pytest.mark.parametrize("game", [GAME, MatrixGame(np.eye(7).tolist())], ids=["in turn", "at once"])
def test_a_final_choice_that_is_not_an_index_is_told(game, says):
    with pytest.raises(ab.errors.SearchError, match=r"`choose` returned .*; return the index of a candidate, from 0 to 6"):
        new_search(game, final=Index(says)).run(visits=10)


@when_plain
def test_a_final_choice_sees_only_what_is_allowed():
    result = new_search(GAME, final=LeastVisits()).run(visits=50, actions=["c", "d"])
    assert result.best in (2, 3)


# --- backup ----------------------------------------------------------------------------------------------------------------


def worth(view, node, operator):
    """What a node is worth by the definition: its own evaluations, and what each edge is worth through the operator."""
    edges = view.edges[(view.edges["source"] == node) & (view.edges["visits"] > 0)]
    if not len(edges):
        return view.nodes["value"][node, 0]
    sign = -1.0 if view.nodes["player"][node] == 1 else 1.0
    own = view.nodes["visits"][node] - edges["visits"].sum()
    passed = operator.slope * sign * edges["value"] + operator.offset
    return (own * OWN + (edges["visits"] * passed).sum()) / view.nodes["visits"][node]


OWN = 0.25  # what each position says of itself


class Quarter:
    """An evaluator in Python that says the same of every position, to player 0."""

    batch = 4

    def __call__(self, states):
        values = np.where(np.array([Duel.to_play(state) for state in states]) == 0, OWN, -OWN)
        return np.ones((len(states), 3)), values


@over(LAYOUTS)
@pytest.mark.parametrize("operator", [Affine(), Affine(-0.5, 0.125)], ids=repr)
def test_an_operator_that_changes_samples_changes_what_nodes_are_worth(operator, layout):
    evaluator = Quarter() if layout in IN_PYTHON else Says(OWN)
    search = search_with(layout, Duel(), select=ab.UCT(c=2.0), backup=operator, evaluate=evaluator)
    result = search.run(visits=80)
    view = search.graph
    for edge in view.edges[(view.edges["visits"] > 0) & (view.edges["target"] >= 0)]:
        sign = -1.0 if view.nodes["player"][edge["source"]] == 1 else 1.0
        assert sign * edge["value"] == approx(worth(view, edge["target"], operator), abs=1e-12)
    assert result.value == approx(worth(view, 0, operator), abs=1e-12)
    assert result.value != approx(search_with(layout, Duel(), select=ab.UCT(c=2.0), evaluate=evaluator).run(visits=80).value)


@in_soak
@pytest.mark.parametrize("operator", [Affine(), Affine(0.5, 0.1)], ids=repr)
def test_an_operator_that_changes_samples_gives_the_same_on_a_tree_and_on_a_graph_without_transpositions(operator):
    options = {"select": ab.UCT(c=1.0), "evaluate": Says(OWN), "backup": operator, "seed": 5}
    tree, graph = (new_search(Duel(), graph=graph, **options).run(visits=150) for graph in (False, True))
    assert graph.stats.merges == 0
    assert graph.visits.tolist() == tree.visits.tolist()
    assert graph.value == approx(tree.value, abs=1e-12)
    assert [move.value for move in graph.moves] == approx([move.value for move in tree.moves], abs=1e-12)


@when_plain
@pytest.mark.parametrize("options", [{"evaluate": Quarter()}, {"threads": 2}], ids=["batches", "threads"])
def test_batches_and_threads_come_near_what_one_by_one_gives(options):
    alone = {"select": ab.UCT(c=2.0), "backup": Affine(), "graph": True}
    one, many = (new_search(Duel(), **alone | {"evaluate": Says(OWN)} | more).run(visits=200) for more in ({}, options))
    assert many.value == approx(one.value, abs=0.05)


@when_plain
def test_each_player_has_a_number_of_their_own():
    tree, graph = (
        new_search(Trio(), backup=Affine(0.5, 0.1), select=ab.UCT(c=1.0), evaluate=ab.Uniform(), graph=graph).run(visits=150)
        for graph in (False, True)
    )
    assert graph.visits.tolist() == tree.visits.tolist()
    assert graph.value == approx(tree.value, abs=1e-12)


@functools.cache
def gloomiest(position):
    """What player 0 gets if all choose their worst."""
    if position.is_over:
        return position.returns[0]
    worst = min if position.to_play == 0 else max
    return worst(gloomiest(position.play(action)) for action in position.legal_actions)


@over(LAYOUTS)
def test_an_operator_that_says_what_a_node_is_worth_is_asked(layout):
    """With so much exploration every line is followed to its end."""
    options = {"evaluate": Quarter()} if layout in IN_PYTHON else {}
    position = Duel().position([0, 1])
    result = search_with(layout, Duel(), select=ab.UCT(c=50.0), backup=Gloomy(), **options).run(position, visits=200)
    assert position.to_play == 1
    assert result.value == approx(-gloomiest(position), abs=1e-12)


# --- graphs --------------------------------------------------------------------------------------------------------------


class Told(Counting):
    """Keeps what it said of each position, to player 0."""

    def __init__(self, batch):
        super().__init__(batch)
        self.said = {}

    def __call__(self, states):
        priors, values = super().__call__(states)
        for state, value in zip(states, values, strict=True):
            self.said[state.tobytes()] = value if state["turn"] == 0 else -value
        return priors, values


@when_plain
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("batch", [1, 4])
def test_an_update_of_ones_own_says_what_nodes_learn(batch, threads):
    evaluator = Told(batch)
    options = {"evaluate": evaluator, "update": Frozen(), "threads": threads, "graph": True}
    result = new_search(GAME, **options).run(visits=100)
    for move in result.moves:
        after = GAME.start().play(move.action)
        assert move.value == approx(evaluator.said[after.record()[0].tobytes()], abs=1e-12)
    assert result.visits.max() > 10


@when_plain
@pytest.mark.parametrize("ahead", [ab.graphs.Stop(), ab.graphs.Continue()], ids=repr)
def test_an_update_of_ones_own_that_does_the_same_as_another_gives_the_same_graph(ahead):
    mine, theirs = (
        new_search(Echo(), graph=True, update=update, ahead=ahead, seed=2) for update in (Always(), ab.graphs.Idempotent())
    )
    for search in (mine, theirs):
        search.run(visits=160)
    assert digest(mine) == digest(theirs)
    assert mine.sweep() >= 1


@over(GRAPHS)
def test_what_is_done_at_a_child_that_is_ahead_can_be_ones_own(layout):
    search = search_with(layout, ahead=AtMost(1))
    result = search.run(visits=60)
    assert result.visits.sum() == 60
    assert result.stats.nodes == 1 + GAME.actions  # nobody goes on from a child that was evaluated
    check_counts(search)


@when_plain
@pytest.mark.parametrize("batch", [None, 4])
def test_who_else_learns_of_a_value_can_be_ones_own(batch):
    options = {} if batch is None else {"evaluate": Counting(batch, Echo.actions)}
    mine, theirs = (
        new_search(Echo(), graph=True, stale=stale, seed=2, **options) for stale in (Upwards(), ab.graphs.Ancestors())
    )
    for search in (mine, theirs):
        search.run(visits=160)
    assert digest(mine) == digest(theirs)
    assert mine.staleness().largest < 1e-9
    path_only = new_search(Echo(), graph=True, seed=2, **options)
    path_only.run(visits=160)
    assert path_only.staleness().largest > 1e-3


@when_plain
def test_a_thread_beside_the_search_can_be_asked_for():
    search = new_search(Echo(), graph=True, stale=Beside())
    search.run(visits=160)
    assert search.staleness().largest < 1e-9


@over(GRAPHS)
def test_what_is_forgotten_when_memory_is_full_can_be_ones_own(layout):
    search = search_with(layout, collect=Busiest(count=1), memory="14KB", select=ab.PUCT())
    result = search.run(visits=VISITS)
    assert result.memory_full
    assert result.visits.sum() == VISITS
    check_counts(search)
    busiest = search.graph.nodes[1:]["visits"].argmax() + 1
    driver = search.rooted.driver
    for _ in range(2):  # what threads left behind is collected first
        driver.refused, driver.waste = -1, False  # as if memory were asked for in vain once more
        driver.make_room()
    view = search.graph
    assert view.nodes["visits"][busiest] == view.nodes["visits"][1:].max()
    assert busiest not in view.edges["source"]  # it is a leaf again, and has kept its visits


@when_plain
@pytest.mark.parametrize("layout", ["graph", "batches on a graph"])
def test_a_collection_that_gives_nothing_does_no_harm(layout):
    search = search_with(layout, collect=Hoarder(), memory="14KB", select=ab.PUCT())
    first = search.run(visits=VISITS)
    assert first.memory_full and first.visits.sum() == VISITS
    full = search.run(visits=1).stats.nodes
    assert search.run(visits=VISITS).stats.nodes == full  # nothing is dropped, nothing new is kept
    search.advance(first.best)
    kept = search.result().visits.sum()
    assert search.run(visits=VISITS).visits.sum() == kept + VISITS
    check_counts(search)


# --- simulations under way --------------------------------------------------------------------------------------------------


@when_plain
@pytest.mark.parametrize("graph", [False, True])
def test_what_simulations_under_way_count_as_can_be_ones_own(graph):
    searches = [
        new_search(GAME, evaluate=Counting(8), graph=graph, virtual=virtual, seed=1)
        for virtual in (Triple(), ab.select.VirtualLoss(visits=3, loss=0.5), VirtualWin())
    ]
    for search in searches:
        search.run(visits=VISITS)
        check_counts(search)
    mine, theirs, other = map(digest, searches)
    assert mine == theirs
    assert mine != other


@when_plain
@pytest.mark.parametrize("layout", ["threads", "threads on a graph", "threads with batches"])
def test_what_simulations_of_other_threads_count_as_can_be_ones_own(layout):
    search = search_with(layout, virtual=Triple())
    assert search.run(visits=100).visits.sum() == 100
    check_counts(search)


# --- what is refused -------------------------------------------------------------------------------------------------------

REFUSED = {
    "`ab.select.score`": {"select": ab.final.MostVisits()},
    "`ab.evaluate.evaluate`": {"evaluate": ab.final.MostVisits()},
    "`ab.backup.carry`": {"backup": Stubborn()},
    "`ab.final.choose`": {"final": Stubborn()},
    "`ab.graphs.after_visit`": {"graph": True, "update": Stubborn()},
    "`ab.graphs.has_enough`": {"graph": True, "ahead": Stubborn()},
    "`ab.graphs.spread`": {"graph": True, "stale": Stubborn()},
    "`ab.graphs.to_forget`": {"graph": True, "collect": Stubborn()},
    "`ab.select.virtual_value`": {"virtual": 0.5},
}


@pytest.mark.parametrize(("function", "options"), REFUSED.items(), ids=REFUSED)
def test_what_is_no_part_is_refused_with_the_name_of_what_to_register(function, options):
    with pytest.raises(ab.errors.SearchError) as refused:
        new_search(GAME, **options)
    assert "A class of your own is a NamedTuple that" in str(refused.value)
    assert function in str(refused.value)
    group, name = function.strip("`").split(".")[1:]
    assert hasattr(getattr(getattr(ab, group), name), "register")


DOES_NOT_APPLY = {
    "are for graphs": {"update": Always()},
    "changes nodes beside a simulation's path": {"graph": True, "stale": Upwards(), "threads": 2},
    "use it with backup=Mean()": {"graph": True, "update": ab.graphs.CatchUp(), "backup": Affine()},
}


@pytest.mark.parametrize(("reason", "options"), DOES_NOT_APPLY.items(), ids=DOES_NOT_APPLY)
def test_where_a_part_does_not_apply_the_search_says_why(reason, options):
    with pytest.raises(ab.errors.SearchError, match=r"use|say") as refused:
        new_search(GAME, **options)
    assert reason in str(refused.value)
