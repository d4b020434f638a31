"""Proofs where positions come again: what is called certain is so on the line that was played."""

import contextlib

import numpy as np
import pytest

import anabranch as ab
from anabranch.games.position import Position
from anabranch.jit import COMPILED
from tests.conftest import in_soak
from tests.reference.repetitions import CHANCE, OVER, Solver, Table
from tests.search.proofs import OTHERS, QUICK, Trial
from tests.search.tables import game_of, random_table

GAMES = 36 if COMPILED else 3  # of each kind
LOST, WON, NOTHING = (-1.0, 1.0), (1.0, -1.0), (0.0, 0.0)
GRAPHS = [{"graph": True}, {"graph": ab.graphs.GraphOptions(ahead=ab.graphs.Continue())}, {}]
MANY = 2_000 if COMPILED else 200


def table_of(rows, **facts):
    """A table drawn as text, one line a place: its name, who moves there and where that leads (at chance `name:probability`),
    or what the end pays the first player."""
    words = {line.split()[0]: line.split()[1:] for line in rows.strip().splitlines()}
    number = {name: place for place, name in enumerate(words)}
    mover, leads, odds, pays = [], [], [], []
    for who, *targets in words.values():
        events = [target.partition(":") for target in targets]
        mover.append({"chance": CHANCE, "pays": OVER}.get(who) if who in ("chance", "pays") else int(who))
        pays.append((float(targets[0]), -float(targets[0])) if who == "pays" else NOTHING)
        leads.append([] if who == "pays" else [number[name] for name, _, _ in events])
        odds.append(tuple(float(odd) for _, _, odd in events) if who == "chance" else ())
    return Table(players=2, mover=mover, leads=leads, pays=pays, odds=odds, **facts)


LOOP_OF_LUCK = table_of("""
    root  0       toss
    toss  chance  lost:0.6 root:0.4
    lost  pays    -1
""")

# P lets player 0 go on at R, directly or by way of X and C. R wins by two only moves, while "a" is answered by the repetition.
# The win is seen below R, and so from C; that is no proof for "a" once R has been there.
ROUND_TRIP = table_of("""
    P     1     R X
    R     0     W1 C
    X     0     C
    C     1     R
    W1    1     W2
    W2    0     W3 lost
    W3    1     W4
    W4    0     won lost
    won   pays  1
    lost  pays  -1
""")
TO_R, WIN, AROUND = 0, 0, 1

# X is worth a half, for sure, if it comes before A, whose own half it may lead to. On the way by A it is not.
SETTLED_ELSEWHERE = table_of("""
    A     0       half C
    C     chance  X:0.5 won:0.5
    X     1       A half
    half  pays    0.5
    won   pays    1
""")

SELF_LOOP = table_of("""
    root  0     root on
    on    1     on won
    won   pays  1
""", repetition="loss")  # fmt: skip


@pytest.mark.parametrize("options", GRAPHS, ids=repr)
def test_a_draw_by_repetition_is_part_of_an_expectation(options):
    game = game_of(LOOP_OF_LUCK)
    assert Solver(LOOP_OF_LUCK).value(0, ()) == ((-0.6,), (-0.6,))
    result = ab.Search(game, prove=True, **options).run(visits=MANY)
    assert result.value == pytest.approx(-0.6, abs=0.05 if COMPILED else 0.15)
    assert not any(move.proven and move.value != pytest.approx(-0.6) for move in result.moves)


@pytest.mark.parametrize("options", GRAPHS, ids=repr)
def test_what_was_proven_through_the_new_root_is_forgotten_when_the_root_moves(options):
    game, exact = game_of(ROUND_TRIP), Solver(ROUND_TRIP)
    assert exact.action_value(1, WIN, (0,)) == ((1.0,), (1.0,))
    assert exact.action_value(1, AROUND, (0,)) == ((0.0,), (0.0,))
    for seed in range(100 if COMPILED else 5):
        search = ab.Search(game, prove=True, seed=seed, memory="4MB", **options)
        search.run(visits=300)
        search.advance(TO_R)
        result = search.run(visits=300)
        around = next(move for move in result.moves if move.action == AROUND)
        assert result.best == WIN
        assert not around.proven or around.value == 0.0


@pytest.mark.parametrize("options", GRAPHS, ids=repr)
def test_what_is_settled_elsewhere_need_not_be_so_on_this_path(options):
    game = game_of(SETTLED_ELSEWHERE)
    assert Solver(SETTLED_ELSEWHERE).value(0, ()) == ((0.5,), (0.5,))
    for seed in range(10):
        search = ab.Search(game, prove=True, seed=seed, memory="4MB", **options)
        for position in (game.position([1, 0]).without_past(), game.start()):
            result = search.run(position, visits=200 if COMPILED else 50)
        assert all(move.value == 0.5 for move in result.moves if move.proven)
        assert search.graph.nodes["low"][0, 0] <= 0.5 <= search.graph.nodes["high"][0, 0]


