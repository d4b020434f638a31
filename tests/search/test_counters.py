"""Counters that are full: a search stops and says so; nothing overflows."""

import numpy as np
import pytest

import anabranch as ab
from anabranch.games import ConnectFour, TicTacToe
from anabranch.jit import COMPILED
from anabranch.search.memory.layout import MOST_ACTIONS, MOST_PENDING, MOST_VISITS, SIMULATION
from anabranch.search.results.read import edge_records
from tests.conftest import in_soak, when_compiled
from tests.search.evaluators import Counting
from tests.search.games import Percent

SOME = 1000 if COMPILED else 64
ENDING = TicTacToe().position([0, 1, 2, 4, 3, 5, 7])  # two cells are empty: a search stands still at once


def give_visits(search: ab.Search, visits: int) -> None:
    """Let the root and its most visited edge have had so many."""
    graph, root = search.rooted.graph, search.rooted.root
    edges = edge_records(graph, root)
    edge = edges[int(edges["visits"].argmax())]
    edges["total"][edges["visits"].argmax()] *= visits / int(edge["visits"])
    edges["visits"][edges["visits"].argmax()] += visits - int(graph.nodes["visits"][root])
    graph.nodes["visits"][root] = visits
    search.rooted.driver.countable = 0


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"graph": True},
        {"threads": 2},
        pytest.param({"graph": True, "threads": 2}, marks=in_soak),
        {"evaluate": Counting(batch=4, actions=9)},
    ],
    ids=["tree", "graph", "tree, threads", "graph, threads", "batches"],
)
def test_a_search_that_has_counted_all_it_can_stops_and_says_so(options):
    search = ab.Search(TicTacToe(), **options)
    search.run(ENDING, visits=100)
    give_visits(search, MOST_VISITS - SOME)
    result = search.run(visits=2 * SOME)
    assert result.stopped_by == "full counters"
    assert result.stats.simulations == SOME
    assert "stopped by full counters" in str(result)
    again = search.run(seconds=60)
    assert again.stopped_by == "full counters"
    assert again.stats.simulations == 0
    assert again.visits.sum() == result.visits.sum()
    assert (again.visits >= 0).all()
    assert -1.0 <= again.value <= 1.0


def test_after_the_root_has_moved_there_is_room_again():
    """What the new root does not reach is collected if that helps."""
    search = ab.Search(ConnectFour(), graph=True)
    search.run(visits=100)
    give_visits(search, MOST_VISITS)
    assert search.run(visits=10).stats.simulations == 0
    search.advance(int(search.result().visits.argmin()))
    assert search.run(visits=10).stats.simulations == 10


@pytest.mark.when_compiled
def test_in_a_graph_any_node_may_be_the_one_that_is_full():
    """Others than the root have counted more since the root moved."""
    search = ab.Search(ConnectFour(), graph=True)
    search.run(visits=2000)
    child = int(edge_records(search.rooted.graph, search.rooted.root)["child"][0])
    search.rooted.graph.nodes["visits"][child] = MOST_VISITS
    search.rooted.driver.countable = 0
    result = search.run(visits=5000)
    assert result.stopped_by == "full counters"
    assert result.stats.simulations == 0


@pytest.mark.when_compiled
def test_amaf_visits_are_counters_too():
    search = ab.Search(TicTacToe(), select=ab.Rave(), evaluate=ab.Rollout(playouts=4))
    search.run(visits=200)
    graph, root = search.rooted.graph, search.rooted.root
    graph.amaf["amaf_visits"][root + 1] = MOST_VISITS - 400
    search.rooted.driver.countable = 0
    result = search.run(visits=5000)
    assert result.stopped_by == "full counters"
    assert graph.amaf["amaf_visits"][root + 1] <= MOST_VISITS


@pytest.mark.when_compiled
def test_the_numbers_of_simulations_begin_again_before_they_are_full():
    search = ab.Search(TicTacToe(), graph=ab.graphs.GraphOptions(stale=ab.graphs.Ancestors()), memory="2MB")
    search.run(visits=300)
    search.rooted.graph.used[SIMULATION] = 2**31 - 20
    search.rooted.driver.countable = 0
    search.run(visits=300)
    assert 0 < search.rooted.graph.used[SIMULATION] < 1000
    assert search.staleness().largest < 1e-9


