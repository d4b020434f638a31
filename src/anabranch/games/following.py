"""Moves in many positions of one game at once, played by a kernel: plain Python takes ten times as long (`position.py`).

following = all_after(positions, edges)      `position.after(edge)` of each
"""

from collections.abc import Sequence

import numpy as np

from anabranch.games import rules
from anabranch.games.position import Position
from anabranch.jit import kernel


def all_after(positions: Sequence[Position], edges: Sequence[int]) -> list[Position]:
    """Each of these positions after an action or event, the number of an edge, that is known to be legal there."""
    if not positions:
        return []
    game, count = positions[0].game, len(positions)
    states = np.frombuffer(bytearray(b"".join(position.data for position in positions)), game.record)
    rewards, players, over = np.zeros((count, game.players)), np.zeros(count, np.int64), np.zeros(count, np.bool_)
    play_all(states, np.array(edges, np.int64), states[:1].copy(), rewards, players, over)
    found = []
    for i, (position, edge) in enumerate(zip(positions, edges, strict=True)):
        following = position.followed_by(edge, states[i : i + 1].copy(), rewards[i])
        following.note(int(players[i]), bool(over[i]))
        found.append(following)
    return found


@kernel
def play_all(states, edges, scratch, rewards, players, over):
    """Play a move in each state, and write what it pays, who is to move then, and whether the game is over. Rules may use
    scratch fields of a state, so only copies are asked."""
    for i in range(len(states)):
        rules.play(states[i], edges[i], rewards[i])
        scratch[0] = states[i]
        players[i] = rules.to_play(scratch[0])
        scratch[0] = states[i]
        over[i] = rules.is_over(scratch[0])
