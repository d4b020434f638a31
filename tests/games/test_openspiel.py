"""Our rules against OpenSpiel's: legal actions, player to move, end and returns in random games.

Ours run compiled, whole batches of games in one call; some games also go through plain `Position`.
`ANABRANCH_RULE_GAMES` says how many games a game is tested with.
"""

import os
import random

import numpy as np
import pytest
from tests.conftest import needs

from anabranch.games import ConnectFour, Hex, Othello, TicTacToe, rules
from anabranch.jit import kernel

needs("pyspiel")
import pyspiel  # noqa: E402

GAMES = int(os.environ.get("ANABRANCH_RULE_GAMES", "1000"))
PLAIN_GAMES = 20
PAIRS = [
    (TicTacToe(), "tic_tac_toe"),
    (ConnectFour(), "connect_four"),
    (Othello(), "othello"),
    (Hex(4), "hex(board_size=4)"),
    (Hex(11), "hex(board_size=11)"),
]
BY_NAME = pytest.mark.parametrize(("ours", "theirs"), PAIRS, ids=lambda value: value if isinstance(value, str) else "")


@kernel
def replay(states, actions, legal, listed, to_play, over, returns, scratch, rewards):
    """Play `actions` from states[0] and write down what the rules say before each of them and after the last.

    legal: by `is_legal`; listed: by `legal_actions`. Both bool, (plies + 1, actions).
    """
    states[1] = states[0]
    state = states[1]
    for ply in range(len(actions) + 1):
        over[ply] = rules.is_over(state)
        if over[ply]:
            rules.returns(state, returns[ply], scratch)
        else:
            to_play[ply] = rules.to_play(state)
            for action in range(rules.action_limit(state)):
                legal[ply, action] = rules.is_legal(state, action)
            for i in range(rules.legal_actions(state, scratch)):
                listed[ply, scratch[i]] = True
        if ply < len(actions):
            rules.play(state, actions[ply], rewards)


def random_game(theirs, chooser):
    """OpenSpiel's account of a random game: actions, and at each ply legal actions, player, end and returns."""
    state = theirs.new_initial_state()
    actions, plies = [], []
    while True:
        plies.append((state.legal_actions(), state.current_player(), state.is_terminal(), state.returns()))
        if state.is_terminal():
            return actions, plies
        actions.append(chooser.choice(plies[-1][0]))
        state.apply_action(actions[-1])


@BY_NAME
def test_compiled_rules_agree_with_openspiel(ours, theirs):
    chooser = random.Random(theirs)
    game = pyspiel.load_game(theirs)
    assert game.num_distinct_actions() == ours.actions
    states = np.concatenate([ours.start().record()] * 2)
    for _ in range(GAMES):
        actions, plies = random_game(game, chooser)
        count = len(plies)
        legal, listed = np.zeros((2, count, ours.actions), bool)
        to_play, over, returns = np.zeros(count, np.int64), np.zeros(count, bool), np.zeros((count, 2))
        scratch, rewards = np.zeros(ours.actions, np.int64), np.zeros(2)
        replay(states, np.array(actions), legal, listed, to_play, over, returns, scratch, rewards)

        expected = np.zeros_like(legal)
        for ply, (their_legal, *_) in enumerate(plies):
            expected[ply, their_legal] = True
        assert (legal == expected).all(), actions
        assert (listed == expected).all(), actions
        assert over.tolist() == [their_end for _, _, their_end, _ in plies], actions
        assert to_play[:-1].tolist() == [their_player for _, their_player, _, _ in plies[:-1]], actions
        assert returns.tolist() == [their_returns for *_, their_returns in plies], actions


@BY_NAME
def test_plain_positions_agree_with_openspiel(ours, theirs):
    chooser = random.Random(f"plain {theirs}")
    game = pyspiel.load_game(theirs)
    for _ in range(min(PLAIN_GAMES, GAMES)):
        actions, plies = random_game(game, chooser)
        position = ours.start()
        for ply, (legal, player, end, returns) in enumerate(plies):
            assert position.legal_actions == legal
            assert position.is_over == end
            assert position.returns == returns
            if not end:
                assert position.to_play == player
                position = position.play(actions[ply])
