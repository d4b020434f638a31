"""What the program shows: boards, tables, progress. Rich does the drawing."""

import contextlib
import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.live import Live
from rich.text import Text

from anabranch.cli.terminal import Rows, console, errors
from anabranch.games.position import Position
from anabranch.games.rules import CHANCE, EVERYONE
from anabranch.jit import report_with
from anabranch.jit.kernels import Reporter
from anabranch.search.results.result import Result, format_value
from anabranch.search.simultaneous.result import HEAD, SEATS, PairResult

SHOWN = 12  # moves of a table


class ConsoleReporter(Reporter):
    """News of compilations as one line on stderr."""

    def started(self, what: str) -> None:
        """A compilation begins."""
        errors.say(f"compiling {what} (once; kept for the next time) ...", "dim", end="")

    def finished(self, what: str, seconds: float, problem: str | None) -> None:
        """It ended."""
        errors.say(f" {seconds:.1f} s" + (f", not kept: {problem}" if problem else ""), "dim")


report_with(ConsoleReporter())


def print_evaluator(searcher: Any) -> None:
    """Say so if the package's own network evaluates, which nobody has asked for by name."""
    from anabranch.nets.network import Network
    from anabranch.nets.trained import is_trained_file

    evaluator = searcher.options.evaluate
    if isinstance(evaluator, Network) and is_trained_file(evaluator.model):
        console.say(f"{evaluator.model.name}, a network of the package, evaluates; --select uct searches by playouts\n", "dim")


def print_position(position: Position) -> None:
    """The board and whose turn it is."""
    console.say(str(position))
    if not position.is_over:
        who = {CHANCE: "chance", EVERYONE: "both players"}.get(position.to_play, "")
        who = who or position.game.player_name(position.to_play)
        console.say(f"{position.game!r}, ply {len(position.moves) + 1}, {who} to move\n", "dim")


class PairTable(NamedTuple):
    """The outcomes of both players: side by side if there is room, otherwise one table below the other."""

    result: PairResult
    limit: int

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        cells = self.result.cells(self.limit)
        both = [Rows((name, *HEAD), [pair[player] for pair in cells], best=True) for player, name in enumerate(SEATS)]
        gap = "   "
        joined = Rows(
            (*both[0].head, gap + SEATS[1], *HEAD), [(*left, gap + right[0], *right[1:]) for left, right in cells], best=True
        )
        tables: list[RenderableType] = [joined] if joined.fits(console, options) else [both[0], Text(), both[1]]
        yield from tables


def result_table(result: Result, limit: int = SHOWN, game: Any = None) -> RenderableType:
    """The moves of a result; with a game whose values are win rates, as such."""
    if isinstance(result, PairResult):
        return PairTable(result, limit)
    head = ["move", "visits", "share", "value", "principal variation"]
    rows = [list(row) for row in result.rows(limit)]
    if game is not None and has_win_rates(game):
        head[3] = "win rate"
        for row, move in zip(rows, result.moves, strict=False):
            row[3] = ("=" if move.proven else "") + win_rate(move.value)
    return Rows(head, rows, sentences=True, styles=("", "", "", "", "dim"), best=True)


def has_win_rates(game: Any) -> bool:
    """Whether values are between a loss, -1, and a win, 1; games that pay anything else declare it."""
    return bool(game.players == 2 and game.zero_sum and tuple(game.value_range) == (-1.0, 1.0) and game.discount == 1.0)


def win_rate(value: float | None) -> str:
    """A value as a win rate, a draw being half a win."""
    return "-" if value is None else f"{(value + 1) / 2:.1%}"


def worth(position: Position, value: Any) -> str:
    """What a search takes a position for, from the view of who moves there: a win rate where values are that."""
    if has_win_rates(position.game) and not isinstance(value, list):
        return f"win rate {win_rate(value)} for {position.game.player_name(position.to_play)}"
    return f"value {format_value(value)}"


@contextlib.contextmanager
def live_table(searcher: Any) -> Iterator[None]:
    """While the search runs, its table is drawn again and again; only on a terminal. That begins with the first news of the
    search, since a compiler that tells what it does in the meantime would be overwritten."""
    if not console.is_terminal:
        yield
        return
    live = Live(console=console, refresh_per_second=10, transient=True)

    def draw(result: Result) -> None:
        live.update(Group(result_table(result), Text(pace(searcher, result), "dim")))
        live.start()

    searcher.on_progress = draw
    try:
        yield
    finally:
        searcher.on_progress = None
        live.stop()


def pace(searcher: Any, result: Result) -> str:
    """How fast a search goes, and what its network has to do for it."""
    cost = result.stats
    parts = [f"{cost.simulations:,} simulations, {cost.speed:,.0f}/s"]
    evaluator = searcher.options.evaluate
    if callable(evaluator):
        parts.append(f"{cost.evaluations / max(cost.seconds, 1e-9):,.0f} evaluations/s")
    if hasattr(evaluator, "stats"):
        done = evaluator.stats
        asked = max(done.evaluations + done.hits, 1)
        parts.append(f"batches {done.fill:.0%} full, {done.hits / asked:.0%} from the cache")
    return "; ".join(parts)


def print_result(result: Result) -> None:
    """The table, the best move, and what it cost."""
    console.say(result_table(result))
    hidden = (max(map(len, result.moves)) if isinstance(result, PairResult) else len(result.moves)) - SHOWN
    if hidden > 0:
        console.say(f"... and {hidden} more", "dim")
    cost = result.stats
    console.say(f"\n{result.summary}")
    parts = [
        f"{cost.simulations:,} simulations in {cost.seconds:.2f} s: {cost.speed:,.0f} a second",
        f"{cost.nodes:,} positions in {cost.bytes / 1e6:.1f} MB",
    ]
    if result.settings.get("graph"):
        parts.append(f"{cost.evaluations:,} evaluations, {cost.merges:,} merges")
    console.say("; ".join(parts), "dim")


def print_pairs(left: str, right: str, rows: list[tuple[str, str]]) -> None:
    """Two columns."""
    console.say(Rows((left, right), rows, sentences=True))


def print_speeds(rows: list[dict[str, Any]]) -> None:
    """The table of `anabranch bench`."""
    cells = [(row["game"], f"{row['simulations_per_second']:,.0f}", f"{row['bytes_per_simulation']:,.0f}") for row in rows]
    console.say(Rows(("game", "simulations/s", "bytes a simulation"), cells))


def print_network_speeds(game: str, measurements: Iterable[Any]) -> None:
    """The table of `anabranch bench nets`."""
    found = list(measurements)
    cells = [(row.runtime, str(row.threads), str(row.batch), f"{row.speed:,.0f}") for row in found]
    console.say(f"{game}: positions a second of the network alone\n", "dim")
    console.say(Rows(("runtime", "threads", "batch", "positions/s"), cells))
    peer = found[-1]
    same = next(row for row in found if row[1:3] == peer[1:3])
    if same.runtime != peer.runtime:
        ratio = same.speed / peer.speed
        console.say(f"\n{same.runtime} is {ratio:.2f} times as fast as {peer.runtime} at batch {peer.batch}, one thread")


def print_next(commands: list[tuple[str, str]]) -> None:
    """What to try next; commands are given without the program's name."""
    console.say("\nTry next:")
    for command, why in commands:
        console.say(Text.assemble("  ", (f"{program_name()} {command}", "green"), "  ", (why, "dim")))


def program_name() -> str:
    """How this program is called from here: by name if it is on the path, else by its file."""
    return "anabranch" if shutil.which("anabranch") else os.path.relpath(sys.argv[0])
