"""What a graph finds that a tree does not: right moves of Connect Four positions, for the same simulations and evaluations.

The positions are those of `connect_four_set.py`, each searched once by every configuration, seeded by its place in the set. A
graph is held against the tree on the same positions: where only one of the two is right, the exact sign test asks whether the
graph is worse. The three curves go into docs/results/graph_strength.svg; then follow the other options of a graph, beside which
the defaults were chosen. One seed gives one tree, so what the same source code has searched before is not searched again: it
is kept in the system's folder for temporary files, and a run that was broken off goes on.
"""

import hashlib
import json
import math
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import anabranch
from anabranch import UCT, Search
from anabranch.games import ConnectFour
from anabranch.graphs import Ancestors, CatchUp, Continue, GraphOptions, Idempotent, Incremental, Parents, Stop
from connect_four_set import FILE, Row, read
from measure import Figure, main, progress
from strength_connect_four import C, wilson

SIMULATIONS = (1_000, 10_000, 100_000)
RATED = 100_000  # simulations after which evaluations are counted
WORSE = 0.05  # a graph is worse if fewer than this share of fair coins were so one-sided
EVALUATIONS_TARGET = 0.8
QUICK_EVERY = 8  # of the positions
TREE, STOP, CONTINUE = "tree", "graph, Stop()", "graph, Continue()"
CONFIGURATIONS: dict[str, dict[str, Any]] = {  # with the default update
    TREE: {},
    STOP: {"graph": GraphOptions(ahead=Stop())},
    CONTINUE: {"graph": GraphOptions(ahead=Continue())},
}
UPDATES = {"Idempotent()": Idempotent(), "Incremental()": Incremental(), "CatchUp(0.01)": CatchUp(0.01)}
AHEADS = {"Stop()": Stop(), "Continue()": Continue()}
STOPS = {"Stop(leak=0.1)": Stop(leak=0.1), "Stop(factor=2)": Stop(factor=2.0), "Stop(number=10)": Stop(number=10.0)}
STALES = {"Parents()": Parents(), "Ancestors()": Ancestors()}
ALTERNATIVES: dict[str, dict[str, Any]] = {
    **{f"graph, {u}, {a}": {"graph": GraphOptions(UPDATES[u], AHEADS[a])} for u in UPDATES for a in AHEADS},
    **{f"graph, {name}": {"graph": GraphOptions(ahead=ahead)} for name, ahead in STOPS.items()},
}
SLOW_ALTERNATIVES: dict[str, dict[str, Any]] = {
    f"graph, {name}": {"graph": GraphOptions(stale=stale)} for name, stale in STALES.items()
}
ALTERNATIVES_AT = {10_000: {**ALTERNATIVES, **SLOW_ALTERNATIVES}, 100_000: ALTERNATIVES}  # by simulations
COLOURS = {TREE: "#777777", STOP: "#c8453b", CONTINUE: "#2d6a9f"}
DODGE = {TREE: 0.94, STOP: 1.0, CONTINUE: 1.06}  # factors on the first panel's x, so that intervals stand side by side
DRAWING = Path(__file__).parents[1] / "docs" / "results" / "graph_strength.svg"
KEPT = Path(tempfile.gettempdir()) / "anabranch-benchmarks" / "strength_graph.jsonl"
COMMAND = "python benchmarks/strength_graph.py"


class Findings(NamedTuple):
    """What one configuration found, one entry a position."""

    right: list[bool]
    evaluations: list[int]

    @property
    def hits(self) -> int:
        """Positions whose right move was found."""
        return sum(self.right)

    @property
    def mean_evaluations(self) -> float:
        """Evaluations a position."""
        return sum(self.evaluations) / len(self.evaluations)


# --- searching --------------------------------------------------------------------------------------------------------------


def explore(rows: list[Row], simulations: int, options: dict[str, Any]) -> Findings:
    """Search every position."""
    game = ConnectFour()
    findings = Findings([], [])
    for seed, row in enumerate(rows):
        search = Search(game, select=UCT(c=C), seed=seed, **options)
        result = search.run(game.position(row.moves), visits=simulations)
        findings.right.append(result.best == game.action(row.best))
        findings.evaluations.append(result.stats.evaluations)
    return findings


