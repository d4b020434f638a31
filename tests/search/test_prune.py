"""Rules around rules, and the chance of being best: what is in sight, what is left out, what is drawn how often."""

import math
from collections import Counter
from statistics import NormalDist

import numpy as np
import pytest

import anabranch as ab
from anabranch.games import TicTacToe
from anabranch.jit import COMPILED, readable
from anabranch.search.select.base import candidate_edges, parent_view, prefer, score
from anabranch.search.select.best_chance import variance_of
from anabranch.search.select.limits import Scale
from anabranch.search.select.pruning import width_at
from anabranch.search.select.virtual_loss import edge_view
from tests.conftest import in_soak, on_tree_and_graph, when_plain
from tests.reference.rave import in_sight
from tests.search.advice import Fancy, fancy
from tests.search.amaf_trees import HandMade, edge_records, hints_of, nodes_with_amaf
from tests.search.games import Echo
from tests.search.test_rave import SIMULATIONS, assert_same_as_reference

BOTH = pytest.mark.parametrize("graph", [False, True], ids=["tree", "graph"])


def node(visits, values, hints=None):
    """A node by hand whose edges have so many visits with such values on [-1, 1]."""
    tree = HandMade({"": "abcdefgh"[: len(visits)]})
    number = tree.numbers[""]
    edges = edge_records(tree.graph, number)
    edges["visits"], edges["total"][:, 0] = visits, np.multiply(visits, values)
    tree.graph.nodes["visits"][number] = sum(visits)
    if hints is not None:
        hints_of(tree.graph, number)["value"] = hints
    return tree, readable(tree.graph), number


def chosen(rule, tree, graph, number, times=1):
    """How often each edge is preferred, counted from 0."""
    with np.errstate(over="ignore"):
        return Counter(int(prefer(rule, graph, number, 1, tree.limits, tree.work)) - number - 1 for _ in range(times))


# --- the same as the reference ---

OPTIONS = [
    (ab.select.Widening(ab.Rave(bias=0.1, c=0.6), first=1, base=4.0), Fancy()),
    (ab.select.Pruning(ab.UCT(c=0.6), deviations=0.5, least=4, leak=0.2), ab.evaluate.EvenGame(visits=1)),
    (ab.select.ProgressiveBias(ab.UCT(c=0.6), weight=2.0), Fancy(visits=0)),
    *(
        pytest.param(*case, marks=when_plain)
        for case in [
            (ab.select.Widening(ab.UCT(c=0.6), first=2, base=3.0, growth=1.0), Fancy()),
            (
                ab.select.Widening(
                    ab.select.Pruning(ab.select.ProgressiveBias(ab.Rave(c=0.5)), deviations=0.5, least=3), base=5.0
                ),
                Fancy(),
            ),
            (ab.select.Pruning(ab.Rave(bias=0.1), deviations=0.3, least=2), ab.evaluate.EvenGame()),
            (ab.select.ProgressiveBias(ab.PUCT(), weight=0.7), Fancy()),
            (ab.select.ProgressiveBias(ab.Greedy(), weight=0.7), ab.evaluate.Grandfather()),
        ]
    ),
]


@on_tree_and_graph("rule, heuristic", OPTIONS)
def test_rules_around_rules_are_the_same_as_the_references(rule, heuristic, graph):
    assert_same_as_reference(Echo(), graph, seed=21, select=rule, heuristic=heuristic)


@pytest.mark.parametrize("rule", [ab.select.Widening(ab.UCT(c=0.6), base=4.0)], ids=repr)
def test_widening_by_a_heuristic_in_python_is_the_same_as_the_references(rule):
    assert_same_as_reference(Echo(), False, seed=22, select=rule, heuristic=fancy)


# --- widening ---


