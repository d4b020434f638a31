"""A `Report` of a running search as text: the lines of lz-analyze and kata-analyze. Above: `gtp_analysis.py`."""

from collections.abc import Collection

import numpy as np

from anabranch.games.go import Go
from anabranch.goengine.estimate import Points
from anabranch.goengine.report import Report


def from_the_top(numbers: np.ndarray, game: Go) -> list[float]:
    """A number for each point, the top row first, as protocols want it."""
    return [float(number) for number in numbers.reshape(game.height, game.width)[::-1].ravel()]


def lz_line(report: Report, game: Go, extras: Collection[str] = ()) -> str:
    """As Leela Zero writes it: rates in ten thousandths."""
    return " ".join(
        f"info move {move.name} visits {move.visits} winrate {round(10_000 * move.winrate)} prior {round(10_000 * move.prior)} "
        f"lcb {round(10_000 * move.lcb)} order {move.order} pv {' '.join(move.line)}"
        for move in report.moves
    )


def kata_line(report: Report, game: Go, extras: Collection[str] = ()) -> str:
    """As KataGo writes it: fractions, points, and on request ownership. Every number that is no count has a decimal point, by
    which Sabaki tells the two apart."""
    parts = [
        f"info move {move.name} visits {move.visits} utility {move.utility:.6f} winrate {move.winrate:.6f} "
        f"{_points(move.points)}prior {move.prior:.6f} lcb {move.lcb:.6f} "
        f"utilityLcb {move.utility_lcb:.6f} order {move.order} pv {' '.join(move.line)}"
        for move in report.moves
    ]
    if "rootInfo" in extras:
        points = _points(report.points)
        parts.append(f"rootInfo visits {report.visits} utility {report.utility:.6f} winrate {report.winrate:.6f} {points}")
    if "ownership" in extras and report.ownership is not None:
        parts.append("ownership " + " ".join(f"{number:.4f}" for number in from_the_top(report.ownership, game)))
    return " ".join(part.strip() for part in parts)


def _points(points: Points | None) -> str:
    if points is None:
        return ""
    lead = f"{points.lead:.4f}"
    return f"scoreMean {lead} scoreStdev {points.spread:.4f} scoreLead {lead} scoreSelfplay {points.score:.4f} "
