"""Layered drawings of directed graphs as SVG: boxes in rows, curves between them, independent of what they show.

`layers` puts every box one row below the nearest box that leads to it; `ordered` sorts each row by barycentres, so that few
curves cross; `placed` puts boxes near their neighbours, as far as there is room; `draw` writes the SVG. The first box
is the root, from which all others are reached. Rows go down the page; if one of them is too wide, they become columns
that go to the right, since a page is taller than it is wide, and texts are wider than they are tall. Above: `export.py`.
"""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from anabranch.chart import safe

SWEEPS = 12  # over the rows, down and up in turn; the order with the fewest crossings is kept
SIZE = 13  # pixels of the font


# Widths of letters relative to the font size, those of DejaVu Sans: no common font is wider.
NARROW, BROAD = frozenset(" !'(),-./:;I[\\]fijlrt|"), frozenset("%@MWmw")
NARROW_LETTER, LETTER, CAPITAL, BROAD_LETTER = 0.41, 0.64, 0.72, 1.0
BOLD = 1.12  # times as wide
WIDEST = 1400  # pixels of a drawing whose rows go down
LINE = 17  # pixels from one line of text to the next
PAD = 9  # inside a box
GAP = 16  # between boxes
DROP = 74  # between rows
MARGIN = 24
THINNEST, THICKEST = 0.8, 7.0  # lines, by weight
SIGN = 22  # of the legend, with the gap before its text
DISC = 4.5  # radius of the disc that shows a player
INK, FAINT = "#333333", "#9a9a9a"
PLAIN, JOINED = "#f4efe2", "#f7c07a"  # fills: a box with one line to it, and one with several
JOINING = "#d9822b"  # lines to the latter
SURE = "#2e7d32"  # the frame of proven positions
BACK = 'stroke-dasharray="4 3" marker-end="url(#arrow)"'  # lines that do not lead down
PLAYERS = ("#222222", "#fafafa", "#c0392b", "#2a6fb0", "#8e6bbf", "#3a9d8f")


class Box(NamedTuple):
    """The contents of a box."""

    lines: Sequence[str]  # of text
    player: int  # whose disc it shows; below 0: none
    joined: bool  # whether several lines lead here
    sure: bool
    over: bool
    tip: str  # shown when pointed at
    titles: int = 1  # lines that are bold, the first ones


class Line(NamedTuple):
    """A line between two boxes, by their indices in the list."""

    source: int
    target: int
    weight: float  # 0 to 1
    tip: str


class Frame(NamedTuple):
    """The places of boxes, along their rows and across them."""

    middles: np.ndarray  # of boxes, along their row
    sizes: np.ndarray  # likewise
    starts: np.ndarray  # where they begin, across the rows
    depths: np.ndarray  # how deep they are
    down: bool  # whether rows go down the page; else they are columns, and go to the right

    def point(self, along: float, deep: float) -> tuple[float, float]:
        """A point on the page."""
        return (along, deep) if self.down else (deep, along)

    def rectangle(self, i: int) -> tuple[float, float, float, float]:
        """Left, top, width and height of a box."""
        x, y = self.point(float(self.middles[i] - self.sizes[i] / 2), float(self.starts[i]))
        width, height = self.point(float(self.sizes[i]), float(self.depths[i]))
        return x, y, width, height

    @property
    def ends(self) -> tuple[float, float]:
        """The width and height of all boxes together, margins included."""
        along, deep = float((self.middles + self.sizes / 2).max()), float((self.starts + self.depths).max())
        width, height = self.point(along, deep)
        return width + MARGIN, height + MARGIN


def draw(boxes: Sequence[Box], lines: Sequence[Line], notes: Sequence[str], movers: Mapping[int, str] | None = None) -> str:
    """The whole drawing; `notes` go below it, with a legend of colours, frames and players."""
    rows = ordered(layers(len(boxes), lines), lines)
    frame = framed(boxes, rows, lines, down=True)
    if frame.ends[0] > WIDEST:
        frame = framed(boxes, rows, lines, down=False)
    parts = [_curve(line, boxes[line.target].joined, frame) for line in lines]
    parts += [_box(box, *frame.rectangle(i)) for i, box in enumerate(boxes)]
    back = any(frame.starts[line.target] <= frame.starts[line.source] for line in lines)
    key = [*_key(boxes, back, movers or {}), *(("", note) for note in notes)]
    wide, tall = frame.ends
    wide = max(wide, 2 * MARGIN + max(_key_width(sign, text) for sign, text in key) if key else 0.0)
    below, tall = _key_rows(key, wide, tall)
    return _document(wide, tall, parts + below)


