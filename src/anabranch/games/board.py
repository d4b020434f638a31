"""Drawing boards: a grid of cells as text and as SVG, and names such as "d3" for cells. No rules here."""

from collections.abc import Sequence
from dataclasses import dataclass

from anabranch.chart import safe

LETTERS = "abcdefghijklmnopqrstuvwxyz"
CELL = 40  # pixels of a cell in SVG
MARGIN = 24  # and around the board, for coordinates
HALF_HEXAGON = 3**-0.5  # from a hexagon's middle to its corners, if it is 1 wide


def cell_name(cell: int, width: int) -> str:
    """The column's letter and the row's number from the top, such as d3."""
    row, column = divmod(cell, width)
    return f"{LETTERS[column]}{row + 1}"


@dataclass(frozen=True)
class Grid:
    """Cells from the top row down: 0 empty, otherwise a player's number plus 1."""

    cells: Sequence[Sequence[int]]
    symbols: str = ".XO"
    columns: str = LETTERS  # one letter per column
    rows: bool = False  # number the rows, from the top
    shift: float = 0.0  # how many cells each row is moved right of the one above (Hex: a half)
    round_cells: bool = False  # draw empty cells as holes
    hexagons: bool = False  # draw hexagons, and the edges that the players must connect: top and bottom, left and right
    colours: Sequence[str] = ("#e8e0cc", "#222222", "#fafafa")  # of an empty cell, and of each player
    background: str = "#c9b27c"

    def text(self) -> str:
        """Rows of symbols with coordinates."""
        width = len(self.cells[0])
        side = len(str(len(self.cells))) if self.rows else 0
        pad = " " * (side + 1 if self.rows else 0)
        lines = [pad + " ".join(self.columns[:width])]
        for number, row in enumerate(self.cells):
            label = f"{number + 1:>{side}} " if self.rows else ""
            lines.append(" " * round(2 * self.shift * number) + label + " ".join(self.symbols[cell] for cell in row))
        return "\n".join(lines)

    def svg(self) -> str:
        """A drawing with coordinates."""
        height, width = len(self.cells), len(self.cells[0])
        full_width = int((width + self.shift * (height - 1)) * CELL + 2 * MARGIN)
        pitch = CELL * HALF_HEXAGON * 1.5 if self.hexagons else CELL  # from one row to the next
        full_height = int((height - 1) * pitch + CELL + 2 * MARGIN)
        parts = [f'<rect width="100%" height="100%" fill="{self.background}"/>']
        if self.hexagons:
            parts += self._edges(width, height, pitch)
        for r, row in enumerate(self.cells):
            left = MARGIN + self.shift * r * CELL
            if self.rows:
                parts.append(_label(left - MARGIN / 2, MARGIN + r * pitch + CELL / 2, str(r + 1)))
            for c, cell in enumerate(row):
                parts.append(self._cell(left + c * CELL, MARGIN + r * pitch, cell))
        parts += [_label(MARGIN + (c + 0.5) * CELL, MARGIN / 2, self.columns[c]) for c in range(width)]
        return _document(full_width, full_height, parts)

    def _cell(self, x: float, y: float, cell: int) -> str:
        if self.hexagons:
            return _hexagon(x + CELL / 2, y + CELL / 2, self.colours[cell])
        middle = f'cx="{x + CELL / 2:g}" cy="{y + CELL / 2:g}" r="{CELL * 0.42:g}"'
        if self.round_cells:
            return f'<circle {middle} fill="{self.colours[cell]}" stroke="#555"/>'
        square = f'<rect x="{x:g}" y="{y:g}" width="{CELL}" height="{CELL}" fill="{self.colours[0]}" stroke="#555"/>'
        return square + (f'<circle {middle} fill="{self.colours[cell]}" stroke="#555"/>' if cell else "")

    def _edges(self, width: int, height: int, pitch: float) -> list[str]:
        """A line in its player's colour behind each edge of the board."""
        left, right, top, bottom = MARGIN, MARGIN + width * CELL, MARGIN, MARGIN + (height - 1) * pitch + CELL
        slant = (height - 1) * self.shift * CELL
        first, second = self.colours[1], self.colours[2]
        return [
            _line(left, top, right, top, first),
            _line(left + slant, bottom, right + slant, bottom, first),
            _line(left, top + CELL / 2, left + slant, bottom - CELL / 2, second),
            _line(right, top + CELL / 2, right + slant, bottom - CELL / 2, second),
        ]


def text_svg(text: str) -> str:
    """Any text as a drawing, for games without a drawing of their own."""
    lines = text.splitlines() or [""]
    parts = ['<rect width="100%" height="100%" fill="#ffffff"/>']
    for number, line in enumerate(lines):
        y = MARGIN + 18 * number
        parts.append(f'<text x="12" y="{y}" font-family="monospace" font-size="14" xml:space="preserve">{safe(line)}</text>')
    return _document(24 + 9 * max(len(line) for line in lines), 2 * MARGIN + 18 * (len(lines) - 1), parts)


def _label(x: float, y: float, text: str) -> str:
    style = 'text-anchor="middle" dominant-baseline="central" font-family="sans-serif" font-size="13" fill="#333"'
    return f'<text x="{x:g}" y="{y:g}" {style}>{safe(text)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, colour: str) -> str:
    return f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{colour}" stroke-width="8" stroke-linecap="round"/>'


def _hexagon(x: float, y: float, colour: str) -> str:
    """A hexagon around (x, y) that is CELL wide and stands on a corner."""
    half, tall = CELL / 2, CELL * HALF_HEXAGON
    corners = ((0, -tall), (half, -tall / 2), (half, tall / 2), (0, tall), (-half, tall / 2), (-half, -tall / 2))
    points = " ".join(f"{x + right:g},{y + down:g}" for right, down in corners)
    return f'<polygon points="{points}" fill="{colour}" stroke="#555"/>'


def _document(width: int, height: int, parts: list[str]) -> str:
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" {size}>', *parts, "</svg>", ""])