@cache
def source() -> str:
    """A fingerprint of all that findings depend on."""
    files = sorted(Path(anabranch.__file__).parent.rglob("*.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in [*files, FILE])).hexdigest()[:16]


def findings_of(rows: list[Row], simulations: int, options: dict[str, Any]) -> Findings:
    """The same as `explore`, from the file if it is there."""
    key = f"{source()}, {len(rows)} positions, {simulations} simulations, {options}"
    if KEPT.exists():
        for line in map(json.loads, KEPT.read_text().splitlines()):
            if line["key"] == key:
                return Findings(line["right"], line["evaluations"])
    findings = explore(rows, simulations, options)
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    with KEPT.open("a") as lines:
        lines.write(json.dumps({"key": key, **findings._asdict()}) + "\n")
    return findings


# --- judging ----------------------------------------------------------------------------------------------------------------


def sign_test(ours: list[bool], peer: list[bool]) -> tuple[int, int, float]:
    """Positions that only we, and only the peer, got right, and how likely so many of the latter are if none is better."""
    gained = sum(a and not b for a, b in zip(ours, peer, strict=True))
    lost = sum(b and not a for a, b in zip(ours, peer, strict=True))
    trials = gained + lost
    return gained, lost, sum(math.comb(trials, k) for k in range(lost, trials + 1)) / 2**trials


def compare(name: str, rows: list[Row], simulations: int, ours: Findings, tree: Findings, rated: bool) -> Figure:
    """One configuration beside the tree: right moves, and whether they are fewer."""
    gained, lost, p = sign_test(ours.right, tree.right)
    share = ours.mean_evaluations / tree.mean_evaluations
    figure = Figure(
        what=f"Connect Four, {name}, {simulations:,} simulations: right moves found",
        ours=f"{_counts(ours, rows)}, with {share:.0%} of the tree's evaluations",
        peer=f"{_counts(tree, rows)} (tree)",
        ratio=f"+{gained} -{lost}, p = {p:.2g}",
        target=f"not worse: p >= {WORSE}" if rated else "",
        met=not rated or p >= WORSE,
        command=COMMAND,
        data={
            "configuration": name,
            "simulations": simulations,
            "positions": len(rows),
            "hits": ours.hits,
            "tree_hits": tree.hits,
            "not_forced": len(_free(ours, rows)),
            "hits_not_forced": sum(_free(ours, rows)),
            "tree_hits_not_forced": sum(_free(tree, rows)),
            "only_ours": gained,
            "only_tree": lost,
            "p_worse": p,
            "evaluations": ours.mean_evaluations,
            "tree_evaluations": tree.mean_evaluations,
        },
    )
    progress(f"{name}, {simulations:,}: {figure.ours}; {figure.peer}; {figure.ratio}")
    return figure


def _free(findings: Findings, rows: list[Row]) -> list[bool]:
    """Those whose right move is not forced."""
    return [right for right, row in zip(findings.right, rows, strict=True) if not row.forced]


def _counts(findings: Findings, rows: list[Row]) -> str:
    free = _free(findings, rows)
    return f"{findings.hits} of {len(rows)}, {sum(free)} of {len(free)} not forced"


def compare_evaluations(simulations: int, ours: Findings, tree: Findings) -> Figure:
    """What a graph that stops early saves."""
    share = ours.mean_evaluations / tree.mean_evaluations
    return Figure(
        what=f"Connect Four, {STOP}, {simulations:,} simulations: evaluations a position",
        ours=f"{ours.mean_evaluations:,.0f}",
        peer=f"{tree.mean_evaluations:,.0f} (tree)",
        ratio=f"{share:.2f}",
        target=f"<= {EVALUATIONS_TARGET}",
        met=share <= EVALUATIONS_TARGET,
        command=COMMAND,
        data={"ours": ours.mean_evaluations, "tree": tree.mean_evaluations, "share": share},
    )


# --- drawing ----------------------------------------------------------------------------------------------------------------


def draw(curves: dict[str, dict[int, Findings]], file: Path = DRAWING) -> None:
    """Right moves by simulations and by evaluations, as SVG; the same numbers give the same file."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "anabranch"
    from matplotlib import pyplot

    axes: Any
    figure, axes = pyplot.subplots(1, 2, figsize=(9, 4), sharey=True, layout="constrained")
    for name, by_size in curves.items():
        simulations = [size * DODGE[name] for size in by_size]
        evaluations = [findings.mean_evaluations for findings in by_size.values()]
        shares = [100 * findings.hits / len(findings.right) for findings in by_size.values()]
        bounds = [wilson(findings.hits, len(findings.right)) for findings in by_size.values()]
        below = [share - 100 * low for share, (low, _) in zip(shares, bounds, strict=True)]
        above = [100 * high - share for share, (_, high) in zip(shares, bounds, strict=True)]
        for panel, places in zip(axes, (simulations, evaluations), strict=True):
            panel.errorbar(places, shares, yerr=[below, above], marker="o", capsize=4, color=COLOURS[name], label=name)
    axes[0].set(xscale="log", xlabel="simulations", ylabel="right moves found, %")
    axes[1].set(xscale="log", xlabel="evaluations (mean of all positions)")
    axes[1].legend(loc="lower right")
    for panel in axes:
        panel.grid(alpha=0.3)
    figure.suptitle(f"Tree and graph, UCT (c = {C}), on Connect Four positions with one right move", fontsize="medium")
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, metadata={"Date": None})
    pyplot.close(figure)


# --- all of it --------------------------------------------------------------------------------------------------------------


def run(quick: bool = False) -> list[Figure]:
    """The three curves, then the alternatives."""
    rows = read()[:: QUICK_EVERY if quick else 1]
    sizes = SIMULATIONS[: 2 if quick else None]
    curves: dict[str, dict[int, Findings]] = {name: {} for name in CONFIGURATIONS}
    figures = []
    for size in sizes:
        for name, options in CONFIGURATIONS.items():
            curves[name][size] = findings_of(rows, size, options)
        tree = curves[TREE][size]
        figures += [compare(name, rows, size, curves[name][size], tree, name == STOP) for name in (STOP, CONTINUE)]
        if size == RATED:
            figures.append(compare_evaluations(size, curves[STOP][size], tree))
    if not quick:
        draw(curves)
    return [*figures, *alternatives(rows, {size: curves[TREE][size] for size in sizes})]


def alternatives(rows: list[Row], trees: dict[int, Findings]) -> Iterator[Figure]:
    """The other options of a graph, without targets."""
    for size, tree in trees.items():
        for name, options in ALTERNATIVES_AT.get(size, {}).items():
            yield compare(name, rows, size, findings_of(rows, size, options), tree, rated=False)


if __name__ == "__main__":
    main(run, __doc__)
