"""Search of simultaneous moves against the slow one of `tests/reference/simultaneous.py`, node for node, and what holds of
every graph."""

import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anabranch as ab
from anabranch.games import Goofspiel, MatrixGame, PyRat, Repeated
from anabranch.jit import COMPILED
from anabranch.search.graph_options import grouped
from anabranch.search.results.read import edge_records
from tests.conftest import in_soak, when_plain
from tests.reference.simultaneous import ReferencePairs, assert_pairs_add_up, assert_same_pairs

SMALL = """
+---+---+---+
|     *    B|
+   +---+   +
|     *     |
+   +   +---+
|A    *     |
+---+---+---+
"""
MUDDY = """
+---+---+---+---+---+
| *           *    B|
+   +---+   +   +-3-+
|           | *     |
+   +   +---+   +   +
| *   *     2 *   * |
+   +-2-+   +   +   +
|     * |           |
+   +   +   +---+   +
|A        *     | * |
+---+---+---+---+---+
"""
GAMES = {
    "small maze": PyRat.drawn(SMALL, max_turns=12),
    "short maze": PyRat.drawn(SMALL, max_turns=3),  # the turn limit is near
    "muddy maze": PyRat.drawn(MUDDY, max_turns=40),
    "matrix": MatrixGame.biased_rock_paper_scissors(),
    "goofspiel": Goofspiel(4, returns="points"),
    "drawn prizes": Goofspiel(3, "random"),
    "dilemma": Repeated(4),
}
REPLIES = {
    "A": ab.simultaneous.ByPriors(),
    "B": ab.simultaneous.ByVisits(),
    "C": ab.simultaneous.ByBoth(),
    "D": ab.simultaneous.ByReplies(),
}
SIMULATIONS = 500 if COMPILED else 40


def opinion(states):
    """Priors of both players' actions and two values, from every byte of the position."""
    mixed = zlib.crc32(np.ascontiguousarray(states).tobytes())
    game = next(game for game in GAMES.values() if game.record == states.dtype)
    numbers = np.random.default_rng(mixed)
    priors = numbers.uniform(0.1, 1.0, (1, 2, game.actions))
    low, high = game.value_range
    width = game.value_width()
    return priors / priors.sum(axis=2, keepdims=True), numbers.uniform(low, high, (1, width) if width > 1 else 1)


