"""What networks learn of positions: policies, values and planes, the same from all sides."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import anabranch as ab
from anabranch.games.connectfour import ConnectFour
from anabranch.games.encoding import encode
from anabranch.games.go import Go
from anabranch.games.goofspiel import Goofspiel
from anabranch.games.hex import Hex
from anabranch.games.othello import Othello
from anabranch.games.registry import load
from anabranch.games.symmetry import Symmetries, mirror
from anabranch.games.tictactoe import TicTacToe
from anabranch.train.game_file import row_type
from anabranch.train.settings import TargetSettings
from anabranch.train.targets import LONG, MOST_WEIGHT, SHORT, encoded, values, weights_of
from tests.reference import training

SYMMETRIC = [TicTacToe(), ConnectFour(), Othello(), Hex(4), Go(5)]


class Side:
    """Chooses this symmetry for all rows."""

    def __init__(self, number):
        self.number = number

    def integers(self, count, size):
        assert self.number < count
        return np.full(size, self.number)


def rows_of(game, position, seed=0):
    """A row with a random policy over legal actions; any of them is the reply."""
    random, row = np.random.default_rng(seed), np.zeros(1, row_type(game))
    legal = position.legal_actions
    row["state"] = position.data
    row["policy"][0, legal] = random.dirichlet(np.ones(len(legal)))
    row["reply"] = random.choice(legal)
    return row


def random_position(game, seed, plies):
    random, position = np.random.default_rng(seed), game.start()
    for _ in range(plies):
        following = position.play(int(random.choice(position.legal_actions)))
        if following.is_over:
            break
        position = following
    return position


@pytest.mark.parametrize("game", SYMMETRIC, ids=repr)
def test_planes_policy_and_reply_turn_together(game):
    ways, points = game.symmetries(), game.planes[1] * game.planes[2]
    start = encode(game, game.start().record())[0].reshape(game.planes[0], points)
    position = random_position(game, seed=3, plies=7)
    rows = rows_of(game, position)
    plain = rows["policy"][0].astype(float) / rows["policy"][0].astype(float).sum()
    followed = 0
    for side in range(len(ways)):
        batch = encoded(game, rows, TargetSettings(), Side(side))
        gone = {int(ways.actions[side, action]): action for action in range(game.actions)}
        for action in range(game.actions):
            assert np.isclose(batch.policy[0, 0, gone[action]], plain[action], atol=1e-6)
        assert batch.reply[0] == gone[int(rows["reply"][0])]
        if np.array_equal(start[:, ways.points[side]], start):  # then the image of the game is a game
            followed += 1
            image = game.position([gone[action] for action in position.moves])
            assert np.array_equal(batch.planes[0], encode(game, image.record())[0])
            assert set(np.flatnonzero(batch.policy[0, 0])) <= set(image.legal_actions)
    assert followed >= 2


def test_each_row_has_a_side_of_its_own():
    game = TicTacToe()
    rows = np.repeat(rows_of(game, game.position([0, 4])), 200)
    batch = encoded(game, rows, TargetSettings(), np.random.default_rng(0))
    assert len({planes.tobytes() for planes in batch.planes}) == 4 and (batch.policy.sum(2) > 0.999).all()


def test_both_players_have_a_policy_that_sums_to_one():
    game = load("tests.train.games:SeenGoofspiel")
    rows = np.zeros(2, row_type(game))
    rows["state"] = game.start().data
    rows["policy"][0] = [0.5, 0.25, 0.125, 0.0, 0.0, 0.5]
    batch = encoded(game, rows, TargetSettings(), np.random.default_rng(0))
    assert batch.policy.shape == (2, 2, 3)
    assert np.allclose(batch.policy[0].sum(1), 1.0) and batch.policy[0, 1].tolist() == [0.0, 0.0, 1.0]
    assert not batch.policy[1].any(), "without a target nothing is learnt"
    assert (batch.reply == -1).all()


class Backwards(Goofspiel):
    """A game of which somebody says that all cards may be turned round, for both players alike."""

    planes = 1, 1, 3

    @ab.rule
    def encode(state, planes):
        for card in range(3):
            planes[0, 0, card] = state.hands[0] >> card & 1

    def symmetries(self):
        return Symmetries(mirror(1, 3), mirror(1, 3))


def test_both_players_policies_turn_with_the_planes():
    game = Backwards(cards=3)
    rows = np.zeros(1, row_type(game))
    rows["state"], rows["policy"][0] = game.position([(0, 1)]).data, [0.0, 0.25, 0.75, 0.5, 0.0, 0.5]
    plain, turned = (encoded(game, rows, TargetSettings(), Side(side)) for side in range(2))
    assert np.array_equal(turned.planes, plain.planes[..., ::-1]) and np.array_equal(turned.policy, plain.policy[..., ::-1])
    assert plain.policy[0].tolist() == [[0.0, 0.25, 0.75], [0.5, 0.0, 0.5]]


def test_the_moves_left_are_learnt_on_a_logarithmic_scale():
    game = TicTacToe()
    rows = np.repeat(rows_of(game, game.start()), 3)
    rows["left"] = [0, 52, 65535]
    batch = encoded(game, rows, TargetSettings(), np.random.default_rng(0))
    assert np.allclose(batch.left, [np.log(SHORT / LONG), 0.0, np.log((65535 + SHORT) / LONG)])


# --- values ---


@given(st.floats(-1, 1), st.floats(-1, 1), st.floats(0, 1), st.booleans())
def test_values_mix_outcome_and_search_unless_they_are_proven(outcome, search, share, proven):
    game = TicTacToe()
    rows = np.zeros(1, row_type(game))
    rows["outcome"], rows["search"], rows["proven"] = outcome, search, proven
    (value,) = values(game, rows, TargetSettings(outcome=share))
    expected = search if proven else share * outcome + (1 - share) * search
    assert np.allclose(value, expected, atol=1e-6)


def test_values_of_a_lopsided_game_are_scaled_in_the_view_of_who_moves():
    game = load("tests.train.games:Tolls")  # player 0 gets -1 to 3, player 1 -3 to 1
    first, second = game.start(), game.position([0, 1])
    assert (first.to_play, second.to_play) == (0, 1)
    rows = np.zeros(6, row_type(game))
    paid = [(first, -1), (first, 1), (first, 3), (second, -3), (second, -1), (second, 1)]
    for i, (position, outcome) in enumerate(paid):
        rows["state"][i], rows["outcome"][i] = position.data, outcome
    assert values(game, rows, TargetSettings(outcome=1.0))[:, 0].tolist() == [-1, 0, 1, -1, 0, 1]


def test_values_beyond_the_range_are_cut():
    rows = np.zeros(2, row_type(TicTacToe()))
    rows["outcome"] = [[5], [-5]]
    assert values(TicTacToe(), rows, TargetSettings())[:, 0].tolist() == [1, -1]


# --- weights ---

POLICIES = arrays(np.float64, (6, 2, 9), elements=st.floats(0.0, 1.0, width=16)).filter(
    lambda drawn: (drawn.sum(2) > 0.1).all()
)


@given(POLICIES, st.floats(0, 1))
def test_weights_go_by_surprise(drawn, share):
    rows = np.zeros(6, row_type(TicTacToe()))
    drawn = drawn / drawn.sum(2, keepdims=True)
    rows["policy"], rows["prior"] = drawn[:, 0], drawn[:, 1]
    found = weights_of(rows, TargetSettings(surprise=share))
    expected = training.weights(rows["policy"], rows["prior"], share, MOST_WEIGHT)
    assert np.allclose(found, expected, rtol=1e-3, atol=1e-3)
    assert found.mean() <= 1.0 + 1e-3 and found.min() >= 0.0


def test_without_surprises_all_weights_are_alike():
    rows = np.zeros(4, row_type(TicTacToe()))
    rows["policy"] = rows["prior"] = 1 / 9
    for share in (0.0, 0.5, 1.0):
        assert weights_of(rows, TargetSettings(surprise=share)).tolist() == [1.0] * 4
    assert len(weights_of(rows[:0], TargetSettings())) == 0
