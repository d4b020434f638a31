"""Positions that come again: never endless, and worth what the game declares."""

import numpy as np
import pytest

import anabranch as ab
from anabranch.games.tug import STEPS, Tug
from anabranch.jit import COMPILED
from anabranch.search.memory.graph import numbers
from anabranch.search.results.read import edge_records
from tests.conftest import in_soak, when_plain

VISITS = 3000 if COMPILED else 250
BOTH = pytest.mark.parametrize("graph", [False, True], ids=["tree", "graph"])


class TugLoss(Tug):
    """Whoever brings a position about again has lost."""

    repetition = "loss"


class TugForbidden(Tug):
    """No position may come again."""

    repetition = "forbidden"


class TugThird(Tug):
    """A draw the third time."""

    repetition_count = 3


class TugOn(Tug):
    """A repetition means nothing: the game goes on."""

    repetition = "nothing"


def solve(cells):
    """Values of (cell, turn) to the first player where repetitions are draws, by retrograde analysis."""
    value = {(0, turn): -1 for turn in (0, 1)} | {(cells - 1, turn): 1 for turn in (0, 1)}
    changed = True
    while changed:
        changed = False
        for cell in range(1, cells - 1):
            for turn, wins in ((0, 1), (1, -1)):
                if (cell, turn) in value:
                    continue
                following = [value.get((cell + step, 1 - turn), 0) for step in STEPS if 0 <= cell + step < cells]
                known = all((cell + step, 1 - turn) in value for step in STEPS if 0 <= cell + step < cells)
                if wins in following or (known and set(following) == {-wins}):
                    value[cell, turn] = wins if wins in following else -wins
                    changed = True
    return {(cell, turn): value.get((cell, turn), 0) for cell in range(cells) for turn in (0, 1)}


def place(game, cell, turn):
    """The position with the token there; it has no past."""
    record = game.start().record()
    record["cell"], record["turn"] = cell, turn
    return ab.Position(game, record)


def test_the_middle_is_a_draw_and_the_ends_are_won():
    values = solve(9)
    assert values[4, 0] == 0
    assert values[7, 0] == values[6, 0] == 1
    assert values[1, 1] == -1


@pytest.mark.when_compiled
@BOTH
@pytest.mark.parametrize("game", [Tug(), pytest.param(TugThird(), marks=when_plain)], ids=repr)
def test_every_position_is_worth_what_retrograde_analysis_says(game, graph):
    for (cell, turn), value in solve(9).items():
        position = place(game, cell, turn)
        if not position.is_over:
            result = ab.Search(game, graph=graph, evaluate=ab.Uniform()).run(position, visits=VISITS)
            sign = 1 if turn == 0 else -1
            assert result.value == pytest.approx(sign * value, abs=0.25 if COMPILED else 0.6)


@pytest.mark.when_compiled
@BOTH
def test_proofs_come_from_ends_only(graph):
    """What is won is proven; a draw that stands on a repetition never is."""
    for (cell, turn), value in solve(9).items():
        position = place(Tug(), cell, turn)
        if not position.is_over:
            result = ab.Search(Tug(), graph=graph, prove=True).run(position, visits=VISITS)
            assert result.proven == (value != 0)
            if value:
                assert result.value == (value if turn == 0 else -value)


@in_soak
def test_a_cycle_in_a_game_where_repetition_means_nothing_ends_every_simulation():
    result = ab.Search(TugOn(), graph=True, evaluate=ab.Uniform()).run(visits=VISITS)
    assert result.visits.sum() == VISITS
    assert abs(result.value) < 0.3


PAYING = [
    (TugLoss(), {"graph": ab.graphs.GraphOptions(update=ab.graphs.CatchUp())}),
    pytest.param(TugLoss(), {}, marks=in_soak),
    pytest.param(TugForbidden(), {"graph": True}, marks=in_soak),
    pytest.param(TugForbidden(), {}, marks=when_plain),
    pytest.param(TugLoss(), {"graph": ab.graphs.GraphOptions(update=ab.graphs.Idempotent())}, marks=when_plain),
]


@pytest.mark.parametrize(("game", "options"), PAYING, ids=repr)
def test_who_repeats_pays_for_it(game, options):
    """Back at cell 5, with the second player to move, the game has been before: that move costs the first player the game."""
    again = game.position(["+1", "-2"]).after(game.action("+2"))
    search = ab.Search(game, evaluate=ab.Uniform(), **options)
    result = search.run(game.position(["+1", "-2"]), visits=VISITS)
    assert again.key == game.position(["+1"]).key
    repeating = next(move for move in result.moves if move.name == "+2")
    assert repeating.value == -1.0
    assert result.best_name != "+2"


