"""What training shows: a live screen on a terminal, plain lines elsewhere, and a summary of a run that may have ended.

    with Screen() as screen:
        screen.update(run)      as often as one likes

All numbers are read from the run's folder (`train/progress.py`), so the screen needs to know nothing of the processes.
"""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.constrain import Constrain
from rich.live import Live
from rich.text import Text

from anabranch.cli.terminal import Rows, console, errors
from anabranch.train.findings import Finding, findings
from anabranch.train.progress import (
    Line,
    Progress,
    elo_text,
    most_entropy,
    number,
    policies_of,
    progress,
    state_text,
    time_text,
)
from anabranch.train.run import Run

WIDEST = 80  # columns, however wide the terminal is
DRAW_EVERY = 1.0  # seconds
PLAIN_EVERY = 30.0  # seconds between two lines where there is no terminal
CHECK_EVERY = 15.0  # seconds between two looks for known faults: self-play writes a line every 15


class Screen:
    """Shows a run while it works: in place on a terminal, elsewhere as a line every 30 seconds."""

    def __init__(self) -> None:
        self.live: Live | None = None
        self._shown = self._checked = -float("inf")
        self._found: list[Finding] = []
        self._told: set[str] = set()  # findings that plain lines have named

    def __enter__(self) -> "Screen":
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def update(self, run: Run) -> None:
        """Read the log and draw, if it is time for that."""
        now = time.monotonic()
        if now - self._shown < (DRAW_EVERY if console.is_terminal else PLAIN_EVERY):
            return
        self._shown = now
        if now - self._checked >= CHECK_EVERY:
            self._checked, self._found = now, findings(run)
        if console.is_terminal:
            self._draw(run)
        else:
            self._tell(run)

    def close(self) -> None:
        """Leave the screen as it is; what is printed next stands below it."""
        if self.live is not None:
            self.live.stop()
            self.live = None

    def _draw(self, run: Run) -> None:
        shown = view(run, progress(run), self._found)
        if self.live is None:
            self.live = Live(shown, console=console, auto_refresh=False)
            self.live.start()
        self.live.update(shown, refresh=True)

    def _tell(self, run: Run) -> None:
        """One line, and findings once, when they appear."""
        errors.say(state_text(run, progress(run)), "dim")
        for finding in self._found:
            if finding.name not in self._told:
                errors.say(f"{finding.severity}: {finding.name}. {finding.text}", "yellow")
        self._told = {finding.name for finding in self._found}


def print_summary(run: Run, report: Path | None = None) -> None:
    """Where a run stands, what is wrong with it, and where its page is, if it has been made."""
    found = progress(run)
    if found.time is not None:
        console.say(f"the last line of the log is {time_text(max(time.time() - found.time, 0.0))} old", "dim")
    console.say(Constrain(Rows((run.game_name, str(run.path)), rows_of(run, found), sentences=True), WIDEST))
    for finding in findings(run):
        console.say()
        console.say(f"{finding.severity}: {finding.name}", "bold yellow")
        console.say(finding.text)
    if report is not None:
        console.say(f"\ncurves, games and more: {report}")


# --- what is shown ----------------------------------------------------------------------------------------------------


def view(run: Run, found: Progress, faults: Sequence[Finding]) -> RenderableType:
    """The screen: a table, and the names of what is wrong. Lines are broken at 80 columns."""
    parts: list[RenderableType] = [Rows((run.game_name, str(run.path)), rows_of(run, found), sentences=True)]
    parts += [Text(f"{fault.severity}: {fault.name}", style="yellow") for fault in faults]
    if faults:
        parts.append(Text(f"what to do: anabranch train --show {run.path}", style="dim"))
    return Constrain(Group(*parts), WIDEST)


def rows_of(run: Run, found: Progress) -> list[tuple[str, str]]:
    """Names and what stands beside them; what is not known yet is left out."""
    speed, step = found.speeds, found.step
    rows = [("time", _time(found))]
    rows.append(("self-play", f"{found.games:,} games, {found.positions:,} positions"))
    if speed.positions > 0.0:
        per_second = [(speed.games, "games/s"), (speed.positions, "positions/s"), (speed.evaluations, "evaluations/s")]
        rows.append(("speed", ", ".join(f"{_rate(value)} {unit}" for value, unit in per_second)))
    if found.entropy is not None:
        rows.append(("entropy", f"{found.entropy:.3f} nats in self-play's targets{_of_network(step)}; {_most(run)}"))
    if step:
        rows.append(
            ("learning", f"{number(step, 'step') or 0:,.0f} steps, window {number(step, 'window') or 0:,.0f} positions")
        )
        rows.append(("loss", _loss(step)))
        rows.append(("right about", _shares(step)))
    if found.in_use:
        rows.append(("network", f"{found.in_use} plays{_last_gate(found.gate)}"))
    if found.rating:
        rows.append(("strength", f"{elo_text(found.rating)} for network {found.rating.get('network', '?')}; random play has 0"))
    rows.append(("disk", f"{_size(found.disk)} of {_size(found.allowed)}"))
    return rows + sorted(found.doing.items())


def _time(found: Progress) -> str:
    if found.left is None:
        return f"{time_text(found.spent)} so far"
    return f"{time_text(found.spent)} so far, " + (f"{time_text(found.left)} left" if found.left else "all that was planned")


def _rate(value: float) -> str:
    return f"{value:,.0f}" if value >= 10.0 else f"{value:.2g}"


def _size(count: int) -> str:
    return f"{count / 1e9:.2f} GB" if count >= 1e9 else f"{count / 1e6:.1f} MB"


def _of_network(step: Line) -> str:
    entropy = number(step, "entropy")
    return "" if entropy is None else f", {entropy:.3f} in the network's policy"


def _most(run: Run) -> str:
    return f"{most_entropy(run.game):.2f} would be all moves alike{' (mean of both players)' * (policies_of(run.game) > 1)}"


def _loss(step: Line) -> str:
    parts = ", ".join(f"{name} {value:.3f}" for name in ("policy", "value") if (value := number(step, name)) is not None)
    rate = number(step, "rate")
    return f"{number(step, 'loss') or 0:.3f} ({parts})" + ("" if rate is None else f", learning rate {rate:.2g}")


def _shares(step: Line) -> str:
    names = (("accuracy", "the search's first choice"), ("value_accuracy", "who wins"))
    known = [(words, value) for name, words in names if (value := number(step, name)) is not None]
    return ", ".join(f"{words} {value:.0%}" for words, value in known)


def _last_gate(gate: Line) -> str:
    score = number(gate, "score")
    if score is None:
        return ""
    return f"; {gate.get('network', '?')} {'accepted' if gate.get('accepted') else 'refused'} with {score:.0%} of points"
