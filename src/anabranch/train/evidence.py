"""What a check for faults (`findings.py`) looks at, and what it gives: `Seen` and `Finding`."""

from typing import NamedTuple

from anabranch.games.simultaneous import SimultaneousGame
from anabranch.train.progress import Line, number, numbers
from anabranch.train.run import Run

NOTE, WARNING = "note", "warning"

LEAST_GAMES = 100  # a share of fewer games says little: its standard error is above 5 %
LEAST_ROWS = 1_000  # positions, for means over them
LEAST_LINES = 12  # lines of the learner (100 steps each): a quarter of them has three, enough for a mean
LATEST = 8  # lines that a quarter of the log must have to be taken as "lately"; else so many are taken


class Finding(NamedTuple):
    """A fault, or what may be one."""

    name: str
    severity: str  # WARNING: it stops learning or wastes most of it; NOTE: worth a look
    text: str  # what is seen, and what to do


class Seen(NamedTuple):
    """What checks look at."""

    run: Run
    now: float
    played: list[Line]  # self-play
    steps: list[Line]
    gates: list[Line]
    ratings: list[Line]
    others: list[Line]

    @property
    def lately(self) -> list[Line]:
        """The last quarter of self-play."""
        return self.played[-max(len(self.played) // 4, LATEST) :]

    @property
    def step(self) -> float:
        """Steps of the learner so far."""
        return (number(self.steps[-1], "step") or 0.0) if self.steps else 0.0


def latest_mean(lines: list[Line], name: str) -> float | None:
    """The mean of the last few numbers of the learner, if there are enough."""
    values = numbers(lines, name)[:, 1]
    return float(values[-max(len(values) // 10, 3) :].mean()) if len(values) >= LEAST_LINES else None


def rule_of(seen: Seen) -> str:
    """The selection rule of self-play."""
    name = seen.run.settings.self_play.select
    if name != "auto":
        return name
    return "decoupled" if isinstance(seen.run.game, SimultaneousGame) else "gumbel"


def size_now(seen: Seen) -> str:
    """The size of the network."""
    return seen.run.settings.network.size_for(seen.run.game)


def is_done(seen: Seen) -> bool:
    """Whether the planned time is over."""
    told = [line for line in seen.others if line["what"] == "time"]
    of = number(told[-1], "of") if told else None
    return of is not None and (number(told[-1], "seconds") or 0.0) >= of