@pytest.mark.parametrize(
    "rule", [ab.select.Widening(), ab.select.Widening(first=3, base=5.0, growth=2.0), ab.select.Widening(base=10.0, growth=1.0)]
)
def test_one_more_edge_comes_into_sight_after_t_of_k_visits(rule):
    """t(k + 1) = t(k) + base * growth ** k."""
    t = 0.0
    for k in range(14):
        assert width_at(rule, math.ceil(t - 1e-6)) == rule.first + k
        assert k == 0 or width_at(rule, math.ceil(t - 1e-6) - 1) == rule.first + k - 1
        t += rule.base * rule.growth**k
    for visits in range(1, 500):
        assert width_at(rule, visits) == in_sight(rule, visits)


def test_only_edges_in_sight_are_chosen():
    tree, graph, number = node([10, 10, 10, 9], [0.0, 0.2, 0.9, 0.8])
    rule = ab.select.Widening(ab.Greedy(), first=1, base=39.0, growth=2.0)
    assert chosen(rule, tree, graph, number) == {1: 1}  # 39 visits: two edges
    tree.graph.nodes["visits"][number] = 38
    assert chosen(rule, tree, graph, number) == {0: 1}
    tree.graph.nodes["visits"][number] = 39 + 78
    assert chosen(rule, tree, graph, number) == {2: 1}
    assert len(candidate_edges(graph, number, tree.limits)) == 4


@BOTH
def test_a_search_widens_in_the_order_of_hints(graph):
    rule = ab.select.Widening(ab.Rave(bias=0.1, c=0.6), first=1, base=4.0)
    search = ab.Search(Echo(), select=rule, heuristic=Fancy(), graph=graph)
    for visits in (1, 3, 2, 10, 30):
        search.run(visits=visits)
        met = 0
        for _, number in nodes_with_amaf(search):
            hints = hints_of(search.rooted.graph, number)["value"]
            assert (np.diff(hints) <= 0).all()
            tried = edge_records(search.rooted.graph, number)["visits"] > 0
            most = in_sight(rule, int(search.rooted.graph.nodes["visits"][number]))
            assert not tried[most:].any()
            met += most < len(tried)
        assert met > 0
    by_action = search.run(visits=1).visits
    assert by_action.argmax() in (2, 3)


@when_plain
def test_edges_with_equal_hints_stand_in_the_order_of_priors():
    def evaluate(states):
        return np.array([[0.1, 0.4, 0.2, 0.3]]), [0.0]

    search = ab.Search(Echo(), select=ab.select.Widening(ab.PUCT()), evaluate=evaluate)
    search.run(visits=1)
    assert edge_records(search.rooted.graph, search.rooted.root)["action"].tolist() == [1, 3, 2, 0]


# --- pruning ---


def test_an_inferior_edge_is_left_out_and_the_best_never():
    visits, values = [100, 100, 100, 5], [0.5, -0.5, 0.3, -1.0]
    tree, graph, number = node(visits, values)
    huge = ab.UCT(c=1e6)  # by itself it takes the edge with the fewest visits, and the first of equals
    assert chosen(huge, tree, graph, number) == {3: 1}
    rule = ab.select.Pruning(huge, deviations=3.0, least=30)
    assert chosen(rule, tree, graph, number) == {3: 1}  # too few visits to be judged
    tree.graph.edges["visits"][number + 4], tree.graph.edges["total"][number + 4] = 100, -100.0
    tree.graph.edges["visits"][number + 2] = 50  # the second edge wants to be chosen, and is inferior
    tree.graph.edges["total"][number + 2] = -25.0
    assert chosen(huge, tree, graph, number) == {1: 1}
    assert chosen(rule, tree, graph, number) == {0: 1}
    tree.graph.edges["total"][number + 1] = -50.0  # now the third is the best, and not by enough over the second
    tree.graph.edges["total"][number + 3] = -40.0
    assert chosen(rule, tree, graph, number) == {1: 1}


def test_how_far_below_the_best_is_inferior():
    """Standard errors of about 0.1 each: 3 deviations of their difference are 0.425."""
    for value, is_left_out in ((0.08, False), (0.07, True)):
        tree, graph, number = node([99, 100], [value, 0.5])
        rule = ab.select.Pruning(ab.UCT(c=1e6), deviations=3.0, least=99)
        assert chosen(rule, tree, graph, number) == ({1: 1} if is_left_out else {0: 1})


