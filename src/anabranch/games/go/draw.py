"""Boards for people: as text that can be read back (`text`, `parse`), and as drawings with marks, heat and ownership (`svg`).

Actions are what they are everywhere: row * width + column, rows from the bottom. Names of points: `vertices.py`.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from anabranch.chart import safe
from anabranch.errors import GameError
from anabranch.games.go.layout import BLACK, EMPTY, WHITE, action_of, cell_of
from anabranch.games.go.vertices import COLUMNS, action_at, star_points, vertex

SYMBOLS = {EMPTY: ".", BLACK: "X", WHITE: "O"}
STAR = "+"
EMPTY_SIGNS = ".+,"
TURNS = ("black (X) to move", "white (O) to move")
OVER = "the game is over"
CAPTION = re.compile("(?:" + "|".join(map(re.escape, (*TURNS, OVER))) + "), .*")
ROW = re.compile(r"([0-9]*)([^0-9]*)([0-9]*)")  # without blanks: perhaps a number, the points, perhaps the number again

# SVG: lengths in pixels
CELL = 40  # from one line to the next
STONE = 0.48 * CELL
FRAME = 0.65 * CELL  # from the outermost lines to the edge, without coordinates
LABELLED = 1.2 * CELL  # and with them
LABEL = 0.8 * CELL  # from the outermost lines to the middle of coordinates
CAPTION_ROW = 0.8 * CELL
LEAST_SHARE = 0.005  # of heat: less is not shown
LEAST_OF_MOST = 0.1  # nor is less than this part of the most: searches try everything now and then
FAINTEST, STRONGEST = 0.25, 0.9  # opacity of discs
LEAST_OWNED = 0.05
LARGEST_OWNED = 0.42 * CELL  # side of a square
ASIDE, SMALLER = 0.42 * CELL, 0.6  # where a disc stands: how far from its middle the square is, and what is left of its side
SIGNS = ("triangle", "square", "circle", "cross")  # marks that are drawn; others are written
ABOVE, BELOW = 0.18 * CELL, 0.24 * CELL  # from the middle of a disc to a text and to its share, if both stand there
LARGEST_ABOVE = 0.36  # of a cell: the font of such a text
LONGEST_MARK = 5  # letters; longer texts are cut, and shown in full when pointed at

WOOD, INK = "#e3b96b", "#3b2c14"
HEAT = "#1864ab"
STONES = {BLACK: "go-black", WHITE: "go-white"}
CONTRAST = {EMPTY: "#111111", BLACK: "#ffffff", WHITE: "#111111"}  # what can be seen on a point
GRADIENTS = (
    '<radialGradient id="go-black" cx="0.35" cy="0.3" r="0.75"><stop offset="0" stop-color="#6a6a6a"/>'
    '<stop offset="1" stop-color="#0b0b0b"/></radialGradient>',
    '<radialGradient id="go-white" cx="0.35" cy="0.3" r="0.8"><stop offset="0" stop-color="#ffffff"/>'
    '<stop offset="1" stop-color="#cfcdc6"/></radialGradient>',
    f'<linearGradient id="go-wood" x1="0" y1="0" x2="1" y2="1"><stop offset="0" stop-color="#ecc781"/>'
    f'<stop offset="1" stop-color="{WOOD}"/></linearGradient>',
)


# --- text ---------------------------------------------------------------------------------------------------------------------


def text(state: Any) -> str:
    """Rows from the top with coordinates, star points as `+`, the last move in brackets; below, who moves, and the komi."""
    width, height, _, last = _board(state)
    signs = signs_of(state)
    side = len(str(height))
    lines = []
    for row in reversed(range(height)):
        line = f"{row + 1:>{side}}"
        for action in range(row * width, (row + 1) * width):
            before = "(" if action == last else ")" if action - 1 == last and action % width else " "
            line += before + signs[action]
        lines.append(line + (")" if last == (row + 1) * width - 1 else ""))
    lines.append(" " * (side + 1) + " ".join(COLUMNS[:width]))
    lines.append(f"{OVER if state.passes >= 2 else TURNS[state.turn]}, komi {state.half_komi / 2:g}")
    return "\n".join(lines)


def signs_of(state: Any) -> list[str]:
    """What is written for each point, by action."""
    width, height, colours, _ = _board(state)
    stars = set(star_points(width, height))
    return [STAR if colour == EMPTY and action in stars else SYMBOLS[colour] for action, colour in enumerate(colours)]


def parse(drawing: str) -> tuple[int, int, list[int], list[int]]:
    """Width, height, and the actions of black and white stones of a board as `text` writes it, or of bare rows of . X O; blanks
    do not matter."""
    rows: list[str] = []
    numbers: list[str] = []
    letters: list[str] = []
    for line in drawing.splitlines():
        plain = re.sub(r"[\s()]", "", line)
        if len(plain) > 1 and COLUMNS.startswith(plain):
            letters.append(plain)
        elif plain and not CAPTION.fullmatch(line.strip()):
            number, points, again = _row(line, plain)
            rows.append(points)
            numbers += [number, again]
    if not rows:
        raise GameError("there is no board in the drawing: rows look like . X O .")
    width, height = len(rows[0]), len(rows)
    for place, row in enumerate(rows):
        if len(row) != width:
            raise GameError(f"row {place + 1} from the top has {len(row)} points, the first has {width}")
        for number in numbers[2 * place : 2 * place + 2]:
            if number and int(number) != height - place:
                raise GameError(f"row {place + 1} from the top is numbered {number}; of {height} rows it is {height - place}")
    for line in letters:
        if len(line) != width:
            raise GameError(f"the columns are lettered to {line[-1]}, but rows have {width} points")
    points = "".join(reversed(rows))
    black, white = ([action for action, sign in enumerate(points) if sign == SYMBOLS[colour]] for colour in (BLACK, WHITE))
    return width, height, black, white


def _row(line: str, plain: str) -> tuple[str, str, str]:
    """A row's number, its points, and its number again, as far as they are there."""
    found = ROW.fullmatch(plain)
    unknown = re.search(r"[^.+,XO]", found[2] if found else plain)
    if found is None or unknown is not None or not found[2]:
        what = repr(unknown[0]) if unknown else "a number alone"
        raise GameError(f"{line.strip()!r} is not a row of a board: {what} is not one of . + , X O")
    return found[1], found[2], found[3]


