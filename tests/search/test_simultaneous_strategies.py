"""Rules that keep strategies: matrix games are solved, averages come near an equilibrium, and what is learnt is not lost."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linprog

import anabranch as ab
from anabranch.games import Goofspiel, MatrixGame, PyRat, Repeated
from anabranch.jit import COMPILED
from anabranch.search.memory.collect import collect
from anabranch.search.memory.layout import NO_NODE
from anabranch.search.results.read import edge_records
from anabranch.search.simultaneous.exact import Solver
from tests.conftest import when_compiled, when_plain
from tests.reference.simultaneous import assert_pairs_add_up

RPS = MatrixGame.rock_paper_scissors()

# --- one matrix ---------------------------------------------------------------------------------------------------------------


def assert_solves(payoffs):
    """A saddle point: neither player can gain by any other row or column; and the value lies within what is safe for both."""
    matrix = np.array(payoffs, float)
    found = ab.simultaneous.solve_matrix(matrix)
    size = max(1.0, float(np.ptp(matrix)))
    for policy, count in zip((found.first, found.second), matrix.shape, strict=True):
        assert policy.shape == (count,) and (policy >= 0).all() and policy.sum() == pytest.approx(1.0)
    assert (found.first @ matrix).min() == pytest.approx(found.value, abs=1e-9 * size)
    assert (matrix @ found.second).max() == pytest.approx(found.value, abs=1e-9 * size)
    slack = 1e-9 * size
    assert matrix.min(axis=1).max() - slack <= found.value <= matrix.max(axis=0).min() + slack
    return found


@pytest.mark.parametrize(
    ("payoffs", "value", "first", "second"),
    [
        ([[0, -1, 1], [1, 0, -1], [-1, 1, 0]], 0.0, [1 / 3] * 3, [1 / 3] * 3),
        ([[0, -25, 50], [25, 0, -5], [-50, 5, 0]], 0.0, [1 / 16, 10 / 16, 5 / 16], [1 / 16, 10 / 16, 5 / 16]),
        ([[3, -1], [-2, 4]], 1.0, [0.6, 0.4], [0.5, 0.5]),
        ([[4, 1], [3, 2]], 2.0, [0, 1], [0, 1]),  # a saddle point
        ([[5, 3, 9]], 3.0, [1], [0, 1, 0]),
        ([[5], [3], [9]], 9.0, [0, 0, 1], [1]),
        ([[-7]], -7.0, [1], [1]),
    ],
)
def test_matrices_whose_equilibrium_is_known_and_unique(payoffs, value, first, second):
    found = assert_solves(payoffs)
    assert found.value == pytest.approx(value)
    np.testing.assert_allclose(found.first, first, atol=1e-12)
    np.testing.assert_allclose(found.second, second, atol=1e-12)


@pytest.mark.parametrize(
    "payoffs",
    [
        np.zeros((4, 4)),
        np.full((3, 5), 2.5),
        np.eye(6),
        -np.eye(6),
        np.tile([[1, -1], [-1, 1]], (3, 3)),  # every row and column three times
        np.triu(np.ones((5, 5))),
        [[1, 1, 1], [1, 1, 1], [0, 2, 1]],
        np.subtract.outer(np.arange(8), np.arange(8)),
        np.sign(np.subtract.outer(np.arange(7), np.arange(7))),
    ],
    ids=range(9),
)
def test_degenerate_matrices_are_solved(payoffs):
    assert_solves(payoffs)


shapes = st.tuples(st.integers(1, 6), st.integers(1, 6))


@given(arrays(float, shapes, elements=st.floats(-1, 1, width=32)), st.integers(-3, 8))
def test_any_matrix_is_solved_in_any_unit(matrix, power):
    assert_solves(matrix * 10.0**power)


@given(arrays(np.int64, shapes, elements=st.integers(-1, 1)))
def test_any_matrix_with_many_ties_is_solved(matrix):
    assert_solves(matrix)


@pytest.mark.parametrize("payoffs", [[], [[]], [1, 2], [[1, np.nan]], [[np.inf]]], ids=repr)
def test_what_is_no_matrix_is_refused(payoffs):
    with pytest.raises(ab.errors.GameError, match="a matrix game has rows and columns of finite numbers"):
        ab.simultaneous.solve_matrix(payoffs)


def test_values_are_those_of_a_linear_program():
    random = np.random.default_rng(4)
    for _ in range(10):
        matrix = random.uniform(-1, 1, random.integers(1, 6, 2))
        rows, columns = matrix.shape
        found = linprog(  # the largest value that the first player's mix of rows is sure of against every column
            [0.0] * rows + [-1.0],
            A_ub=np.hstack([-matrix.T, np.ones((columns, 1))]),
            b_ub=np.zeros(columns),
            A_eq=[[1.0] * rows + [0.0]],
            b_eq=[1.0],
            bounds=[(0.0, 1.0)] * rows + [(None, None)],
        )
        assert ab.simultaneous.solve_matrix(matrix).value == pytest.approx(-found.fun, abs=1e-6)


# --- averages come near an equilibrium ----------------------------------------------------------------------------------------

MATRICES = {
    "rock paper scissors": RPS,
    "biased": MatrixGame(np.array(MatrixGame.biased_rock_paper_scissors().fields["payoffs"][0][:3, :3]) / 50.0),
    **{f"random {seed}": MatrixGame(np.random.default_rng(seed).uniform(-1, 1, (5, 5))) for seed in range(5)},
}
# The rule, and the bound on exploitability after 100,000 simulations (compiled) and after 500 (plain), in payoffs from -1 to 1.
RULES = {
    "regret matching+": (ab.RegretMatching(), 0.002, 0.1),
    "regret matching": (ab.RegretMatching(plus=False), 0.02, 0.3),
    "equilibrium": (ab.simultaneous.Equilibrium(), 1e-9, 1e-9),  # the matrix of means is the matrix itself
    "Exp3": (ab.simultaneous.Exp3(), 0.06, 0.5),
}


def searched(game, rule, visits, position=None, **options):
    search = ab.Search(game, select=rule, **{"evaluate": ab.Uniform(), "memory": "50MB"} | options)
    return search, search.run(position or game.start(), visits=visits)


@pytest.mark.parametrize("name", [name for name in MATRICES if COMPILED or name not in ("random 2", "random 3", "random 4")])
@pytest.mark.parametrize("rule", RULES)
def test_the_average_strategy_comes_near_an_equilibrium(rule, name):
    select, long, short = RULES[rule]
    game = MATRICES[name]
    _, result = searched(game, select, 100_000 if COMPILED else 500)
    gains = ab.simultaneous.exploitability(game.start(), result.policy)
    assert gains.exploitability <= (long if COMPILED else short)
    value = ab.simultaneous.solve_matrix(
        game.fields["payoffs"][0][:5, :5] if game.actions == 5 else game.fields["payoffs"][0][:3, :3]
    ).value
    assert result.value == [pytest.approx(value, abs=2 * (long if COMPILED else short)), pytest.approx(-result.value[0])]


def test_dominated_outcomes_are_not_played():
    """The third row is worse than the first, and the third column better than none."""
    game = MatrixGame([[0, -1, 1, 2], [1, 0, -1, 2], [-2, -3, -1, 0], [-1, 1, 0, 2]])
    for rule, limit in ((ab.RegretMatching(), 0.02), (ab.simultaneous.Equilibrium(), 1e-9), (ab.simultaneous.Exp3(), 0.1)):
        _, result = searched(game, rule, 20_000 if COMPILED else 600)
        assert result.policy[0][2] <= limit and result.policy[1][3] <= limit


@when_plain
@pytest.mark.parametrize("rule", [ab.RegretMatching(), ab.RegretMatching(plus=False), ab.simultaneous.Exp3(rate=0.5)], ids=repr)
def test_prisoners_defect(rule):
    _, result = searched(MatrixGame.prisoners_dilemma(), rule, 400)
    assert min(policy[1] for policy in result.policy) > 0.9
    assert result.value == pytest.approx([1.0, 1.0], abs=0.5 if isinstance(rule, ab.simultaneous.Exp3) else 0.1)


@when_plain
@pytest.mark.parametrize(
    "replies",
    [ab.simultaneous.ByPriors(), ab.simultaneous.ByVisits(), ab.simultaneous.ByBoth(), ab.simultaneous.ByReplies()],
    ids=repr,
)
def test_decoupled_players_in_the_same_place_move_in_step_and_never_learn_to_defect(replies):
    """Both reckon with the same numbers and come to the same end, so one of them never defects alone: why `Decoupled` promises
    no equilibrium, even where an outcome dominates."""
    _, result = searched(MatrixGame.prisoners_dilemma(), ab.Decoupled(replies=replies), 300, ties="lowest")
    assert result.pairs[0, 1] == result.pairs[1, 0] == 0
    assert min(policy[0] for policy in result.policy) > 0.9
    plan = ab.simultaneous.exploitability(MatrixGame.prisoners_dilemma().start(), lambda position: result.policy)
    assert plan.exploitability > 1.5


@when_plain
@pytest.mark.parametrize("rows", [[[1, 2, 3, -1]], [[1], [2], [-3]], [[1, -1, 0, 0.5], [-1, 1, 0.2, 0]]], ids=repr)
@pytest.mark.parametrize("rule", RULES)
def test_players_may_have_different_numbers_of_actions(rule, rows):
    game = MatrixGame(rows)
    _, result = searched(game, RULES[rule][0], 300)
    span = float(np.ptp(rows))
    assert ab.simultaneous.exploitability(game.start(), result.policy).exploitability < span * (
        0.15 if rule == "Exp3" else 0.05
    )
    assert result.value[0] == pytest.approx(ab.simultaneous.solve_matrix(rows).value, abs=0.25 * span)


@when_plain
def test_prisoners_defect_in_every_round():
    search, result = searched(Repeated(3), ab.RegretMatching(), 400, graph=True, evaluate=ab.Uniform())
    assert min(policy[1] for policy in result.policy) > 0.8
    assert result.value == pytest.approx([3.0, 3.0], abs=0.5)  # one a round
    search.advance((0, 0))
    assert min(policy[1] for policy in search.run(visits=100).policy) > 0.8


GOOFSPIEL = Goofspiel(4)  # the first bid is the highest card; after that the bids are mixed


@when_compiled
def test_the_first_bid_of_goofspiel_is_hard_to_exploit():
    solver = Solver(GOOFSPIEL)
    start = GOOFSPIEL.start()
    assert solver.value(start) == pytest.approx(0.0, abs=1e-9)
    search, result = searched(GOOFSPIEL, ab.RegretMatching(), 50_000, graph=True)
    assert ab.simultaneous.exploitability(start, result.policy, solver).exploitability < 0.01
    assert (
        ab.simultaneous.exploitability(start, (np.full(4, 0.25), np.full(4, 0.25)), solver).exploitability > 0.05
    )  # it is not easy
    assert result.value[0] == pytest.approx(0.0, abs=0.1)
    search.advance((0, 3))
    below = search.run(visits=20_000)
    assert solver.value(search.position) == pytest.approx(-3 / 19)
    assert below.value[0] == pytest.approx(-3 / 19, abs=0.01)
    assert 0.1 < below.policy[0].max() < 0.9  # a mixed strategy
    assert ab.simultaneous.exploitability(search.position, below.policy, solver).exploitability < 0.02


@when_plain
def test_the_only_bid_that_matters_is_found_in_plain_python():
    """Two cards, prizes 2 and 1: who bids 2 first cannot lose."""
    game = Goofspiel(2)
    for rule in (ab.RegretMatching(), ab.simultaneous.Equilibrium(), ab.simultaneous.Exp3()):
        _, result = searched(game, rule, 300, evaluate=ab.Uniform(), graph=True)
        assert min(policy[1] for policy in result.policy) > (0.7 if isinstance(rule, ab.simultaneous.Exp3) else 0.9), rule


# --- what a node is worth, and what it keeps ----------------------------------------------------------------------------------


@when_plain
def test_a_node_is_worth_what_its_average_strategies_bring():
    search, result = searched(RPS, ab.RegretMatching(), 200)
    matrix = np.array(RPS.fields["payoffs"][0][:3, :3])
    assert result.value[0] == pytest.approx(result.policy[0] @ matrix @ result.policy[1], abs=1e-9)
    search = ab.Search(RPS, select=ab.RegretMatching(), backup=ab.backup.Mean(), memory="5MB")
    result = search.run(visits=200)
    tried = (result.pairs * np.nan_to_num(result.payoffs[0])[:3, :3]).sum()
    root = search.rooted.graph.nodes[search.rooted.root]
    own = float(search.rooted.graph.headers["value"][search.rooted.root - 1, 0])
    assert result.value[0] == pytest.approx((tried + int(root["own"]) * own) / int(root["visits"]), abs=1e-9)


@when_plain
def test_a_strategy_is_drawn_from_unless_told_otherwise():
    found = {searched(RPS, ab.RegretMatching(), 60, seed=seed)[1].best for seed in range(12)}
    assert len(found) > 2
    settled = ab.Search(RPS, select=ab.RegretMatching(), final=ab.final.MostVisits(), memory="5MB")
    result = settled.run(visits=60)
    assert all(policy[best] == policy.max() for policy, best in zip(result.policy, result.best, strict=True))


def learnt(search):
    """All that is known below the root, by position: visits, totals and strategies, bit for bit."""
    graph, found, new = search.rooted.graph, {}, [(int(search.rooted.root), search.position)]
    while new:
        number, position = new.pop()
        if position.key in found:
            continue
        edges = edge_records(graph, number)
        rows = graph.strategies[number : number + 1 + len(edges)] if len(edges) else np.zeros(0)  # a leaf has none
        found[position.key] = (edges["visits"].tolist(), edges["total"].tolist(), rows.tolist())
        for edge in edges:
            if edge["child"] != NO_NODE:
                new.append((int(edge["child"]), position.after(int(edge["action"]))))
    return found


KEEPERS = [ab.RegretMatching(), ab.simultaneous.Exp3(), ab.simultaneous.Equilibrium()]


@when_plain
@pytest.mark.parametrize("graph", [False, True], ids=["tree", "graph"])
@pytest.mark.parametrize("rule", KEEPERS, ids=lambda rule: type(rule).__name__)
def test_strategies_survive_a_move_a_collection_and_a_file(rule, graph, tmp_path):
    game = Goofspiel(3, returns="points")

    def make():
        return ab.Search(game, select=rule, evaluate=ab.Uniform(), graph=graph, memory="5MB", seed=3)

    search = make()
    search.run(game.start(), visits=150)
    everything = learnt(search)
    pair = tuple(np.argwhere(search.result().pairs == search.result().pairs.max())[0])
    search.advance(tuple(map(int, pair)))
    moved = learnt(search)
    assert moved == {key: everything[key] for key in moved}
    assert any(any(map(any, rows)) for _, _, rows in moved.values())  # there is something to lose
    search.rooted.driver._renumber(collect(search.rooted.graph, search.rooted.root))
    assert learnt(search) == moved
    search.save(tmp_path / "search")
    loaded = make()
    loaded.load(tmp_path / "search")
    assert learnt(loaded) == moved
    assert [policy.tolist() for policy in loaded.run(visits=30).policy] == [
        policy.tolist() for policy in search.run(visits=30).policy
    ]
    assert learnt(loaded) == learnt(search)


@when_plain
@pytest.mark.parametrize("rule", KEEPERS, ids=lambda rule: type(rule).__name__)
def test_memory_that_runs_out_takes_no_sense_from_strategies(rule):
    game = Goofspiel(4)
    search = ab.Search(game, select=rule, evaluate=ab.Uniform(), graph=True, memory="30KB", seed=3)
    result = search.run(visits=250)
    assert result.memory_full
    assert all(policy.sum() == pytest.approx(1.0) and np.isfinite(policy).all() for policy in result.policy)
    search.advance(tuple(result.best))
    assert search.run(visits=50).stats.simulations == 50


@when_plain
@pytest.mark.parametrize("rule", KEEPERS[:2], ids=lambda rule: type(rule).__name__)
def test_counts_add_up_with_means_behind_strategies(rule):
    game = PyRat(3, 3, cheese=2, walls=0.0, mud=0.0, max_turns=6)
    search = ab.Search(game, select=rule, backup=ab.backup.Mean(), evaluate=ab.Uniform(), graph=True, memory="5MB")
    search.run(visits=80)
    assert assert_pairs_add_up(search) > 10


@when_plain
def test_one_seed_one_strategy():
    once, again, other = (searched(RPS, ab.simultaneous.Exp3(), 80, seed=seed)[1].policy for seed in (1, 1, 2))
    assert [p.tolist() for p in once] == [p.tolist() for p in again] != [p.tolist() for p in other]