# --- the places of boxes ---------------------------------------------------------------------------------------------------


def framed(boxes: Sequence[Box], rows: list[np.ndarray], lines: Sequence[Line], down: bool) -> Frame:
    """A frame in which the boxes of one row start at the same height and are equally deep."""
    shapes = np.array([(_width(box), PAD + LINE * len(box.lines)) for box in boxes])
    sizes, depths = shapes.T if down else shapes.T[::-1]
    sizes, depths, starts = sizes.copy(), depths.copy(), np.empty(len(boxes))
    start = float(MARGIN)
    for row in rows:
        starts[row], depths[row] = start, depths[row].max()
        start += depths[row[0]] + DROP
    return Frame(placed(rows, sizes, lines), sizes, starts, depths, down)


def layers(count: int, lines: Sequence[Line]) -> list[np.ndarray]:
    """The boxes of each row, by the fewest lines from the first box."""
    followers: list[list[int]] = [[] for _ in range(count)]
    for line in lines:
        followers[line.source].append(line.target)
    rows, seen = [[0]], {0}
    while rows[-1]:
        reached = dict.fromkeys(target for source in rows[-1] for target in followers[source])
        rows.append([target for target in reached if target not in seen])
        seen.update(rows[-1])
    return [np.array(row) for row in rows[:-1]]


def ordered(rows: list[np.ndarray], lines: Sequence[Line]) -> list[np.ndarray]:
    """The same rows, each in an order in which few lines cross."""
    steps = _steps(rows, lines)
    best, fewest = rows, crossings(rows, steps)
    for sweep in range(SWEEPS):
        if fewest == 0:
            break
        rows = _swept(rows, steps, downwards=sweep % 2 == 0)
        found = crossings(rows, steps)
        if found < fewest:
            best, fewest = rows, found
    return best


def crossings(rows: list[np.ndarray], steps: list[np.ndarray]) -> int:
    """How many pairs of lines cross."""
    place = _places(rows)
    total = 0
    for step in steps:
        above, below = place[step[:, 0]], place[step[:, 1]]
        total += int(((above[:, None] < above) & (below[:, None] > below)).sum())
    return total


def _steps(rows: list[np.ndarray], lines: Sequence[Line]) -> list[np.ndarray]:
    """For each row but the last, the lines to the next one, as pairs of boxes."""
    level = np.empty(sum(map(len, rows)), int)
    for number, row in enumerate(rows):
        level[row] = number
    pairs = np.array([line[:2] for line in lines], int).reshape(-1, 2)
    return [pairs[(level[pairs[:, 0]] == i) & (level[pairs[:, 1]] == i + 1)] for i in range(len(rows) - 1)]


def _places(rows: list[np.ndarray]) -> np.ndarray:
    place = np.empty(sum(map(len, rows)))
    for row in rows:
        place[row] = (np.arange(len(row)) + 0.5) / len(row)
    return place


def _swept(rows: list[np.ndarray], steps: list[np.ndarray], downwards: bool) -> list[np.ndarray]:
    """Sort every row by the mean place of the neighbours above, or below."""
    rows = list(rows)
    place = _places(rows)
    for i in range(1, len(rows)) if downwards else range(len(rows) - 2, -1, -1):
        step = steps[i - 1] if downwards else steps[i][:, ::-1]
        wanted = _means(place, step)[rows[i]]
        wanted = np.where(np.isnan(wanted), place[rows[i]], wanted)
        rows[i] = rows[i][np.argsort(wanted, kind="stable")]
        place[rows[i]] = (np.arange(len(rows[i])) + 0.5) / len(rows[i])
    return rows


