"""What holds of trees and graphs at rest, whoever grew them: counts add up, nothing is under way, values follow from below."""

import numpy as np
from pytest import approx

from anabranch.search.memory.graph import LOCKED, MOVED, WAITING, Graph
from anabranch.search.memory.layout import NO_NODE, SLOTS

CLOSE = {"rel": 1e-12, "abs": 1e-12}


def reached(graph, root):
    """All nodes that the root reaches, signposts resolved, with the numbers of their edges."""
    found, new = {}, [int(root)]
    while new:
        number = place(graph, new.pop())
        if number not in found:
            first = number + 1
            found[number] = range(first, first + int(graph.nodes["count"][number]))
            new += [int(child) for child in graph.edges["child"][first : found[number].stop] if child != NO_NODE]
    return found


def place(graph, number):
    """Where a node is now."""
    if isinstance(graph, Graph) and graph.nodes["flags"][number] & MOVED:
        return int(graph.nodes["moved_to"][number])
    return int(number)


def check_at_rest(search):
    """A two-player zero-sum game without rewards, chance or repetitions, after a search with the mean as backup."""
    graph, root = search.rooted.graph, search.rooted.root
    if isinstance(graph, Graph):
        if search.rooted.needs.merge:
            search.sweep()
        check_graph(graph, root)
    else:
        check_tree(graph, root)


def check_counts(search):
    """Whatever the game and the options: nothing is under way, counts add up, everything is a number."""
    graph, root = search.rooted.graph, search.rooted.root
    nodes, edges, slots = graph.nodes, graph.edges, int(graph.used[SLOTS])
    assert 0 <= root < slots
    for number, numbers in reached(graph, root).items():
        of_edges = edges[numbers.start : numbers.stop]
        children = of_edges["child"]
        assert numbers.stop <= slots
        assert ((children == NO_NODE) | ((children >= 0) & (children < slots))).all()
        assert not of_edges["pending"].any()
        assert (of_edges["visits"] >= 0).all()
        assert np.isfinite(of_edges["total"]).all()
        assert ((of_edges["prior"] >= 0.0) & (of_edges["prior"] <= 1.0 + 1e-6)).all()
        own = int(nodes["visits"][number]) - int(of_edges["visits"].sum(dtype=np.int64))
        if isinstance(graph, Graph):
            assert not nodes["flags"][number] & (LOCKED | WAITING)
            assert own == nodes["own"][number]
            assert np.isfinite(nodes["mean"][number]).all()
            assert np.isfinite(graph.headers["value"][number - 1]).all()
        else:
            known = of_edges[children != NO_NODE]
            assert nodes["lock"][number] == 0
            assert own >= 1 or not numbers
            assert (nodes["visits"][known["child"]] == known["visits"]).all()


def check_tree(tree, root):
    nodes, edges = tree.nodes, tree.edges
    for number, numbers in reached(tree, root).items():
        if not numbers:
            continue
        of_edges = edges[numbers.start : numbers.stop]
        sign = -1.0 if nodes["player"][number] == 1 else 1.0
        assert not of_edges["pending"].any()
        assert nodes["lock"][number] == 0
        assert nodes["visits"][number] - of_edges["visits"].sum() >= 1
        for edge in of_edges[of_edges["child"] != NO_NODE]:
            child = int(edge["child"])
            assert nodes["visits"][child] == edge["visits"]
            assert sign * edge["total"][0] / edge["visits"] == approx(mean_of(tree, child), **CLOSE)


def gaps(tree, root, weight, discount=1.0, pays=(0.0,)):
    """How far each edge of a compact tree is from what the node below it says, `weight` of the way from its mean to its best
    edge, and one of the rewards that the game pays. The counts are right, and nothing is under way."""
    found = []
    for number, numbers in reached(tree, root).items():
        of_edges = tree.edges[numbers.start : numbers.stop]
        sign = -1.0 if tree.nodes["player"][number] == 1 else 1.0
        assert not numbers or (not of_edges["pending"].any() and tree.nodes["lock"][number] == 0)
        for edge in of_edges[of_edges["child"] != NO_NODE]:
            child = int(edge["child"])
            assert tree.nodes["visits"][child] == edge["visits"]
            worth = (1.0 - weight) * mean_of(tree, child) + weight * best_of(tree, child)
            above = sign * edge["total"][0] / edge["visits"] - discount * worth
            found.append(min(abs(above - pay) for pay in pays))
    return np.array(found)


def best_of(tree, number):
    """What a node's best tried edge is worth; its mean, if there is none."""
    first = number + 1
    of_edges = tree.edges[first : first + int(tree.nodes["count"][number])]
    tried = of_edges[of_edges["visits"] > 0]
    sign = -1.0 if tree.nodes["player"][number] == 1 else 1.0
    return sign * (tried["total"][:, 0] / tried["visits"]).max() if len(tried) else mean_of(tree, number)


def mean_of(tree, number):
    first, node = number + 1, tree.nodes[number]
    of_edges = tree.edges[first : first + int(node["count"])]
    own = node["visits"] - of_edges["visits"].sum()
    sign = -1.0 if node["player"] == 1 else 1.0
    return (own * node["value"][0] + sign * of_edges["total"][:, 0].sum()) / node["visits"]


def check_graph(graph, root):
    nodes, edges, cards = graph.nodes, graph.edges, graph.headers
    for number, numbers in reached(graph, root).items():
        assert not nodes["flags"][number] & (LOCKED | WAITING)
        of_edges = edges[numbers.start : numbers.stop]
        assert not of_edges["pending"].any()
        assert nodes["visits"][number] == nodes["own"][number] + of_edges["visits"].sum()
        sign = -1.0 if nodes["player"][number] == 1 else 1.0
        if numbers and nodes["visits"][number] > 0:
            own = nodes["own"][number] * cards["value"][number - 1, 0]
            assert nodes["mean"][number, 0] == approx(
                (own + sign * of_edges["total"][:, 0].sum()) / nodes["visits"][number], **CLOSE
            )
        for edge in of_edges[(of_edges["child"] != NO_NODE) & (of_edges["visits"] > 0)]:
            child = place(graph, edge["child"])
            assert sign * edge["total"][0] / edge["visits"] == approx(float(nodes["mean"][child, 0]), **CLOSE)


def total_visits(search):
    """All visits of the root's edges."""
    root = search.rooted.root
    first = root + 1
    return int(search.rooted.graph.edges["visits"][first : first + int(search.rooted.graph.nodes["count"][root])].sum())


def is_finite(search):
    """Whether all values in memory are numbers."""
    graph = search.rooted.graph
    return all(
        np.isfinite(graph.edges["total"][numbers.start : numbers.stop]).all()
        for numbers in reached(graph, search.rooted.root).values()
    )
