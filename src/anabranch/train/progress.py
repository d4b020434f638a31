"""Where a run stands, as its log and its folder say: counts, speeds, the latest numbers, what each part is doing.

Everything that shows a run begins here: `findings.py`, `report.py`, and the live screen (`cli/show_train.py`). A line of the
log may lack any number, since other versions may have written it.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from anabranch.games.game import Game
from anabranch.games.position import Position
from anabranch.games.rules import CHANCE
from anabranch.search.checks import parse_memory
from anabranch.train.run import Run

Line = dict[str, Any]  # of the log
LATELY = 60.0  # seconds over which speeds are measured, or longer where lines are rarer
FORGOTTEN = 300.0  # seconds after which what was measured is not a speed of now


# --- numbers of lines -------------------------------------------------------------------------------------------------


def number(line: Line, name: str) -> float | None:
    """A number of a line; None if it has no such number."""
    value = line.get(name)
    return float(value) if isinstance(value, (int, float)) and math.isfinite(value) else None


def numbers(lines: Sequence[Line], name: str) -> np.ndarray:
    """The times of the lines that have this number, and the numbers: f8 (n, 2)."""
    found = [(line["time"], value) for line in lines if (value := number(line, name)) is not None]
    return np.array(found, float).reshape(-1, 2)


def total(lines: Sequence[Line], name: str) -> float:
    """The sum of a number."""
    return float(sum(number(line, name) or 0.0 for line in lines))


def mean(lines: Sequence[Line], name: str, weight: str) -> float | None:
    """The mean of a number, each line weighted by another of its numbers."""
    pairs = [(number(line, name), number(line, weight) or 0.0) for line in lines]
    known = [(value, by) for value, by in pairs if value is not None and by > 0.0]
    return sum(value * by for value, by in known) / sum(by for _, by in known) if known else None


def counts(lines: Sequence[Line], name: str) -> dict[str, int]:
    """The sums of a table of counts, such as `scores`."""
    sums: dict[str, int] = {}
    for line in lines:
        table = line.get(name)
        for key, value in table.items() if isinstance(table, dict) else ():
            sums[str(key)] = sums.get(str(key), 0) + int(value)
    return sums


# --- ratings ----------------------------------------------------------------------------------------------------------


def anchors_of(line: Line) -> dict[str, float]:
    """The players with a fixed Elo that a rating names."""
    table = line.get("anchors")
    known: Line = table if isinstance(table, dict) else {}
    return {name: elo for name in known if (elo := number(known, name)) is not None}


def elo_text(line: Line) -> str:
    """Elo with its interval, as far as it is known."""
    elo, low, high = (number(line, name) for name in ("elo", "low", "high"))
    if elo is None:
        return "Elo unknown"
    return f"Elo {elo:.0f}" + (f" ({low:.0f} to {high:.0f})" if low is not None and high is not None else "")


# --- speeds -----------------------------------------------------------------------------------------------------------

USED = ("evaluations", "hits", "seconds")  # what a network counts: positions, those of them from the cache, time in the model


def played(lines: Sequence[Line]) -> list[Line]:
    """Lines of self-play with what the network did since the line before: `evaluations`, `hits`, `model_seconds`. The log has
    sums, which begin anew with every network and every process."""
    before: dict[Any, tuple[Any, list[float]]] = {}
    found = []
    for line in lines:
        worker, network, stats = line.get("worker"), line.get("network"), line.get("of_network")
        sums = [number(stats if isinstance(stats, dict) else {}, name) or 0.0 for name in USED]
        last_network, last = before.get(worker, (None, sums))
        goes_on = last_network == network and all(old <= new for old, new in zip(last, sums, strict=True))
        use = [new - old for old, new in zip(last, sums, strict=True)] if goes_on else sums
        before[worker] = network, sums
        found.append(line | dict(zip(("evaluations", "hits", "model_seconds"), use, strict=True)))
    return found


class Speeds(NamedTuple):
    """Of self-play, all processes together."""

    games: float = 0.0  # a second
    positions: float = 0.0  # to learn from
    evaluations: float = 0.0  # of the network


def speeds(lines: Sequence[Line]) -> Speeds:
    """The speeds that these lines (`played`) give; processes play at the same time, so theirs are added."""
    by_worker: dict[Any, list[Line]] = {}
    for line in lines:
        by_worker.setdefault(line.get("worker"), []).append(line)
    rates = []
    for own in by_worker.values():
        seconds = total(own, "seconds")
        if seconds > 0.0:
            rates.append([total(own, name) / seconds for name in ("games", "rows", "evaluations")])
    return Speeds(*(sum(column) for column in zip(*rates, strict=True))) if rates else Speeds()


def speeds_now(lines: Sequence[Line], now: float) -> Speeds:
    """The speeds over the last minute; of a process that writes lines more rarely, those of its last line."""
    latest = {line.get("worker"): line for line in lines if line["time"] > now - FORGOTTEN}
    return speeds([line for line in lines if line["time"] > now - LATELY or line is latest.get(line.get("worker"))])


# --- time -------------------------------------------------------------------------------------------------------------


class Clock:
    """The time spent on a run at any moment, without the pauses between its processes."""

    def __init__(self, lines: Sequence[Line]) -> None:
        """`lines`: all lines of the log."""
        told = numbers([line for line in lines if line["what"] == "time"], "seconds")
        if len(told) < 2:  # nobody keeps the time: the parts were started by hand
            times = [line["time"] for line in lines] or [0.0]
            told = np.array([(min(times), 0.0), (max(times), max(times) - min(times))])
        self._told = told[np.argsort(told[:, 0], kind="stable")]

    def spent(self, times: Any) -> np.ndarray:
        """Seconds spent until these moments."""
        first, last = self._told[0], self._told[-1]
        inside = np.interp(times, self._told[:, 0], self._told[:, 1])
        before = np.minimum(np.asarray(times, float) - first[0], 0.0)
        after = np.maximum(np.asarray(times, float) - last[0], 0.0)
        return np.asarray(np.maximum(inside + before + after, 0.0))


def time_text(seconds: float) -> str:
    """A length of time as people say it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


