"""On small random graphs every way of updating, stopping and spreading finds the exact value; stale graphs come to rest."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import anabranch as ab
from anabranch.jit import COMPILED
from tests.conftest import in_soak
from tests.search.dags import ACTIONS, NOWHERE, SIZE, Maze, mazes

STOPS = [ab.graphs.Stop(), ab.graphs.Continue(), ab.graphs.Stop(factor=2.0), ab.graphs.Stop(number=5), ab.graphs.Stop(leak=0.2)]
WAYS = [
    (ab.graphs.Idempotent(), ab.graphs.PathOnly()),
    (ab.graphs.Incremental(), ab.graphs.PathOnly()),
    pytest.param((ab.graphs.CatchUp(), ab.graphs.PathOnly()), marks=in_soak),
    (ab.graphs.Idempotent(), ab.graphs.Parents()),
    pytest.param((ab.graphs.Incremental(), ab.graphs.Ancestors()), marks=in_soak),
    pytest.param((ab.graphs.Idempotent(), ab.graphs.Ancestors()), marks=in_soak),
    pytest.param((ab.graphs.Incremental(), ab.graphs.Parents()), marks=in_soak),
    (ab.graphs.Idempotent(), ab.graphs.Sweeping()),
]
VISITS = 20_000 if COMPILED else 300
quiet = settings(
    max_examples=25 if COMPILED else 3, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)


def options(way, ahead):
    update, stale = way
    return {"graph": ab.graphs.GraphOptions(update, ahead, stale), "evaluate": ab.Uniform(), "memory": "5MB"}


@pytest.mark.when_compiled
@pytest.mark.parametrize("way", WAYS, ids=repr)
@quiet
@given(maze=mazes())
def test_every_way_converges_to_the_exact_value(way, maze):
    exact = maze.exact()
    for ahead in STOPS:
        result = ab.Search(maze, select=ab.UCT(c=0.5), **options(way, ahead)).run(visits=VISITS)
        mover = 1 if maze.fields["mover"][0] == 0 else -1
        slack = 0.06 if COMPILED else 0.7
        assert result.value == pytest.approx(mover * exact[0], abs=slack)
        if COMPILED:
            assert exact[maze.fields["leads"][0][result.best]] == exact[0]


@quiet
@given(maze=mazes(cycles=True))
def test_graphs_come_to_rest_cycles_or_not(maze):
    for update in (ab.graphs.Idempotent(), ab.graphs.Incremental()):
        search = ab.Search(maze, **options((update, ab.graphs.PathOnly()), ab.graphs.Stop()))
        search.run(visits=500 if COMPILED else 100)
        search.sweep()
        assert search.staleness().largest < 1e-12


@in_soak
def test_idempotent_and_incremental_meet_in_the_limit():
    """One has looked at every child just now, the other at each when it was last taken: the difference vanishes."""
    leads = np.full((SIZE, ACTIONS), NOWHERE)
    for place in range(10):
        leads[place] = [place + 1, place + 2, place + 3]
    maze = Maze(leads, [place % 2 for place in range(SIZE)], np.sin(np.arange(SIZE)).round(2))
    gaps = []
    for visits in (300, 100_000 if COMPILED else 1000):
        values = [
            ab.Search(maze, **options((update, ab.graphs.PathOnly()), ab.graphs.Stop())).run(visits=visits).value
            for update in (ab.graphs.Idempotent(), ab.graphs.Incremental(), ab.graphs.CatchUp(tolerance=0.001))
        ]
        gaps.append(max(values) - min(values))
    assert gaps[1] < (0.01 if COMPILED else 0.1)


@in_soak
def test_ancestors_are_never_stale_and_a_path_alone_is():
    leads = np.full((SIZE, ACTIONS), NOWHERE)
    for place in range(10):
        leads[place] = [place + 1, place + 2, place + 3]
    maze = Maze(leads, [place % 2 for place in range(SIZE)], np.cos(np.arange(SIZE)).round(2))
    for stale, at_rest in ((ab.graphs.PathOnly(), False), (ab.graphs.Ancestors(), True)):
        search = ab.Search(maze, **options((ab.graphs.Incremental(), stale), ab.graphs.Stop()))
        search.run(visits=200)
        largest, mean = search.staleness()
        assert (largest < 1e-12) is at_rest
        assert 0 <= mean <= largest


def test_staleness_is_for_graphs():
    search = ab.Search(Maze([[1, 2, NOWHERE]] + [[NOWHERE] * 3] * (SIZE - 1), [0] * SIZE, [0.0] * SIZE))
    with pytest.raises(ab.errors.SearchError, match="is for graphs"):
        search.staleness()
