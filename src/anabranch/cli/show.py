"""What the program shows: boards, tables, progress. Rich does the drawing."""

import contextlib
import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from anabranch.games.position import Position
from anabranch.games.rules import CHANCE, EVERYONE
from anabranch.jit import report_with
from anabranch.jit.kernels import Reporter
from anabranch.search.result import Result
from anabranch.search.simultaneous.result import HEAD, SEATS, PairResult

# What is shown may come from others: brackets in it are brackets, not styles.
console = Console(highlight=False, markup=False)
errors = Console(stderr=True, highlight=False, markup=False)


class ConsoleReporter(Reporter):
    """News of compilations as one line on stderr."""

    def started(self, what: str) -> None:
        """A compilation begins."""
        errors.print(f"compiling {what} (once; kept for the next time) ...", style="dim", end="", soft_wrap=True)

    def finished(self, what: str, seconds: float, problem: str | None) -> None:
        """It ended."""
        errors.print(f" {seconds:.1f} s" + (f", not kept: {problem}" if problem else ""), style="dim", soft_wrap=True)


report_with(ConsoleReporter())


def print_position(position: Position) -> None:
    """The board and whose turn it is."""
    console.print(Text(str(position)))
    if not position.is_over:
        who = {CHANCE: "chance", EVERYONE: "both players"}.get(position.to_play, f"player {position.to_play}")
        console.print(f"{position.game!r}, ply {len(position.moves) + 1}, {who} to move\n", style="dim")


def pair_table(result: PairResult, limit: int) -> Table:
    """The outcomes of both players, side by side."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for player, name in enumerate(SEATS):
        table.add_column("   " * player + name)
        for name in HEAD:
            table.add_column(name, justify="right")
    for i, (left, right) in enumerate(result.cells(limit)):
        table.add_row(*left, "   " + right[0], *right[1:], style="bold green" if i == 0 else "")
    return table


def result_table(result: Result, limit: int = 12) -> Table:
    """The moves of a result."""
    if isinstance(result, PairResult):
        return pair_table(result, limit)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("move")
    for name in ("visits", "share", "value"):
        table.add_column(name, justify="right")
    table.add_column("principal variation", style="dim")
    for i, row in enumerate(result.rows(limit)):
        table.add_row(*row, style="bold green" if i == 0 else "")
    return table


@contextlib.contextmanager
def live_table(searcher: Any) -> Iterator[None]:
    """While the search runs, its table is drawn again and again; only on a terminal."""
    if not console.is_terminal:
        yield
        return
    with Live(console=console, refresh_per_second=10, transient=True) as live:
        searcher.on_progress = lambda result: live.update(Group(result_table(result), Text(pace(searcher, result), "dim")))
        try:
            yield
        finally:
            searcher.on_progress = None


def pace(searcher: Any, result: Result) -> str:
    """How fast a search goes, and what its network has to do for it."""
    cost = result.stats
    told = [f"{cost.simulations:,} simulations, {cost.speed:,.0f}/s"]
    evaluator = searcher.options.evaluate
    if callable(evaluator):
        told.append(f"{cost.evaluations / max(cost.seconds, 1e-9):,.0f} evaluations/s")
    if hasattr(evaluator, "stats"):
        done = evaluator.stats
        asked = max(done.evaluations + done.hits, 1)
        told.append(f"batches {done.fill:.0%} full, {done.hits / asked:.0%} from the cache")
    return "; ".join(told)


def print_result(result: Result) -> None:
    """The table, the best move, and what it cost."""
    console.print(result_table(result))
    hidden = (max(map(len, result.moves)) if isinstance(result, PairResult) else len(result.moves)) - 12
    if hidden > 0:
        console.print(f"... and {hidden} more", style="dim")
    cost = result.stats
    console.print(f"\n{result.summary}")
    told = [
        f"{cost.simulations:,} simulations in {cost.seconds:.2f} s: {cost.speed:,.0f} a second",
        f"{cost.nodes:,} positions in {cost.bytes / 1e6:.1f} MB",
    ]
    if result.settings.get("graph"):
        told.append(f"{cost.evaluations:,} evaluations, {cost.merges:,} merges")
    console.print("; ".join(told), style="dim", soft_wrap=True)


def print_pairs(left: str, right: str, rows: list[tuple[str, str]]) -> None:
    """Two columns."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(left, style="green")
    table.add_column(right)
    for row in rows:
        table.add_row(*row)
    console.print(table)


def print_speeds(rows: list[dict[str, Any]]) -> None:
    """The table of `anabranch bench`."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("game", style="green")
    table.add_column("simulations/s", justify="right")
    table.add_column("bytes a simulation", justify="right")
    for row in rows:
        table.add_row(row["game"], f"{row['simulations_per_second']:,.0f}", f"{row['bytes_per_simulation']:,.0f}")
    console.print(table)


def print_ladder(game: str, rungs: Iterable[Any]) -> None:
    """The table of `anabranch bench nets`."""
    found = list(rungs)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("runtime", style="green")
    for name in ("threads", "batch", "positions/s"):
        table.add_column(name, justify="right")
    for rung in found:
        table.add_row(rung.runtime, str(rung.threads), str(rung.batch), f"{rung.speed:,.0f}")
    console.print(f"{game}: positions a second of the network alone\n", style="dim")
    console.print(table)
    peer = found[-1]
    same = next(rung for rung in found if rung[1:3] == peer[1:3])
    if same.runtime != peer.runtime:
        ratio = same.speed / peer.speed
        console.print(f"\n{same.runtime} is {ratio:.2f} times as fast as {peer.runtime} at batch {peer.batch}, one thread")


def print_next(commands: list[tuple[str, str]]) -> None:
    """What to try next; commands are given without the program's name."""
    console.print("\nTry next:")
    for command, why in commands:
        console.print(Text.assemble("  ", (f"{program_name()} {command}", "green"), "  ", (why, "dim")), soft_wrap=True)


def program_name() -> str:
    """How this program is called from here: by name if it is on the path, else by its file."""
    return "anabranch" if shutil.which("anabranch") else os.path.relpath(sys.argv[0])
