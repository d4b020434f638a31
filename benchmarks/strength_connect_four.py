"""How often UCT finds the one right move of a Connect Four position, by its number of visits.

The positions are those of `connect_four_set.py`; each is searched once at every number of visits, seeded by its place in the
set. Shares come with Wilson 95 % intervals and are drawn into docs/results/connect_four_strength.svg.
"""

import math
from pathlib import Path

from anabranch import UCT, Search
from anabranch.games import ConnectFour
from connect_four_set import Row, read
from measure import Figure, main, progress

VISITS = (100, 1_000, 10_000, 100_000)
C = 1.4
Z = 1.959964  # two-sided 95 %
DRAWING = Path(__file__).parents[1] / "docs" / "results" / "connect_four_strength.svg"
COMMAND = "python benchmarks/strength_connect_four.py"


def found(rows: list[Row], visits: int) -> int:
    """In how many of the positions UCT finds the right move."""
    game = ConnectFour()
    hits = 0
    for seed, row in enumerate(rows):
        search = Search(game, select=UCT(c=C), seed=seed)
        hits += search.run(game.position(row.moves), visits=visits).best == game.action(row.best)
    return hits


def wilson(hits: int, trials: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share."""
    share = hits / trials
    centre = (share + Z**2 / (2 * trials)) / (1 + Z**2 / trials)
    half = Z * math.sqrt(share * (1 - share) / trials + Z**2 / (4 * trials**2)) / (1 + Z**2 / trials)
    return centre - half, centre + half


def draw(hits: dict[int, int], trials: int, file: Path = DRAWING) -> None:
    """The curve, as SVG; the same numbers give the same file."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "anabranch"
    from matplotlib import pyplot

    shares = [100 * count / trials for count in hits.values()]
    bounds = [wilson(count, trials) for count in hits.values()]
    below = [share - 100 * low for share, (low, _) in zip(shares, bounds, strict=True)]
    above = [100 * high - share for share, (_, high) in zip(shares, bounds, strict=True)]
    figure, axes = pyplot.subplots(figsize=(6, 4), layout="constrained")
    axes.errorbar(list(hits), shares, yerr=[below, above], marker="o", capsize=4, color="#c8453b")
    axes.set(xscale="log", ylim=(0, 100), xlabel="visits", ylabel="right moves found, %")
    axes.set_title(f"UCT (c = {C}) on {trials} Connect Four positions with one right move", fontsize="medium")
    axes.grid(alpha=0.3)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, metadata={"Date": None})
    pyplot.close(figure)


def run(quick: bool = False) -> list[Figure]:
    """Shares by visits."""
    rows = read()[:: 8 if quick else 1]
    hits: dict[int, int] = {}
    figures = []
    for visits in VISITS[: 3 if quick else None]:
        hits[visits] = found(rows, visits)
        low, high = wilson(hits[visits], len(rows))
        share = f"{hits[visits] / len(rows):.1%} ({low:.1%} to {high:.1%})"
        progress(f"{visits:,} visits: {share}")
        figures.append(
            Figure(
                what=f"Connect Four, right moves of {len(rows)} found by UCT with {visits:,} visits",
                ours=share,
                peer="",
                ratio="",
                target="",
                met=True,
                command=COMMAND,
                data={"visits": visits, "hits": hits[visits], "positions": len(rows), "low": low, "high": high},
            )
        )
    if not quick:
        draw(hits, len(rows))
    return figures


if __name__ == "__main__":
    main(run, __doc__)
