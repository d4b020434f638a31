"""Boards of Go with what a search found: the share of visits on each point, and whose points will be whose. As text for the
terminal, with shades where it has colours, and as SVG. Other games have no such drawings: `shows_heat` tells.
"""

from typing import Any

import numpy as np
from rich.text import Text

from anabranch.cli.terminal import console
from anabranch.errors import SearchError
from anabranch.games.go import Go
from anabranch.games.go.draw import is_hot, signs_of
from anabranch.games.go.vertices import COLUMNS
from anabranch.games.position import Position
from anabranch.goengine.estimate import estimate
from anabranch.search.results.result import Result

NUMBERED = 5  # best moves that get their number in a drawing
HEAT = (24, 100, 171)  # the colour of the most visited point, on black
FAINTEST = 0.2  # of it
CELL = 3  # letters of a point with its share
OWNERS = ((0.7, "X"), (0.3, "x"), (-0.3, "."), (-0.7, "o"), (-1.0, "O"))  # from which ownership on: 85 and 65 of 100 playouts
GAP = 4  # blanks between two boards
LEGEND = "X O: sure, x o: likely"


def shows_heat(game: Any) -> bool:
    """Whether there are such boards for this game."""
    return isinstance(game, Go)


def check_ownership(game: Any) -> None:
    """Only points of Go belong to somebody."""
    if not shows_heat(game):
        raise SearchError(f"--ownership works only in Go, not in {game!r}")


def check_record(game: Any) -> None:
    """Only games of Go have records."""
    if not isinstance(game, Go):
        raise SearchError(f"--save writes SGF, for Go only, not for {game!r}")


def print_boards(position: Position, result: Result, heat: bool, ownership: bool, policy: Any = None, seed: int = 0) -> None:
    """Those that are wanted, beside each other if there is room."""
    boards = []
    if heat:
        boards.append((heat_lines(position, result.visits), f"visits, in percent{_passes(result)}"))
    if ownership:
        owned = owned_by(position, result, policy, seed)
        boards.append((ownership_lines(position, owned), LEGEND))
    columns = [[Text(heading, style="dim"), *lines] for lines, heading in boards]
    widths = [max(line.cell_len for line in column) for column in columns]
    if sum(widths) + GAP <= console.width:
        columns = [[_joined(lines, widths) for lines in zip(*columns, strict=True)]] if columns else []
    for column in columns:
        for line in column:
            console.say(line)
        console.say()


def heat_lines(position: Position, visits: np.ndarray) -> list[Text]:
    """The board with shares of visits in percent, and shades behind them."""
    shares = visits / max(visits.sum(), 1)
    most = float(shares.max())
    cells = []
    for sign, share, is_shown in zip(signs_of(position.state), shares, is_hot(shares), strict=False):
        if not is_shown:
            cells.append(Text(f"{sign:>{CELL}}"))
        else:
            strength = FAINTEST + (1 - FAINTEST) * share / most
            colour = "#" + "".join(f"{round(part * strength):02x}" for part in HEAT)
            cells.append(Text(" ").append(f"{100 * share:>{CELL - 1}.0f}", style=f"white on {colour}"))
    return _lines(position, cells, CELL)


def ownership_lines(position: Position, owned: np.ndarray) -> list[Text]:
    """The board with who will own each point: a capital where it is sure, nothing where it is open."""
    signs = [next((sign for least, sign in OWNERS if own >= least), OWNERS[-1][1]) for own in owned]
    return _lines(position, [Text(f" {sign}") for sign in signs], 2)


def owned_by(position: Position, result: Result, policy: Any = None, seed: int = 0) -> np.ndarray:
    """For each point from 1 (black's) to -1 (white's), by playouts from the end of the principal variation."""
    return estimate(position, result.pv, policy, seed).ownership


def drawing(position: Position, result: Result, policy: Any = None, seed: int = 0) -> str:
    """The board as SVG with visits, ownership, and the numbers of the best moves."""
    game = position.game
    best = [move.action for move in result.moves[:NUMBERED] if move.visits > 0 and move.action < game.actions - 1]
    marks = {action: str(number) for number, action in enumerate(best, start=1)}
    assert isinstance(game, Go)
    return game.svg(position.state, marks=marks, heat=result.visits, ownership=owned_by(position, result, policy, seed))


def _joined(lines: tuple[Text, ...], widths: list[int]) -> Text:
    """Lines of several boards as one."""
    padded = [line + Text(" " * (width - line.cell_len)) for line, width in zip(lines[:-1], widths, strict=False)]
    return Text(" " * GAP).join([*padded, lines[-1]])


def _passes(result: Result) -> str:
    shares = result.visits / max(result.visits.sum(), 1)
    return f"; pass {100 * shares[-1]:.0f}" if is_hot(shares)[-1] else ""


def _lines(position: Position, cells: list[Text], wide: int) -> list[Text]:
    """Rows from the top with coordinates."""
    width, height = position.game.width, position.game.height  # type: ignore[attr-defined]
    side = len(str(height))
    lines = []
    for row in reversed(range(height)):
        lines.append(Text(f"{row + 1:>{side}}") + Text("").join(cells[row * width : (row + 1) * width]))
    return [*lines, Text(" " * side + "".join(f"{letter:>{wide}}" for letter in COLUMNS[:width]))]
