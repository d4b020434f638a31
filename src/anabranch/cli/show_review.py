"""What `anabranch review` shows: progress, curves of win rates and leads, the moves that lost most, both sides in sum."""

import contextlib
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from anabranch.cli.terminal import Rows, console, errors
from anabranch.errors import SgfError
from anabranch.goengine.game_tree import COLOURS
from anabranch.goengine.review import Review, review
from anabranch.goengine.review_chart import title_of
from anabranch.goengine.review_summary import PLURALS, lead_curve, points_a_move, size_of, sizes, turning_points

ROWS = 8  # of the curve
BLOCKS = " ▁▂▃▄▅▆▇█"  # eighths of a cell
PLAIN_BLOCKS = "    ####"  # where the terminal has no others; the last stands for a full cell as well
MARGIN = 7  # letters before the curve
MOST_COLUMNS = 100
WIDEST = 4  # columns of a move
LONGEST_LINE = 6  # moves: a row has 80 letters
POINTS = 6  # the column of points lost
LEAD_STEP = 5  # points: the scale of leads ends at a multiple of it
TICK = 10  # moves from one number below the curve to the next
FEW_VISITS = "too few visits for this board: all but the largest losses are noise; more --visits say more"


def reviewed(file: Path, tree: Any, options: Any, first: int, last: int | None) -> Review:
    """Go through the game; on a terminal a bar shows how far that is."""
    with progress() as on_progress:
        try:
            found = review(tree, options, first, last, on_progress)
        except SgfError as error:
            raise SgfError(f"{file}: {error}") from None
    if not found.moves:
        raise typer.Exit(130)
    return found