def _board(state: Any) -> tuple[int, int, list[int], int | None]:
    """Width, height, what each point holds, and where the last stone stands: nowhere after a pass or suicide."""
    width, height = int(state.width), int(state.height)
    colours = [int(state.colour[cell_of(state, action)]) for action in range(width * height)]
    last = None if state.colour[state.last] not in STONES else int(action_of(state, np.uint64(state.last)))
    return width, height, colours, last


# --- SVG ----------------------------------------------------------------------------------------------------------------------


class Frame(NamedTuple):
    """Where points stand in a drawing."""

    width: int  # points
    height: int
    margin: float  # pixels around the outermost lines

    def at(self, action: int) -> tuple[float, float]:
        """The place of a point."""
        row, column = divmod(action, self.width)
        return self.margin + CELL * column, self.margin + CELL * (self.height - 1 - row)

    @property
    def size(self) -> tuple[float, float]:
        """Of the board, margins included."""
        return 2 * self.margin + CELL * (self.width - 1), 2 * self.margin + CELL * (self.height - 1)


def svg(
    state: Any,
    marks: Mapping[int | str, str] | None = None,
    heat: Sequence[float] | np.ndarray | None = None,
    ownership: Sequence[float] | np.ndarray | None = None,
    coordinates: bool = True,
) -> str:
    """The board as a drawing.

    marks      by action or name: "triangle", "square", "circle", "cross", or a short text
    heat       a number for each action, such as the visits or the policy of a search: discs with its share of the whole;
               a text that marks such a point stands above its share
    ownership  a number for each point, from 1 (black's) to -1 (white's): squares, the larger the surer
    """
    width, height, colours, last = _board(state)
    frame = Frame(width, height, LABELLED if coordinates else FRAME)
    marked = {_point(point, width, height): mark for point, mark in (marks or {}).items()}
    shares = _shares(heat, width, height)
    owned = _numbers("ownership", ownership, width, height)
    if np.abs(owned).max() > 1:
        raise GameError("ownership goes from -1 (white's) to 1 (black's)")
    hot = is_hot(shares)
    parts = [*_grid(frame), *(_coordinates(frame) if coordinates else ())]
    parts += [_stone(frame.at(action), colour) for action, colour in enumerate(colours) if colour != EMPTY]
    texts = {action for action, mark in marked.items() if mark not in SIGNS}
    parts += _discs(frame, shares, hot, texts)
    parts += _squares(frame, owned, hot)
    if last is not None and last not in marked:
        parts.append(_ring(frame.at(last), 0.5 * STONE, CONTRAST[colours[last]], "last"))
    for action, mark in marked.items():
        x, y = frame.at(action)
        if hot[action] and action in texts:
            parts.append(_written((x, y - ABOVE), mark, _on_disc(shares, action), False, LARGEST_ABOVE))
        else:
            bare = colours[action] == EMPTY and not hot[action]
            parts.append(_mark((x, y), mark, CONTRAST[colours[action]], bare))
    wide, tall = frame.size
    if hot[-1]:
        parts.append(_text((wide / 2, tall + 0.2 * CELL), f"pass {shares[-1]:.0%}", 0.36 * CELL, INK, "pass"))
    turn = OVER if state.passes >= 2 else TURNS[state.turn][:5] + " to move"
    return _document(wide, tall + (CAPTION_ROW if hot[-1] else 0), f"Go on {width}x{height}, {turn}", parts)


