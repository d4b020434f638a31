"""What a search found where both players move at once: a `Result` whose best action, policy, visits and values come in pairs.

Made by `read.py`. Each player has its own policy: the share of its visits, or its average strategy where the rule keeps one.
"""

from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from anabranch.search.results.result import TOP_ROWS, Move, Result, format_value

__all__ = ["PairResult"]

Arrays = tuple[np.ndarray, np.ndarray]  # one per player
SEATS = ("first", "second")
HEAD = ("visits", "policy", "value", "prior")


@dataclass(frozen=True)
class PairResult(Result):
    """The outcome of a search in which both players move at once."""

    best: tuple[int, int]  # type: ignore[assignment]
    policy: Arrays  # type: ignore[assignment]  # what each player should play, over its actions
    visits: Arrays  # type: ignore[assignment]  # over each player's actions
    target: Arrays  # type: ignore[assignment]  # the policies without visits that were forced
    value: list[float]  # of each player
    pv: list[Any]  # pairs of actions, and chance events
    moves: tuple[list[Move], list[Move]]  # type: ignore[assignment]  # each player's outcomes, the most probable first
    pairs: np.ndarray = None  # type: ignore[assignment]  # visits of every pair, (actions, actions)
    payoffs: np.ndarray = None  # type: ignore[assignment]  # values of pairs, (players, actions, actions); NaN if never tried

    @property
    def regularized(self) -> Arrays:  # type: ignore[override]
        """Here the same as `policy`."""
        return self.policy

    @property
    def best_name(self) -> str:
        """The names of the best actions."""
        return "/".join(
            next(move.name for move in moves if move.action == action)
            for moves, action in zip(self.moves, self.best, strict=True)
        )

    @property
    def summary(self) -> str:
        """One line."""
        stopped = f"stopped by {self.stopped_by}" + (", memory full: the graph no longer grows" if self.memory_full else "")
        values = format_value(self.value).replace(" ", " and ")
        return f"best={self.best_name}, {int(self.pairs.sum()):,} visits, values={values}, {stopped}"

    def cells(self, limit: int = TOP_ROWS) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
        """Rows of both tables, side by side: name, visits, policy, value, prior of an outcome."""
        tables = [
            [
                (
                    move.name,
                    f"{move.visits:,}",
                    f"{float(policy[move.action]):.1%}",
                    format_value(move.value),
                    f"{move.prior:.1%}",
                )
                for move in moves[:limit]
            ]
            for moves, policy in zip(self.moves, self.policy, strict=True)
        ]
        empty = ("",) * (1 + len(HEAD))
        size = max(map(len, tables))
        first, second = ([*table, *[empty] * (size - len(table))] for table in tables)
        return list(zip(first, second, strict=True))

    def rows(self, limit: int = TOP_ROWS) -> list[Any]:
        """The cells of both players in one row."""
        return [(*left, *right) for left, right in self.cells(limit)]

    def to_dict(self) -> dict[str, Any]:
        """Everything as lists, numbers and strings, settings and seed included."""

        def lists(arrays: Arrays) -> list[list[float]]:
            return [array.tolist() for array in arrays]

        return {
            "best": list(self.best),
            "best_name": self.best_name,
            "value": self.value,
            "pv": [list(move) if isinstance(move, tuple) else move for move in self.pv],
            "policy": lists(self.policy),
            "visits": lists(self.visits),
            "target": lists(self.target),
            "pairs": self.pairs.tolist(),
            "payoffs": [[[None if np.isnan(x) else x for x in row] for row in table] for table in self.payoffs.tolist()],
            "moves": [[{**vars(move), "pv": list(move.pv)} for move in moves] for moves in self.moves],
            **self.circumstances(),
        }

    def __repr__(self) -> str:
        return f"PairResult({self.summary})"

    def __str__(self) -> str:
        rows = [(SEATS[0], *HEAD, SEATS[1], *HEAD), *self.rows()]
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        names = {0, len(HEAD) + 1}

        def cell(row: tuple[str, ...], c: int) -> str:
            text = row[c].ljust(widths[c]) if c in names else row[c].rjust(widths[c])
            return "  " + text if c == len(HEAD) + 1 else text

        lines = ["  ".join(cell(row, c) for c in range(len(row))).rstrip() for row in rows]
        hidden = max(len(moves) for moves in self.moves) - TOP_ROWS
        if hidden > 0:
            lines.append(f"... and {hidden} more")
        cost = self.stats
        lines.append(f"{self.summary}; {cost.simulations:,} simulations in {cost.seconds:.2f} s, {cost.speed:,.0f}/s")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in (SEATS[0], *HEAD, SEATS[1], *HEAD))
        body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in self.rows())
        return f"<table><caption>{escape(self.summary)}</caption><tr>{head}</tr>{body}</table>"