def test_whoever_leads_back_to_the_same_position_has_lost_and_the_other_way_is_proven():
    game = game_of(SELF_LOOP)
    for threads in (1, 2, 4) if COMPILED else (1,):
        for seed in range(5):
            result = ab.Search(game, graph=True, prove=True, seed=seed, threads=threads, memory="4MB").run(visits=100)
            assert result.best == 1
            assert all(move.value == 1.0 for move in result.moves if move.proven)


@pytest.mark.when_compiled
@pytest.mark.parametrize("kind", [*QUICK, *(pytest.param(kind, marks=in_soak) for kind in OTHERS)], ids=str)
def test_nothing_that_is_called_proven_is_wrong(kind):
    verdicts = [Trial(seed, kind).play() for seed in range(GAMES)]
    wrong = [str(verdict) for verdict in verdicts if verdict.faults]
    assert not wrong, f"{len(wrong)} of {GAMES}, the first of them: {wrong[0]}"
    assert sum(verdict.proven for verdict in verdicts) > GAMES / 6 or not COMPILED


# --- the reference itself ---------------------------------------------------------------------------------------------------


def by_the_rules(position: Position) -> float:
    """What a position is worth to the first player, by playing every line to its end."""
    if position.is_over:
        return position.returns[0]
    game = position.game
    values = {}
    for action in position.legal_actions:
        if game.repetition == "forbidden" and game.would_repeat(position, action):
            continue
        after = position.play(action)
        paid = (after.rewards[0] - position.rewards[0]) / game.discount ** len(position.moves)
        values[action] = paid + game.discount * by_the_rules(after)
    if position.to_play == CHANCE:
        return sum(position.probabilities[event] * value for event, value in values.items())
    if not values:  # all that could be played is forbidden
        low, high = game.value_range
        return game.discount * (low if position.to_play == 0 else high)
    return max(values.values()) if position.to_play == 0 else min(values.values())


def test_the_reference_agrees_with_the_rules_that_positions_follow():
    random = np.random.default_rng(5)
    seen = 0
    while seen < (60 if COMPILED else 10):
        table = random_table(random, rewards=seen % 3 == 2)
        if len(table.mover) > 6 or (CHANCE in table.mover and table.repetition != "draw"):
            continue
        seen += 1
        assert Solver(table).value(0, ())[0][0] == pytest.approx(by_the_rules(game_of(table).start()))


def test_a_forbidden_repetition_is_not_chosen_even_beside_a_move_that_is_proven_lost():
    table = table_of(
        """
        first  0     second
        second 1     here
        here   0     lost first
        lost   pays  -1
        """,
        repetition="forbidden",
    )
    position = game_of(table).position([0, 0])
    for seed in range(20):
        result = ab.Search(game_of(table), graph=True, prove=True, evaluate=ab.Rollout(cutoff=20), seed=seed).run(
            position, visits=20
        )
        assert result.best in position.legal_actions


@pytest.mark.parametrize("graph", [False, True], ids=["tree", "graph"])
def test_a_forbidden_repetition_is_not_chosen_before_anything_was_tried_nor_if_it_stays_at_the_root(graph):
    table = table_of(
        """
        first  0     second
        second 1     here
        here   0     lost first here
        lost   pays  -1
        """,
        repetition="forbidden",
    )
    game = game_of(table)
    for seed in range(20):
        search = ab.Search(game, graph=graph, evaluate=ab.Rollout(cutoff=20), seed=seed, memory="1MB")
        search.run(game.position([0]), visits=1)
        search.advance(0)
        assert search.result().best in search.position.legal_actions
        for _ in range(5):
            assert search.run(visits=1).best in search.position.legal_actions


@pytest.mark.parametrize("graph", [False, True], ids=["tree", "graph"])
def test_a_principal_variation_begins_with_the_best_move_even_if_a_forbidden_one_has_more_visits(graph):
    table = table_of(
        """
        first  0     second
        second 1     here
        here   0     lost first here
        lost   pays  -1
        """,
        repetition="forbidden",
    )
    game = game_of(table)
    for seed in range(20):
        search = ab.Search(game, graph=graph, evaluate=ab.Rollout(cutoff=20), seed=seed, memory="1MB")
        result = search.run(game.position([0, 0]), visits=9)
        assert result.pv[0] == result.best == 0


def test_a_principal_variation_that_comes_back_to_the_root_still_begins_with_the_best_move():
    table = table_of(
        """
        root   0     won there
        there  1     root
        won    pays  1
        """,
        repetition="draw",
    )
    search = ab.Search(game_of(table), graph=True, evaluate=ab.Rollout(cutoff=20), memory="1MB")
    search.run(visits=50)
    assert search.run(visits=5, actions=[1]).pv[:2] == [1, 0]


def test_where_all_that_can_be_played_is_forbidden_something_is_chosen_all_the_same():
    table = table_of(
        """
        first  0     second
        second 1     here
        here   0     first second
        """,
        repetition="forbidden",
    )
    search = ab.Search(game_of(table), graph=True, evaluate=ab.Rollout(cutoff=20), memory="1MB")
    with contextlib.suppress(ab.errors.GameError):  # nothing can be played, and the game is not over
        assert search.run(game_of(table).position([0, 0]), visits=5).best in (0, 1)
