"""Search on graphs: the same as the slow reference, the same as a tree where no paths join, and one node a position."""

import numpy as np
import pytest

import anabranch as ab
from anabranch.games import ConnectFour, Hex, Nim, Othello, Pig, TicTacToe, Treasure, TriNim, Tug
from anabranch.jit import COMPILED
from anabranch.search.graph_options import grouped
from anabranch.search.memory.graph import numbers
from anabranch.search.memory.layout import NO_NODE
from anabranch.search.results.read import edge_records
from tests.conftest import in_soak, when_plain
from tests.reference.graph import ReferenceGraph
from tests.search.games import Board, Corridor, Duel, Take, Trio
from tests.search.trees import read_tree

UPDATES = [ab.graphs.Idempotent(), ab.graphs.Incremental()]
SIMULATIONS = 600 if COMPILED else 60


def nodes_by_key(search):
    """The search's nodes, by the keys of their positions."""
    graph = search.rooted.graph
    return {tuple(int(half) for half in graph.headers["key"][number - 1]): int(number) for number in numbers(graph)}


def assert_same_graph(search, reference):
    """Compare with a `ReferenceGraph`, node for node; how many nodes were compared."""
    graph, wide = search.rooted.graph, search.game.value_width() > 1
    known = nodes_by_key(search)
    assert set(known) == set(reference.nodes)
    for key, expected in reference.nodes.items():
        node, edges = graph.nodes[known[key]], edge_records(graph, known[key])
        assert node["visits"] == expected.visits
        assert [int(action) for action in edges["action"]] == [edge.action for edge in expected.edges]
        assert [int(visits) for visits in edges["visits"]] == [edge.visits for edge in expected.edges]
        if expected.q:
            q = expected.q if wide else expected.q[:1]
            np.testing.assert_allclose(node["mean"], q, rtol=1e-12, atol=1e-12)
    assert search.run(visits=1).stats.merges >= reference.merges
    return len(known)


SAME_AS_THE_REFERENCE = [
    (TicTacToe(), ab.graphs.Incremental()),
    (TriNim(), ab.graphs.Incremental()),
    (TicTacToe(), ab.graphs.Idempotent()),
    *(pytest.param(game, ab.graphs.Incremental(), marks=in_soak) for game in (Pig(), Treasure())),
    *(pytest.param(game, ab.graphs.Idempotent(), marks=when_plain) for game in (Nim(), TriNim(), Pig(), Treasure())),
]


@pytest.mark.parametrize(("game", "update"), SAME_AS_THE_REFERENCE, ids=repr)
def test_the_fast_search_builds_the_same_graph_as_the_reference(game, update):
    for seed, ahead in enumerate(
        [ab.graphs.Stop(), ab.graphs.Continue(), ab.graphs.Stop(leak=0.3), ab.graphs.Stop(factor=2.0, number=3)]
    ):
        options = {"update": update, "ahead": ahead, "seed": seed}
        search = ab.Search(game, memory="50MB", **grouped({"graph": True} | options))
        search.run(visits=SIMULATIONS)
        reference = ReferenceGraph(game, **options)
        reference.run(SIMULATIONS)
        assert assert_same_graph(search, reference) > 10


@pytest.mark.parametrize(
    "options",
    [{"backup": ab.backup.Max()}, pytest.param({"backup": ab.backup.Mix(0.4)}, marks=in_soak), {"select": ab.PUCT()}],
    ids=repr,
)
def test_it_does_so_with_other_options(options):
    search = ab.Search(TicTacToe(), memory="50MB", **grouped({"graph": True, "expand_after": 2} | options))
    search.run(visits=SIMULATIONS)
    reference = ReferenceGraph(TicTacToe(), expand_after=2, **options)
    reference.run(SIMULATIONS)
    assert_same_graph(search, reference)


# --- where no paths join ---


WITHOUT_TRANSPOSITIONS = [
    *(pytest.param(Duel(), update, ab.backup.Mean(), marks=in_soak) for update in UPDATES),
    pytest.param(Duel(), ab.graphs.CatchUp(), ab.backup.Mean(), marks=when_plain),
    *(
        pytest.param(game, update, backup, marks=when_plain)
        for game in (Duel(), Trio(), Corridor(50))
        for update in UPDATES
        for backup in (ab.backup.Mean(), ab.backup.Max(), ab.backup.Mix(0.5))
    ),
]


