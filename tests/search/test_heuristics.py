"""Heuristics: every rule sees Q = (total + C H) / (n + C), all is as in the slow reference, and nonsense is refused."""

import math

import numpy as np
import pytest

import anabranch as ab
from anabranch.games import TicTacToe
from anabranch.jit import readable
from anabranch.search.evaluate.heuristic import put, sort_actions, swap_actions
from anabranch.search.select.base import parent_view, score, value_of
from anabranch.search.select.limits import Scale
from anabranch.search.select.virtual_loss import edge_view
from tests.conftest import in_soak, when_plain
from tests.search.advice import Fancy, Says, fancy
from tests.search.amaf_trees import HandMade, Simulation, amaf_of, edge_records, hints_of
from tests.search.games import Board, Dice, Echo, EchoTrio, Percent
from tests.search.test_rave import SIMULATIONS, assert_same_as_reference, opinion

RAVE = ab.Rave(bias=0.1, c=0.6)
BOTH = pytest.mark.parametrize("graph", [False, True], ids=["tree", "graph"])

# --- the same as the reference ---

OPTIONS = [
    (Echo(), RAVE, ab.evaluate.EvenGame()),
    (Echo(), RAVE, ab.evaluate.Grandfather(visits=2, amaf_visits=5)),
    (Echo(), RAVE, Fancy()),
    *(pytest.param(Echo(), rule, Fancy(), marks=in_soak) for rule in (ab.UCT(c=0.6), ab.PUCT())),
    *(
        pytest.param(*case, marks=when_plain)
        for case in [
            (EchoTrio(), RAVE, ab.evaluate.Grandfather(visits=3)),
            (EchoTrio(), ab.Rave(schedule=ab.select.HandSelected(k=20.0)), Fancy()),
            (Echo(), ab.Rave(schedule=ab.select.HandSelected(k=20.0)), Fancy()),
            (Echo(), ab.Rave(schedule=ab.select.NoAmaf(), c=0.5), Fancy()),
            (Echo(), ab.Rave(schedule=ab.select.LearntBias(), source=ab.select.Grave(9)), ab.evaluate.EvenGame(visits=1)),
            (Echo(), ab.Rave(source=ab.select.WithAncestors()), ab.evaluate.Grandfather()),
            (Echo(), ab.Greedy(), Fancy(visits=1)),
            (Percent(), ab.UCT(fpu=ab.select.ReducedFPU()), ab.evaluate.EvenGame(visits=2)),
            (Percent(), RAVE, Fancy()),
            (Dice(8), ab.PUCT(), Fancy()),
            (Dice(8), RAVE, ab.evaluate.Grandfather()),
        ]
    ),
]


@BOTH
@pytest.mark.parametrize(("game", "rule", "heuristic"), OPTIONS, ids=repr)
def test_heuristics_are_the_same_as_the_references(game, rule, heuristic, graph):
    assert_same_as_reference(game, graph, seed=11, select=rule, heuristic=heuristic)


@pytest.mark.parametrize("rule", [RAVE, pytest.param(ab.UCT(c=0.6), marks=when_plain)], ids=repr)
def test_a_heuristic_in_python_is_the_same_as_the_references(rule):
    assert_same_as_reference(Echo(), False, seed=12, select=rule, heuristic=fancy)


@pytest.mark.parametrize(
    "heuristic", [fancy, pytest.param(ab.evaluate.Grandfather(), marks=when_plain)], ids=["function", "option"]
)
def test_so_is_one_beside_an_evaluator_in_python(heuristic):
    assert_same_as_reference(Echo(), False, seed=13, select=ab.PUCT(), evaluate=opinion, heuristic=heuristic)


def test_a_heuristic_in_python_says_the_same_as_a_compiled_one():
    """Both ask about the same edges; leaves get them earlier in Python, so the trees are not the same."""

    def same(state):
        actions = np.arange(4)
        return 0.2 + 0.2 * (actions % 4), 3 + actions % 3, 7

    hints = []
    for heuristic in (Fancy(), same):
        search = ab.Search(Echo(), select=RAVE, heuristic=heuristic)
        search.run(visits=1)
        said, actions = (
            hints_of(search.rooted.graph, search.rooted.root),
            edge_records(search.rooted.graph, search.rooted.root)["action"],
        )
        hints.append(said[np.argsort(actions)].tolist())
    assert hints[0] == hints[1]


# --- what rules see ---