def _means(values: np.ndarray, step: np.ndarray) -> np.ndarray:
    """For each box, the mean value of its neighbours in the pairs (neighbour, box); NaN without any."""
    sums = np.bincount(step[:, 1], values[step[:, 0]], len(values))
    counts = np.bincount(step[:, 1], minlength=len(values))
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def placed(rows: list[np.ndarray], widths: np.ndarray, lines: Sequence[Line]) -> np.ndarray:
    """The places of boxes: those of the widest row side by side, the others as close to above or below the middle of their
    neighbours as there is room."""
    steps = _steps(rows, lines)
    x = np.zeros(len(widths))
    widest = int(np.argmax([(widths[row] + GAP).sum() for row in rows]))
    x[rows[widest]] = _apart(np.zeros(len(rows[widest])), widths[rows[widest]])
    for i in (*range(widest - 1, -1, -1), *range(widest + 1, len(rows))):
        step = steps[i][:, ::-1] if i < widest else steps[i - 1]
        x[rows[i]] = _apart(_filled(_middles(x, step)[rows[i]]), widths[rows[i]])
    return x - (x - widths / 2).min() + MARGIN


def _middles(values: np.ndarray, step: np.ndarray) -> np.ndarray:
    """The same with the midpoint of the least and the largest instead of the mean."""
    least, largest = np.full((2, len(values)), np.nan)
    np.fmin.at(least, step[:, 1], values[step[:, 0]])
    np.fmax.at(largest, step[:, 1], values[step[:, 0]])
    return (least + largest) / 2


def _filled(wanted: np.ndarray) -> np.ndarray:
    """The wanted places, with missing ones (NaN) interpolated between the others."""
    known = np.flatnonzero(~np.isnan(wanted))
    return np.interp(np.arange(len(wanted)), known, wanted[known])