def test_a_leak_brings_what_was_left_out_back():
    tree, graph, number = node([90, 100], [-0.9, 0.5])
    draws = chosen(ab.select.Pruning(ab.UCT(c=1e6), least=10, leak=0.25), tree, graph, number, 400)
    assert draws[0] / 400 == pytest.approx(0.25, abs=0.09)
    assert chosen(ab.select.Pruning(ab.UCT(c=1e6), least=10), tree, graph, number, 50) == {1: 50}


@when_plain
def test_pruning_leaves_fewer_visits_to_bad_moves():
    position = TicTacToe().position(["a1", "b2", "b1", "c3"])
    whole, pruned = (
        ab.Search(TicTacToe(), select=rule, graph=True).run(position, visits=5 * SIMULATIONS)
        for rule in (ab.UCT(), ab.select.Pruning(ab.UCT(), deviations=1.0, least=5))
    )
    assert pruned.best_name == whole.best_name == "c1"
    assert pruned.visits.max() > whole.visits.max()


def test_an_edge_that_is_proven_and_so_closed_is_no_reason_to_leave_out_the_others():
    """a is a draw for certain, b looks bad and is open."""
    tree = HandMade({"": "ab", "a": "X", "b": "X"}, prove=True)
    number = tree.numbers[""]
    edge_records(tree.graph, number)["visits"], edge_records(tree.graph, number)["total"] = 100, [[0.0], [-90.0]]
    tree.graph.nodes["visits"][number] = 200
    tree.graph.bounds[tree.numbers["a"]] = 0.0
    rule = ab.select.Pruning(ab.UCT(), least=10)
    assert chosen(rule, tree, readable(tree.graph), number) == {1: 1}


@when_plain
def test_with_proofs_pruning_searches_to_the_end():
    search = ab.Search(TicTacToe(), select=ab.select.Pruning(ab.UCT(), least=5, deviations=0.5), prove=True, seed=4)
    result = search.run(TicTacToe().position(["b2", "a1", "c3", "b1"]), visits=4000)
    assert result.proven and result.stopped_by == "proven"


# --- progressive bias ---


def test_the_bonus_of_progressive_bias_fades_with_visits():
    _, graph, number = node([4, 9], [0.2, 0.2], hints=[0.6, -1.0])
    parent = parent_view(graph, number, Scale())
    edges = [edge_view(graph, number + 1 + i, parent) for i in range(2)]
    plain, biased = (
        [float(score(rule, parent, edge)) for edge in edges] for rule in (ab.UCT(), ab.select.ProgressiveBias(weight=3.0))
    )
    assert biased[0] - plain[0] == pytest.approx(3.0 * 0.8 / 5, abs=1e-6)  # H is 0.8
    assert biased[1] == pytest.approx(plain[1], abs=1e-6)  # H is 0


def test_progressive_bias_without_a_heuristic_changes_nothing_between_equal_visits():
    tree, graph, number = node([4, 4], [0.2, 0.3], hints=[0.0, 0.0])
    assert chosen(ab.select.ProgressiveBias(ab.Greedy(), weight=9.0), tree, graph, number) == {1: 1}


# --- the chance of being best ---


def expected_shares(rule, visits, values):
    """By the definition: draws in proportion to Pr(X > 0), X normal about the difference to the best."""
    variance = [rule.width**2 * (1 - (q * n / (n + 2)) ** 2) / n for n, q in zip(visits, values, strict=True)]
    best = int(np.argmax(values))
    weights = [
        max(1 - NormalDist(q - values[best], math.sqrt(s + variance[best])).cdf(0.0), rule.floor)
        for q, s in zip(values, variance, strict=True)
    ]
    return np.array(weights) / sum(weights)


