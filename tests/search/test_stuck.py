"""Positions where nothing can be played although the game is not over: told by name, and nothing is lost."""

import numpy as np
import pytest

import anabranch as ab
from tests.conftest import in_soak, when_plain
from tests.search.invariants import check_at_rest


class NoPass(ab.Game):
    """A walk to the right by one or two steps. At 5 the author has forgotten that there is no way on."""

    actions = 2
    state = np.dtype([("place", "i4"), ("turn", "i1"), ("trap", "i4")])

    def __init__(self, trap=5):
        super().__init__(trap=trap)

    @ab.rule
    def setup(state):
        state.place = state.turn = 0

    @ab.rule
    def to_play(state):
        return state.turn

    @ab.rule
    def is_legal(state, action):
        return state.place != state.trap

    @ab.rule
    def play(state, action):
        state.place += 1 + action
        state.turn = 1 - state.turn

    @ab.rule
    def is_over(state):
        return state.place > 8

    @ab.rule
    def returns(state, out):
        out[0] = 1.0 if state.turn == 0 else -1.0
        out[1] = -out[0]


class NoEvent(NoPass):
    """The same where luck decides, and cannot."""

    events = 2

    @ab.rule
    def to_play(state):
        return ab.CHANCE if state.place == state.trap else state.turn

    @ab.rule
    def is_legal(state, action):
        return True

    @ab.rule
    def chance(state, probabilities):
        pass


class Walk:
    """The same as Python objects."""

    actions = 2

    def __init__(self, place=0, turn=0):
        self.place, self.turn = place, turn

    def legal_actions(self):
        return [] if self.place == 5 else [0, 1]

    def to_play(self):
        return self.turn

    def is_over(self):
        return self.place > 8

    def returns(self):
        return [1.0, -1.0] if self.turn == 0 else [-1.0, 1.0]

    def play(self, action):
        return Walk(self.place + 1 + action, 1 - self.turn)

    def __str__(self):
        return f"place: {self.place}"


def uniform(states):
    return None, np.zeros(len(states))


OPTIONS = [
    {},
    {"evaluate": ab.Uniform()},
    {"graph": True},
    {"graph": True, "evaluate": ab.Uniform(), "prove": True},
    {"threads": 2},
    {"threads": 2, "graph": True},
    {"evaluate": uniform},
    {"evaluate": uniform, "threads": 2},
    {"heuristic": lambda state: (0.5, 0, 0)},
    {"select": ab.Rave()},
]
NAMES = [
    "tree", "tree, uniform", "graph", "graph, proofs", "tree, threads", "graph, threads", "Python", "Python, threads",
    "heuristic", "rave",
]  # fmt: skip


DRIVERS = ("tree", "graph", "tree, threads", "Python", "heuristic")  # one option for each
IN_MAKE_TEST = ("tree", "Python", "heuristic")  # compiled


def marks(game, name):
    """Where chance has no event only drivers differ; what they have in common is tried where nobody can move."""
    if isinstance(game, NoEvent):
        return in_soak if name in DRIVERS else when_plain
    return () if name in IN_MAKE_TEST else in_soak


WHERE = [
    pytest.param(game, options, id=f"{game!r}-{name}", marks=marks(game, name))
    for game in (NoPass(), NoEvent())
    for options, name in zip(OPTIONS, NAMES, strict=True)
]
ROOTS = [pytest.param(options, id=name, marks=marks(NoPass(), name)) for options, name in zip(OPTIONS, NAMES, strict=True)]


@pytest.mark.parametrize(("game", "options"), WHERE)
def test_a_position_without_a_legal_action_is_named(game, options):
    search = ab.Search(game, **options)
    what = "no action is legal" if isinstance(game, NoPass) and type(game) is NoPass else "no chance event"
    for _ in range(2):  # the second time as the first
        with pytest.raises(ab.errors.GameError, match=f"{what}.*not over.*is_over") as found:
            search.run(visits=500)
        assert "place: 5" in str(found.value)
    if search.rooted.driver is not None and search.rooted.driver.has_root and type(game) is NoPass:
        check_at_rest(search)


@pytest.mark.parametrize("options", ROOTS)
def test_so_is_the_root_itself(options):
    game = NoPass(trap=0)
    with pytest.raises(ab.errors.GameError, match="no action is legal"):
        ab.Search(game, **options).run(visits=10)


@pytest.mark.parametrize("evaluate", [None, ab.Uniform(), uniform], ids=["playouts", "uniform", "Python"])
def test_python_objects_are_told_of_likewise(evaluate):
    search = ab.Search(Walk, evaluate=evaluate)
    with pytest.raises(ab.errors.GameError, match=r"no action is legal[\s\S]*place: 5"):
        search.run(visits=500)


def test_a_fleet_tells_too():
    fleet = ab.Fleet(NoPass(), 3, evaluate=uniform)
    with pytest.raises(ab.errors.GameError, match="no action is legal"):
        fleet.run(visits=200)