def _point(point: int | str, width: int, height: int) -> int:
    action = action_at(point, width, height) if isinstance(point, str) else int(point)
    if action is None or not 0 <= action < width * height:
        raise GameError(f"{point!r} is not a point of a board of {width}x{height}")
    return action


def _numbers(name: str, given: Any, width: int, height: int) -> np.ndarray:
    """What was given for each point and for passing; zeros without anything."""
    points = width * height
    numbers = np.zeros(points + 1)
    if given is not None:
        found = np.asarray(given, float)
        if found.shape not in ((points,), (points + 1,)):
            raise GameError(f"{name} has the shape {found.shape}; this board has {points} points and a pass")
        if not np.isfinite(found).all():
            raise GameError(f"{name} has a number that is not finite")
        numbers[: len(found)] = found
    return numbers


def _shares(heat: Any, width: int, height: int) -> np.ndarray:
    numbers = _numbers("heat", heat, width, height)
    if numbers.min() < 0:
        raise GameError("heat has a number below 0")
    largest = numbers.max()
    scaled = numbers / largest if largest > 0 else numbers  # the sum of large numbers must not overflow
    return scaled / max(scaled.sum(), 1.0)


def is_hot(shares: np.ndarray) -> np.ndarray:
    """Which shares of a whole are worth showing."""
    return shares >= max(LEAST_SHARE, LEAST_OF_MOST * float(shares.max()))


# --- what is written ----------------------------------------------------------------------------------------------------------


def _grid(frame: Frame) -> Iterator[str]:
    (left, bottom), (right, top) = frame.at(0), frame.at(frame.width * frame.height - 1)
    rows = "".join(f"M{left:g} {top + CELL * row:g}H{right:g}" for row in range(frame.height))
    columns = "".join(f"M{left + CELL * column:g} {top:g}V{bottom:g}" for column in range(frame.width))
    yield f'<path class="grid" d="{rows}{columns}" fill="none" stroke="{INK}" stroke-linecap="square"/>'
    border = f"M{left:g} {top:g}H{right:g}V{bottom:g}H{left:g}Z"
    yield f'<path class="border" d="{border}" fill="none" stroke="{INK}" stroke-width="2"/>'
    for star in star_points(frame.width, frame.height):
        yield f'<circle class="star" {_centre(frame.at(star))} r="{0.09 * CELL:g}" fill="{INK}"/>'


def _coordinates(frame: Frame) -> Iterator[str]:
    for column in range(frame.width):
        (x, bottom), (_, top) = frame.at(column), frame.at((frame.height - 1) * frame.width)
        yield _text((x, bottom + LABEL), COLUMNS[column], 0.34 * CELL, INK, "label")
        yield _text((x, top - LABEL), COLUMNS[column], 0.34 * CELL, INK, "label")
    for row in range(frame.height):
        (left, y), (right, _) = frame.at(row * frame.width), frame.at((row + 1) * frame.width - 1)
        yield _text((left - LABEL, y), str(row + 1), 0.34 * CELL, INK, "label")
        yield _text((right + LABEL, y), str(row + 1), 0.34 * CELL, INK, "label")


def _stone(place: tuple[float, float], colour: int) -> str:
    name = "black" if colour == BLACK else "white"
    style = f'fill="url(#{STONES[colour]})" stroke="#222" stroke-width="0.8"'
    return f'<circle class="{name}" {_centre(place)} r="{STONE:g}" {style}/>'


