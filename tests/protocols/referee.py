"""A clock as an arbiter keeps it: obvious, and only interested in who has lost on time. The twin of `goengine/clock.py`."""

from anabranch.goengine.clock import TimeSettings


class OutOfTime(AssertionError):
    """A player has lost."""


class Referee:
    """One player's time."""

    def __init__(self, settings: TimeSettings) -> None:
        self.settings = settings
        self.main = settings.main
        self.period = settings.period  # what is left of the present period
        self.count = settings.count  # stones to play in it, or periods that are left

    def move(self, seconds: float) -> None:
        """A move that took so long."""
        kind = self.settings.kind
        if kind == "none":
            return
        if kind in ("absolute", "fischer"):
            if seconds > self.main:
                raise OutOfTime(f"{seconds:.2f} s for a move with {self.main:.2f} s left")
            self.main += (self.settings.period if kind == "fischer" else 0.0) - seconds
            return
        in_overtime = seconds - self.main
        self.main = max(self.main - seconds, 0.0)
        if in_overtime <= 0:
            return
        if kind == "canadian":
            self.period -= in_overtime
            self.count -= 1
            if self.period < 0:
                raise OutOfTime(f"a period is over and {self.count} stones are to play")
            if self.count == 0:
                self.period, self.count = self.settings.period, self.settings.count
        else:
            while in_overtime > self.settings.period:
                in_overtime -= self.settings.period
                self.count -= 1
            if self.count <= 0:
                raise OutOfTime("all periods are over")

    @property
    def told(self) -> tuple[float, int]:
        """What `time_left` says: seconds, and stones or periods (0 in main time)."""
        if self.main > 0 or self.settings.kind in ("absolute", "fischer"):
            return self.main, 0
        return self.period, self.count
