"""Connect Four positions by stage and difficulty, as in Pascal Pons's six test sets, drawn anew.

Positions are reached by random moves. The stage is the number of stones on the board, the difficulty how many more will be
played until the end if both sides play perfectly (the winner as fast, the loser as slowly as possible), as `bitbully` says:

    set             stones      still to be played
    end-easy        29 to 41    1 to 13
    middle-easy     15 to 27    1 to 13
    middle-medium   15 to 27    15 to 27
    begin-easy      1 to 13     1 to 13
    begin-medium    1 to 13     15 to 27
    begin-hard      1 to 13     29 to 41

A move is an error if it turns a win into a draw or a loss, or a draw into a loss. The same seed gives the same positions.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from anabranch.games import ConnectFour

GAME = ConnectFour()
CELLS = 42
EASY, MEDIUM, HARD = range(1, 14), range(15, 28), range(29, 42)
BEGIN, MIDDLE, END = range(1, 14), range(15, 28), range(29, 42)
SETS = {
    "end-easy": (END, EASY),
    "middle-easy": (MIDDLE, EASY),
    "middle-medium": (MIDDLE, MEDIUM),
    "begin-easy": (BEGIN, EASY),
    "begin-medium": (BEGIN, MEDIUM),
    "begin-hard": (BEGIN, HARD),
}


class Staged(NamedTuple):
    """A position with what each move is worth."""

    position: Any
    keeping: list[int]  # the moves that keep the outcome


def random_position(random: np.random.Generator, stones: int) -> Any:
    """A position after so many random moves; None if the game is over by then."""
    position = GAME.start()
    for _ in range(stones):
        if position.is_over:
            return None
        position = position.play(int(random.choice(position.legal_actions)))
    return None if position.is_over else position


def still_to_play(score: int, stones: int) -> int:
    """Stones until the end, from the solver's score: how many stones the winner has left at the end, and one; 0 for a draw."""
    if score == 0:
        return CELLS - stones
    mover = stones % 2  # 0: the first player
    winner = mover if score > 0 else 1 - mover
    of_winner = CELLS // 2 + 1 - abs(score)
    return 2 * of_winner - (1 - winner) - stones


def positions(name: str, count: int, bully: Any, seed: int = 0) -> Iterator[Staged]:
    """So many positions of a set."""
    from bitbully import Board

    stage, difficulty = SETS[name]
    random = np.random.default_rng([seed, list(SETS).index(name)])
    seen: set[Any] = set()
    while len(seen) < count:
        position = random_position(random, int(random.integers(stage.start, stage.stop)))
        if position is None or position.key in seen:
            continue
        scores = bully.score_all_moves(Board(list(position.moves)))
        best = max(scores.values())
        if still_to_play(best, len(position.moves)) not in difficulty:
            continue
        seen.add(position.key)
        yield Staged(position, [column for column, score in scores.items() if np.sign(score) == np.sign(best)])
