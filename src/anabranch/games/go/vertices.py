"""Names of points as people and GTP write them: a letter for the column (no I), a number for the row from the bottom; and the
usual handicap points."""

import re

from anabranch.errors import GameError

COLUMNS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
ROW = re.compile(r"[0-9]{1,9}")  # int() refuses thousands of digits
PASS = "pass"


def vertex(action: int, width: int, height: int) -> str:
    """The name of an action, such as D4."""
    row, column = divmod(action, width)
    return PASS if row == height else f"{COLUMNS[column]}{row + 1}"


def action_at(name: str, width: int, height: int) -> int | None:
    """The action of this name, if there is one; case does not matter."""
    written = name.strip().upper()
    if written == PASS.upper():
        return width * height
    column, row = COLUMNS.find(written[:1]), ROW.fullmatch(written[1:])
    if not written or column < 0 or column >= width or row is None or not 1 <= int(row[0]) <= height:
        return None
    return (int(row[0]) - 1) * width + column


def handicap_points(width: int, height: int, stones: int) -> list[int]:
    """The actions of the usual handicap stones, in GTP's order: corners, then the middle for an odd number, then sides."""
    most = _most_handicap(width, height)
    if not 2 <= stones <= most:
        there = f"2 to {most}" if most else "none"
        raise GameError(f"there is no fixed handicap of {stones} stones on {width}x{height}; there is {there}")
    left, right = _edge(width), width - 1 - _edge(width)
    bottom, top = _edge(height), height - 1 - _edge(height)
    centre, middle = width // 2, height // 2
    corners = [(left, bottom), (right, top), (left, top), (right, bottom)]
    sides = [(left, middle), (right, middle), (centre, bottom), (centre, top)]
    points = corners[: min(stones, 4)]
    if stones >= 6:
        points = corners + sides[:2]
    if stones >= 8:
        points = corners + sides
    if stones in (5, 7, 9):
        points = points + [(centre, middle)]
    return [row * width + column for column, row in points]


def star_points(width: int, height: int) -> list[int]:
    """The points that are marked on a board."""
    most = _most_handicap(width, height)
    return sorted(handicap_points(width, height, most)) if most else []


def _edge(side: int) -> int:
    return 2 if side < 13 else 3


def _most_handicap(width: int, height: int) -> int:
    """GTP's rule: none below 7, four on boards with an even side or of 7, else nine."""
    if min(width, height) < 7:
        return 0
    return 4 if width % 2 == 0 or height % 2 == 0 or 7 in (width, height) else 9