@contextlib.contextmanager
def progress() -> Iterator[Any]:
    """A bar on stderr, if that is a terminal, so that what is printed can go elsewhere."""
    if not errors.is_terminal:
        yield None
        return
    columns = (TextColumn("positions"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=errors, transient=True) as bar:
        task = bar.add_task("positions", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def print_review(found: Review, swings: int) -> None:
    """All of it."""
    console.say(title_of(found), "bold")
    console.say(f"{found.tree.game!r}; {effort(found)}", "dim")
    encoding = (console.encoding or "").lower()
    width, blocks = min(console.width - MARGIN - 1, MOST_COLUMNS), BLOCKS if encoding.startswith("utf") else PLAIN_BLOCKS
    console.say("\nblack's win rate")
    for line in curve_lines(found.curve, width, blocks):
        console.say(line)
    if found.has_points:
        console.say("\nblack's lead in points")
        for line in lead_lines(lead_curve(found), width, blocks):
            console.say(line)
    worst = found.swings(swings)
    if worst:
        console.say()
        console.say(swing_table(found, swings))
    console.say()
    for player, colour in enumerate(COLOURS):
        console.say(side_line(found, player, colour))
    console.say(turning_line(found))
    console.say(noise_line(found))
    if found.is_loud:
        errors.say(FEW_VISITS, "yellow")
    if not found.is_complete:
        errors.say(f"stopped after move {found.moves[-1].turn.number}", "yellow")


def effort(found: Review) -> str:
    """How long was searched."""
    visits, seconds = found.options.visits, found.options.seconds
    limits = [] if visits is None else [f"{visits:,} visits"]
    limits += [] if seconds is None else [f"{seconds:g} s"]
    return f"{' or '.join(limits)} a position"


def lead_lines(curve: Sequence[tuple[int, float]], width: int, blocks: str = BLOCKS) -> list[str]:
    """Leads as columns, with an even game in the middle."""
    most = max(math.ceil(max(abs(lead) for _, lead in curve) / LEAD_STEP), 1) * LEAD_STEP
    shares = [(number, (lead / most + 1) / 2) for number, lead in curve]
    return curve_lines(shares, width, blocks, (f"{most:+d}", "even", f"{-most:+d}"))


def curve_lines(
    curve: Sequence[tuple[int, float]], width: int, blocks: str = BLOCKS, labels: Sequence[str] = ("100 %", " 50 %", "  0 %")
) -> list[str]:
    """Shares as columns, from 0 at the bottom to 1 at the top, with the number of moves below. In a narrow place
    neighbours share a column, which shows their mean."""
    each = min(max(width // len(curve), 1), WIDEST)  # columns of a position
    shared = -(-len(curve) // max(width, 1)) if len(curve) > width else 1  # positions of a column
    groups = [curve[start : start + shared] for start in range(0, len(curve), shared)]
    means = [sum(rate for _, rate in group) / len(group) for group in groups]
    scale = dict(zip((0, ROWS // 2, ROWS - 1), labels, strict=True))
    lines = []
    for row in range(ROWS):
        filled = (min(max(mean * ROWS - (ROWS - 1 - row), 0.0), 1.0) for mean in means)
        cells = "".join(blocks[min(round(part * 8), len(blocks) - 1)] * each for part in filled)
        lines.append(f"{scale.get(row, ''):>{MARGIN - 2}} {'┤' if row in scale and blocks is BLOCKS else '|'}{cells}".rstrip())
    return [*lines, _numbers([group[0][0] for group in groups], each)]


def _numbers(first: Sequence[int], each: int) -> str:
    """Below the curve: every tenth number of moves, where there is room."""
    line = " " * MARGIN
    step = TICK
    while len(first) > 1 and step * each < 5 * (first[1] - first[0]):
        step *= 2
    wanted = (first[0] + step - 1) // step * step
    for place, number in enumerate(first):
        if number >= wanted:
            at = MARGIN + place * each
            if len(line) <= at:
                line = line.ljust(at) + str(number)
            wanted = (number // step + 1) * step
    return line.rstrip()


def swing_table(found: Review, swings: int) -> Rows:
    """The moves that lost most, the worst first."""
    rows: list[tuple[str, ...]] = []
    for move in found.swings(swings):
        before, after = move.rates
        rows.append(
            (
                str(move.turn.number),
                COLOURS[move.turn.player],
                move.name,
                f"{before:.1%} -> {after:.1%}",
                f"{move.loss:.1%}",
                f"{move.error:.1%}",
                "" if move.points_lost is None else f"{move.points_lost:.1f}",
                size_of(move) or ("noise" if move.is_noise else ""),
                " ".join(move.before.line[:LONGEST_LINE]),
            )
        )
    head: tuple[str, ...] = ("move", "player", "played", "mover's win rate", "loss", "error", "points", "", "preferred")
    styles: tuple[str, ...] = ("", "", "bold", "", "", "", "", "", "dim")
    if not any(row[POINTS] for row in rows):  # only a network tells them
        head, styles = head[:POINTS] + head[POINTS + 1 :], styles[:POINTS] + styles[POINTS + 1 :]
        rows = [row[:POINTS] + row[POINTS + 1 :] for row in rows]
    return Rows(head, rows, left=3, sentences=True, styles=styles)


def noise_line(found: Review) -> str:
    """What the numbers are worth."""
    clear = sum(not move.is_noise for move in found.moves)
    moves = f"{clear} of {len(found.moves)} moves" if len(found.moves) > 1 else f"{'the' if clear else 'no'} move"
    return f"standard error of a loss {found.error:.1%}; {moves} lost more than twice their own"


def side_line(found: Review, player: int, colour: str) -> str:
    """One side in sum."""
    side = found.side(player)
    if not side.moves:
        return f"{colour}: no moves"
    agreed = f"the search's first choice {side.first_choices} of {side.moves} times ({side.first_choices / side.moves:.0%})"
    points = points_a_move(found, player)
    lost = f"{side.loss:.1%}" if points is None else f"{points:.1f} points ({side.loss:.1%})"
    return f"{colour}: average loss {lost} a move{_sizes(found, player)}, {agreed}"


def _sizes(found: Review, player: int) -> str:
    """How many mistakes there were; nothing if there were none."""
    return "".join(
        f", {count} {size if count == 1 else PLURALS[size]}" for size, count in sizes(found, player).items() if count
    )


def turning_line(found: Review) -> str:
    """Who was ahead, and from when on."""
    turns = turning_points(found)
    if not turns:
        return "nobody was clearly ahead"
    return "ahead: " + ", ".join(f"{COLOURS[player]} from move {number}" for number, player in turns)
