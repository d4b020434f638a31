"""Memory of graphs: bounded, collected when it is asked for, and right after that."""

import numpy as np
import pytest

import anabranch as ab
from anabranch.games import ConnectFour, TicTacToe, Treasure
from anabranch.jit import COMPILED
from anabranch.search.graph_options import grouped
from anabranch.search.memory.collect import collect
from anabranch.search.memory.graph import numbers
from anabranch.search.memory.layout import NO_NODE, REFUSED, ROOM
from anabranch.search.results.read import bytes_used, edge_records
from tests.conftest import in_soak
from tests.search.test_cycles import TugOn

VISITS = 3000 if COMPILED else 300


def facts(search):
    """Everything below the root, by key: visits, value, and edges with the keys they lead to."""
    graph, found, wanted = search.rooted.graph, {}, [search.rooted.root]
    while wanted:
        number = wanted.pop()
        key = tuple(graph.headers["key"][number - 1].tolist())
        if key in found:
            continue
        edges = []
        for e, edge in enumerate(edge_records(graph, number), start=number + 1):
            child = int(edge["child"])
            target = None if child == NO_NODE else tuple(graph.headers["key"][child - 1].tolist())
            beside = tuple(array[e].tolist() for array in (graph.rewards, graph.cuts) if len(array))
            edges.append((int(edge["action"]), int(edge["visits"]), tuple(edge["total"].tolist()), target, beside))
            if child != NO_NODE:
                wanted.append(child)
        node = graph.nodes[number]
        bounds = graph.bounds[number].tolist() if len(graph.bounds) else None
        found[key] = (int(node["visits"]), int(node["own"]), tuple(node["mean"].tolist()), bounds, edges)
    return found


def assert_counts_hold(search):
    """N is a node's own evaluations and the visits of its edges, and memory is what is used."""
    graph = search.rooted.graph
    for number in numbers(graph):
        node = graph.nodes[number]
        assert node["visits"] == node["own"] + edge_records(graph, int(number))["visits"].sum()
    assert bytes_used(graph) <= search.memory
    assert graph.used[ROOM] >= 0


@pytest.mark.parametrize(
    ("game", "options"),
    [
        (TicTacToe(), {"prove": True}),
        pytest.param(TicTacToe(), {"stale": ab.graphs.Parents()}, marks=in_soak),
        pytest.param(Treasure(), {}, marks=in_soak),
        pytest.param(TugOn(), {}, marks=in_soak),
    ],
    ids=repr,
)
def test_collecting_keeps_what_the_root_reaches_and_nothing_else(game, options):
    search = ab.Search(game, **grouped({"graph": True} | options))
    search.run(visits=VISITS)
    search.advance(search.run(visits=1).best)
    before = facts(search)
    driver = search.rooted.driver
    driver.root = int(collect(driver.graph, driver.root)[driver.root])
    assert facts(search) == before
    assert len(numbers(search.rooted.graph)) == len(before)
    assert_counts_hold(search)
    search.run(visits=VISITS)
    assert_counts_hold(search)


@pytest.mark.parametrize("collecting", [ab.graphs.KeepReached(), ab.graphs.Forget(), ab.graphs.Forget(share=0.2)], ids=repr)
def test_a_full_graph_goes_on(collecting):
    search = ab.Search(ConnectFour(), graph=ab.graphs.GraphOptions(collect=collecting), memory="60KB" if COMPILED else "14KB")
    result = search.run(visits=VISITS)
    assert result.memory_full
    assert result.visits.sum() == VISITS
    assert_counts_hold(search)
    refused = int(search.rooted.graph.used[REFUSED])
    if isinstance(collecting, ab.graphs.Forget):  # there is room again, and it is used
        assert refused < VISITS / 2
        assert search.run(visits=10).stats.nodes > (20 if COMPILED else 5)


def test_forgetting_keeps_values_and_visits():
    search = ab.Search(TicTacToe(), graph=ab.graphs.GraphOptions(collect=ab.graphs.Forget()))
    search.run(visits=VISITS)
    driver = search.rooted.driver
    before = search.run(visits=1)
    for _ in range(2):  # signposts go first, and then what was little visited
        driver.refused, driver.waste = -1, False
        driver.make_room()
    assert_counts_hold(search)
    after = search.run(visits=1)
    assert after.stats.nodes < before.stats.nodes
    assert after.visits.sum() == before.visits.sum() + 1
    assert after.value == pytest.approx(before.value, abs=0.01)


@in_soak
def test_memory_is_bounded_over_a_session_of_ten_thousand_moves():
    moves = 10_000 if COMPILED else 200
    memory = 40_000
    search = ab.Search(TugOn(21), graph=True, memory=memory, evaluate=ab.Uniform())
    random = np.random.default_rng(0)
    largest = 0
    for _ in range(moves):
        largest = max(largest, search.run(visits=3).stats.bytes)
        action = int(random.choice(search.position.legal_actions))
        if search.position.play(action).is_over:
            action = 3 - action  # back from the end
        search.advance(action)
    assert largest <= memory
    assert len(search.position.moves) == moves


@pytest.mark.when_compiled
def test_noise_and_a_chosen_action_follow_the_root_when_memory_is_collected():
    graph = ab.graphs.GraphOptions(collect=ab.graphs.Forget())
    options = {"graph": graph, "select": ab.PUCT(), "memory": "60KB" if COMPILED else "14KB"}
    search = ab.Search(ConnectFour(), noise=ab.final.Dirichlet(weight=0.9), **options)
    search.run(visits=100)
    search.advance("d")
    for _ in range(3):
        before = search.run(visits=VISITS).visits
        after = search.run(visits=VISITS, action="a").visits
        assert after[0] - before[0] == VISITS
        np.testing.assert_allclose(edge_records(search.rooted.graph, search.rooted.root)["prior"], 1 / 7, rtol=1e-6)
        assert_counts_hold(search)
