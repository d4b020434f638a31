"""Evaluations weighed by how sure they are."""

import numpy as np
import pytest
from pytest import approx

import anabranch as ab
from anabranch.games import ConnectFour
from anabranch.search.backup.certainty import weights_of
from anabranch.search.memory.graph import MEAN_WEIGHT, OVER, OWN_WEIGHT
from tests.search.evaluators import Counting
from tests.search.invariants import place, reached

GAME = ConnectFour()


class Unsure(Counting):
    """Also says how far its values may be off."""

    def __init__(self, batch=1, deviation=None):
        super().__init__(batch)
        self.deviation = deviation

    def __call__(self, states):
        priors, values = super().__call__(states)
        numbers = np.array(self.calls[-1], np.uint64)
        spread = (numbers % np.uint64(101)).astype(float) / 100.0
        return priors, values, spread if self.deviation is None else np.full(len(states), self.deviation)


def search_with(evaluator, **options):
    return ab.Search(GAME, select=ab.PUCT(), evaluate=evaluator, memory="20MB", seed=2, **options)


def test_what_an_evaluation_weighs():
    rule = ab.backup.ByCertainty(coefficient=0.25, exponent=1.0, most=8.0)
    deviations = np.array([0.0, 0.25 - 0.25 / 8, 1.0])
    assert weights_of(rule, deviations, 1.0) == approx([8.0, 1.0, 0.25 / (1.0 + 0.25 / 8)])
    assert weights_of(rule, 10 * deviations, 0.1) == approx(weights_of(rule, deviations, 1.0))  # in other units
    assert weights_of(rule._replace(exponent=2.0), np.array([0.5]), 1.0) == approx(0.25 / (0.25 + 0.25 / 8))
    assert weights_of(rule, None, 1.0) == weights_of(ab.backup.Mean(), deviations, 1.0) == 1.0


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize("batch", [1, 8])
def test_every_node_is_the_weighed_mean_of_what_is_below(batch, graph):
    rule = ab.backup.ByCertainty(coefficient=0.3, exponent=1.5, most=5.0)
    search = search_with(Unsure(batch), backup=rule, graph=graph)
    search.advance(search.run(visits=300).best)
    search.run(visits=100)
    if graph:
        search.sweep()
    memory = search.rooted.graph
    for number, numbers in reached(memory, search.rooted.root).items():
        own = float(memory.weights[number, OWN_WEIGHT])
        if memory.nodes["flags"][number] & OVER:
            assert own == 0.0
            continue
        total, weight = own * memory.headers["value"][number - 1, 0], own
        for edge in memory.edges[numbers.start : numbers.stop]:
            if edge["visits"]:
                child = place(memory, edge["child"])
                each = float(memory.weights[child, MEAN_WEIGHT]) or rule.most
                weight += edge["visits"] * each
                total += edge["visits"] * each * memory.nodes["mean"][child, 0]
        assert memory.nodes["mean"][number, 0] == approx(total / weight, abs=1e-12)
        assert memory.weights[number, MEAN_WEIGHT] == approx(weight / memory.nodes["visits"][number])


def test_where_all_are_equally_sure_it_is_the_mean():
    """But for the ends of games, which are surer; here there are none in reach."""
    certain = search_with(Unsure(deviation=0.4), backup=ab.backup.ByCertainty())
    plain = search_with(Counting())
    assert certain.run(visits=300).visits.tolist() == plain.run(visits=300).visits.tolist()


def test_without_a_third_array_it_is_the_mean():
    certain = search_with(Counting(), backup=ab.backup.ByCertainty())
    assert certain.run(visits=300).visits.tolist() == search_with(Counting()).run(visits=300).visits.tolist()


def test_a_search_with_weights_is_kept_in_files(tmp_path):
    search = search_with(Unsure(), backup=ab.backup.ByCertainty())
    search.run(visits=100)
    search.save(tmp_path / "search")
    other = search_with(Unsure(), backup=ab.backup.ByCertainty())
    other.load(tmp_path / "search")
    assert other.run(visits=50).visits.tolist() == search.run(visits=50).visits.tolist()
    with pytest.raises(ab.AnabranchError, match="ByCertainty"):
        search_with(Unsure()).load(tmp_path / "search")


@pytest.mark.parametrize(
    ("deviations", "told"), [([-1.0], "negative"), ([np.nan], "NaN"), ([0.1, 0.2], "shape"), (["much"], "not numbers")]
)
def test_what_cannot_be_a_deviation_is_told(deviations, told):
    with pytest.raises(ab.errors.EvaluatorError, match=told):
        search_with(lambda states: (None, np.zeros(len(states)), deviations), backup=ab.backup.ByCertainty()).run(visits=3)