@pytest.mark.parametrize(
    "rule", [ab.select.BestChance(), ab.select.BestChance(width=3.0), ab.select.BestChance(floor=0.2)], ids=repr
)
def test_edges_are_drawn_by_the_chance_of_being_better_than_the_best(rule):
    visits, values = [200, 150, 20, 5], [0.3, 0.1, -0.2, 0.4]  # the best one is the least certain
    tree, graph, number = node(visits, values)
    times = 1000
    draws = chosen(rule, tree, graph, number, times)
    shares = expected_shares(rule, visits, values)
    for edge, share in enumerate(shares):
        assert draws[edge] / times == pytest.approx(share, abs=4 * math.sqrt(share * (1 - share) / times) + 1e-9)


def test_even_a_move_that_always_lost_keeps_a_variance_and_a_chance():
    assert variance_of(ab.select.BestChance(), -1.0, 5) == pytest.approx((1 - (5 / 7) ** 2) / 5)
    assert variance_of(ab.select.BestChance(), 3.0, 5) == variance_of(
        ab.select.BestChance(), 1.0, 5
    )  # with what was paid on the way
    tree, graph, number = node([1000, 1000], [1.0, -1.0])
    draws = chosen(ab.select.BestChance(floor=0.05), tree, graph, number, 600)
    assert draws[1] / 600 == pytest.approx(0.05 / 0.55, abs=0.04)


def test_edges_that_were_never_tried_come_first():
    tree, graph, number = node([5, 0, 3, 0], [0.9, 0.0, 0.5, 0.0])
    assert chosen(ab.select.BestChance(), tree, graph, number, 20) == {1: 20}


# --- in searches ---

RULES = [
    (ab.select.Pruning(ab.UCT(), least=10), None),
    (ab.select.BestChance(), None),
    pytest.param(ab.select.Widening(ab.Rave(bias=0.1, c=0.6), base=4.0), Fancy(), marks=in_soak),
    pytest.param(ab.select.ProgressiveBias(ab.UCT()), Fancy(), marks=in_soak),
    pytest.param(ab.select.Widening(ab.select.BestChance(), base=3.0), ab.evaluate.EvenGame(visits=1), marks=when_plain),
    pytest.param(ab.select.Pruning(ab.select.ProgressiveBias(ab.Rave())), ab.evaluate.Grandfather(), marks=when_plain),
]


@pytest.mark.parametrize("graph", [False, pytest.param(True, marks=in_soak)], ids=["tree", "graph"])
@pytest.mark.parametrize(("rule", "heuristic"), RULES, ids=repr)
def test_a_winning_move_is_found(rule, heuristic, graph):
    """Drawn from below: o's stones stand at b2 and c3, x has a1 and b1 and wins at c1."""
    position = TicTacToe().position(["a1", "b2", "b1", "c3"])
    search = ab.Search(TicTacToe(), select=rule, heuristic=heuristic, graph=graph, seed=5)
    result = search.run(position, visits=1000 if COMPILED else 200)
    assert result.best_name == "c1"
    assert result.value > 0.5


# --- what is refused ---

WRONG = {
    "Widening: first=0 must be 1 or more": ab.select.Widening(first=0),
    "Widening: base=0.0 must be": ab.select.Widening(base=0),
    "Widening: growth must be a number, not 'fast'": ab.select.Widening(growth="fast"),
    "Widening: rule must be an option such as UCT(": ab.select.Widening(rule="UCT"),
    "Pruning: deviations=-1.0 must be": ab.select.Pruning(deviations=-1),
    "Pruning: leak=1.5 must be from 0 to 1": ab.select.Pruning(leak=1.5),
    "Pruning: least must be a whole number, not 2.5": ab.select.Pruning(least=2.5),
    "ProgressiveBias: weight=nan must be": ab.select.ProgressiveBias(weight=math.nan),
    "UCT: c=-1.0 must be": ab.select.Pruning(ab.UCT(c=-1)),
    "BestChance: width=0.0 must be": ab.select.BestChance(width=0),
    "select=BestChance: give an instance": ab.select.BestChance,
}


@pytest.mark.parametrize(("message", "rule"), WRONG.items(), ids=WRONG)
def test_wrong_options_are_refused_with_a_line_that_helps(message, rule):
    with pytest.raises(ab.AnabranchError) as refused:
        ab.Search(TicTacToe(), select=rule)
    assert message in str(refused.value)
