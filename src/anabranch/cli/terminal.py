"""The terminal: everything that people read goes through `console` or `errors`. What is printed may come from games, files and
users, so nothing in it is markup, a picture's name or a control character: `[b]`, `:ant:` and what follows an escape are shown
as they stand. Styles are given beside the text, never inside it. `Rows` are tables that fit any terminal.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from anabranch.printable import printable, printable_lines

BETWEEN = "  "  # two columns
INDENT = "  "  # of cells below the name of their row
NARROWEST = 10  # a column of sentences that gets less than this has lines too short to read


class Terminal(Console):
    """A console on which text is text."""

    def __init__(self, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=False, markup=False, emoji=False)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """Whatever is printed comes through here, in pieces; those that steer the terminal on our behalf say so."""
        for piece in super().render(renderable, options):
            yield piece if piece.control else Segment(printable_lines(piece.text), piece.style)

    def say(self, text: RenderableType = "", style: str = "", end: str = "\n") -> None:
        """Print: on a terminal with lines broken between words, elsewhere with whole lines, which other programs can find."""
        self.print(text, style=style or None, end=end, soft_wrap=not self.is_terminal)


console = Terminal()
errors = Terminal(stderr=True)


@dataclass(frozen=True)
class Rows:
    """A table. Where a terminal is too narrow for it, a last column of sentences is broken into lines; where this is not
    enough, each row becomes its names, and below them its cells with their heads. A file gets it as wide as it needs to be."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: int = 1  # columns that stand to the left: names
    sentences: bool = False  # whether the last column holds text of any length
    styles: Sequence[str] | None = None  # of the columns; by default names are green
    best: bool = False  # whether the first row is marked

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        table = [[Text(printable(cell)) for cell in row] for row in (self.head, *self.rows)]
        widths = self.widths
        if not self.fits(console, options):
            widths[-1] -= self.width - options.max_width
            if not self.sentences or widths[-1] < NARROWEST:
                yield from self._stacked(table, console, options.max_width)
                return
        for number, row in enumerate(table):
            yield from self._lines(number, row, widths, console)

    @property
    def widths(self) -> list[int]:
        """Of the columns, if there is room for all of them."""
        return [max(cell_len(printable(row[place])) for row in (self.head, *self.rows)) for place in range(len(self.head))]

    @property
    def width(self) -> int:
        """Of the whole table, likewise."""
        return sum(self.widths) + len(BETWEEN) * (len(self.head) - 1)

    def fits(self, console: Console, options: ConsoleOptions) -> bool:
        """Whether there is room for all of it; only terminals have an edge."""
        return not console.is_terminal or self.width <= options.max_width

    def _lines(self, number: int, row: list[Text], widths: list[int], console: Console) -> Iterator[Text]:
        """A row, the last column in several lines if it must be."""
        for place, cell in enumerate(row):
            cell.stylize(self._style(number, place))
        ends = row[-1].wrap(console, widths[-1]) if self.sentences else [row[-1]]
        for count, end in enumerate(ends or [Text()]):
            end.rstrip()
            cells = row[:-1] if count == 0 else [Text()] * (len(row) - 1)
            yield Text(BETWEEN).join(
                [
                    self._justified(cell, width, place)
                    for place, (cell, width) in enumerate(zip([*cells, end], widths, strict=True))
                ]
            )

    def _justified(self, cell: Text, width: int, place: int) -> Text:
        gap = Text(" " * (width - cell.cell_len))
        is_last = place == len(self.head) - 1
        if place < self.left or (is_last and self.sentences):
            return cell if is_last else cell + gap
        return gap + cell

    def _stacked(self, table: list[list[Text]], console: Console, room: int) -> Iterator[Text]:
        """Names in a line of their own, and below them the other cells, each with its head before it."""
        head, *rows = table
        for number, row in enumerate(rows, start=1):
            for place, cell in enumerate(row):
                cell.stylize(self._style(number, place))
            yield from Text(BETWEEN).join([cell for cell in row[: self.left] if cell]).wrap(console, room)
            cells = [f"{name} {cell}".strip() for name, cell in zip(head[self.left :], row[self.left :], strict=True) if cell]
            for line in filled(cells, room - len(INDENT)):
                yield Text(INDENT + line)

    def _style(self, row: int, place: int) -> str:
        if row == 0:
            return "bold"
        if self.best and row == 1:
            return "bold green"
        if self.styles is None:
            return "green" if place < self.left else ""
        return self.styles[place]


def filled(parts: Iterable[str], room: int) -> Iterator[str]:
    """Lines of whole parts, as many as there is room for; a part that is longer than that is broken between its words."""
    line = ""
    for part in parts:
        for word in [part] if cell_len(part) <= room else part.split():
            joined = f"{line}{BETWEEN if word == part else ' '}{word}" if line else word
            if line and cell_len(joined) > room:
                yield line
                joined = word
            line = joined
    if line:
        yield line


def print_error(error: Any) -> None:
    """One of our own errors."""
    errors.say(f"anabranch: {error}", style="red")
