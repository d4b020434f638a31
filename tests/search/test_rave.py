"""RAVE: the same as the slow reference, edge for edge; its schedules; what is kept when a search moves, shrinks or is saved."""

import math
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anabranch as ab
from anabranch.games import Hex, TicTacToe
from anabranch.jit import COMPILED
from anabranch.search.graph_options import grouped
from anabranch.search.memory.collect import collect
from anabranch.search.select.base import Parent, score
from anabranch.search.select.edge_view import AmafEdge
from anabranch.search.select.rave import beta, both_values
from tests.conftest import in_soak, on_tree_and_graph, when_plain
from tests.reference.rave import ReferenceRave, ReferenceRaveGraph
from tests.search.advice import Fancy, fancy
from tests.search.amaf_trees import (
    amaf_facts,
    amaf_means,
    amaf_of,
    assert_same_amaf,
    child_at,
    edge_records,
    hints_of,
    nodes_with_amaf,
)
from tests.search.games import ECHO_FADES, Board, Dice, Echo, EchoFading, EchoTrio, Hunt, Percent
from tests.search.test_graph import assert_same_graph
from tests.search.trees import assert_same_tree

SIMULATIONS = 200 if COMPILED else 40
SCHEDULES = [
    ab.select.MinimumMSE(),
    ab.select.LearntBias(),
    ab.select.ExactMSE(),
    ab.select.HandSelected(k=30.0),
    ab.select.OnlyAmaf(),
    ab.select.NoAmaf(),
]


