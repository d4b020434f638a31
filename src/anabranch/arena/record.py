"""A game of a match as SGF, for those who want to look at it. Read first: `playing.py`."""

from anabranch.arena.match import Match
from anabranch.arena.playing import Played
from anabranch.arena.referee import RULES
from anabranch.games.go import Go
from anabranch.games.position import Position
from anabranch.protocols import sgf


def record(match: Match, played: Played, position: Position) -> str | None:
    """The game as SGF, if it is Go."""
    game = match.table.game
    if not isinstance(game, Go):
        return None
    names = match.names
    players = (sgf.Player(names[played.black]), sgf.Player(names[1 - played.black]))
    parts = [f"game {played.number}", f"result by {played.referee}" if played.referee != RULES else "", played.reason]
    comment = "; ".join(part for part in parts if part)
    tree = sgf.GameTree.from_position(position, comments={0: comment}, start=game.start(), players=players)
    tree.result = played.result
    return sgf.write(tree)