def _squares(frame: Frame, owned: np.ndarray, hot: np.ndarray) -> Iterator[str]:
    """A square on each point that is somebody's; beside a disc it must not cover what is written there."""
    for action, value in enumerate(owned[:-1]):
        if abs(value) >= LEAST_OWNED:
            aside, smaller = (ASIDE, SMALLER) if hot[action] else (0.0, 1.0)
            x, y = (place + aside for place in frame.at(action))
            side = LARGEST_OWNED * abs(value) * smaller
            box = f'x="{x - side / 2:.1f}" y="{y - side / 2:.1f}" width="{side:.1f}" height="{side:.1f}"'
            yield f'<rect class="owned" {box} fill="{"#111111" if value > 0 else "#ffffff"}" stroke="#888" stroke-width="0.8"/>'


def _discs(frame: Frame, shares: np.ndarray, hot: np.ndarray, texts: Collection[int]) -> Iterator[str]:
    """Discs with shares, which stand lower where a text comes above."""
    for action, share in enumerate(shares[:-1]):
        if hot[action]:
            style = f'fill="{HEAT}" fill-opacity="{_opacity(shares, action):.2f}"'
            tip = f"<title>{vertex(action, frame.width, frame.height)}: {share:.1%}</title>"
            x, y = frame.at(action)
            yield f'<circle class="heat" {_centre((x, y))} r="{STONE:g}" {style}>{tip}</circle>'
            lower, size = (BELOW, 0.27 * CELL) if action in texts else (0.0, 0.32 * CELL)
            yield _text((x, y + lower), f"{share:.0%}", size, _on_disc(shares, action), "share")


def _opacity(shares: np.ndarray, action: int) -> float:
    return FAINTEST + (STRONGEST - FAINTEST) * float(shares[action] / shares.max())


def _on_disc(shares: np.ndarray, action: int) -> str:
    """What can be seen on a disc."""
    return "#ffffff" if _opacity(shares, action) > 0.5 else "#111111"


def _mark(place: tuple[float, float], mark: str, colour: str, bare: bool) -> str:
    """A sign or a text; on a bare point the lines below a text are covered."""
    x, y = place
    reach = 0.55 * STONE
    style = f'class="mark" fill="none" stroke="{colour}" stroke-width="2.2"'
    if mark == "triangle":
        low, side = 0.5 * reach, 0.87 * reach
        path = f"M{x:g} {y - reach:.1f}L{x + side:.1f} {y + low:.1f}H{x - side:.1f}Z"
    elif mark == "square":
        side = 0.75 * reach
        path = f"M{x - side:.1f} {y - side:.1f}h{2 * side:.1f}v{2 * side:.1f}h{-2 * side:.1f}Z"
    elif mark == "cross":
        side = 0.75 * reach
        path = f"M{x - side:.1f} {y - side:.1f}l{2 * side:.1f} {2 * side:.1f}m0 {-2 * side:.1f}l{-2 * side:.1f} {2 * side:.1f}"
    elif mark == "circle":
        return _ring(place, 0.85 * reach, colour, "mark")
    else:
        return _written(place, str(mark), colour, bare)
    return f'<path {style} d="{path}"/>'


def _written(place: tuple[float, float], mark: str, colour: str, bare: bool, largest: float = 0.5) -> str:
    shown = mark if len(mark) <= LONGEST_MARK else mark[: LONGEST_MARK - 1] + "…"
    size = min(largest, 1.3 / max(len(shown), 1)) * CELL
    cover = f'<circle {_centre(place)} r="{0.42 * CELL:g}" fill="{WOOD}"/>' if bare else ""
    return f"<g><title>{safe(mark)}</title>{cover}{_text(place, shown, size, colour, 'mark')}</g>"


def _ring(place: tuple[float, float], radius: float, colour: str, kind: str) -> str:
    return f'<circle class="{kind}" {_centre(place)} r="{radius:.1f}" fill="none" stroke="{colour}" stroke-width="2.2"/>'


def _text(place: tuple[float, float], words: str, size: float, colour: str, kind: str) -> str:
    style = f'class="{kind}" text-anchor="middle" font-size="{size:.1f}" fill="{colour}"'
    return f'<text x="{place[0]:g}" y="{place[1] + 0.36 * size:.1f}" {style}>{safe(words)}</text>'


def _centre(place: tuple[float, float]) -> str:
    return f'cx="{place[0]:g}" cy="{place[1]:g}"'


def _document(wide: float, tall: float, title: str, parts: list[str]) -> str:
    size = f'width="{wide:g}" height="{tall:g}" viewBox="0 0 {wide:g} {tall:g}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" role="img">',
            f"<title>{safe(title)}</title>",
            f"<defs>{''.join(GRADIENTS)}</defs>",
            '<rect width="100%" height="100%" fill="url(#go-wood)"/>',
            *parts,
            "</svg>",
            "",
        ]
    )
