"""PyRat as a drawing in SVG: walls, mud with the turns it takes, cheese, players, and the score below."""

from collections.abc import Iterator
from typing import Any

from anabranch.games.pyrat.draw import PLAYERS, standing
from anabranch.games.pyrat.layout import RIGHT, UP, cost, has

PITCH = 40  # pixels of a cell
MARGIN = 16
CAPTION = 26  # pixels of the line below the board
NARROWEST = 330  # for that line
COLOURS = ("#c8453b", "#2f62b5")  # of the players
FLOOR, JOINT, WALL, EARTH, GOLD, RIND = "#f6f1e6", "#e6dfcf", "#35332f", "#8a6a3f", "#f2c230", "#a87f0a"


def svg(state: Any) -> str:
    """The board of a position."""
    width, height = int(state.width), int(state.height)
    wide, tall = width * PITCH + 2 * MARGIN, height * PITCH + 2 * MARGIN + CAPTION
    size = f'width="{max(wide, NARROWEST)}" height="{tall}" viewBox="0 0 {max(wide, NARROWEST)} {tall}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" role="img">',
        f"<title>PyRat, {standing(state)}</title>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        f'<rect x="{MARGIN}" y="{MARGIN}" width="{width * PITCH}" height="{height * PITCH}" fill="{FLOOR}"/>',
    ]
    cells = range(width * height)
    edges = [(cell, direction, int(cost(state, cell, direction))) for cell in cells for direction in (UP, RIGHT)]
    for wanted in (_joint, _mud, _wall):  # walls over mud over joints
        parts += [drawn for cell, direction, turns in edges if (drawn := wanted(cell, direction, turns, width, height))]
    parts.append(
        f'<rect x="{MARGIN}" y="{MARGIN}" width="{width * PITCH}" height="{height * PITCH}" fill="none" stroke="{WALL}" '
        'stroke-width="5" stroke-linejoin="round"/>'
    )
    parts += [_cheese(*_centre(cell, width, height)) for cell in cells if has(state.cheese, cell)]
    parts += _players(state, width, height)
    y = tall - MARGIN / 2 - CAPTION / 2
    style = 'font-size="14" dominant-baseline="central" fill="#333"'
    parts.append(f'<text x="{MARGIN}" y="{y:g}" {style}>{standing(state)}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _centre(cell: int, width: int, height: int) -> tuple[float, float]:
    """The pixel in the middle of a cell."""
    return MARGIN + (cell % width + 0.5) * PITCH, MARGIN + (height - cell // width - 0.5) * PITCH


def _edge(cell: int, direction: int, width: int, height: int) -> tuple[float, float, float, float] | None:
    """The line between a cell and the next one in this direction; None at the edge of the board."""
    x, y = _centre(cell, width, height)
    half = PITCH / 2
    if direction == UP:
        return (x - half, y - half, x + half, y - half) if cell < width * (height - 1) else None
    return (x + half, y - half, x + half, y + half) if cell % width < width - 1 else None


def _line(ends: tuple[float, float, float, float], colour: str, thick: float, more: str = "") -> str:
    x1, y1, x2, y2 = ends
    return f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{colour}" stroke-width="{thick:g}"{more}/>'


def _joint(cell: int, direction: int, turns: int, width: int, height: int) -> str:
    ends = _edge(cell, direction, width, height)
    return _line(ends, JOINT, 1) if ends and turns == 1 else ""


def _wall(cell: int, direction: int, turns: int, width: int, height: int) -> str:
    ends = _edge(cell, direction, width, height)
    return _line(ends, WALL, 5, ' stroke-linecap="round"') if ends and turns == 0 else ""


def _mud(cell: int, direction: int, turns: int, width: int, height: int) -> str:
    ends = _edge(cell, direction, width, height)
    if not ends or turns < 2:
        return ""
    x, y = (ends[0] + ends[2]) / 2, (ends[1] + ends[3]) / 2
    style = 'text-anchor="middle" dominant-baseline="central" font-size="11" font-weight="bold" fill="#fff"'
    return _line(ends, EARTH, 12, ' stroke-opacity="0.85"') + f'<text x="{x:g}" y="{y:g}" {style}>{turns}</text>'


def _cheese(x: float, y: float) -> str:
    """A wedge with holes."""
    holes = "".join(
        f'<circle cx="{x + right:g}" cy="{y + down:g}" r="{radius:g}" fill="{RIND}"/>'
        for right, down, radius in ((-3, 4, 2), (4, 5, 1.5), (4, -1, 1.5))
    )
    return (
        f'<polygon points="{x - 10:g},{y + 2:g} {x + 9:g},{y - 7:g} {x + 9:g},{y + 9:g} {x - 10:g},{y + 9:g}" fill="{GOLD}" '
        f'stroke="{RIND}" stroke-width="1.5" stroke-linejoin="round"/>{holes}'
    )


def _players(state: Any, width: int, height: int) -> Iterator[str]:
    """Discs with letters, side by side in one cell; who is stuck is drawn with the number of turns and a ring of mud."""
    together = state.place[0] == state.place[1]
    for player, (name, colour) in enumerate(zip(PLAYERS, COLOURS, strict=True)):
        x, y = _centre(int(state.place[player]), width, height)
        x += (2 * player - 1) * 9 if together else 0
        stuck = int(state.stuck[player])
        ring = f'stroke="{EARTH}" stroke-width="4"' if stuck else 'stroke="#fff" stroke-width="1.5"'
        radius = 9 if together else 13
        yield f'<circle cx="{x:g}" cy="{y:g}" r="{radius}" fill="{colour}" {ring}/>'
        style = f'text-anchor="middle" dominant-baseline="central" font-size="{radius + 1}" font-weight="bold" fill="#fff"'
        yield f'<text x="{x:g}" y="{y:g}" {style}>{name}{stuck or ""}</text>'