def both(game, simulations=SIMULATIONS, position=None, **options):
    """A search and the reference after so many simulations, the first one run in three parts."""
    on_graph = {"graph": True, "update": ab.graphs.Idempotent(), "ahead": ab.graphs.Continue()} | options
    if not on_graph["graph"]:
        on_graph = {"graph": False} | options
    search = ab.Search(game, memory="20MB", **grouped({"ties": "lowest"} | on_graph))
    for total in (1, simulations // 3, simulations):
        search.run(position or game.start(), total=total)
    known = {name: value for name, value in on_graph.items() if name != "update"}
    reference = ReferencePairs(game, position, **{"ties": "lowest"} | known)
    reference.run(simulations)
    return search, reference


def cases(*to_compile, soak=()):
    """All games with all ways to weigh replies; but for these, in plain Python only, where no kernel is to be compiled."""
    marks = dict.fromkeys(to_compile, ()) | dict.fromkeys(soak, in_soak)
    return [pytest.param(name, replies, marks=marks.get((name, replies), when_plain)) for name in GAMES for replies in REPLIES]


@pytest.mark.parametrize(
    ("name", "replies"),
    cases(
        *(("small maze", "D"), ("muddy maze", "D")),
        soak=[("small maze", "A"), ("muddy maze", "A"), ("drawn prizes", "D")],
    ),
)
def test_the_fast_search_builds_the_graph_of_the_specification(name, replies):
    search, reference = both(GAMES[name], select=ab.Decoupled(replies=REPLIES[replies]), evaluate=ab.Uniform())
    compared = assert_same_pairs(search, reference)
    assert compared > 3 and search.run(visits=1).stats.merges >= reference.merges
    assert (reference.merges > 0) == (name != "matrix") or name in ("short maze", "drawn prizes")


@pytest.mark.parametrize(("name", "replies"), cases(soak=[("muddy maze", "D")]))
def test_it_does_so_with_an_evaluator_in_python_that_has_opinions(name, replies):
    search, reference = both(GAMES[name], select=ab.Decoupled(replies=REPLIES[replies]), evaluate=opinion)
    assert assert_same_pairs(search, reference) > 3


@when_plain
@pytest.mark.parametrize(
    "select",
    [
        ab.Decoupled(c=0.0),
        ab.Decoupled(c=4.0, fpu=ab.select.ParentFPU(0.1)),
        ab.Decoupled(fpu=ab.select.ParentFPU(0.3), scaled=False),
        ab.Decoupled(fpu=ab.select.ReducedFPU(1.5), scaled=False, replies=ab.simultaneous.ByBoth()),
        ab.Decoupled(fpu=ab.select.ConstantFPU(0.2)),
        ab.Decoupled(forced=2.0),
        ab.Decoupled(forced=0.5, replies=ab.simultaneous.ByPriors()),
    ],
    ids=repr,
)
@pytest.mark.parametrize("name", ["small maze", "goofspiel", "dilemma"])
def test_it_does_so_with_other_options(name, select):
    for evaluate in (ab.Uniform(), opinion):
        search, reference = both(GAMES[name], select=select, evaluate=evaluate)
        assert_same_pairs(search, reference)


@when_plain
@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("evaluate", [ab.Uniform(), opinion], ids=["uniform", "opinion"])
def test_it_draws_ties_as_the_reference_does(name, evaluate):
    for seed in (1, 2):
        search, reference = both(GAMES[name], evaluate=evaluate, ties="seed", seed=seed)
        assert_same_pairs(search, reference)


@when_plain
@pytest.mark.parametrize("ahead", [ab.graphs.Stop(), ab.graphs.Stop(factor=2.0, number=3)], ids=repr)
@pytest.mark.parametrize("name", ["small maze", "goofspiel", "drawn prizes"])
def test_it_stops_at_children_that_are_known_better_as_the_reference_does(name, ahead):
    search, reference = both(GAMES[name], evaluate=opinion, ahead=ahead)
    assert_same_pairs(search, reference)
    evaluated = sum(not node.over for node in reference.nodes.values())
    assert evaluated < SIMULATIONS + 1 or name == "drawn prizes"


@when_plain
@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("replies", REPLIES)
def test_on_a_tree_it_builds_the_tree(name, replies):
    search, reference = both(GAMES[name], graph=False, select=ab.Decoupled(replies=REPLIES[replies]), evaluate=opinion)
    assert assert_same_pairs(search, reference) > 3
    assert reference.merges == 0


@when_plain
def test_it_does_so_from_the_middle_of_a_game():
    game = GAMES["muddy maze"]
    stuck = game.position(["up/left", "up/down", "up/stay", "right/left"])
    for position in (stuck, GAMES["drawn prizes"].position(["2", "3/1"]), GAMES["drawn prizes"].position(["2"])):
        search, reference = both(position.game, position=position, evaluate=opinion)
        assert_same_pairs(search, reference)


# --- repairs of the specification ---------------------------------------------------------------------------------------------


@when_plain
def test_the_first_choice_looks_at_the_priors():
    """sqrt(max(1, N)) instead of sqrt(N), which is 0 on the first choice."""

    def likes_the_last(states):
        return np.array([[[0.1, 0.1, 0.8], [0.1, 0.8, 0.1]]]), np.zeros(1)

    game = MatrixGame.rock_paper_scissors()
    result = ab.Search(game, evaluate=likes_the_last, ties="lowest", memory="1MB").run(visits=1)
    assert np.argwhere(result.pairs).tolist() == [[2, 1]]


def test_an_end_is_worth_what_it_pays_from_its_first_visit_on():
    game = PyRat.drawn(SMALL, max_turns=1)
    search, _ = both(game, simulations=30, evaluate=ab.Uniform())
    graph = search.rooted.graph
    for edge in edge_records(graph, search.rooted.root):
        if edge["visits"]:
            assert graph.nodes["mean"][edge["child"]].tolist() == [0.0, 0.0]
            assert graph.nodes["own"][edge["child"]] >= 1


LEAD = """
+---+---+---+
| *   *    B|
+   +   +   +
|     *     |
+   +   +   +
|A    *   * |
+---+---+---+
"""


def test_positions_with_other_scores_are_other_nodes():
    """Who has eaten what decides when the game ends by majority, so the key must tell."""
    game = PyRat.drawn(LEAD)
    lead = game.position(["right/stay", "left/down", "stay/down"])  # A has eaten (1, 0), B (2, 0)
    lag = game.position(["stay/stay", "stay/down", "stay/down"])
    assert lead.key != lag.key
    search, reference = both(game, simulations=400 if COMPILED else 120, evaluate=ab.Uniform())
    assert assert_same_pairs(search, reference) == len({position.key for position in positions_of(reference)})


def positions_of(reference):
    return [node.position for node in reference.nodes.values()]


# --- what holds of every graph ------------------------------------------------------------------------------------------------

mazes = st.builds(
    PyRat,
    st.sampled_from([3, 4, 5]),
    st.sampled_from([3, 5]),
    cheese=st.sampled_from([2, 4, 6]),
    walls=st.sampled_from([0.0, 0.4, 0.7]),
    mud=st.sampled_from([0.0, 0.3]),
    max_turns=st.sampled_from([2, 10, 30]),
    seed=st.integers(0, 1000),
)
bids = st.builds(Goofspiel, st.integers(2, 4), st.sampled_from(["descending", "ascending"]), st.sampled_from(["win", "points"]))
drawn = st.builds(Goofspiel, st.integers(2, 4), st.just("random"), st.sampled_from(["win", "points"]))
rules = st.builds(
    lambda **options: ab.Decoupled(**options),
    c=st.sampled_from([0.0, 0.5, 1.5, 10.0]),
    forced=st.sampled_from([0.0, 2.0]),
    scaled=st.booleans(),
    **({} if COMPILED else {"replies": st.sampled_from(list(REPLIES.values()))}),
)


@given(
    game=mazes if COMPILED else mazes | bids | drawn | st.builds(Repeated, st.integers(1, 5)),
    select=rules,
    update=st.just(ab.graphs.Idempotent()) if COMPILED else st.sampled_from([ab.graphs.Idempotent(), ab.graphs.Incremental()]),
    ahead=st.sampled_from([ab.graphs.Continue(), ab.graphs.Stop()]),
    seed=st.integers(0, 2**31),
    simulations=st.integers(1, 300 if COMPILED else 40),
)
def test_a_visited_edge_has_an_evaluated_child_and_all_counts_add_up(game, select, update, ahead, seed, simulations):
    search = ab.Search(
        game, select=select, evaluate=ab.Uniform(), graph=ab.graphs.GraphOptions(update, ahead), seed=seed, memory="5MB"
    )
    result = search.run(visits=simulations)
    assert_pairs_add_up(search)
    if isinstance(result, ab.simultaneous.PairResult):  # at chance there is nobody to advise
        assert result.pairs.sum() == simulations
        for player in range(2):
            assert result.visits[player].tolist() == result.pairs.sum(axis=1 - player).tolist()
            assert result.policy[player].sum() == pytest.approx(1.0)
            assert result.target[player].sum() == pytest.approx(1.0)
            assert (result.policy[player] >= 0).all()
            assert result.best[player] in search.position.outcomes(player)


@given(game=mazes, seed=st.integers(0, 2**31))
def test_the_search_is_the_reference_on_any_maze(game, seed):
    options = {"select": ab.Decoupled(replies=ab.simultaneous.ByReplies()), "evaluate": ab.Uniform(), "seed": seed}
    search, reference = both(game, simulations=100 if COMPILED else 25, **options)
    assert_same_pairs(search, reference)
