"""Tiny games that ask a search one question each, and two games as ordinary Python objects."""

import numpy as np

import anabranch as ab
from anabranch.games import Pig, Treasure
from anabranch.games.tictactoe import WINS, TicTacToe

# --- records and rules -------------------------------------------------------------------------------------------------


class Corridor(ab.Game):
    """One way to go, for a long time; the end pays the first player."""

    players, actions = 2, 1
    state = np.dtype([("left", "i4"), ("turn", "i1")])

    def __init__(self, length=3000):
        super().__init__(left=length)

    @ab.rule
    def setup(state):
        state.turn = 0

    @ab.rule
    def to_play(state):
        return state.turn

    @ab.rule
    def is_legal(state, action):
        return True

    @ab.rule
    def play(state, action):
        state.left -= 1
        state.turn = 1 - state.turn

    @ab.rule
    def is_over(state):
        return state.left == 0

    @ab.rule
    def returns(state, out):
        out[0], out[1] = 1.0, -1.0


PLIES = 5
DUEL_MOVERS = np.array([0, 0, 1, 0, 1])
DUEL_PAYS = np.random.default_rng(1).uniform(-1.0, 1.0, 3**PLIES)
TRIO_MOVERS = np.array([0, 2, 2, 1, 0])
TRIO_PAYS = np.random.default_rng(2).uniform(-1.0, 1.0, (3**PLIES, 3))


class Duel(ab.Game):
    """Five plies of three actions, with movers in no regular order; the end pays by a table."""

    players, actions = 2, 3
    state = np.dtype([("path", "i4"), ("ply", "i4")])

    @ab.rule
    def setup(state):
        state.path = state.ply = 0

    @ab.rule
    def to_play(state):
        return DUEL_MOVERS[min(state.ply, PLIES - 1)]

    @ab.rule
    def is_legal(state, action):
        return True

    @ab.rule
    def play(state, action):
        state.path = 3 * state.path + action
        state.ply += 1

    @ab.rule
    def is_over(state):
        return state.ply == PLIES

    @ab.rule
    def returns(state, out):
        out[0] = DUEL_PAYS[state.path]
        out[1] = -out[0]


class Trio(Duel):
    """The same for three players, each with a payoff of their own."""

    players = 3
    zero_sum = False

    @ab.rule
    def to_play(state):
        return TRIO_MOVERS[min(state.ply, PLIES - 1)]

    @ab.rule
    def returns(state, out):
        for player in range(3):
            out[player] = TRIO_PAYS[state.path, player]


class Percent(TicTacToe):
    """Tic-tac-toe that pays the first player 0, 50 or 100: values that are not centred on 0."""

    value_range = (0.0, 100.0)

    @ab.rule
    def returns(state, out):
        out[0] = 50.0
        if WINS[state.other]:  # by the stone just played
            out[0] = 100.0 if state.turn == 1 else 0.0
        out[1] = -out[0]


class Hunt(Treasure):
    """Rewards on the way, for rules that want to believe that a step is a step."""

    actions_keep_meaning = True


class Dice(Pig):
    """Chance between the decisions, for the same."""

    actions_keep_meaning = True


ECHO_WEIGHTS = np.array([[1, 5, 11, 17], [3, 29, 31, 2], [7, 13, 19, 23]])  # [player, action]
ECHO_PAYS = np.random.default_rng(3).uniform(-1.0, 1.0, 37)  # no two sums are equal, so that rounding decides nothing
ECHO_AGAIN = 3  # the action after which the same player moves once more
ECHO_FADES = 1  # the one that does not keep its meaning, where there is such a one
ECHO_PLIES = 7
ECHO_MOST = 3  # times that an action may be played in a game


