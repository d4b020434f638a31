"""Time for a whole game: how much of what is left a search takes for its next move.

A side that has used up its time has lost. So a move takes a share of what is left, never all of it: the rest divided by the
moves that are likely to come, which only Go gives a hint of. Whatever happens, the share shrinks with the rest. Used by
`players.py`.
"""

from typing import Any

from anabranch.games.go import Go

MOVES = 15  # to come, where nothing is known of a game: 15 moves use up two thirds
GO_MOVES = 0.55  # of a player in a game of Go, in board sizes: games on 9x9 that are played out have about 90 plies
GO_FEWEST = 0.12  # that are always expected to come
FEWEST = 8
RESERVE = 0.3  # seconds that are not given out, for what happens around a search
RESERVE_SHARE = 0.2  # but not more than this share of what is left
LEAST = 0.002  # seconds for a move; a search looks at the clock no more often


def seconds_for(game: Any, plies: int, left: float) -> float:
    """Seconds for the next move of a side that has so many left, after so many plies."""
    usable = left - min(RESERVE, RESERVE_SHARE * left)
    return max(usable / moves_to_come(game, plies), min(LEAST, left / 2))


def moves_to_come(game: Any, plies: int) -> float:
    """How many moves a side will still have to make, roughly."""
    if not isinstance(game, Go):
        return MOVES
    points = game.width * game.height
    return max(GO_MOVES * points - plies / 2, GO_FEWEST * points, FEWEST)
