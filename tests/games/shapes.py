"""Go positions for what is said of stones: drawn boards, boards out of playouts, and points drawn back."""

from textwrap import dedent

import numpy as np
from tests.reference.go import BLACK

from anabranch.games import rules
from anabranch.games.go import Go, MoGo, RuleSet
from anabranch.games.go.layout import cell_of
from anabranch.games.playout import begin, pick
from anabranch.jit import kernel
from anabranch.jit.random import generator

MARKS = {0: ".", 1: "X", -1: "O"}
DEAD_STONE = """
    . X O . X
    X X O O O
    . X O . O
    X X O O O
    . X O . .
"""  # black has three eyes; white has five points around a dead stone


def rows(text):
    return dedent(text).strip()


def drawn(text, to_play=BLACK, komi=0, rules=None, **points):
    """The position of a drawn board; all stones live and nothing is taxed, unless these points say otherwise."""
    lines = rows(text).splitlines()
    rules = rules or RuleSet(**{"ko": "simple", "dead": "none", **points})
    return Go((len(lines[0].split()), len(lines)), komi=komi, rules=rules).drawn(text, to_play)


def pattern(position, numbers):
    """Numbers of points, drawn: 1 is X, -1 is O."""
    marks = [MARKS[int(number)] for number in numbers]
    width = position.game.width
    return "\n".join(reversed([" ".join(marks[start : start + width]) for start in range(0, len(marks), width)]))


def contents(position):
    """1 for each point with a black stone, -1 for each with a white one."""
    state = position.state
    colours = [int(state.colour[cell_of(state, action)]) for action in range(position.game.actions - 1)]
    return np.array([(0, 1, -1)[colour] for colour in colours])


@kernel
def play_on(states, policy, plies, random, rewards, actions):
    """Moves of a default policy, written down."""
    begin(policy, states[0])
    for ply in range(plies):
        actions[ply] = pick(policy, states[0], random)
        rules.play(states[0], actions[ply], rewards)


def midgame(game, plies, seed):
    """The position after so many moves of a playout."""
    actions = np.zeros(plies, np.int64)
    play_on(game.start().record(), MoGo(), plies, generator(seed), np.zeros(2), actions)
    position = game.start()
    for action in actions:
        position = position.after(int(action))
    return position
