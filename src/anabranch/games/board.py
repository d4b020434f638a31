"""Boards for people: a grid of cells as text and as SVG, and names such as "d3" for cells. No rules here."""

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

LETTERS = "abcdefghijklmnopqrstuvwxyz"
CELL = 40  # pixels of a cell in SVG
MARGIN = 24  # and around the board, for coordinates


def cell_name(cell: int, width: int) -> str:
    """"d3" for column d, third row from the top."""
    row, column = divmod(cell, width)
    return f"{LETTERS[column]}{row + 1}"


@dataclass(frozen=True)
class Grid:
    """Cells from the top row down: 0 empty, otherwise a player's number plus 1."""

    cells: Sequence[Sequence[int]]
    symbols: str = ".XO"
    columns: str = LETTERS  # a letter a column
    rows: bool = False  # number the rows, from the top
    shift: float = 0.0  # how many cells each row is moved right of the one above (Hex: a half)
    round_cells: bool = False  # draw empty cells as holes
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
        full_height = height * CELL + 2 * MARGIN
        parts = [f'<rect width="100%" height="100%" fill="{self.background}"/>']
        for r, row in enumerate(self.cells):
            left = MARGIN + self.shift * r * CELL
            if self.rows:
                parts.append(_label(left - MARGIN / 2, MARGIN + (r + 0.5) * CELL, str(r + 1)))
            for c, cell in enumerate(row):
                parts.append(self._cell(left + c * CELL, MARGIN + r * CELL, cell))
        parts += [_label(MARGIN + (c + 0.5) * CELL, MARGIN / 2, self.columns[c]) for c in range(width)]
        return _document(full_width, full_height, parts)

    def _cell(self, x: float, y: float, cell: int) -> str:
        middle = f'cx="{x + CELL / 2:g}" cy="{y + CELL / 2:g}" r="{CELL * 0.42:g}"'
        if self.round_cells:
            return f'<circle {middle} fill="{self.colours[cell]}" stroke="#555"/>'
        square = f'<rect x="{x:g}" y="{y:g}" width="{CELL}" height="{CELL}" fill="{self.colours[0]}" stroke="#555"/>'
        return square + (f'<circle {middle} fill="{self.colours[cell]}" stroke="#555"/>' if cell else "")


def text_svg(text: str) -> str:
    """Any text as a drawing, for games that draw nothing better."""
    lines = text.splitlines() or [""]
    parts = ['<rect width="100%" height="100%" fill="#ffffff"/>']
    for number, line in enumerate(lines):
        y = MARGIN + 18 * number
        parts.append(f'<text x="12" y="{y}" font-family="monospace" font-size="14" xml:space="preserve">{escape(line)}</text>')
    return _document(24 + 9 * max(len(line) for line in lines), 2 * MARGIN + 18 * (len(lines) - 1), parts)


def _label(x: float, y: float, text: str) -> str:
    style = 'text-anchor="middle" dominant-baseline="central" font-family="sans-serif" font-size="13" fill="#333"'
    return f'<text x="{x:g}" y="{y:g}" {style}>{escape(text)}</text>'


def _document(width: int, height: int, parts: list[str]) -> str:
    body = "\n".join(parts)
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">\n{body}\n</svg>\n'