def _apart(wanted: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """The places nearest to the wanted ones, in this order, at which boxes do not touch (pool adjacent violators)."""
    offsets = np.cumsum(widths + GAP) - widths / 2
    pools: list[tuple[float, int]] = []  # the mean of the wanted places of its boxes, and their number
    for want in wanted - offsets:
        mean, count = float(want), 1
        while pools and pools[-1][0] >= mean:
            before, boxes = pools.pop()
            mean, count = (mean * count + before * boxes) / (count + boxes), count + boxes
        pools.append((mean, count))
    return np.repeat([mean for mean, _ in pools], [count for _, count in pools]) + offsets


# --- what is written -------------------------------------------------------------------------------------------------------


def text_width(text: str, bold: bool = False) -> float:
    """An upper bound on the width of a text in pixels."""
    return SIZE * (BOLD if bold else 1.0) * sum(map(_letter_width, text))


def _letter_width(letter: str) -> float:
    if letter in NARROW:
        return NARROW_LETTER
    if letter in BROAD or unicodedata.east_asian_width(letter) in "WF":
        return BROAD_LETTER
    return CAPITAL if letter.isupper() or not letter.isascii() else LETTER


def _width(box: Box) -> float:
    disc = 2 * DISC + 5 if box.player >= 0 else 0
    widths = [text_width(line, bold=i < box.titles) for i, line in enumerate(box.lines)]
    return 2 * PAD + max(widths[0] + 2 * disc, *widths)


def _box(box: Box, x: float, y: float, width: float, height: float) -> str:
    """`x`, `y`: its upper left corner."""
    frame = f'stroke="{SURE}" stroke-width="3"' if box.sure else f'stroke="{INK}"'
    place = _rectangle(x, y, width, height, 0 if box.over else 8)
    parts = [f"<title>{safe(box.tip)}</title>", f'<rect {place} fill="{JOINED if box.joined else PLAIN}" {frame}/>']
    if box.over:
        parts.append(f'<rect {_rectangle(x + 3, y + 3, width - 6, height - 6, 0)} fill="none" stroke="{INK}"/>')
    if box.player >= 0:
        parts.append(_disc(x + PAD + DISC, y + PAD / 2 + LINE / 2, box.player))
    for i, line in enumerate(box.lines):
        parts.append(_text(x + width / 2, y + PAD / 2 + (i + 0.5) * LINE, line, "middle", bold=i < box.titles))
    return f'<g class="node">{"".join(parts)}</g>'


def _curve(line: Line, joined: bool, frame: Frame) -> str:
    """A curve to the next row. A line that leads back is dashed, with an arrow: it leaves a box where other lines enter it, and
    enters another from its far side, or from its near side if that is in the same row."""
    source, target = line.source, line.target
    along = [float(frame.middles[source]), float(frame.middles[target])]
    deep = [float(frame.starts[source]), float(frame.starts[target])]
    more = ""
    if deep[1] > deep[0]:
        deep[0] += float(frame.depths[source])
        turns = [(deep[0] + deep[1]) / 2] * 2
    else:
        along = [along[0] - float(frame.sizes[source]) / 4, along[1] + float(frame.sizes[target]) / 4]
        turns = [start - 0.6 * DROP for start in deep]
        if deep[1] < deep[0]:
            deep[1] += float(frame.depths[target])
            turns[1] = deep[1] + 0.6 * DROP
        more = BACK
    places = [(along[0], deep[0]), (along[0], turns[0]), (along[1], turns[1]), (along[1], deep[1])]
    begin, *others = (f"{x:.1f} {y:.1f}" for x, y in (frame.point(*place) for place in places))
    width = THINNEST + (THICKEST - THINNEST) * line.weight
    style = f'fill="none" stroke="{JOINING if joined else FAINT}" stroke-opacity="0.85" stroke-width="{width:.2f}" {more}'
    return f'<path class="edge" d="M{begin}C{" ".join(others)}" {style}><title>{safe(line.tip)}</title></path>'


def _key(boxes: Sequence[Box], back: bool, movers: Mapping[int, str]) -> Iterator[tuple[str, str]]:
    """The legend of the signs that occur: a sign at (0, 0), and its text."""
    square = _rectangle(-7, -7, 14, 14, 3)
    for player in sorted({box.player for box in boxes if box.player >= 0}):
        yield _disc(0, 0, player), movers.get(player, f"player {player} moves")
    if any(box.joined for box in boxes):
        yield f'<rect {square} fill="{JOINED}" stroke="{INK}"/>', "transposition: several drawn paths lead here"
    if any(box.sure for box in boxes):
        yield f'<rect {square} fill="none" stroke="{SURE}" stroke-width="3"/>', "proven"
    if any(box.over for box in boxes):
        outer, inner = _rectangle(-7, -7, 14, 14, 0), _rectangle(-4, -4, 8, 8, 0)
        yield f'<g fill="none" stroke="{INK}"><rect {outer}/><rect {inner}/></g>', "the game is over"
    if back:
        yield f'<path d="M-8 0H8" stroke="{INK}" {BACK}/>', "leads back, or to the same row"


def _key_width(sign: str, text: str) -> float:
    return (SIGN if sign else 0) + text_width(text) + GAP


def _key_rows(key: list[tuple[str, str]], wide: float, top: float) -> tuple[list[str], float]:
    """The legend in as many rows as it needs, and where it ends."""
    parts = []
    x, y = float(MARGIN), top + LINE / 2
    for sign, text in key:
        if x > MARGIN and x + _key_width(sign, text) > wide - MARGIN:
            x, y = float(MARGIN), y + 1.4 * LINE
        if sign:
            parts.append(f'<g transform="translate({x + 8:g} {y:g})">{sign}</g>')
        parts.append(_text(x + (SIGN if sign else 0), y, text, "start"))
        x += _key_width(sign, text)
    return [f'<g class="legend">{"".join(parts)}</g>'], y + LINE / 2 + MARGIN


def _rectangle(x: float, y: float, width: float, height: float, corner: float) -> str:
    return f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{corner}"'


def _disc(x: float, y: float, player: int) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{DISC}" fill="{PLAYERS[player % len(PLAYERS)]}" stroke="{INK}"/>'


def _text(x: float, y: float, text: str, anchor: str, bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    style = f'text-anchor="{anchor}" fill="{INK}"{weight}'
    return f'<text x="{x:.1f}" y="{y + 0.36 * SIZE:.1f}" {style}>{safe(text)}</text>'


def _document(width: float, height: float, parts: list[str]) -> str:
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    units = 'viewBox="0 0 8 8" refX="8" refY="4" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="{SIZE}">',
            f'<defs><marker id="arrow" {units}><path d="M0 0L8 4L0 8z" fill="{INK}"/></marker></defs>',
            '<rect width="100%" height="100%" fill="#ffffff"/>',
            *parts,
            "</svg>",
            "",
        ]
    )
