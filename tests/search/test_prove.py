"""Proven values: certain wins, losses and draws, and nothing that is not."""

import functools

import numpy as np
import pytest

import anabranch as ab
from anabranch.games import ConnectFour, Nim, TicTacToe, Treasure, TriNim
from anabranch.jit import COMPILED
from tests.conftest import in_soak, needs, when_compiled
from tests.search.games import Duel, Trio

BOTH = pytest.mark.parametrize("graph", [False, True], ids=["tree", "graph"])
PLENTY = 200_000 if COMPILED else 3000
VISITS = 3000 if COMPILED else 400


@functools.cache
def best(position):
    """What each player gets if all play for themselves, as a set: a player may be indifferent."""
    if position.is_over:
        return frozenset([tuple(position.returns)])
    results = [best(position.play(action)) for action in position.legal_actions]
    mover = position.to_play
    sure = max(min(result[mover] for result in results_of) for results_of in results)
    return frozenset(result for results_of in results for result in results_of if result[mover] >= sure)


@pytest.mark.parametrize(
    "graph", [pytest.param(False, marks=pytest.mark.when_compiled, id="tree"), pytest.param(True, id="graph")]
)
def test_tic_tac_toe_is_proven_a_draw(graph):
    position = TicTacToe().start() if COMPILED else TicTacToe().position(["a1", "b2", "c3", "a3"])
    result = ab.Search(TicTacToe(), graph=graph, prove=True).run(position, visits=PLENTY)
    assert result.proven
    assert result.stopped_by == "proven"
    assert result.stats.simulations < PLENTY
    assert result.value == next(iter(best(position)))[position.to_play]
    assert "(proven)" in str(result)


@in_soak
@pytest.mark.parametrize("stones", range(1, 13))
def test_nim_is_proven_as_theory_has_it(stones):
    position = Nim().position(["1"] * (21 - stones) if stones % 2 else ["2"] + ["1"] * (19 - stones))
    assert position.state.stones == stones
    result = ab.Search(Nim(), graph=True, prove=True).run(position, visits=PLENTY)
    assert result.proven
    assert result.value == (-1.0 if stones % 4 == 0 else 1.0)
    if stones % 4:
        assert result.best == stones % 4 - 1


@pytest.mark.when_compiled
@pytest.mark.parametrize(
    "game", [*(pytest.param(game, marks=in_soak) for game in (Duel(), Trio())), TriNim(3), TriNim(9)], ids=repr
)
def test_what_is_proven_is_what_brute_force_finds(game):
    position = game.start()
    result = ab.Search(game, graph=True, prove=True).run(position, visits=PLENTY)
    values = {outcome[position.to_play] for outcome in best(position)}
    assert len(values) == 1 or not result.proven  # a player who does not care may decide it either way
    assert result.proven or len(values) > 1 or not COMPILED
    value = result.value if game.value_width() == 1 else result.value[position.to_play]
    if result.proven:
        assert {value} == values
        assert {outcome[position.to_play] for outcome in best(position.play(result.best))} == values


@in_soak
def test_rewards_on_the_way_are_part_of_what_is_proven():
    game = Treasure(3)

    @functools.cache
    def most(position):
        if position.is_over:
            return position.returns[0] * game.discount ** len(position.moves) + position.rewards[0]
        return max(most(position.play(action)) for action in position.legal_actions)

    result = ab.Search(game, graph=True, prove=True).run(visits=PLENTY)
    assert result.proven
    assert result.value == pytest.approx(most(game.start()))


class Sharing(ab.Game):
    """The first player goes in or stays out; inside, the second has a sure best move and one that is never settled."""

    players, actions = 2, 3
    zero_sum = False
    state = np.dtype([("place", "i4"), ("steps", "i4")])

    @ab.rule
    def setup(state):
        state.place = state.steps = 0

    @ab.rule
    def to_play(state):
        return 0 if state.place == 0 or state.steps % 2 == 1 else 1

    @ab.rule
    def is_legal(state, action):
        return action < 2 or state.place == 1

    @ab.rule
    def play(state, action):
        if state.place == 0:
            state.place = 1 + action  # inside, or out: 2
        elif state.place == 1:
            state.place = 3 + action
        else:
            state.steps += 1  # place 5: on and on

    @ab.rule
    def is_over(state):
        return 2 <= state.place <= 4 or state.steps >= 40

    @ab.rule
    def returns(state, out):
        out[0], out[1] = (0.0, 0.0) if state.place == 2 else (0.5, 1.0) if state.place == 3 else (-1.0, -1.0)


@in_soak
@pytest.mark.when_compiled
def test_a_proven_move_still_gets_the_visits_that_decide_what_others_get():
    for seed in range(6):
        result = ab.Search(Sharing(), graph=True, prove=True, seed=seed, evaluate=ab.Uniform()).run(visits=VISITS)
        assert result.best == 0
        assert result.value[0] > 0.2


class Lottery(ab.Game):
    """One ply; the end pays by a throw."""

    players, actions = 1, 2
    zero_sum = False
    value_range = (0.0, 1.0)
    state = np.dtype([("chosen", "i1")])

    @ab.rule
    def setup(state):
        state.chosen = -1

    @ab.rule
    def to_play(state):
        return 0

    @ab.rule
    def is_legal(state, action):
        return True

    @ab.rule
    def play(state, action):
        state.chosen = action

    @ab.rule
    def is_over(state):
        return state.chosen >= 0

    @ab.rule
    def returns(state, out, random):
        out[0] = 1.0 if ab.uniform(random) < (0.8 if state.chosen == 1 else 0.3) else 0.0


@pytest.mark.parametrize(
    "options", [{}, *(pytest.param({"graph": True} | more, marks=in_soak) for more in ({}, {"prove": True}))], ids=repr
)
def test_an_end_that_is_a_draw_of_luck_is_averaged_and_proves_nothing(options):
    result = ab.Search(Lottery(), select=ab.UCT(c=50.0), **options).run(visits=4000 if COMPILED else 600)
    assert not result.proven
    values = {move.action: move.value for move in result.moves}
    assert values[1] == pytest.approx(0.8, abs=0.05 if COMPILED else 0.12)
    assert values[0] == pytest.approx(0.3, abs=0.05 if COMPILED else 0.12)
    assert ab.check(Lottery()).ok or not COMPILED


@when_compiled
def test_connect_four_endings_are_solved_as_bitbully_says():
    needs("bitbully")
    from bitbully import BitBully, Board

    game, solver = ConnectFour(), BitBully(opening_book=None)
    random = np.random.default_rng(5)
    seen = 0
    while seen < 60:
        position = game.start()
        while not position.is_over and len(position.moves) < 42 - 14:
            position = position.play(int(random.choice(position.legal_actions)))
        if position.is_over:
            continue
        seen += 1
        result = ab.Search(game, graph=True, prove=True, seed=seen).run(position, visits=1_000_000)
        assert result.proven
        scores = solver.score_all_moves(Board(list(position.moves)))
        assert result.value == np.sign(max(scores.values()))
        assert np.sign(scores[result.best]) == result.value


def test_a_win_that_is_seen_is_played_even_with_few_visits():
    position = ConnectFour().position("dcdcd")  # the second player must answer at d; then look a ply further
    result = ab.Search(ConnectFour(), graph=True, prove=True).run(position.play("c"), visits=300)
    assert result.proven
    assert result.best_name == "d"
    assert result.value == 1.0