def test_the_past_of_a_position_counts():
    """The same position, once with a past that makes one of its moves a repetition and once without."""
    game = Tug()
    with_past, without = game.position(["+1", "-2"]), place(game, 3, 0)
    assert with_past == without
    search = ab.Search(game, graph=True, evaluate=ab.Uniform())
    value = {}
    for name, position in (("with", with_past), ("without", without), ("with again", with_past)):
        moves = search.run(position, visits=VISITS).moves
        value[name] = next(move.value for move in moves if move.name == "+2")
    assert value["with"] == value["with again"] == 0.0
    assert value["without"] != 0.0


@in_soak
def test_the_third_time_needs_two_before():
    game = TugThird()
    once = game.position(["+1", "-2"])
    twice = game.position(["+1", "-2", "+2", "-2"])
    first, second = (ab.Search(game, graph=True, evaluate=ab.Uniform()).run(p, visits=VISITS) for p in (once, twice))
    assert next(move.value for move in first.moves if move.name == "+2") != 0.0
    assert next(move.value for move in second.moves if move.name == "+2") == 0.0


@pytest.mark.when_compiled
def test_nothing_that_depends_on_the_path_survives_the_root():
    game = Tug()
    search = ab.Search(game, graph=True, prove=True, select=ab.UCT(c=3.0), evaluate=ab.Uniform())
    search.run(visits=VISITS)
    assert search.rooted.graph.cuts[: search.rooted.graph.used[4]].any()
    for action in ("+1", "-2", "+1"):
        search.advance(action)
        graph, past = search.rooted.graph, {position.key for position in _line(game, search.position)}
        for number in numbers(graph):
            key = tuple(int(half) for half in graph.headers["key"][number - 1])
            assert bool(graph.nodes["flags"][number] & 2) == (key in past)
            for e, edge in enumerate(edge_records(graph, number), start=number + 1):
                exhausted = edge["child"] >= 0 and graph.nodes["flags"][edge["child"]] & 2
                assert graph.cuts[e] == (edge["visits"] if exhausted else 0)
        search.run(visits=200)


def _line(game, position):
    """The positions before this one."""
    before = game.start()
    for action in position.moves:
        yield before
        before = before.play(action)


@in_soak
@BOTH
def test_a_mark_of_the_path_is_gone_when_the_root_has_moved(graph):
    """Twice in one simulation is taken for the repetition; played on the board, it takes the third time."""
    game = TugThird()
    search = ab.Search(game, graph=graph, evaluate=ab.Uniform())
    search.run(visits=VISITS)
    search.advance("+1")
    search.run(visits=200)
    back = next(edge for edge in edge_records(search.rooted.graph, search.rooted.root) if edge["action"] == game.action("-1"))
    assert not search.rooted.graph.nodes["flags"][back["child"]] & 2


class Circle:
    """A token on a ring of Python objects: one way round is short, and the ring can be gone round for ever."""

    actions, repetition = 2, "draw"

    def __init__(self, cell=0, turn=0):
        self.cell, self.turn = cell, turn

    legal_actions = (0, 1)
    name_of = staticmethod(["left", "right"].__getitem__)

    @property
    def to_play(self):
        return self.turn

    @property
    def is_over(self):
        return self.cell == 3

    @property
    def returns(self):
        return [1.0, -1.0] if self.turn == 1 else [-1.0, 1.0]  # for who moved there

    @property
    def key(self):
        return self.cell, self.turn

    def play(self, action):
        return Circle((self.cell + (1, -1)[action]) % 6, 1 - self.turn)


@in_soak
@BOTH
def test_objects_know_repetitions_too(graph):
    search = ab.Search(Circle, graph=graph, evaluate=ab.Uniform())
    result = search.run(visits=400 if COMPILED else 150)
    assert abs(result.value) < 0.3
    won = ab.Search(Circle, graph=graph, evaluate=ab.Uniform(), prove=True).run(Circle(2, 0), visits=50)
    assert won.proven
    assert won.value == 1.0
    for _ in range(6):
        search.advance(0 if search.position.cell != 2 else 1)
        search.run(visits=50)


class Forgetful(Tug):
    """Its key leaves out whose turn it is: two different positions, one key."""

    @ab.rule
    def key(state):
        return np.uint64(state.cell), np.uint64(0)


@in_soak
def test_a_key_that_is_too_weak_is_found_and_still_ends_every_simulation():
    report = ab.check(Forgetful())
    assert not report.ok
    assert any("`key` is too weak" in problem for problem in report.problems)
    assert ab.Search(Forgetful(), graph=True).run(visits=500).visits.sum() == 500


def test_repetition_facts_are_checked():
    with pytest.raises(ab.errors.GameError, match="repetition_count"):
        type("Fifth", (Tug,), {"repetition_count": 5})