def hinted_node():
    """Black has tried a three times, winning once, and b never; H is 0.9 and 0.3, worth 6 and 4 simulations."""
    tree = HandMade({"": "ab"})
    for black_wins in (True, False, False):
        tree.simulate(Simulation("a | X", black_wins))
    hints = hints_of(tree.graph, tree.numbers[""])
    hints["value"], hints["visits"] = [0.8, -0.4], [6, 4]
    tree.graph.hints["visits"][tree.numbers[""]] = 10
    return tree


def test_every_rule_sees_hints_as_visits():
    tree = hinted_node()
    graph, number = readable(tree.graph), tree.numbers[""]
    parent = parent_view(graph, number, Scale())
    first, second = (edge_view(graph, number + 1 + i, parent) for i in range(2))
    assert (parent.visits, parent.tried) == (13, 13)
    assert (first.visits, second.visits) == (9, 4)
    q = 2 * (1 + 6 * 0.9) / (3 + 6) - 1  # (total + C H) / (n + C) on [-1, 1]
    assert float(value_of(parent, first)) == pytest.approx(q, abs=1e-6)
    assert float(value_of(parent, second)) == pytest.approx(-0.4, abs=1e-6)
    assert float(score(ab.UCT(c=1.0), parent, first)) == pytest.approx(q + math.sqrt(math.log(13) / 9), abs=1e-5)
    assert float(score(ab.PUCT(c=1.0), parent, first)) == pytest.approx(q + 0.5 * math.sqrt(13) / 10, abs=1e-5)
    assert float(score(ab.Greedy(), parent, second)) == pytest.approx(-0.4, abs=1e-6)


def test_hints_are_on_the_scale_of_the_game():
    """Percent pays from 0 to 100: H = 0.75 is 75 of them to the first player, and 75 of those below 0 to the second."""
    tree = hinted_node()
    graph, number = readable(tree.graph), tree.numbers[""]
    for player, total in ((0, 75.0), (1, -25.0)):
        tree.graph.nodes["player"][number] = player
        tree.graph.hints["value"][number + 2] = 0.5
        parent = parent_view(graph, number, Scale(middle=50.0, factor=0.02))
        edge = edge_view(graph, number + 2, parent)
        assert edge.total / edge.visits == pytest.approx(total)
        assert float(value_of(parent, edge)) == pytest.approx(0.5)


def test_the_hand_selected_schedule_counts_edge_visits_and_not_the_nodes_own_evaluation():
    """N(s) is the sum of N(s, a) (52): before any visit beta is 1, and after k of them 1/2."""
    tree = HandMade({"": "ab"})
    number = tree.numbers[""]
    tree.graph.nodes["own"][number] = tree.graph.nodes["visits"][number] = 1
    assert parent_view(readable(tree.graph), number, Scale()).tried == 0
    tree.simulate(Simulation("a | X", True))
    parent = parent_view(readable(tree.graph), number, Scale())
    assert (parent.visits, parent.tried) == (2, 1)


@in_soak
def test_visits_still_count_simulations():
    search = ab.Search(TicTacToe(), select=ab.UCT(), heuristic=ab.evaluate.EvenGame(visits=20))
    result = search.run(visits=50)
    assert result.visits.sum() == 50
    assert (hints_of(search.rooted.graph, search.rooted.root)["visits"] == 20).all()


@in_soak
def test_a_heuristic_guides_the_search_until_visits_say_otherwise():
    for rule in (ab.UCT(c=0.6), ab.PUCT()):
        plain = ab.Search(Echo(), select=rule, evaluate=ab.Rollout(), seed=1).run(visits=SIMULATIONS)
        guided = ab.Search(Echo(), select=rule, heuristic=Fancy(visits=1000), seed=1).run(visits=SIMULATIONS)
        assert guided.visits.argmax() == 3 and guided.visits[3] > plain.visits[3]


def test_the_even_game_starts_amaf_values_in_the_middle():
    search = ab.Search(Echo(), select=RAVE, heuristic=ab.evaluate.EvenGame())
    search.run(visits=1)
    amaf, hints = amaf_of(search.rooted.graph, search.rooted.root), hints_of(search.rooted.graph, search.rooted.root)
    assert (hints["value"] == 0.0).all() and (hints["visits"] == 0).all()
    assert set(amaf["amaf_visits"].tolist()) <= {50, 51}


def test_objects_take_a_function():
    def corners(position):
        return [0.9 if cell in (0, 2, 6, 8) else 0.1 for cell in range(9)], 5, 0

    result = ab.Search(Board, select=RAVE, heuristic=corners, seed=2).run(visits=40)
    assert result.visits[[0, 2, 6, 8]].sum() > 30
    with pytest.raises(ab.errors.SearchError, match=r"Fancy.*wants a Python function"):
        ab.Search(Board, heuristic=Fancy())


