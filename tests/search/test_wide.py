"""A wider look at the root, and other numbers for a rule while its search goes on."""

import math

import numpy as np
import pytest

import anabranch as ab
from anabranch.errors import SearchError
from anabranch.games import TicTacToe
from anabranch.jit import COMPILED
from anabranch.jit.random import generator
from anabranch.search.select.wide_root import bonus, flattened
from tests.conftest import when_plain
from tests.search.trees import digest

GAME = TicTacToe()
VISITS = 400 if COMPILED else 60


def fond_of_the_middle(states):
    """Priors that all but leave the other actions out, and a value that says nothing."""
    return np.tile([0.01] * 4 + [0.92] + [0.01] * 4, (len(states), 1)), np.zeros(len(states))


def search_with(select, **options):
    return ab.Search(GAME, select=select, evaluate=fond_of_the_middle, **options)


def test_without_noise_the_rule_searches_as_it_does_alone():
    alone, inside = search_with(ab.PUCT()), search_with(ab.select.WideRoot(ab.PUCT(), noise=0.0))
    alone.run(visits=VISITS)
    inside.run(visits=VISITS)
    assert digest(alone) == digest(inside)


def test_the_more_noise_the_wider_the_root():
    shares = []
    for noise in (0.0, 0.1, 1.0):
        visits = search_with(ab.select.WideRoot(ab.PUCT(), noise=noise)).run(visits=VISITS).visits
        shares.append(visits.max() / visits.sum())
    assert shares[0] > shares[1] > shares[2]
    assert shares[2] < 0.5


def test_below_the_root_nothing_is_wider():
    search = search_with(ab.select.WideRoot(ab.PUCT(), noise=1.0))
    search.run(visits=VISITS, action="a1")
    below = [move for move in search.graph.edges if move["source"] == 1]  # the node after a1
    visits = {int(edge["action"]): int(edge["visits"]) for edge in below}
    assert visits[GAME.action("b2")] > 0.8 * sum(visits.values())


def test_widening_goes_with_a_restriction():
    result = search_with(ab.select.WideRoot(ab.PUCT(), noise=1.0)).run(visits=VISITS, actions=["a1", "c3", "b2"])
    assert set(np.flatnonzero(result.visits)) == {GAME.action(name) for name in ("a1", "c3", "b2")}


def test_half_of_the_time_an_action_seems_better_by_the_size_of_a_normal_number():
    random, rule = generator(1), ab.select.WideRoot(noise=0.5)
    with np.errstate(over="ignore"):
        drawn = np.array([bonus(rule, random) for _ in range(4000)])
    assert (drawn >= 0).all() and abs((drawn == 0).mean() - 0.5) < 0.03
    assert drawn.mean() == pytest.approx(0.5 * 0.5 * math.sqrt(2 / math.pi), rel=0.06)
    assert drawn.std() == pytest.approx(0.5 * math.sqrt(0.5 - 0.5 / math.pi), rel=0.06)


def test_priors_come_nearer_to_each_other():
    assert flattened(ab.select.WideRoot(noise=0.0), 0.01) == pytest.approx(0.01)
    assert flattened(ab.select.WideRoot(noise=0.25), 0.01) == pytest.approx(0.1)


@when_plain
@pytest.mark.parametrize(
    "options", [{"select": ab.select.WideRoot(ab.UCT())}, {"select": ab.select.WideRoot(ab.Rave()), "graph": True}]
)
def test_rules_without_priors_can_be_wider_too(options):
    wide, narrow = options | {"select": options["select"]._replace(noise=1.0)}, options | {"select": options["select"].rule}
    shares = [ab.Search(GAME, **how).run(visits=200).policy.max() for how in (wide, narrow)]
    assert shares[0] < shares[1]


def test_a_rule_that_gives_no_scores_cannot_be_wider():
    with pytest.raises(SearchError, match="stands by itself"):
        ab.Search(GAME, select=ab.select.WideRoot(ab.select.Gumbel()), evaluate=fond_of_the_middle)
    with pytest.raises(SearchError, match="not an option for rule"):
        ab.Search(GAME, select=ab.select.WideRoot(ab.select.Forced()), evaluate=fond_of_the_middle)


# --- other numbers ------------------------------------------------------------------------------------------------------------


def test_a_search_goes_on_with_other_numbers_and_keeps_its_tree():
    search = search_with(ab.select.WideRoot(ab.PUCT(), noise=0.0))
    search.run(visits=50)
    before = search.result().visits
    search.retune(ab.select.WideRoot(ab.PUCT(), noise=1.0))
    assert (search.result().visits == before).all()
    added = search.run(visits=VISITS).visits - before
    assert np.count_nonzero(added) >= 8 and search.result().settings["select"].endswith("noise=1.0)")


def test_another_rule_is_another_search():
    search = search_with(ab.PUCT())
    search.run(visits=5)
    for other in (ab.UCT(), ab.select.WideRoot(ab.PUCT()), ab.PUCT(fpu=ab.select.ReducedFPU())):
        with pytest.raises(SearchError, match="begin a new Search"):
            search.retune(other)
    with pytest.raises(SearchError, match="not an option for select"):
        search.retune("PUCT")