def test_leaves_that_are_asked_for_are_counted_too():
    search = ab.Search(ConnectFour(), select=ab.PUCT())
    search.tell(search.ask(1), None, [0.0])
    give_visits_of_root = search.rooted.graph.nodes["visits"]
    give_visits_of_root[search.rooted.root] = MOST_VISITS
    search.rooted.driver.countable = 0
    with pytest.raises(ab.errors.SearchError, match="counters are full"):
        search.ask(1)


def test_a_fleet_stops_as_well():
    fleet = ab.Fleet(TicTacToe(), 2, evaluate=Counting(batch=4, actions=9), select=ab.PUCT())
    fleet.run([ENDING, ENDING], visits=20)
    give_visits(fleet.searches[0], MOST_VISITS)
    first, second = fleet.run(visits=20)
    assert (first.stopped_by, first.stats.simulations) == ("full counters", 0)
    assert (second.stopped_by, second.stats.simulations) == ("visits", 20)


# --- limits of what is given -------------------------------------------------------------------------------------------------


class Wide(ab.Game):
    """As many actions as one likes."""

    actions = 0
    state = np.dtype([("chosen", "i4"), ("size", "i4")])

    def __init__(self, size):
        self.actions = size
        super().__init__(size=size)

    @ab.rule
    def setup(state):
        state.chosen = -1

    @ab.rule
    def action_limit(state):
        return state.size

    @ab.rule
    def to_play(state):
        return 0

    @ab.rule
    def is_legal(state, action):
        return True

    @ab.rule
    def play(state, action):
        state.chosen = action

    @ab.rule
    def is_over(state):
        return state.chosen >= 0

    @ab.rule
    def returns(state, out):
        out[0] = 1.0 if state.chosen == state.size - 1 else -1.0
        out[1] = -out[0]


@when_compiled
@pytest.mark.parametrize("graph", [False, pytest.param(True, marks=in_soak)])
def test_as_many_actions_as_a_node_can_have(graph):
    search = ab.Search(Wide(MOST_ACTIONS), graph=graph)
    assert search.run(visits=50).visits.sum() == 50
    with pytest.raises(ab.errors.SearchError, match="at most 65,535"):
        ab.Search(Wide(MOST_ACTIONS + 1))


@pytest.mark.parametrize("threads", [10**30, 1024, 0, -1, 1.5])
def test_threads_that_cannot_be_are_refused_at_once(threads):
    with pytest.raises(ab.errors.SearchError, match="threads="):
        ab.Search(ConnectFour(), threads=threads)


@pytest.mark.parametrize("batch", [0, -3, 2.5, "many", MOST_PENDING + 1, 10**30])
def test_a_batch_that_cannot_be_is_refused(batch):
    with pytest.raises(ab.errors.SearchError, match="batch"):
        ab.Search(ConnectFour(), evaluate=Counting(batch=batch)).run(visits=10)


def test_batches_of_all_threads_together_are_limited():
    with pytest.raises(ab.errors.SearchError, match="batch times threads"):
        ab.Search(ConnectFour(), evaluate=Counting(batch=MOST_PENDING), threads=2).run(visits=10)
    with pytest.raises(ab.errors.SearchError, match="at most"):
        ab.Search(ConnectFour()).ask(MOST_PENDING + 1)


@pytest.mark.parametrize("value", [1e308, -1e308, 1.5, -2.0])
def test_values_that_the_game_cannot_pay_are_refused(value):
    search = ab.Search(ConnectFour(), evaluate=lambda states: (None, np.full(len(states), value)))
    with pytest.raises(ab.errors.EvaluatorError, match=r"pays from -1 to 1: scale its values"):
        search.run(visits=10)


@in_soak
def test_values_are_in_the_view_of_who_moves():
    """A game that pays the first player 0 to 100 pays the second -100 to 0."""
    low = ab.Search(Percent(), evaluate=lambda states: (None, np.where(states["turn"] == 1, -90.0, 90.0)))
    assert 0.0 <= low.run(visits=50).value <= 100.0
    with pytest.raises(ab.errors.EvaluatorError, match="pays from"):
        ab.Search(Percent(), evaluate=lambda states: (None, np.full(len(states), 101.0))).run(visits=5)


@when_compiled
@pytest.mark.parametrize("threads", [2, 4])
@pytest.mark.parametrize("memory", [30_000, 1_000_000])
def test_memory_is_kept_to_by_threads_too(threads, memory):
    search = ab.Search(ConnectFour(), graph=True, threads=threads, memory=memory)
    for _ in range(3):
        result = search.run(visits=20_000)
        assert result.memory_full
        assert result.stats.bytes <= memory
        search.advance(result.best)