@in_soak
def test_objects_take_the_even_game():
    assert ab.Search(Board, select=RAVE, heuristic=ab.evaluate.EvenGame()).run(visits=20).visits.sum() == 20


# --- order ---


def test_actions_are_sorted_by_hint_and_equal_ones_stay_as_they_are():
    work = HandMade({"": "ab"}).work
    work.actions[:5] = [4, 3, 2, 1, 0]
    for i, value in enumerate([0.5, 0.9, 0.5, 0.1, 0.9]):
        put(work.playout_log, i, value, i, 10 * i)
    sort_actions(work, 5)
    assert work.actions[:5].tolist() == [3, 0, 4, 2, 1]
    assert work.playout_log.worth[:5].tolist() == [[1, 10], [4, 40], [0, 0], [2, 20], [3, 30]]
    np.testing.assert_allclose(work.playout_log.hints[:5], [0.8, 0.8, 0.0, 0.0, -0.8], atol=1e-6)
    swap_actions(work, 0, 4)
    assert (work.actions[0], work.playout_log.worth[0, 1]) == (1, 30)


# --- what is refused ---

NONSENSE = [
    (Says(value=1.5), "H=1.5"),
    (Says(value=-0.1), "H=-0.1"),
    (Says(value=math.nan), "H=nan"),
    (Says(visits=-1.0), "C=-1"),
    (Says(amaf_visits=-2.0), "C~=-2"),
    (Says(visits=math.nan), "C=nan"),
]


@in_soak
@pytest.mark.parametrize(("heuristic", "message"), NONSENSE, ids=repr)
def test_nonsense_of_a_compiled_heuristic_is_told(heuristic, message):
    search = ab.Search(Echo(), select=RAVE, heuristic=heuristic)
    with pytest.raises(ab.errors.EvaluatorError, match=rf"Says\(.*\) says .*{message}.*H must be from 0 to 1"):
        search.run(visits=10)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((1.5, 0, 0), r"H is 1.5: it must be from 0 to 1"),
        ((-0.5, 0, 0), r"H is -0.5: it must be from 0 to 1"),
        ((math.nan, 0, 0), r"H is nan: it must be from 0 to 1"),
        (([0.5, 0.5, math.nan, 0.5], 0, 0), r"H is nan"),
        ((0.5, -1, 0), r"C is -1: it must be 0 or more"),
        ((0.5, 0, [1, 1, -3, 1]), r"C~ is -3: it must be 0 or more"),
        ((0.5, math.inf, 0), r"C is inf"),
        (([0.5, 0.5], 0, 0), r"H has the shape \(2,\): give a number, or one for each of 4 actions"),
        ((0.5, 0), r"gives \(H, C, C~\), three arrays or numbers"),
        (0.5, r"gives \(H, C, C~\), three arrays or numbers"),
        (None, r"gives \(H, C, C~\), three arrays or numbers"),
    ],
    ids=repr,
)
def test_nonsense_of_a_heuristic_in_python_is_told(answer, message):
    search = ab.Search(Echo(), select=RAVE, heuristic=lambda state: answer)
    with pytest.raises(ab.errors.EvaluatorError, match=message):
        search.run(visits=10)


def test_after_nonsense_the_search_can_go_on():
    said = [0.5]
    search = ab.Search(Echo(), select=RAVE, heuristic=lambda state: (said[0], 1, 1))
    search.run(visits=10)
    said[0] = 2.0
    with pytest.raises(ab.errors.EvaluatorError, match="H is 2"):
        search.run(visits=10)
    said[0] = 0.5
    assert search.run(visits=10).visits.sum() >= 20


@pytest.mark.parametrize(
    ("heuristic", "message"),
    [
        (ab.evaluate.EvenGame, r"heuristic=EvenGame: give an instance, EvenGame\(\)"),
        (0.5, "heuristic=0.5: not an option for heuristic"),
        (ab.UCT(), r"heuristic=UCT\(.*\): not an option for heuristic"),
        (ab.evaluate.EvenGame(visits=-1), "EvenGame: visits=-1 must be 0 or more"),
        (ab.evaluate.Grandfather(amaf_visits=0.5), "Grandfather: amaf_visits must be a whole number, not 0.5"),
    ],
    ids=repr,
)
def test_what_is_no_heuristic_is_refused(heuristic, message):
    with pytest.raises(ab.AnabranchError, match=message):
        ab.Search(Echo(), heuristic=heuristic)


@pytest.mark.when_compiled
def test_a_search_without_heuristic_keeps_the_compact_tree():
    search = ab.Search(TicTacToe())
    search.run(visits=1)
    assert not hasattr(search.rooted.graph, "amaf")
