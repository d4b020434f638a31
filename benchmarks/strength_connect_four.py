"""How often UCT finds the one right move of a Connect Four position, by its number of visits.

The positions are those of `connect_four_set.py`; each is searched once at every number of visits, seeded by its place in the
set. Shares come with Wilson 95 % intervals, of all positions and of those whose right move is not forced, and are drawn into
docs/results/connect_four_strength.svg.
"""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from anabranch import UCT, Search
from anabranch.games import ConnectFour
from connect_four_set import Row, read
from measure import Figure, main, progress

VISITS = (100, 1_000, 10_000, 100_000)
C = 1.4
GROUPS: dict[str, Callable[[Row], bool]] = {"all positions": lambda row: True, "move not forced": lambda row: not row.forced}
Z = 1.959964  # two-sided 95 %
DRAWING = Path(__file__).parents[1] / "docs" / "results" / "connect_four_strength.svg"
COMMAND = "python benchmarks/strength_connect_four.py"


def found(rows: list[Row], visits: int) -> list[bool]:
    """For each position, whether UCT finds the right move."""
    game = ConnectFour()
    hits = []
    for seed, row in enumerate(rows):
        search = Search(game, select=UCT(c=C), seed=seed)
        hits.append(search.run(game.position(row.moves), visits=visits).best == game.action(row.best))
    return hits


def wilson(hits: int, trials: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share."""
    share = hits / trials
    centre = (share + Z**2 / (2 * trials)) / (1 + Z**2 / trials)
    half = Z * math.sqrt(share * (1 - share) / trials + Z**2 / (4 * trials**2)) / (1 + Z**2 / trials)
    return centre - half, centre + half


def draw(figures: list[Figure], file: Path = DRAWING) -> None:
    """The curves, as SVG; the same numbers give the same file."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "anabranch"
    from matplotlib import pyplot

    axes: Any
    figure, axes = pyplot.subplots(figsize=(6, 4), layout="constrained")
    for group, colour in zip(GROUPS, ("#c8453b", "#2d6a9f"), strict=True):
        points = [item.data for item in figures if item.data["group"] == group]
        shares = [100 * point["hits"] / point["positions"] for point in points]
        below = [share - 100 * point["low"] for share, point in zip(shares, points, strict=True)]
        above = [100 * point["high"] - share for share, point in zip(shares, points, strict=True)]
        label = f"{group} ({points[0]['positions']})"
        visits = [point["visits"] for point in points]
        axes.errorbar(visits, shares, yerr=[below, above], marker="o", capsize=4, color=colour, label=label)
    axes.set(xscale="log", ylim=(0, 100), xlabel="visits", ylabel="right moves found, %")
    axes.set_title(f"UCT (c = {C}) on Connect Four positions with one right move", fontsize="medium")
    axes.legend(loc="lower right")
    axes.grid(alpha=0.3)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, metadata={"Date": None})
    pyplot.close(figure)


def share_figure(group: str, hits: list[bool], visits: int) -> Figure:
    """One share with its interval."""
    count, trials = sum(hits), len(hits)
    low, high = wilson(count, trials)
    share = f"{count / trials:.1%} ({low:.1%} to {high:.1%})"
    progress(f"{visits:,} visits, {group}: {share}")
    return Figure(
        what=f"Connect Four, {group}: right moves of {trials} found by UCT with {visits:,} visits",
        ours=share,
        peer="",
        ratio="",
        target="",
        met=True,
        command=COMMAND,
        data={"group": group, "visits": visits, "hits": count, "positions": trials, "low": low, "high": high},
    )


def run(quick: bool = False) -> list[Figure]:
    """Shares by visits."""
    rows = read()[:: 8 if quick else 1]
    figures = []
    for visits in VISITS[: 3 if quick else None]:
        hits = found(rows, visits)
        for group, belongs in GROUPS.items():
            figures.append(share_figure(group, [hit for hit, row in zip(hits, rows, strict=True) if belongs(row)], visits))
    if not quick:
        draw(figures)
    return figures


if __name__ == "__main__":
    main(run, __doc__)
