"""Time: what each player has left, and how much of it to spend on a move.

Time systems, as in GTP and on KGS:

    none       no limit
    absolute   `main` seconds for the whole game
    canadian   then periods of `period` seconds, in each of which `count` stones must be played
    byoyomi    then `count` periods of `period` seconds; a move made within one costs nothing
    fischer    `main` seconds, and `period` more after each move; both the clock and a move's time may have a limit

The arbiter's `time_left` is authoritative; between two of its messages the clock keeps time itself (`spend`). What a move may
cost (`budget`) is less than what is available: part of every move is lost in communication with the arbiter, before and after
the search (`lag`). While main time is left, a move gets an equal share of it, or the time that overtime would give it, if that
is more, since it is available anyway. So where there is overtime, main time runs out eventually, on purpose. The number of
moves that share main time is a guess (`moves_to_come`). Used by `engine.py`, and for matches by `arena/players.py`.
"""

from dataclasses import dataclass
from typing import NamedTuple

from anabranch.games.go import Go
from anabranch.games.position import Position

KINDS = ("none", "absolute", "canadian", "byoyomi", "fischer")
LAG = 0.3  # seconds of each move that are not for searching: messages, the last slice, judging the end of the game
FEWEST_TO_GO = 20  # moves that main time must always last for: it shrinks to a third in 21 moves and never runs out
GO_TO_GO = 1 / 3  # moves that a player may still make in Go, per empty point


@dataclass(frozen=True)
class TimeSettings:
    """How much time there is in a game."""

    kind: str = "none"
    main: float = 0.0  # seconds
    period: float = 0.0  # seconds of overtime, or added after a move
    count: int = 0  # stones of a Canadian period, or byo-yomi periods
    most: float | None = None  # seconds on the clock, where time is added
    longest: float | None = None  # seconds of a move, likewise

    @classmethod
    def canadian(cls, main: float, period: float, count: int) -> "TimeSettings":
        """What GTP's `time_settings` means: no stones in overtime is no limit, no overtime is absolute."""
        if period > 0:
            return cls("canadian", main, period, count) if count > 0 else cls()
        return cls("absolute", main)


@dataclass
class Left:
    """What a player has left."""

    main: float  # seconds
    time: float  # seconds of the current period of overtime
    count: int  # stones or periods of overtime


class Budget(NamedTuple):
    """What a move may cost."""

    seconds: float
    is_kept: bool  # whether unused time is kept for the next move


class Clock:
    """The clocks of both players."""

    def __init__(self, settings: TimeSettings | None = None, lag: float = LAG) -> None:
        self.lag = lag
        self.set(settings or TimeSettings())

    def set(self, settings: TimeSettings) -> None:
        """Start a game with this time."""
        self.settings = settings
        self.left = [Left(settings.main, settings.period, settings.count) for _ in range(2)]

    def restart(self) -> None:
        """Start a new game with the same time."""
        self.set(self.settings)

    # --- time goes by ---

    def correct(self, player: int, seconds: float, count: int) -> None:
        """Set what the arbiter says a player has left: main time, or with stones (or periods) a period of overtime."""
        left = self.left[player]
        if count > 0 and self.settings.kind in ("canadian", "byoyomi"):
            self.left[player] = Left(0.0, seconds, count)
        else:
            left.main = seconds

    def spend(self, player: int, seconds: float) -> None:
        """Count the time of a player's move."""
        kind, left = self.settings.kind, self.left[player]
        if kind == "none":
            return
        over = max(seconds - left.main, 0.0)  # this much was overtime
        is_overtime = left.main <= 0.0 or over > 0.0
        left.main = max(left.main - seconds, 0.0)
        if kind == "fischer":
            left.main += self.settings.period
            left.main = left.main if self.settings.most is None else min(left.main, self.settings.most)
        elif kind == "canadian" and is_overtime:
            left.time, left.count = left.time - over, left.count - 1
            if left.count <= 0:
                left.time, left.count = self.settings.period, self.settings.count
        elif kind == "byoyomi" and is_overtime:
            left.count -= int(over // self.settings.period) if self.settings.period > 0 else 0
            left.time = self.settings.period

    # --- what a move may cost ---

    def budget(self, player: int, to_go: int) -> Budget | None:
        """Seconds to search for a move, if this player may have so many moves left to make; None if there is no limit."""
        kind, left = self.settings.kind, self.left[player]
        share = left.main / max(to_go, FEWEST_TO_GO)
        if kind == "none":
            return None
        if kind == "fischer":
            longest = left.main if self.settings.longest is None else min(left.main, self.settings.longest)
            return Budget(max(min(share + self.settings.period, longest) - self.lag, 0.0), True)
        of_main = max(share - self.lag, 0.0)
        of_overtime = self._overtime(left)
        return Budget(max(of_main, of_overtime), left.main > 0.0 or kind == "canadian")

    def _overtime(self, left: Left) -> float:
        """What a move may cost in overtime, now or later."""
        if self.settings.kind not in ("canadian", "byoyomi"):
            return 0.0
        stones = max(left.count, 1) if self.settings.kind == "canadian" else 1
        share = max(left.time, 0.0) / stones
        return max(share - self.lag, share / 2)


def moves_to_come(position: Position) -> int:
    """A rough guess of how many moves the player to move still has to make: only Go gives a hint."""
    return int(position.state.empty_count * GO_TO_GO) if isinstance(position.game, Go) else FEWEST_TO_GO
