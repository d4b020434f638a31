"""What a review (`review.py`) comes to: mistakes by size, when the lead changed hands, the lead by moves, both sides in sum."""

from collections import Counter
from typing import Any

from anabranch.goengine.game_tree import BLACK, COLOURS, WHITE
from anabranch.goengine.review import SIGNIFICANT, Review, Reviewed

# The least that moves of each size lose: points (KaTrain's classes), or win rate (Lichess's) where points are not known.
SIZES = ("blunder", "mistake", "inaccuracy")
PLURALS = {"blunder": "blunders", "mistake": "mistakes", "inaccuracy": "inaccuracies"}
POINTS = (12.0, 6.0, 3.0)
RATES = (0.3, 0.2, 0.1)
AHEAD = 0.05  # a win rate so far above one half is a lead


def size_of(move: Reviewed) -> str | None:
    """Whether a move is a blunder, a mistake or an inaccuracy; None if it is not, or if the loss may be noise."""
    if move.points_lost is None:
        is_noise, lost, limits = move.is_noise, move.loss, RATES
    else:
        is_noise, lost, limits = move.points_lost < SIGNIFICANT * move.points_error, move.points_lost, POINTS
    if is_noise:
        return None
    return next((size for size, least in zip(SIZES, limits, strict=True) if lost >= least), None)


def sizes(review: Review, player: int) -> dict[str, int]:
    """How many moves of each size a player made."""
    found = Counter(size_of(move) for move in review.moves if move.turn.player == player)
    return {size: found[size] for size in SIZES}


def points_a_move(review: Review, player: int) -> float | None:
    """The points that a player's moves lost on average; None if they are not known."""
    lost = [move.points_lost for move in review.moves if move.turn.player == player and move.points_lost is not None]
    return sum(lost) / len(lost) if lost else None


def lead_curve(review: Review) -> list[tuple[int, float]]:
    """Black's lead in points by number of moves: before the first reviewed move, and after each."""
    if not review.moves:
        return []
    first = review.moves[0]
    return [
        (first.turn.number - 1, first.before.lead),
        *((move.turn.number, move.lead_after) for move in review.moves),
    ]


def turning_points(review: Review) -> list[tuple[int, int]]:
    """The moves after which somebody was ahead who had not been before, and who it was. Whoever is ahead stays so until the
    other one clearly is."""
    found: list[tuple[int, int]] = []
    for number, rate in review.curve:
        ahead = BLACK if rate > 0.5 + AHEAD else WHITE if rate < 0.5 - AHEAD else None
        if ahead is not None and (not found or found[-1][1] != ahead):
            found.append((number, ahead))
    return found


def to_dict(review: Review, swings: int) -> dict[str, Any]:
    """All of a review, for programs."""
    found = review.to_dict(swings)
    for player, colour in enumerate(COLOURS):
        found["sides"][colour] |= {"points_lost": points_a_move(review, player), "sizes": sizes(review, player)}
    for move, fields in zip(review.moves, found["moves"], strict=True):
        fields["size"] = size_of(move)
    turns = [{"move": number, "ahead": COLOURS[player]} for number, player in turning_points(review)]
    return found | {"turning_points": turns, "lead_curve": lead_curve(review)}
