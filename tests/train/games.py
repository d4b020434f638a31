"""Small games that networks see: one with everything that games of turns may have, and one of simultaneous moves."""

import numpy as np

import anabranch as ab
from anabranch.games.goofspiel import POINTS, Goofspiel
from anabranch.games.nim import Nim
from anabranch.games.rules import CHANCE

TOLLS = np.array([0.1, 0.25, 0.45])  # by action: what the mover takes from the other at once
PRIZES = np.array([-0.25, 0.5, 1.0, 2.0])  # by heads: what the end pays to player 0
TURNS = 5


class Tolls(ab.Game):
    """Five turns. A mover takes a toll; a coin that falls on heads raises the prize at the end, and after tails the same player
    moves again. What comes later counts less, and player 0 gets from -1 to 3."""

    players, actions, events = 2, 3, 2
    value_range = (-1.0, 3.0)
    discount = 0.75
    planes = 3, 1, TURNS
    state = np.dtype([("heads", "i1"), ("turn", "i1"), ("thrown", "i1"), ("flying", "i1"), ("toll", "i1")])

    @ab.rule
    def setup(state):
        state.heads, state.turn, state.thrown, state.flying, state.toll = 0, 0, 0, 0, -1

    @ab.rule
    def to_play(state):
        return CHANCE if state.flying else state.turn

    @ab.rule
    def is_legal(state, action):
        return action != state.toll

    @ab.rule
    def chance(state, probabilities):
        probabilities[0], probabilities[1] = 0.75, 0.25

    @ab.rule
    def play(state, action, rewards):
        if state.flying:
            state.heads += action
            state.thrown += 1
            state.flying = 0
            if action == 1:
                state.turn = 1 - state.turn
        else:
            rewards[state.turn] += TOLLS[action]
            rewards[1 - state.turn] -= TOLLS[action]
            state.toll = action
            state.flying = 1

    @ab.rule
    def is_over(state):
        return state.thrown == TURNS

    @ab.rule
    def returns(state, out):
        out[0] = PRIZES[min(state.heads, 3)]
        out[1] = -out[0]

    @ab.rule
    def encode(state, planes):
        planes[0, 0, : state.heads] = 1.0
        planes[1, 0, : state.thrown] = 1.0
        planes[2, 0, 0] = state.turn
        planes[2, 0, 1 + max(state.toll, 0)] = 1.0 if state.toll >= 0 else 0.0
        planes[2, 0, 4] = state.flying


class Crowd(Nim):
    """Nim with so many spectators that a network cannot see them all."""

    state = np.dtype([("stones", "i4"), ("turn", "i1"), ("spectators", "f4", (100_000,))])


class SeenGoofspiel(Goofspiel):
    """Goofspiel for points with three cards, which a network sees: hands, prizes to come, and the round."""

    planes = 4, 1, 4

    def __init__(self):
        super().__init__(cards=3, returns="points")

    @ab.rule
    def encode(state, planes):
        for card in range(state.cards):
            for player in range(2):
                planes[player, 0, card] = np.int64(state.hands[player]) >> card & 1
        for number in range(state.round, state.rounds):
            planes[2, 0, number] = state.prizes[number] / 3.0
        planes[3] = (state.points[0] - state.points[1]) / 6.0 if state.pays == POINTS else 0.0
