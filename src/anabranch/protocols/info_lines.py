"""A `Report` of a running search as text: the lines of lz-analyze and kata-analyze. Above: `gtp_analysis.py`.

Every number that is no count has a decimal point, by which Sabaki tells the two apart.
"""

from collections.abc import Collection, Iterable, Iterator

import numpy as np

from anabranch.games.go import Go
from anabranch.goengine.estimate import Points
from anabranch.goengine.report import Candidate, Report
from anabranch.protocols.details import Details, raw_errors


def from_the_top(numbers: np.ndarray, game: Go) -> list[float]:
    """A number for each point, the top row first, as protocols want it."""
    return [float(number) for number in numbers.reshape(game.height, game.width)[::-1].ravel()]


def lz_line(report: Report, game: Go, extras: Collection[str] = (), details: Details | None = None) -> str:
    """As Leela Zero writes it: rates in ten thousandths."""
    return " ".join(
        f"info move {move.name} visits {move.visits} winrate {round(10_000 * move.winrate)} prior {round(10_000 * move.prior)} "
        f"lcb {round(10_000 * move.lcb)} order {move.order} pv {' '.join(move.line)}"
        for move in report.moves
    )


def kata_line(report: Report, game: Go, extras: Collection[str] = (), details: Details | None = None) -> str:
    """As KataGo writes it: fractions, points, and on request whatever `extras` names of what `details` knows."""
    parts = [part for move in report.moves for part in _move(move, game, extras, details)]
    if "rootInfo" in extras:
        parts += _root(report, details)
    if "ownership" in extras and report.ownership is not None:
        parts.append(_board("ownership", report.ownership, game))
    if "ownershipStdev" in extras and details is not None:
        parts.append(_board("ownershipStdev", details.ownership_spread(), game))
    return " ".join(part for part in parts if part)


def _move(move: Candidate, game: Go, extras: Collection[str], details: Details | None) -> Iterator[str]:
    visits = move.visits if details is None else details.visits(move)
    chance = details.no_result(move.action) if details is not None and "noResultValue" in extras else None
    yield f"info move {move.name} visits {visits} edgeVisits {move.visits}"
    yield f"utility {move.utility:.6f} winrate {move.winrate:.6f} {_points(move.points)}".strip()
    yield "" if chance is None else f"noResultValue {chance:.6f}"
    yield f"prior {move.prior:.6f} lcb {move.lcb:.6f} utilityLcb {move.utility_lcb:.6f} weight {float(visits)}"
    yield f"order {move.order} pv {' '.join(move.line)}"
    if details is None:
        return
    if {"pvVisits", "pvEdgeVisits"} & set(extras):
        of_nodes, of_edges = details.line_visits(move.line)
        yield _counts("pvVisits", of_nodes) if "pvVisits" in extras else ""
        yield _counts("pvEdgeVisits", of_edges) if "pvEdgeVisits" in extras else ""
    if "movesOwnership" in extras and details.net is not None:
        yield _board("movesOwnership", details.ownership_after(move), game)
    if "movesOwnershipStdev" in extras:
        yield _board("movesOwnershipStdev", details.ownership_spread(move.action), game)


def _root(report: Report, details: Details | None) -> Iterator[str]:
    yield f"rootInfo visits {report.visits} utility {report.utility:.6f} winrate {report.winrate:.6f}"
    yield f"{_points(report.points)} weight {float(report.visits)}".strip()
    opinion = None if details is None else details.opinion
    if opinion is not None:
        yield " ".join(f"{name} {number:.6f}" for name, number in raw_errors(opinion).items())


def _points(points: Points | None) -> str:
    if points is None:
        return ""
    lead = f"{points.lead:.4f}"
    return f"scoreMean {lead} scoreStdev {points.spread:.4f} scoreLead {lead} scoreSelfplay {points.score:.4f}"


def _counts(name: str, numbers: Iterable[int]) -> str:
    return f"{name} {' '.join(map(str, numbers))}"


def _board(name: str, numbers: np.ndarray | None, game: Go) -> str:
    """A number for each point; nothing if they are not known."""
    if numbers is None:
        return ""
    return f"{name} " + " ".join(f"{number:.4f}" for number in from_the_top(numbers, game))
