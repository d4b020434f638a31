"""What a search found: the best action, the visit distribution, the value, and why the search stopped.

A `Result` is plain data: it prints as a table, renders in a notebook, pickles, and `to_dict()` converts it for programs.
Made by `read.py` from the graph.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import Any

import numpy as np

TOP_ROWS = 12  # moves shown in a printed table


@dataclass(frozen=True)
class Stats:
    """What the search cost."""

    simulations: int  # in this run
    evaluations: int  # in this run; a simulation that ends where the game is over needs none
    nodes: int  # positions in the tree, kept ones included
    merges: int  # edges that led to a position which another path had already reached; none in a tree
    seconds: float
    bytes: int  # of memory that the tree fills
    kept: int  # visits of the root that were there before this run
    depth: int  # length of the principal variation

    @property
    def speed(self) -> float:
        """Simulations per second."""
        return self.simulations / self.seconds if self.seconds > 0 else 0.0


@dataclass(frozen=True)
class Move:
    """One row of the table: an action at the root."""

    action: int
    name: str
    visits: int
    share: float  # of all visits
    value: float | None  # for the player to move, in units of the game's returns; None if never tried
    prior: float
    pv: tuple[str, ...]  # the line behind it, by most visits
    proven: bool = False  # whether the value is certain
    amaf_visits: int = 0  # simulations that played the action here or later, a heuristic's included; see `select/rave.py`
    amaf_value: float | None = None  # their mean, like `value`; None if there are none


@dataclass(frozen=True)
class Result:
    """The outcome of a search."""

    best: int  # the action to play
    policy: np.ndarray  # share of visits, over all actions
    visits: np.ndarray  # over all actions
    target: (
        np.ndarray
    )  # the policy target, over all actions: the share of visits, or the selection rule's own: `select/target.py`
    regularizing: Callable[[], np.ndarray] = field(repr=False)  # computes `regularized`
    value: float | list[float]  # for the player to move; one number per player with three or more, or general sum
    pv: list[int]  # the principal variation, which begins with `best`
    stats: Stats
    moves: list[Move]  # legal actions, most visits first
    stopped_by: str  # "visits", "total", "seconds", "proven", "on_progress", "stop", "Ctrl-C", "full counters"
    memory_full: bool  # whether lack of memory stopped the tree from growing
    proven: bool = False  # whether `best` is proven to be best, and `value` is its proven value
    settings: dict[str, Any] = field(default_factory=dict)  # game, options, seed and version

    @cached_property
    def regularized(self) -> np.ndarray:
        """The exact regularised policy over all actions, the other target for training: `ByRegularized`."""
        return self.regularizing()

    @property
    def best_name(self) -> str:
        """The name of the best action."""
        return next(move.name for move in self.moves if move.action == self.best)

    @property
    def summary(self) -> str:
        """One line."""
        most = int(self.visits[self.best])
        stopped = f"stopped by {self.stopped_by}" + (", memory full: the tree no longer grows" if self.memory_full else "")
        return (
            f"best={self.best_name}, visits={most:,} of {int(self.visits.sum()):,}, "
            f"value={format_value(self.value)}{' (proven)' if self.proven else ''}, {stopped}"
        )

    def rows(self, limit: int = TOP_ROWS) -> list[tuple[str, str, str, str, str]]:
        """The table's cells: move, visits, share, value (after "=" if it is proven), principal variation."""
        return [
            (
                move.name,
                f"{move.visits:,}",
                f"{move.share:.1%}",
                ("=" if move.proven else "") + format_value(move.value),
                " ".join(move.pv[:10]),
            )
            for move in self.moves[:limit]
        ]

    def to_dict(self) -> dict[str, Any]:
        """Everything as lists, numbers and strings, settings and seed included."""
        return {
            "best": self.best,
            "best_name": self.best_name,
            "value": self.value,
            "pv": self.pv,
            "policy": [float(share) for share in self.policy],
            "visits": [int(count) for count in self.visits],
            "target": [float(share) for share in self.target],
            "regularized": [float(share) for share in self.regularized],
            "moves": [{**vars(move), "pv": list(move.pv)} for move in self.moves],
            "proven": self.proven,
            **self.circumstances(),
        }

    def circumstances(self) -> dict[str, Any]:
        """What the search cost, why it stopped, and its settings: the part of `to_dict` that all results share."""
        cost = {name: getattr(self.stats, name) for name in Stats.__dataclass_fields__}
        return {
            "stats": {**cost, "speed": self.stats.speed},
            "stopped_by": self.stopped_by,
            "memory_full": self.memory_full,
            "settings": self.settings,
        }

    def __repr__(self) -> str:
        return f"Result({self.summary})"

    def __str__(self) -> str:
        rows = [("move", "visits", "share", "value", "principal variation"), *self.rows()]
        widths = [max(len(row[column]) for row in rows) for column in range(4)]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *(row[c].rjust(widths[c]) for c in (1, 2, 3)), row[4]]).rstrip() for row in rows
        ]
        hidden = len(self.moves) - TOP_ROWS
        if hidden > 0:
            lines.append(f"... and {hidden} more")
        cost = self.stats
        lines.append(f"{self.summary}; {cost.simulations:,} simulations in {cost.seconds:.2f} s, {cost.speed:,.0f}/s")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in ("move", "visits", "share", "value", "principal variation"))
        body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in self.rows())
        return f"<table><caption>{escape(self.summary)}</caption><tr>{head}</tr>{body}</table>"


def format_value(value: float | list[float] | None) -> str:
    """A value as printed: signed, three digits."""
    if value is None:
        return "-"
    if isinstance(value, list):
        return " ".join(format_value(number) for number in value)
    return f"{value + 0.0:+.3f}"  # no -0.000