# --- the game's start -------------------------------------------------------------------------------------------------


def first_decision(game: Game) -> Position:
    """The position in which somebody moves first: the start, or what follows its most probable chance events."""
    position = game.start()
    while not position.is_over and position.to_play == CHANCE:
        position = position.after(int(np.argmax(position.probabilities)))
    return position


def policies_of(game: Game) -> int:
    """How many policies a position has: two where both players move at once."""
    return game.policy_shape[0] if len(game.policy_shape) > 1 else 1


def most_entropy(game: Game) -> float:
    """The entropy of a policy that plays all legal actions of the first decision equally often, in nats."""
    legal: Any = first_decision(game).legal_actions
    choices = [len(each) for each in legal] if isinstance(legal, tuple) else [len(legal)]
    return sum(math.log(max(count, 1)) for count in choices) / len(choices)


# --- all of it --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Progress:
    """Where a run stands. Lines are empty where there is none yet."""

    time: float | None  # of the latest line
    games: int
    positions: int
    speeds: Speeds
    played: Line  # the latest line of self-play
    entropy: float | None  # of the targets of self-play lately, in nats, per policy
    step: Line
    gate: Line
    rating: Line
    in_use: str  # the network that plays
    doing: dict[str, str] = field(default_factory=dict)  # what each part is doing
    spent: float = 0.0  # seconds
    planned: float | None = None
    disk: int = 0  # bytes
    allowed: int = 0

    @property
    def left(self) -> float | None:
        """Seconds until the planned end."""
        return None if self.planned is None else max(self.planned - self.spent, 0.0)


def progress(run: Run, now: float | None = None) -> Progress:
    """Where a run stands now."""
    now = time.time() if now is None else now
    lines = run.log.read()
    kinds: dict[str, list[Line]] = {}
    for line in lines:
        kinds.setdefault(line["what"], []).append(line)
    games = played(kinds.get("self-play", []))
    latest = {what: found[-1] for what, found in kinds.items()}
    entropy = mean([line for line in games if line["time"] > games[-1]["time"] - LATELY], "entropy", "rows")
    in_use = run.network_in_use
    return Progress(
        time=lines[-1]["time"] if lines else None,
        games=int(total(games, "games")),
        positions=int(total(games, "rows")),
        speeds=speeds_now(games, now),
        played=games[-1] if games else {},
        entropy=None if entropy is None else entropy / policies_of(run.game),
        step=latest.get("step", {}),
        gate=latest.get("gate", {}),
        rating=latest.get("rating", {}),
        in_use=in_use.name if in_use else "",
        doing={str(line.get("part", "")): str(line.get("doing", "")) for line in kinds.get("state", [])},
        spent=number(latest.get("time", {}), "seconds") or (float(Clock(lines).spent(lines[-1]["time"])) if lines else 0.0),
        planned=number(latest.get("time", {}), "of"),
        disk=disk_used(run),
        allowed=parse_memory(run.settings.run.disk),
    )


def state_text(run: Run, found: Progress) -> str:
    """Where a run stands, in one line."""
    parts = [f"{run.game_name}: {found.games:,} games, {found.positions:,} positions"]
    if found.speeds.games > 0.0:
        parts.append(f"{found.speeds.games:.3g} games/s, {found.speeds.positions:.3g} positions/s")
    if found.step:
        parts.append(f"{number(found.step, 'step') or 0:,.0f} steps, loss {number(found.step, 'loss') or 0:.3f}")
    if found.in_use:
        parts.append(f"{found.in_use} plays")
    if found.rating:
        parts.append(elo_text(found.rating))
    left = "" if found.left is None else f", {time_text(found.left)} left" if found.left else ", all that was planned"
    return "; ".join([*parts, f"{time_text(found.spent)} so far{left}"])


def disk_used(run: Run) -> int:
    """Bytes of all files of the run."""
    used = 0
    for path in run.path.rglob("*"):
        try:
            used += path.stat().st_size if path.is_file() else 0
        except OSError:  # deleted meanwhile
            continue
    return used
