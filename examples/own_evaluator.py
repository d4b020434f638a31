"""An evaluator in Python: any f(states) -> (priors, values), here mobility and corners for Othello, in NumPy.

    python examples/own_evaluator.py

`states` is a structured array of positions with the game's own fields. Priors have one row a position and one column an
action; what is not legal is ignored and the rest is scaled to sum to 1. Values are for the player to move.
"""

import random

import numpy as np

import anabranch as ab
from anabranch.games import Othello

CORNERS = np.uint64(1 << 0 | 1 << 7 | 1 << 56 | 1 << 63)
CELL_WEIGHTS = np.ones(65, np.float32)  # 64 cells and the pass
CELL_WEIGHTS[[0, 7, 56, 63]] = 8.0  # corners are never turned
CELL_WEIGHTS[[9, 14, 49, 54]] = 0.25  # the cells beside them give them away


def mobility(states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Few lines of Othello wisdom, for a batch of positions at once."""
    corners = np.bitwise_count(states["mover"] & CORNERS).astype(float) - np.bitwise_count(states["other"] & CORNERS)
    moves = np.bitwise_count(states["moves"]).astype(float)  # of the mover
    values = np.tanh(0.4 * corners + 0.05 * (moves - 8.0))  # within the game's range, -1 to 1
    return np.tile(CELL_WEIGHTS, (len(states), 1)), values


def main() -> None:
    """Show one search, then play a game against random moves."""
    game = Othello()
    search = ab.Search(game, select=ab.PUCT(c=1.5), evaluate=mobility)
    print(search.run(game.position(["d3", "c5"]), visits=500))

    dice = random.Random(1)
    position = game.start()
    while not position.is_over:
        searches = position.to_play == 0
        position = position.play(search.run(position, visits=50).best if searches else dice.choice(position.legal_actions))
    print(position)
    print(f"against random moves: {position.returns[0]:+.0f} for the search")


if __name__ == "__main__":
    main()