def assert_same_as_reference(game, graph, seed=0, simulations=SIMULATIONS, position=None, **options):
    """Run both and compare everything; the search."""
    search = ab.Search(game, seed=seed, memory="20MB", **grouped({"graph": graph} | options))
    start = game.start() if position is None else position
    search.run(start, visits=simulations // 3)
    search.run(start, visits=simulations - simulations // 3)
    reference = (ReferenceRaveGraph if graph else ReferenceRave)(game, position, seed=seed, **options)
    reference.run(simulations)
    assert assert_same_amaf(search, reference) > 0
    assert (assert_same_graph if graph else assert_same_tree)(search, reference) > 0
    return search


# --- the same as the reference ---


@on_tree_and_graph("schedule", [*SCHEDULES[:2], *(pytest.param(each, marks=in_soak) for each in SCHEDULES[2:])], graphs=2)
def test_every_schedule_is_the_same_as_the_reference(schedule, graph):
    rule = ab.Rave(bias=0.1, schedule=schedule)
    assert_same_as_reference(Echo(), graph, seed=1, select=rule._replace(c=0.6, strict=graph))
    assert_same_as_reference(Echo(), graph, seed=2, select=rule._replace(strict=not graph))


@on_tree_and_graph("source", [ab.select.Grave(visits=12), ab.select.WithAncestors(share=0.4)])
def test_amaf_values_of_ancestors_are_the_same_as_the_references(source, graph):
    for seed, rule in enumerate([ab.Rave(c=0.6, bias=0.05, source=source), ab.Rave(source=source, strict=False)]):
        assert_same_as_reference(Echo(), graph, seed=seed, select=rule)


GAMES = [
    pytest.param(EchoTrio(), ab.Rave(c=0.5), marks=in_soak),
    pytest.param(Hunt(6), ab.Rave(c=0.4), marks=in_soak),
    pytest.param(TicTacToe(), ab.Rave(bias=0.05, c=0.3), marks=in_soak),
    pytest.param(Hex(3), ab.Rave(), marks=in_soak),
    pytest.param(Dice(8), ab.Rave(c=0.4), marks=in_soak),
    pytest.param(Percent(), ab.Rave(c=0.3), marks=when_plain),
    pytest.param(EchoTrio(), ab.Rave(source=ab.select.WithAncestors()), marks=when_plain),
    pytest.param(Dice(8), ab.Rave(source=ab.select.Grave(5), schedule=ab.select.ExactMSE()), marks=when_plain),
    pytest.param(Hunt(6), ab.Rave(schedule=ab.select.LearntBias(), fpu=ab.select.ParentFPU()), marks=when_plain),
]


@on_tree_and_graph("game, rule", GAMES, graphs=2)
def test_every_sort_of_game_is_the_same_as_the_reference(game, rule, graph):
    """Two players and three, rewards on the way, chance."""
    assert_same_as_reference(game, graph, seed=3, select=rule)


def test_on_graphs_a_simulation_that_is_stopped_teaches_nothing():
    for ahead in (ab.graphs.Stop(), ab.graphs.Continue(), ab.graphs.Stop(leak=0.3)):
        assert_same_as_reference(Echo(), True, seed=5, select=ab.Rave(bias=0.1, c=1.2), ahead=ahead)
    search = ab.Search(
        Echo(),
        graph=ab.graphs.GraphOptions(ahead=ab.graphs.Stop(0.0)),
        select=ab.Rave(schedule=ab.select.NoAmaf(), c=1e6),
        seed=5,
        expand=ab.select.Expansion(depth=2),
    )
    stats = search.run(visits=400).stats
    amaf = amaf_of(search.rooted.graph, search.rooted.root)
    assert stats.evaluations < stats.simulations / 2
    assert amaf["amaf_visits"].max() <= stats.evaluations


OPTIONS = [
    {"evaluate": ab.Rollout(playouts=3)},
    {"depth": 1},
    {"depth": 3, "expand_after": 3},
    {"backup": ab.backup.Max()},
    {"evaluate": ab.Rollout(cutoff=2)},
    {"evaluate": ab.Uniform()},
]


@pytest.mark.parametrize("graph", [False, True], ids=["tree", "graph"])
@pytest.mark.parametrize("options", OPTIONS[:3] + [pytest.param(option, marks=when_plain) for option in OPTIONS[3:]], ids=repr)
def test_other_options_are_the_same_as_the_reference(options, graph):
    assert_same_as_reference(Echo(), graph, seed=6, select=ab.Rave(bias=0.1, c=0.6), **options)


def opinion(states):
    """A Python evaluator without sense but with opinions."""
    mixed = zlib.crc32(states.tobytes())
    return np.array([[(mixed >> action) % 7 + 1 for action in range(4)]], float), np.array([mixed % 97 / 48.5 - 1.0])


@pytest.mark.parametrize("heuristic", [pytest.param(None, marks=in_soak), fancy], ids=["none", "function"])
def test_priors_of_an_evaluator_in_python_join_in(heuristic):
    """Its simulations end at the leaf: only what was played in the tree counts for AMAF."""
    search = assert_same_as_reference(
        Echo(), False, seed=7, select=ab.Rave(puct=1.5, bias=0.1), evaluate=opinion, heuristic=heuristic
    )
    plain = ab.Search(Echo(), seed=7, select=ab.Rave(puct=0.0, bias=0.1), evaluate=opinion, heuristic=heuristic)
    assert search.run(total=SIMULATIONS).visits.tolist() != plain.run(visits=SIMULATIONS).visits.tolist()


def test_on_trees_every_visit_of_an_edge_is_an_amaf_visit_too():
    search = ab.Search(TicTacToe(), select=ab.Rave(bias=0.05, c=0.3))
    search.run(visits=5 * SIMULATIONS)
    for _, number in nodes_with_amaf(search):
        assert (
            amaf_of(search.rooted.graph, number)["amaf_visits"] >= edge_records(search.rooted.graph, number)["visits"]
        ).all()
        assert (np.abs(amaf_means(amaf_of(search.rooted.graph, number))) <= 1.0).all()


@in_soak
@pytest.mark.parametrize("graph", [False, True], ids=["tree", "graph"])
@pytest.mark.parametrize("heuristic", [None, ab.evaluate.EvenGame(amaf_visits=5)], ids=repr)
def test_an_action_that_does_not_keep_its_meaning_has_no_amaf_value(heuristic, graph):
    search = assert_same_as_reference(EchoFading(), graph, seed=4, select=ab.Rave(c=0.3), heuristic=heuristic)
    visits = 0
    for _, number in nodes_with_amaf(search):
        edges, amaf = edge_records(search.rooted.graph, number), amaf_of(search.rooted.graph, number)
        fades = edges["action"] == ECHO_FADES
        assert (amaf["amaf_visits"][fades] == 0).all()
        assert (amaf["amaf_visits"][~fades] >= edges["visits"][~fades]).all() or graph
        visits += edges["visits"][fades].sum()
    assert visits > 0


@in_soak
def test_objects_learn_by_amaf_as_records_do():
    """Playouts draw their own random numbers, so values are alike and not equal."""
    flat = {"depth": 1, "select": ab.Rave(schedule=ab.select.NoAmaf(), c=1e6)}  # every action as often as the others
    visits, slack = (3600, 0.15) if COMPILED else (720, 0.4)
    means = []
    for game in (Board, TicTacToe()):
        search = ab.Search(game, **grouped(flat))
        search.run(visits=visits)
        amaf, actions = (
            amaf_of(search.rooted.graph, search.rooted.root),
            edge_records(search.rooted.graph, search.rooted.root)["action"],
        )
        assert (amaf["amaf_visits"] > 2 * visits / 9).all()
        means.append(amaf_means(amaf)[np.argsort(actions)])
    np.testing.assert_allclose(means[0], means[1], atol=slack)


@pytest.mark.parametrize("graph", [False, True], ids=["tree", "graph"])
def test_a_winning_move_is_found(graph):
    position = TicTacToe().position(["a1", "b2", "b1", "c3"])
    search = ab.Search(TicTacToe(), select=ab.Rave(bias=0.05, c=0.3), graph=graph)
    result = search.run(position, visits=2 * SIMULATIONS)
    assert result.best_name == "c1"


# --- schedules ---


def parent(tried=0, bias=0.0, bias_samples=0.0):
    known = {"visits": 1 + tried, "tried": tried, "bias": bias, "bias_samples": bias_samples}
    return Parent(**{field: known.get(field, 0.0) for field in Parent._fields})


def weight(schedule, own, amaf, bias=0.1, value=0.0, amaf_value=0.0, **node):
    return float(
        beta(schedule, bias, parent(**node), np.float32(value), np.float32(own), np.float32(amaf_value), np.float32(amaf))
    )


def test_known_weights():
    assert weight(ab.select.MinimumMSE(), 10, 30, bias=0.1) == pytest.approx(30 / (10 + 30 + 12))
    assert weight(ab.select.MinimumMSE(), 50, 50, bias=0.0) == pytest.approx(0.5)
    assert weight(ab.select.ExactMSE(), 10, 30, bias=0.1, value=0.6, amaf_value=0.6) == pytest.approx(30 / (40 + 3 / 0.16))
    assert weight(ab.select.HandSelected(k=1000), 1, 1, tried=1000) == pytest.approx(0.5)  # (20) to (22)
    assert weight(ab.select.HandSelected(k=1000), 1, 1, tried=0) == 1.0
    assert weight(ab.select.HandSelected(k=12), 1, 1, tried=5) == pytest.approx(math.sqrt(12 / 27))
    assert weight(ab.select.OnlyAmaf(), 5, 5) == 1.0
    assert weight(ab.select.NoAmaf(), 5, 5) == 0.0


def test_a_learnt_bias_weighs_samples_against_the_one_that_is_given():
    known = weight(ab.select.LearntBias(samples=16), 10, 30, bias=0.1)
    assert known == weight(ab.select.MinimumMSE(), 10, 30, bias=0.1)
    half = weight(ab.select.LearntBias(samples=16), 10, 30, bias=0.1, bias_samples=16.0, tried=1) ** -1
    assert half == pytest.approx((40 + 4 * 300 * 0.5 * 0.01) / 30, rel=1e-6)
    never_negative = weight(ab.select.LearntBias(samples=1e-9), 1000, 1000, bias_samples=100.0)
    assert never_negative == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("schedule", SCHEDULES, ids=repr)
def test_where_there_is_only_one_value_it_counts(schedule):
    assert weight(schedule, 0, 7, tried=9) == 1.0
    assert weight(schedule, 7, 0, tried=9) == 0.0


COUNTS = st.integers(1, 10**6)
BIASES = st.floats(0.0, 0.5)
VALUES = st.floats(-1.0, 1.0, width=32)


@given(st.sampled_from(SCHEDULES), COUNTS, COUNTS, BIASES, VALUES, VALUES)
def test_weights_are_between_0_and_1(schedule, own, amaf, bias, value, amaf_value):
    assert 0.0 <= weight(schedule, own, amaf, bias, value, amaf_value, tried=own) <= 1.0


@given(
    st.sampled_from([ab.select.MinimumMSE(), ab.select.ExactMSE(), ab.select.LearntBias()]),
    COUNTS,
    COUNTS,
    st.integers(1, 10**5),
    BIASES,
    VALUES,
)
def test_a_weight_falls_with_own_visits_and_rises_with_amaf_visits(schedule, own, amaf, more, bias, value):
    here = weight(schedule, own, amaf, bias, value, value)
    assert weight(schedule, own + more, amaf, bias, value, value) <= here * (1 + 1e-5)
    assert weight(schedule, own, amaf + more, bias, value, value) >= here * (1 - 1e-5)


@given(COUNTS, COUNTS, BIASES)
def test_in_even_positions_46_is_47(own, amaf, bias):
    assert weight(ab.select.ExactMSE(), own, amaf, bias) == pytest.approx(
        weight(ab.select.MinimumMSE(), own, amaf, bias), rel=1e-5
    )


@given(COUNTS, COUNTS, st.floats(0.01, 0.5), st.floats(0.05, 0.95))
def test_where_a_position_is_not_even_own_values_count_more(own, amaf, bias, value):
    """The less the outcomes vary, the sooner an edge's own are enough."""
    assert weight(ab.select.ExactMSE(), own, amaf, bias, value, value) <= weight(ab.select.MinimumMSE(), own, amaf, bias) * (
        1 + 1e-5
    )


def q_star(schedule, bias, total, own, amaf_total, amaf):
    edge = AmafEdge(own, total, 0.5, 0, np.float32(0.0), amaf, np.float32(amaf_total))
    node = parent(tried=own)._replace(factor=1.0, unit=1.0)
    return float(both_values(schedule, bias, node, edge, np.float32(amaf), np.float32(amaf_total)))


@given(st.integers(0, 10**6), COUNTS, BIASES, VALUES, VALUES)
def test_the_formula_of_kernels_is_12_with_47(own, amaf, bias, value, amaf_value):
    share = amaf / (own + amaf + 4 * own * amaf * bias**2)
    expected = (1 - share) * value + share * amaf_value
    found = q_star(ab.select.MinimumMSE(), bias, own * value, own, amaf * amaf_value, amaf)
    assert found == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("schedule", SCHEDULES, ids=repr)
def test_both_values_go_together_by_their_weight(schedule):
    for own, amaf in ((0, 8), (16, 32), (1000, 4000)):
        share = weight(schedule, own, amaf, value=0.25 if own else 0.0, amaf_value=-0.5, tried=own)
        value = 0.25 if own else 0.0
        expected = value + share * (-0.5 - value)
        assert q_star(schedule, 0.1, 0.25 * own, own, -0.5 * amaf, amaf) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("schedule", SCHEDULES, ids=repr)
def test_an_action_without_amaf_values_is_not_taken_for_ever(schedule):
    """What is tried first has a value of first play beyond all others; a visit takes that away."""
    rule = ab.Rave(schedule=schedule, fpu=ab.select.ConstantFPU())
    node = parent(tried=9)._replace(factor=1.0, unit=1.0)
    never, lost = (AmafEdge(own, -float(own), 0.5, 0, np.float32(0.0), 0, np.float32(0.0)) for own in (0, 30))
    assert score(rule, node, never) == np.inf
    assert -1.0 <= score(rule, node, lost) < 1.0


@given(st.floats(1.0, 1e6))
def test_after_k_simulations_both_values_of_the_hand_selected_schedule_count_the_same(k):
    k = round(k)
    assert weight(ab.select.HandSelected(k=float(k)), 1, 1, tried=k) == pytest.approx(0.5)


@pytest.mark.parametrize(
    "schedule", [ab.select.MinimumMSE(), ab.select.ExactMSE(), ab.select.HandSelected(), ab.select.LearntBias()], ids=repr
)
def test_weights_go_to_0(schedule):
    falling = [weight(schedule, n, 10 * n, bias=0.05, value=0.3, amaf_value=0.5, tried=2 * n) for n in (1, 100, 10**4, 10**8)]
    assert falling == sorted(falling, reverse=True)
    assert falling[0] > 0.85 and falling[-1] < 0.01


# --- what is kept ---


def searched(graph=False, **options):
    search = ab.Search(
        TicTacToe(), select=ab.Rave(bias=0.05, c=0.3), heuristic=Fancy(), seed=8, **grouped({"graph": graph} | options)
    )
    search.run(visits=3 * SIMULATIONS)
    return search


@pytest.mark.parametrize("graph", [False, True], ids=["tree", "graph"])
def test_advance_keeps_the_amaf_values_of_what_is_below(graph):
    search = searched(graph)
    action = search.run(visits=1).best
    root_edges = edge_records(search.rooted.graph, search.rooted.root)
    child = child_at(search.rooted.graph, root_edges[root_edges["action"] == action][0])
    before = amaf_of(search.rooted.graph, child).tolist()
    facts = {line[1:]: fact for line, fact in amaf_facts(search).items() if line[:1] == (action,)}
    search.advance(action)
    assert amaf_of(search.rooted.graph, search.rooted.root).tolist() == before
    assert any(fact[1] for fact in before)  # AMAF values
    if not graph:
        assert amaf_facts(search) == facts
    assert search.run(visits=SIMULATIONS).stats.kept > 0


@in_soak
def test_where_only_evaluations_are_kept_edges_begin_again_with_what_the_heuristic_said():
    search = ab.Search(Echo(), select=ab.Rave(c=0.6, puct=1.5), evaluate=opinion, heuristic=Fancy(), memory="20MB")
    search.advance(search.run(visits=3 * SIMULATIONS).best, keep="evaluations")
    graph, gray = search.rooted.graph, 0
    for _, number in nodes_with_amaf(search):
        amaf, actions = amaf_of(graph, number), edge_records(graph, number)["action"]
        assert (amaf["amaf_visits"] == 7).all()
        np.testing.assert_allclose(amaf_means(amaf), 0.4 * (actions % 4) - 0.6, atol=1e-6)
        gray += 1
    assert gray > 10


def test_a_root_that_was_never_visited_is_evaluated_and_searched():
    search = ab.Search(TicTacToe(), graph=True, select=ab.Rave(bias=0.05, c=0.3), evaluate=ab.Rollout(playouts=3))
    visits = search.run(visits=4).visits
    search.advance(int(np.flatnonzero(visits == 0)[0]))
    trail = search.rooted.driver.work.playout_log
    assert trail.ends[0] <= 3
    assert search.run(visits=20).visits.sum() == 20


def test_collecting_keeps_amaf_values():
    search = searched(graph=True)
    search.advance(search.run(visits=1).best)
    before, driver = amaf_facts(search), search.rooted.driver
    driver.root = int(collect(driver.graph, driver.root)[driver.root])
    assert amaf_facts(search) == before
    search.run(visits=SIMULATIONS)


@pytest.mark.parametrize("collecting", [ab.graphs.KeepReached(), ab.graphs.Forget()], ids=repr)
def test_with_little_memory_amaf_values_stay_right(collecting):
    search = ab.Search(
        TicTacToe(),
        graph=ab.graphs.GraphOptions(collect=collecting),
        select=ab.Rave(bias=0.05, c=0.3),
        heuristic=Fancy(),
        memory="30KB",
        seed=9,
    )
    for _ in range(4):
        result = search.run(visits=2 * SIMULATIONS)
        assert result.stats.bytes <= 30_000
        for _, number in nodes_with_amaf(search):
            edges, amaf = edge_records(search.rooted.graph, number), amaf_of(search.rooted.graph, number)
            hints = [(0.4 * (action % 4) - 0.6, 3 + action % 3) for action in edges["action"].tolist()]
            said = hints_of(search.rooted.graph, number)
            np.testing.assert_allclose(said["value"], [hint for hint, _ in hints], atol=1e-6)
            assert said["visits"].tolist() == [visits for _, visits in hints]
            assert search.rooted.graph.hints["visits"][number] == sum(visits for _, visits in hints)
            assert (amaf["amaf_visits"] >= 7).all() and (np.abs(amaf_means(amaf)) <= 1.0).all()
    assert result.memory_full


@pytest.mark.parametrize("graph", [False, True], ids=["tree", "graph"])
def test_with_a_file_in_between_a_search_is_the_same_bit_for_bit(graph, tmp_path):
    path = tmp_path / "kept.search"
    first = searched(graph)
    first.save(path)
    second = ab.Search(TicTacToe(), graph=graph, select=ab.Rave(bias=0.05, c=0.3), heuristic=Fancy(), seed=0)
    second.load(path)
    assert amaf_facts(second) == amaf_facts(first)
    for search in (first, second):
        search.run(visits=SIMULATIONS)
    assert amaf_facts(second) == amaf_facts(first)
    assert second.rooted.graph.learnt.tolist() == first.rooted.graph.learnt.tolist()
    with pytest.raises(ab.errors.SearchError, match="was saved with select=Rave"):
        ab.Search(TicTacToe(), graph=graph).load(path)
    with pytest.raises(ab.errors.SearchError, match="saved with a heuristic, and this search is without a heuristic"):
        ab.Search(TicTacToe(), graph=graph, select=ab.Rave(bias=0.05, c=0.3)).load(path)


def test_a_root_that_is_searched_again_begins_without_amaf_values():
    search = searched()
    before = amaf_facts(search)
    search.run(TicTacToe().position(["a1"]), visits=5)
    search.run(TicTacToe().start(), visits=3 * SIMULATIONS)
    assert amaf_facts(search) == before
    assert search.rooted.graph.learnt[1] == searched().rooted.graph.learnt[1]


# --- what is refused ---


class Riddle(Echo):
    """A game whose actions mean something else every time."""

    actions_keep_meaning = False


WRONG = {
    "Rave: bias=-0.1 must be": ab.Rave(bias=-0.1),
    "Rave: c=nan must be": ab.Rave(c=float("nan")),
    "Rave: puct=-1.0 must be": ab.Rave(puct=-1),
    "Rave: bias must be a number, not 'large'": ab.Rave(bias="large"),
    "Rave: schedule must be an option such as MinimumMSE(": ab.Rave(schedule="minimum"),
    "Rave: schedule must be an option": ab.Rave(schedule=ab.select.MinimumMSE),
    "Rave: source must be an option such as OwnAmaf(": ab.Rave(source=3),
    "HandSelected: k=0.0 must be": ab.Rave(schedule=ab.select.HandSelected(k=0)),
    "LearntBias: samples=-1.0 must be": ab.Rave(schedule=ab.select.LearntBias(samples=-1)),
    "Grave: visits must be a whole number, not 2.5": ab.Rave(source=ab.select.Grave(visits=2.5)),
    "WithAncestors: share=1.5 must be": ab.Rave(source=ab.select.WithAncestors(share=1.5)),
    "select=Rave: give an instance, Rave()": ab.Rave,
}


@pytest.mark.parametrize(("message", "rule"), WRONG.items(), ids=WRONG)
def test_wrong_options_are_refused_with_a_line_that_helps(message, rule):
    with pytest.raises(ab.AnabranchError) as refused:
        ab.Search(TicTacToe(), select=rule)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    "rule", [ab.Rave(), ab.select.Widening(ab.Rave()), ab.select.Pruning(ab.select.ProgressiveBias(ab.Rave()))], ids=repr
)
def test_a_game_whose_actions_change_their_meaning_is_not_for_rave(rule):
    with pytest.raises(
        ab.errors.SearchError, match=r"Riddle\(\) says that its actions change their meaning .*: use UCT\(\) or PUCT\(\)"
    ):
        ab.Search(Riddle(), select=rule)
    assert ab.Search(Riddle(), select=ab.UCT())

    class Puzzle(Board):
        actions_keep_meaning = False

    with pytest.raises(ab.errors.SearchError, match="actions change their meaning"):
        ab.Search(Puzzle, select=rule)
