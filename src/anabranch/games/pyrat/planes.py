"""What a network sees of a PyRat position, always from player 0's side; it is asked for both players' values.

Planes show what the key tells (`keys.py`), and the maze. Rows are from the bottom, as cells are counted.
"""

import functools

import numpy as np

from anabranch.games.pyrat.layout import DOWN, HIGHEST_MUD, LEFT, RIGHT, STAY, UP, cost, has
from anabranch.games.symmetry import Symmetries, dihedral
from anabranch.jit import helper

WALLS, MUD, CHEESE, PLAYERS, STUCK, SCORES, TURNS = 0, 4, 8, 9, 11, 13, 15
PLANES = 16


@helper
def fill_planes(state, planes):
    """Where there is no way up, right, down, left; how much longer mud makes a step up, right, down, left; cheese; player 0;
    player 1; and, all over the board: how long each is still stuck, each one's share of all cheese so far, and the share of
    turns that are left (nothing if the key does not tell the turn). Times in mud are shares of the longest one."""
    width = int(state.width)
    for y in range(state.height):
        for x in range(width):
            cell = y * width + x
            for direction in range(STAY):
                turns = cost(state, cell, direction)
                if turns == 0:
                    planes[WALLS + direction, y, x] = 1.0
                else:
                    planes[MUD + direction, y, x] = (turns - 1) / HIGHEST_MUD
            if has(state.cheese, cell):
                planes[CHEESE, y, x] = 1.0
    for player in range(2):
        place = int(state.place[player])
        planes[PLAYERS + player, place // width, place % width] = 1.0
        planes[STUCK + player] = state.stuck[player] / HIGHEST_MUD
        planes[SCORES + player] = 0.5 * state.points[player] / state.total
    if state.turn_in_key != 0:
        planes[TURNS] = 1.0 - state.turn / state.max_turns


@functools.cache
def symmetries_of(height: int, width: int) -> Symmetries:
    """Rotations and reflections of the board, first with each player's planes in their places, then with them exchanged."""
    points = dihedral(height, width)
    actions = np.array([_turned(way, width) for way in points])
    channels = np.tile(np.arange(PLANES), (2 * len(points), 1))
    channels[:, WALLS : WALLS + STAY] = WALLS + np.tile(actions[:, :STAY], (2, 1))
    channels[:, MUD : MUD + STAY] = MUD + np.tile(actions[:, :STAY], (2, 1))
    for planes in (PLAYERS, STUCK, SCORES):
        channels[len(points) :, [planes, planes + 1]] = planes + 1, planes
    players = np.repeat([[0, 1], [1, 0]], len(points), axis=0)
    return Symmetries(np.tile(points, (2, 1)), np.tile(actions, (2, 1)), channels, players)


def _turned(points: np.ndarray, width: int) -> list[int]:
    """Which action each action was: a step between two cells, seen where they came from."""
    steps = {(0, 1): UP, (1, 0): RIGHT, (0, -1): DOWN, (-1, 0): LEFT}
    was = [STAY] * (STAY + 1)
    for (dx, dy), action in steps.items():
        cell = max(-dx, 0) + max(-dy, 0) * width  # one that has a neighbour there
        here, there = int(points[cell]), int(points[cell + dx + dy * width])
        was[action] = steps[there % width - here % width, there // width - here // width]
    return was