@pytest.mark.parametrize(("game", "update", "backup"), WITHOUT_TRANSPOSITIONS, ids=repr)
def test_without_transpositions_graph_and_tree_are_the_same(game, update, backup):
    tree = ab.Search(game, backup=backup, seed=3, memory="20MB")
    graph = ab.Search(game, backup=backup, seed=3, memory="20MB", graph=ab.graphs.GraphOptions(update=update))
    first, second = (search.run(visits=SIMULATIONS) for search in (tree, graph))
    assert second.stats.merges == 0
    assert first.stats.evaluations == second.stats.evaluations
    for ours, theirs in zip(read_tree(graph), read_tree(tree), strict=True):
        assert [edge.visits for edge in ours.edges] == [edge.visits for edge in theirs.edges]
        for one, other in zip(ours.edges, theirs.edges, strict=True):
            np.testing.assert_allclose(one.total, other.total, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(second.value, first.value, rtol=1e-12, atol=1e-12)


# --- one node a position ---


def reachable(game):
    """The keys of all positions of a small game."""
    found, wanted = set(), [game.start()]
    while wanted:
        position = wanted.pop()
        if position.key not in found:
            found.add(position.key)
            wanted.extend(position.play(action) for action in position.legal_actions)
    return found


def known_positions(search):
    """The keys of all positions below the root that the search has a node for, found by playing."""
    found, wanted = set(), [(search.rooted.root, search.position)]
    while wanted:
        number, position = wanted.pop()
        if position.key not in found:
            found.add(position.key)
            for edge in edge_records(search.rooted.graph, number):
                if edge["child"] != NO_NODE:
                    wanted.append((int(edge["child"]), position.play(int(edge["action"]))))
    return found


@in_soak
@pytest.mark.parametrize("game", [Nim(), TriNim(8), Hex(2)], ids=repr)
def test_a_small_game_has_as_many_nodes_as_positions(game):
    search = ab.Search(game, graph=ab.graphs.GraphOptions(ahead=ab.graphs.Continue()), select=ab.UCT(c=20.0))
    result = search.run(visits=5000 if COMPILED else 400)
    assert result.stats.nodes == len(reachable(game))
    assert set(nodes_by_key(search)) == reachable(game)


@pytest.mark.parametrize(
    "game",
    [
        *(TicTacToe(), ConnectFour(), TriNim(), Tug()),
        *(pytest.param(game, marks=in_soak) for game in (Othello(), Hex(4), Nim(), Pig(), Treasure())),
    ],
    ids=repr,
)
def test_merges_happen_and_no_position_has_two_nodes(game):
    search = ab.Search(game, graph=True)
    result = search.run(visits=1500 if COMPILED else 300)
    assert result.stats.merges > 0
    assert result.stats.nodes == len(nodes_by_key(search)) == len(known_positions(search))
    assert result.stats.evaluations < result.stats.simulations == result.visits.sum()


@pytest.mark.when_compiled
def test_the_other_layout_of_the_same_tree_counts_no_merges():
    assert ab.Search(TicTacToe()).run(visits=500).stats.merges == 0
    assert ab.Search(TicTacToe(), prove=True).run(visits=500).stats.merges == 0


# --- Python objects and evaluators ---


class KeyedBoard(Board):
    """Tic-tac-toe of Python objects with a key."""

    @property
    def key(self):
        return self.cells

    def play(self, action):
        return KeyedBoard(super().play(action).cells)


def uneven(states):
    """No priors; a value that depends on the position."""
    return None, [float(np.sin(int.from_bytes(bytes(states.tobytes()[:8]), "little") % 1000))]


def test_objects_are_merged_by_their_keys():
    result = ab.Search(KeyedBoard, graph=True, evaluate=ab.Uniform()).run(visits=300)
    assert result.stats.merges > 0
    with pytest.raises(ab.errors.GameError, match="Take has no `key`"):
        ab.Search(Take, graph=True).run(visits=1)


@pytest.mark.when_compiled
def test_a_python_evaluator_is_asked_once_a_position():
    asked = []

    def evaluate(states):
        asked.append(states.tobytes())
        return uneven(states)

    result = ab.Search(TicTacToe(), graph=True, evaluate=evaluate).run(visits=400)
    assert len(set(asked)) == len(asked) == result.stats.evaluations
    assert result.stats.simulations == 400


# --- the root ---


@pytest.mark.when_compiled
def test_advance_keeps_what_was_found_and_a_known_position_is_found_again():
    game = TicTacToe()
    search = ab.Search(game, graph=True)
    search.run(visits=2000)
    search.advance("b2")
    result = search.run(visits=1)
    assert result.stats.kept > 0
    other = search.run(game.position(["a1", "b2"]), visits=1)  # reached by another path before
    assert other.stats.kept > 0
    assert search.position == game.position(["a1", "b2"])


def test_an_action_can_be_given_more_visits():
    for graph in (False, True):
        search = ab.Search(TicTacToe(), graph=graph)
        before = search.run(visits=100).visits
        after = search.run(visits=50, action="a1").visits
        assert after[search.game.action("a1")] - before[search.game.action("a1")] == 50
        assert after.sum() == 150
        search.run(visits=50)
        with pytest.raises(ab.errors.IllegalMove):
            search.run(visits=5, action="z9")


@pytest.mark.when_compiled
def test_no_recursion_a_path_of_ten_thousand_plies():
    length = 10_000 if COMPILED else 300
    search = ab.Search(Corridor(length), graph=True, evaluate=ab.Uniform(), prove=True)
    result = search.run(visits=length + 5)
    assert result.stats.nodes == length + 1
    assert result.proven
    assert result.value == 1.0


def test_settings_say_what_was_asked_for():
    for ahead in (ab.graphs.Continue(), ab.graphs.Stop(leak=0.5)):
        settings = ab.Search(TicTacToe(), graph=ab.graphs.GraphOptions(ahead=ahead)).run(visits=1).settings
        assert settings["ahead"] == repr(ahead)
        assert settings["update"] == "Incremental()"
