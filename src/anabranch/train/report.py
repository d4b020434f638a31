"""One page about a run: where it stands, what is wrong, curves, the latest games, what networks think of the start.

    write_report(run)      writes report.html into the run's folder

The page needs nothing but itself: no other host, no library. Each section that cannot be made says why, and the others are
there all the same. Parts: `findings.py`, `curves.py`, `replays.py`, `opinions.py`; how it looks: `report_page.py`.
"""

import json
import time
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

from anabranch.chart import safe
from anabranch.errors import TrainingError
from anabranch.train.curves import curves
from anabranch.train.findings import findings
from anabranch.train.opinions import opinion_charts, opinions
from anabranch.train.progress import elo_text, number, progress, state_text
from anabranch.train.replays import replays
from anabranch.train.report_page import HEAD, PLAYER, SCRIPT
from anabranch.train.run import Run, replace_file
from anabranch.train.settings import SECTIONS

REPORT = "report.html"
GATES = 12  # networks of the table


def write_report(run: Run) -> Path:
    """Write the page; returns where it is."""
    path, page = run.path / REPORT, report(run)
    try:
        replace_file(path, lambda partial: partial.write_text(page, encoding="utf-8"))
    except OSError as error:
        raise TrainingError(f"{path} cannot be written: {error.strerror}") from None
    return path


def report(run: Run) -> str:
    """The page."""
    when = time.strftime("%Y-%m-%d %H:%M")
    return "\n".join(
        [
            HEAD.replace("TITLE", safe(f"{run.game_name}: training")),
            f"<h1>{safe(run.game_name)}</h1>",
            section("", lambda: f'<p class="state">{safe(state_text(run, progress(run)))}</p>'),
            f'<p class="faint">{safe(str(run.path))}, {when}</p>',
            section("Findings", lambda: findings_part(run)),
            section("Curves", lambda: charts_part(curves(run), "There is nothing in the log yet.")),
            section("New networks", lambda: gates_part(run)),
            section("The latest games", lambda: games_part(run)),
            section("What the networks think of the start", lambda: opinions_part(run)),
            section("Settings", lambda: settings_part(run)),
            SCRIPT,
            "</body></html>",
            "",
        ]
    )


def section(title: str, make: Callable[[], str]) -> str:
    """A part of the page. If it cannot be made, the others are: files come and go while a run works, and games with their
    drawings are written by users."""
    head = f"<h2>{safe(title)}</h2>\n" if title else ""
    try:
        return head + make()
    except Exception as error:
        return f"{head}<p>This cannot be shown: {safe(f'{type(error).__name__}: {error}')}</p>"


# --- sections ---------------------------------------------------------------------------------------------------------


def findings_part(run: Run) -> str:
    """What is wrong."""
    found = findings(run)
    if not found:
        return "<p>No known fault is visible so far.</p>"
    items = [
        f'<li class="{finding.severity}"><b>{safe(finding.severity)}: {safe(finding.name)}.</b> {safe(finding.text)}</li>'
        for finding in found
    ]
    return f'<ul class="findings">{"".join(items)}</ul>'


def charts_part(charts: list[str], otherwise: str) -> str:
    """Charts next to one another."""
    figures = [f"<figure>{chart}</figure>" for chart in charts]
    return f'<div class="charts">{"".join(figures)}</div>' if figures else f"<p>{safe(otherwise)}</p>"


def gates_part(run: Run) -> str:
    """The latest networks against those that were in use."""
    gates = run.log.read("gate")
    if not gates:
        return "<p>No network has been tried against another one yet.</p>"
    rows = []
    for line in gates[-GATES:][::-1]:
        score, games = number(line, "score"), number(line, "games") or 0
        points = "" if score is None else f"{score:.1%}"
        verdict = "accepted" if line.get("accepted") else "refused"
        rows.append([line.get("network", ""), line.get("against", ""), f"{games:.0f}", points, elo_text(line), verdict])
    return table(("network", "against", "games", "points", "difference", ""), rows)


def games_part(run: Run) -> str:
    """Games to step through."""
    made, drawings = replays(run)
    if not made:
        return "<p>No game has ended yet.</p>"
    data = {
        "pieces": list(drawings.pieces),
        "drawings": drawings.drawings,
        "games": [replay._asdict() for replay in made],
    }
    content = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return f'{PLAYER}\n<script type="application/json" id="games">{content}</script>'


def opinions_part(run: Run) -> str:
    """Policy and value of the start."""
    found = opinions(run)
    return charts_part(opinion_charts(run, found) if found else [], "There is no network yet.")


def settings_part(run: Run) -> str:
    """All settings; those that are not the usual ones stand out."""
    rows = []
    for name in SECTIONS:
        values = getattr(run.settings, name)
        for each in fields(values):
            value, usual = getattr(values, each.name), each.default
            shown = [f"{name}.{each.name}", value, "" if value == usual else f"usually {usual}", each.metadata["about"]]
            rows.append((value != usual, shown))
    changed = [row for is_changed, row in rows if is_changed]
    head = ("setting", "value", "", "what it means")
    parts = [table(head, changed) if changed else "<p>All settings are the usual ones.</p>"]
    every = table(head, [row for _, row in rows])
    return f"{parts[0]}\n<details><summary>All settings</summary>{every}</details>"


def table(head: tuple[str, ...], rows: list[list[Any]]) -> str:
    """A table of text."""
    lines = ["".join(f"<td>{safe(str(cell))}</td>" for cell in row) for row in rows]
    heads = "".join(f"<th>{safe(name)}</th>" for name in head)
    return f'<div class="wide"><table><tr>{heads}</tr>{"".join(f"<tr>{line}</tr>" for line in lines)}</table></div>'
