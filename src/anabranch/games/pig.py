"""Pig: a dice game with chance between the decisions.

The mover rolls as often as it dares and adds up the faces in a pot; a 1 loses the pot and the turn, holding banks it.
Chance events 0 to 5 are the faces 1 to 6. A player must roll before holding, so no turn is passed.
"""

import numpy as np

from anabranch.errors import GameError
from anabranch.games.game import Game, rule
from anabranch.games.rules import CHANCE

ROLL, HOLD = 0, 1
FACES = 6
HIGHEST_TARGET = 1000


class Pig(Game):
    """Roll or hold; whoever first banks the target wins, but a 1 loses the pot."""

    players, actions, events = 2, 2, FACES
    actions_keep_meaning = False  # rolling with another pot has another effect
    state = np.dtype(
        [
            ("target", "i4"),
            ("scores", "i4", (2,)),  # banked, by player
            ("pot", "i4"),  # rolled in this turn and not yet banked
            ("turn", "i1"),
            ("rolling", "i1"),  # 1: the die is in the air
        ]
    )

    def __init__(self, target: int = 20) -> None:
        if not isinstance(target, (int, np.integer)) or not 1 <= target <= HIGHEST_TARGET:
            raise GameError(f"Pig is played up to a target of 1 to {HIGHEST_TARGET}, not {target!r}")
        super().__init__(target=int(target))

    @rule
    def setup(state):
        state.scores[:] = 0
        state.pot, state.turn, state.rolling = 0, 0, 0

    @rule
    def to_play(state):
        return CHANCE if state.rolling else state.turn

    @rule
    def is_legal(state, action):
        return action == ROLL or state.pot > 0

    @rule
    def chance(state, probabilities):
        for face in range(FACES):
            probabilities[face] = 1.0 / FACES

    @rule
    def play(state, action):
        if state.rolling:
            state.rolling = 0
            if action == 0:  # the face 1
                state.pot = 0
                state.turn = 1 - state.turn
            else:
                state.pot += action + 1
        elif action == ROLL:
            state.rolling = 1
        else:
            state.scores[state.turn] += state.pot
            state.pot = 0
            state.turn = 1 - state.turn

    @rule
    def is_over(state):
        return max(state.scores[0], state.scores[1]) >= state.target

    @rule
    def returns(state, out):
        winner = 0 if state.scores[0] >= state.target else 1
        out[winner], out[1 - winner] = 1.0, -1.0

    def name_of(self, action):
        return ("roll", "hold")[action]

    def event_name(self, event):
        return str(event + 1)

    def text(self, state):
        doing = "rolls" if state.rolling else "to decide"
        return f"{state.scores[0]} to {state.scores[1]} of {state.target}, pot {state.pot}, player {state.turn} {doing}"
