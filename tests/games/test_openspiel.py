"""Our rules against OpenSpiel's: legal actions, player to move, end and returns in random games.

Ours run compiled, whole games in one call; some games also go through plain `Position`. `ANABRANCH_RULE_GAMES` says how many
games a game is tested with.

OpenSpiel's Go forbids suicide and the immediate retaking of a ko. A play that brings the stones of any earlier position ends
the game as a draw; our rules forbid it, so here they are followed up to that move and must see the repetition at the same
ply. OpenSpiel also ends games that are too long; a limit that random games do not reach leaves that out.
"""

import os
import random

import numpy as np
import pytest
from tests.conftest import needs

from anabranch.games import ConnectFour, Hex, Othello, TicTacToe, rules
from anabranch.games.go import RULE_SETS, Go
from anabranch.games.go.layout import BLACK, EMPTY, WHITE, cell_of, pass_of
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
ALL_ALIVE = RULE_SETS["chinese"].but(dead="none")
GO = [
    (Go(9, komi=7.5, rules=ALL_ALIVE), "go(board_size=9,komi=7.5,max_game_length=5000)"),
    (Go(3, komi=0, rules=ALL_ALIVE), "go(board_size=3,komi=0.0,max_game_length=5000)"),  # here repetitions and draws do happen
]


def for_each(pairs):
    return pytest.mark.parametrize(("ours", "theirs"), pairs, ids=lambda value: value if isinstance(value, str) else "")


@kernel
def replay(states, actions, legal, listed, to_play, over, returns, keys, repeats, scratch, rewards):
    """Play `actions` from states[0] and write down what the rules say before each of them and after the last.

    legal: by `is_legal`; listed: by `legal_actions`. Both bool, (plies + 1, actions).
    keys: u8, (plies + 1, 2); repeats: whether an earlier one came again by an action that may not bring it.
    """
    states[1] = states[0]
    state = states[1]
    for ply in range(len(actions) + 1):
        over[ply] = rules.is_over(state)
        keys[ply, 0], keys[ply, 1] = rules.repetition_key(state)
        for earlier in range(ply):
            if keys[earlier, 0] == keys[ply, 0] and keys[earlier, 1] == keys[ply, 1] and not rules.may_repeat(state):
                repeats[ply] = True
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


@for_each(PAIRS + GO)
def test_compiled_rules_agree_with_openspiel(ours, theirs):
    chooser = random.Random(theirs)
    game = pyspiel.load_game(theirs)
    assert game.num_distinct_actions() == ours.actions
    states = np.concatenate([ours.start().record()] * 2)
    repeated = 0
    for _ in range(GAMES):
        actions, plies = random_game(game, chooser)
        count = len(plies)
        legal, listed = np.zeros((2, count, ours.actions), bool)
        to_play, over, returns = np.zeros(count, np.int64), np.zeros(count, bool), np.zeros((count, 2))
        keys, repeats = np.zeros((count, 2), np.uint64), np.zeros(count, bool)
        scratch, rewards = np.zeros(ours.actions, np.int64), np.zeros(2)
        replay(states, np.array(actions), legal, listed, to_play, over, returns, keys, repeats, scratch, rewards)
        if ours.repetition != "nothing":
            repeated += repeats.sum()
            over |= repeats
            legal[repeats] = listed[repeats] = False

        expected = np.zeros_like(legal)
        for ply, (their_legal, *_) in enumerate(plies):
            expected[ply, their_legal] = True
        assert (legal == expected).all(), actions
        assert (listed == expected).all(), actions
        assert over.tolist() == [their_end for _, _, their_end, _ in plies], actions
        assert to_play[:-1].tolist() == [their_player for _, their_player, _, _ in plies[:-1]], actions
        assert returns.tolist() == [their_returns for *_, their_returns in plies], actions
    assert repeated or "board_size=3" not in theirs or GAMES < 200  # two in a hundred games of Go on 3x3


@kernel
def replay_go(states, actions, boards):
    """Play `actions` from states[0] and write down the board, point by point, before each of them and after the last."""
    states[1] = states[0]
    state = states[1]
    rewards = boards[0, :0]
    for ply in range(len(actions) + 1):
        for action in range(pass_of(state)):
            boards[ply, action] = state.colour[cell_of(state, action)]
        if ply < len(actions):
            rules.play(state, actions[ply], rewards)


@for_each(GO)
def test_boards_of_go_agree_with_openspiel_after_every_move(ours, theirs):
    chooser = random.Random(f"boards {theirs}")
    game = pyspiel.load_game(theirs)
    states = np.concatenate([ours.start().record()] * 2)
    points = ours.actions - 1
    captures = 0
    for _ in range(GAMES):
        state, actions, planes = game.new_initial_state(), [], []
        while True:
            planes.append(state.observation_tensor(0)[: 3 * points])
            if state.is_terminal():
                break
            actions.append(chooser.choice(state.legal_actions()))
            state.apply_action(actions[-1])
        boards = np.zeros((len(planes), points))
        replay_go(states, np.array(actions), boards)
        for colour, plane in zip((BLACK, WHITE, EMPTY), np.array(planes).reshape(-1, 3, points).swapaxes(0, 1), strict=True):
            assert ((boards == colour) == plane).all(), actions
        captures += (np.diff((boards != EMPTY).sum(axis=1)) < 0).sum()
    assert captures > GAMES / 2  # of two stones or more


@for_each(PAIRS)  # plain Go, which looks for superko at every point, has a judge of its own: test_go_slow_board.py
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
