"""Rules that raise in the middle of a simulation: the search says so, discards what is half done, and works again."""

import numpy as np
import pytest

import anabranch as ab
from tests.conftest import in_soak
from tests.search.invariants import check_counts


class Trapped(ab.Game):
    """A walk by one or two steps. A rule raises at the place of the trap."""

    actions = 2
    state = np.dtype([("place", "i4"), ("turn", "i1"), ("trap", "i4")])

    def __init__(self, trap=20):
        super().__init__(trap=trap)

    @ab.rule
    def setup(state):
        state.place = state.turn = 0

    @ab.rule
    def to_play(state):
        return state.turn

    @ab.rule
    def is_legal(state, action):
        return True

    @ab.rule
    def play(state, action):
        state.place += 1 + action
        state.turn = 1 - state.turn

    @ab.rule
    def is_over(state):
        if state.place == state.trap:
            raise ValueError("it is a trap")
        return state.place > 30

    @ab.rule
    def returns(state, out):
        out[0] = 1.0 if state.turn == 0 else -1.0
        out[1] = -out[0]


def nothing(states):
    return None, np.zeros(len(states))


KINDS = {
    "tree": {},
    "graph": {"graph": True},
    "threads": {"graph": True, "threads": 2},
    "evaluator": {"evaluate": nothing, "graph": True},
}


@pytest.mark.parametrize("kind", ["tree", "evaluator", *(pytest.param(kind, marks=in_soak) for kind in ("graph", "threads"))])
def test_a_rule_that_raises_ends_the_run_and_the_next_one_begins_anew(kind):
    search = ab.Search(Trapped(), **KINDS[kind], memory="10MB")
    with pytest.raises(ab.errors.KernelError, match="ValueError: it is a trap"):
        search.run(visits=2_000)
    with pytest.raises(ab.errors.SearchError, match="nothing was searched"):
        search.result()
    after = Trapped().position([1] * 9 + [0, 1])  # from 19 to 21
    result = search.run(after, visits=100)
    assert result.visits.sum() == 100
    check_counts(search)


def test_leaves_are_no_longer_out_if_a_rule_raises_in_tell():
    search = ab.Search(Trapped(trap=3), memory="10MB")
    with pytest.raises(ab.errors.KernelError, match="ValueError: it is a trap"):
        for _ in range(50):
            leaves = search.ask(4)
            search.tell(leaves, values=np.zeros(len(leaves)))
    leaves = search.ask(4, Trapped(trap=3).position(["1", "1"]))
    search.tell(leaves, values=np.zeros(len(leaves)))


def test_a_fleet_works_again_after_a_rule_has_raised():
    fleet = ab.Fleet(Trapped(trap=3), 2, evaluate=nothing, memory="10MB")
    with pytest.raises(ab.errors.KernelError, match="ValueError: it is a trap"):
        fleet.run(visits=100)
    past = Trapped(trap=3).position(["1", "1"])
    assert [result.visits.sum() for result in fleet.run([past, past], visits=10)] == [10, 10]