class Echo(ab.Game):
    """Seven plies of four actions. Both players play them, several times a game; what was just played may not be played at
    once again. Paths join, turns do not always alternate, and the end pays by who has played what."""

    players, actions = 2, 4
    state = np.dtype([("played", "i1", (3, 4)), ("last", "i1"), ("turn", "i1"), ("ply", "i1")])

    @ab.rule
    def setup(state):
        state.played[:] = 0
        state.last, state.turn, state.ply = -1, 0, 0

    @ab.rule
    def to_play(state):
        return state.turn

    @ab.rule
    def is_legal(state, action):
        times = state.played[0, action] + state.played[1, action] + state.played[2, action]
        return action != state.last and times < ECHO_MOST

    @ab.rule
    def play(state, action):
        state.played[state.turn, action] += 1
        state.last = action
        state.ply += 1
        if action != ECHO_AGAIN:
            state.turn = 1 - state.turn

    @ab.rule
    def is_over(state):
        return state.ply == ECHO_PLIES

    @ab.rule
    def returns(state, out):
        total = 0
        for player in range(2):
            for action in range(4):
                total += ECHO_WEIGHTS[player, action] * state.played[player, action]
        out[0] = ECHO_PAYS[total % 37]
        out[1] = -out[0]


class EchoTrio(Echo):
    """The same for three players, each with a payoff of their own."""

    players = 3
    zero_sum = False

    @ab.rule
    def play(state, action):
        state.played[state.turn, action] += 1
        state.last = action
        state.ply += 1
        if action != ECHO_AGAIN:
            state.turn = (state.turn + 1) % 3

    @ab.rule
    def returns(state, out):
        for player in range(3):
            total = 0
            for action in range(4):
                total += ECHO_WEIGHTS[player, action] * state.played[player, action]
            out[player] = ECHO_PAYS[total % 37]


class EchoFading(Echo):
    """The same, but one of the actions says nothing about itself a few moves earlier."""

    @ab.rule
    def keeps_meaning(state, action):
        return action != ECHO_FADES


# --- Python objects ----------------------------------------------------------------------------------------------------


class Take:
    """Nim with ten stones: take one to three; whoever takes the last one wins."""

    actions = 3

    def __init__(self, stones=10, turn=0):
        self.stones, self.turn = stones, turn

    @property
    def legal_actions(self):
        return [action for action in range(3) if action < self.stones]

    @property
    def to_play(self):
        return self.turn

    @property
    def is_over(self):
        return self.stones == 0

    @property
    def returns(self):
        return [-1.0, 1.0] if self.turn == 0 else [1.0, -1.0]

    def play(self, action):
        return Take(self.stones - action - 1, 1 - self.turn)


class Board:
    """Tic-tac-toe, its facts as methods: rows from the top, x first."""

    actions = 9
    lines = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))

    def __init__(self, cells="........."):
        self.cells = cells

    def legal_actions(self):
        return [cell for cell in range(9) if self.cells[cell] == "."]

    def to_play(self):
        return self.cells.count("x") - self.cells.count("o")

    def winner(self):
        return next((self.cells[a] for a, b, c in self.lines if self.cells[a] == self.cells[b] == self.cells[c] != "."), None)

    def is_over(self):
        return self.winner() is not None or "." not in self.cells

    def returns(self):
        return {"x": [1.0, -1.0], "o": [-1.0, 1.0], None: [0.0, 0.0]}[self.winner()]

    def play(self, action):
        return Board(self.cells[:action] + "xo"[self.to_play()] + self.cells[action + 1 :])

    @staticmethod
    def name_of(action):
        return "abc"[action % 3] + str(3 - action // 3)


class Coin:
    """Stake on a coin that falls right three times in four, or walk away with nothing: chance among Python objects."""

    players, actions, events = 1, 2, 2
    WALK, STAKE = 0, 1

    def __init__(self, stage="choice", won=0.0):
        self.stage, self.won = stage, won

    def legal_actions(self):
        return [] if self.stage == "toss" else [self.WALK, self.STAKE]

    def to_play(self):
        return ab.CHANCE if self.stage == "toss" else 0

    def probabilities(self):
        return [0.25, 0.75]

    def is_over(self):
        return self.stage == "end"

    def returns(self):
        return [self.won]

    def play(self, action):
        if self.stage == "toss":
            return Coin("end", 2.0 * action - 1.0)
        return Coin("toss") if action == self.STAKE else Coin("end")
