"""The table of columns: whatever is declared there is allocated, begun, moved, collected, reset and counted in bytes."""

import numpy as np
import pytest

from anabranch.jit import kernel
from anabranch.search.memory import columns
from anabranch.search.memory.collect import collect
from anabranch.search.memory.columns import COLUMNS, NAMES, bytes_per_slot
from anabranch.search.memory.graph import Graph, Needs, add_edges, add_node, allocate, attach, row_of
from anabranch.search.memory.layout import Off, On, edges_of

ACTIONS = np.arange(3)


@kernel
def grow(graph, actions):
    """A root with three edges, the second of which leads to a node with two."""
    other = add_node(graph, np.uint64(9), np.uint64(9))  # which nothing leads to
    root = add_edges(graph, add_node(graph, np.uint64(1), np.uint64(1)), 0, actions, 3)
    child = add_edges(graph, add_node(graph, np.uint64(2), np.uint64(2)), 1, actions, 2)
    graph.edges[root + 2].child = child
    return other, root, child


@kernel
def link(graph, number, e, child):
    graph.heads[child] = columns.EMPTY
    attach(graph, number, e, child)


@kernel
def reset(graph, number):
    columns.reset_node(graph, number)
    for e in edges_of(graph, number):
        columns.reset_edge(graph, e)


@pytest.fixture
def graph():
    found = allocate(2, 1_000_000, Needs(merge=False, columns=frozenset(NAMES)))
    for column in COLUMNS:
        getattr(found, column.name)[:].view(np.uint8)[:] = 77  # whatever was there before
    return found


def slots_of(graph, number):
    """A node, and its edges."""
    return number, np.arange(number + 1, number + 1 + int(graph.nodes["count"][number]))


def test_a_graph_has_an_array_and_a_switch_of_one_name_for_every_column():
    some = allocate(1, 100_000, Needs(columns=frozenset({"cuts", "amaf"})))
    for name in NAMES:
        assert len(getattr(some, name)) == (len(some.nodes) if name in ("cuts", "amaf") else 0)
        assert isinstance(getattr(some, f"has_{name}"), On if name in ("cuts", "amaf") else Off)


@pytest.mark.parametrize("width", [1, 3])
def test_the_bytes_of_a_slot_are_those_of_its_arrays(width):
    whole = allocate(width, 1_000_000, Needs(columns=frozenset(NAMES)))
    assert bytes_per_slot(NAMES, width) == sum(getattr(whole, name)[:1].nbytes for name in NAMES)
    assert bytes_per_slot((), width) == 0


def test_new_nodes_and_edges_hold_what_the_table_says(graph):
    _, root, child = grow(graph, ACTIONS)
    for number in (root, child):
        node, edges = slots_of(graph, number)
        for column in COLUMNS:
            values = getattr(graph, column.name)
            if column.new is not None and column.of_nodes:
                assert (values[node] == column.new).all(), column.name
            if column.new is not None and column.of_edges:
                assert (values[edges] == column.new).all(), column.name


def test_what_is_kept_beside_nodes_and_edges_goes_along_when_memory_is_collected(graph):
    _, root, child = grow(graph, ACTIONS)
    before = {}
    for column in COLUMNS:
        values = getattr(graph, column.name)
        values[:].view(np.uint8)[:] = (
            np.random.default_rng(1).integers(0, 100, values.nbytes, np.uint8).reshape(values[:].view(np.uint8).shape)
        )
        before[column.name] = values.copy()
    new_numbers = collect(graph, root)
    for number in (root, child):
        node, edges = slots_of(graph, int(new_numbers[number]))
        assert node < number, "nothing has moved"
        for column in COLUMNS:
            values, old = getattr(graph, column.name), before[column.name]
            if column.rebuilt:
                continue
            if column.of_nodes:
                assert (values[node] == old[number]).all(), column.name
            if column.of_edges:
                assert (values[edges] == old[number + 1 : number + 1 + len(edges)]).all(), column.name


def test_statistics_that_start_over_go_back_to_what_new_ones_hold(graph):
    _, root, _ = grow(graph, ACTIONS)
    for column in COLUMNS:
        getattr(graph, column.name)[:].view(np.uint8)[:] = 1
    before = {name: getattr(graph, name).copy() for name in NAMES}
    reset(graph, root)
    node, edges = slots_of(graph, root)
    for column in COLUMNS:
        values = getattr(graph, column.name)
        for slots, of in ((node, column.of_nodes), (edges, column.of_edges)):
            if of and column.resets:
                assert (values[slots] == column.new).all(), column.name
            else:
                assert (values[slots] == before[column.name][slots]).all(), column.name


def test_every_array_of_many_searches_is_taken_by_its_row():
    one = allocate(1, 100_000, Needs(columns=frozenset({"squares"})))
    arrays = {name: np.stack([value, value]) for name, value in one._asdict().items() if isinstance(value, np.ndarray)}
    row = row_of(one._replace(**arrays), 1)
    assert isinstance(row, Graph)
    for name, value in row._asdict().items():
        if isinstance(value, np.ndarray):
            assert np.shares_memory(value, arrays[name]) or value.size == 0
            assert value.shape == getattr(one, name).shape
        else:
            assert value == getattr(one, name)


def test_links_are_made_anew_when_memory_is_collected(graph):
    _, root, child = grow(graph, ACTIONS)
    link(graph, root, root + 2, child)
    new_numbers = collect(graph, root)
    assert graph.heads[new_numbers[child]] == new_numbers[root] + 2
