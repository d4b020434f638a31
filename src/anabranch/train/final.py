"""What the end of a game adds to its rows: who owned each point, and by how many points the game was won.

Only learning uses that, as KataGo does (Wu 2019, section 4.1), and only of games that offer it: `Game.final_ownership`,
`Game.final_score`. Files of games need not have it: it follows from the last position, so the window adds it when it reads a
game. A game that ended by resignation, by a repetition or by the limit of plies has no such end; its rows are not `settled`.
"""

from typing import Any, NamedTuple

import numpy as np

from anabranch.errors import TrainingError
from anabranch.games.encoding import find_movers, planes_of
from anabranch.games.game import Game
from anabranch.jit import readable
from anabranch.train.game_file import PlayedGame, row_type
from anabranch.train.rows import states_of
from anabranch.train.settings import TargetSettings


class Offered(NamedTuple):
    """What is learnt of the end of a game."""

    ownership: bool
    score: bool


def offered(game: Game, settings: TargetSettings) -> Offered:
    """What a game offers, unless the settings give it no weight."""
    kind = type(game)
    return Offered(
        ownership=settings.ownership > 0.0 and game.planes is not None and kind.final_ownership is not Game.final_ownership,
        score=settings.score > 0.0 and kind.final_score is not Game.final_score,
    )


def learnt_type(game: Game, settings: TargetSettings) -> np.dtype:
    """A row as it is learnt from: as in files (`game_file.py`), and what the end adds, in the view of the player to move."""
    written, what = row_type(game), offered(game, settings)
    if not any(what):
        return written
    fields: list[Any] = [(name, written[name]) for name in written.names or ()]
    fields.append(("settled", "?"))  # whether the following fields are known
    if what.ownership:
        fields.append(("ownership", "i1", (points_of(game),)))  # 1: own, -1: the other's, 0: nobody's
    if what.score:
        fields.append(("score", "f4"))  # points
    return np.dtype(fields)


def points_of(game: Game) -> int:
    """The points of a plane."""
    _, height, width = planes_of(game)
    return height * width


def learnt_rows(game: Game, played: PlayedGame, dtype: np.dtype) -> np.ndarray:
    """The rows of a game with what its end adds, if anything."""
    if dtype == played.rows.dtype:
        return played.rows
    rows = np.zeros(len(played.rows), dtype)
    for name in played.rows.dtype.names or ():
        rows[name] = played.rows[name]
    if not len(rows) or not is_settled(game, played):
        return rows
    end = game.position_class(game, record_of(game, played))
    movers = np.zeros(len(rows), np.int64)
    find_movers(states_of(game, rows), movers)
    sign = np.where(movers == 1, -1, 1)
    rows["settled"] = True
    names = dtype.names or ()
    if "ownership" in names:
        owners = np.asarray(game.final_ownership(end))
        if owners.shape != (points_of(game),):
            raise TrainingError(
                f"final_ownership of {game!r} gives an array of the shape {owners.shape}; it must be ({points_of(game)},), one "
                "number for each point of the planes"
            )
        rows["ownership"] = sign[:, None] * owners
    if "score" in names:
        rows["score"] = sign * game.final_score(end)
    return rows


def is_settled(game: Game, played: PlayedGame) -> bool:
    """Whether a game was played until its rules ended it."""
    is_whole = played.ending == "over" and len(played.final) == game.record.itemsize
    return is_whole and bool(game.ask("is_over", readable(record_of(game, played))[0]))


def record_of(game: Game, played: PlayedGame) -> np.ndarray:
    """The last position of a game."""
    return np.frombuffer(bytearray(played.final), game.record)
