"""What training computes, slowly and from the definitions: rows of a game, targets, the window, the learning rate."""

import functools
import math
from itertools import pairwise
from typing import Any, NamedTuple

from anabranch.games.rules import CHANCE, EVERYONE

# --- the rows of a game -------------------------------------------------------------------------------------------------------


class Decision(NamedTuple):
    """A position along a game at which somebody decides."""

    position: Any
    ply: int
    left: int
    reply: int
    outcome: list[float]  # to each player


def decisions(game, played) -> list[Decision]:
    """All decisions of a finished game after its opening, from its moves alone."""
    positions = [game.start_on(played.board)]
    for move in played.moves:
        positions.append(positions[-1].play(move))
    end, plies, discount = positions[-1], len(played.moves), game.discount
    if played.ending == "over":
        assert end.is_over
        final = end.returns
    elif played.ending == "cap":
        low, high = game.value_range
        final = [(low + high) / 2] * game.players
        if game.value_width() == 1 and game.players == 2:
            final[1] = -final[0]
    else:
        low, high = game.value_range
        final = [low, -low] if played.would_resign == 0 else [high, -high]
    paid = [
        [(after - before) / discount**ply for before, after in zip(first.rewards, second.rewards, strict=True)]
        for ply, (first, second) in enumerate(pairwise(positions))
    ]
    found: list[Decision] = []
    for ply in range(played.opening, plies):
        if positions[ply].to_play == CHANCE:
            continue
        outcome = [
            sum(discount ** (later - ply) * paid[later][player] for later in range(ply, plies))
            + discount ** (plies - ply) * final[player]
            for player in range(game.players)
        ]
        following = [later for later in range(ply + 1, plies) if positions[later].to_play != CHANCE]
        reply = positions[following[0]].edge_of(played.moves[following[0]]) if following else -1
        found.append(Decision(positions[ply], ply, plies - ply, reply, outcome))
    return found


def seen(game, decision: Decision) -> list[float]:
    """The outcome as a row has it: that of the player to move, of the first player where all move, or of all."""
    if game.value_width() > 1:
        return decision.outcome
    player = decision.position.to_play
    return [decision.outcome[0 if player == EVERYONE else player]]


# --- targets, window, rate ----------------------------------------------------------------------------------------------------


def divergence(target, prior) -> float:
    """Kullback-Leibler."""
    return sum(float(t) * math.log(float(t) / max(float(p), 1e-6)) for t, p in zip(target, prior, strict=True) if t > 0)


def weights(targets, priors, share: float, most: float) -> list[float]:
    """A share of the weights by surprise, the rest alike."""
    found = [max(divergence(target, prior), 0.0) for target, prior in zip(targets, priors, strict=True)]
    mean = sum(found) / len(found)
    return [min((1 - share) + (share * each / mean if mean > 0 else share), most) for each in found]


def window_size(rows: int, least: int, power: float, scale: float, most: int) -> float:
    """One row after the other: at n rows, a window that has begun to grow grows by scale * (n / least) ** (power - 1)."""
    size = float(min(rows, least))
    for n in range(least, rows):
        size += scale * ((n + 0.5) / least) ** (power - 1)
    return min(size, most)


def rate(step: int, highest: float, warm_up: int, half_life: int, least: float) -> float:
    """The learning rate of a step."""
    if step < warm_up:
        return highest * (step + 1) / warm_up
    halved = highest * 0.5 ** ((step - warm_up) / half_life)
    return max(halved, min(least, highest))


# --- tic-tac-toe, solved ------------------------------------------------------------------------------------------------------

LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


@functools.cache
def solved(cells: str, mover: str = "x") -> int:
    """What the mover gets from this board ("x", "o" and "." from the top left) if both play perfectly."""
    other = "o" if mover == "x" else "x"
    if any(all(cells[cell] == other for cell in line) for line in LINES):
        return -1
    free = [cell for cell in range(9) if cells[cell] == "."]
    if not free:
        return 0
    return max(-solved(cells[:cell] + mover + cells[cell + 1 :], other) for cell in free)


def board(moves) -> str:
    """The board after these moves."""
    cells = ["."] * 9
    for ply, cell in enumerate(moves):
        cells[cell] = "xo"[ply % 2]
    return "".join(cells)
