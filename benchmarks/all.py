"""All benchmarks in order: tables of what was measured beside its target, into docs/results, an .md and a .json a page.

    python benchmarks/all.py                     everything; a run that was broken off is taken up where it stopped
    python benchmarks/all.py --fresh             everything anew
    python benchmarks/all.py --only memory       one of them; the others' figures stay
    python benchmarks/all.py --quick             a trial with few simulations; writes nothing

Ends with status 1 if a target was missed.
"""

import argparse
import importlib
import json
import os
import platform
import sys
import time
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

from measure import HEADER, Figure

RESULTS = Path(__file__).parents[1] / "docs" / "results"
PACKAGES = ("anabranch", "numba", "llvmlite", "numpy", "open_spiel", "bitbully", "onnxruntime", "torch")
STALE = 24 * 3600  # seconds after which an unfinished run is not taken up again: the machine may be another by then


class Page(NamedTuple):
    """What is measured together and shown together."""

    name: str
    benchmarks: tuple[str, ...]
    title: str
    how: str  # the figures were taken
    drawing: str  # in Markdown

    @property
    def record(self) -> Path:
        """The file of all that was measured."""
        return RESULTS / f"{self.name}.json"

    @property
    def text(self) -> Path:
        """The file for people."""
        return RESULTS / f"{self.name}.md"


PAGES = (
    Page(
        name="foundation",
        benchmarks=("speed_openspiel", "speed_native", "memory", "rules_openspiel", "strength_connect_four"),
        title="What was measured",
        how="Both sides in one run, alternated five times, CPU time of one thread, the median (`benchmarks/measure.py`).",
        drawing="![Right moves found by UCT on Connect Four, by visits](connect_four_strength.svg)",
    ),
    Page(
        name="graph",
        benchmarks=("speed_graph", "proofs_graph", "strength_graph", "regularized"),
        title="Graph search: what was measured",
        how="Speeds: both sides in one run, alternated five times, CPU time of one thread, the median. Right moves: both on\n"
        "the same positions with the same seeds; `+12 -7` are those that only the graph and only the tree got right, and p\n"
        "is the probability of so many of the latter by chance (exact sign test).",
        drawing="![Right moves found by tree and graph, by simulations and by evaluations](graph_strength.svg)",
    ),
    Page(
        name="go",
        benchmarks=("speed_go", "matches_go"),
        title="Go: what was measured",
        how="Speeds: both sides in one run, alternated five times, CPU time of one thread, the median. Matches: alternating\n"
        "colours, the same opening with both, each side seeded by the game's number; wins with Wilson's 95 % interval; all\n"
        "games are in [go_matches.jsonl](go_matches.jsonl).",
        drawing="",
    ),
    Page(
        name="rave",
        benchmarks=("speed_rave", "matches_rave"),
        title="RAVE and heuristics: what was measured",
        how="Speeds: both sides in one run, alternated five times, CPU time of one thread, the median. Matches: played by the\n"
        "arena, alternating colours, the same opening with both, each side seeded by the game's number; points with Wilson's\n"
        "95 % interval; all games are in `rave_matches.db`.",
        drawing="",
    ),
    Page(
        name="batches",
        benchmarks=("speed_batches", "speed_threads", "claims_batches"),
        title="Batches, threads and reuse: what was measured",
        how="Against mctx: CPU time of one thread, alternated, the median of five. Threads against processes: wall-clock\n"
        "time, alternated, the median of five. Curves: the median of three.",
        drawing="![Simulations a second with a network over batch sizes, one and two threads](batches.svg)",
    ),
    Page(
        name="simultaneous",
        benchmarks=("speed_pyrat", "equilibria", "claims_pyrat"),
        title="Simultaneous moves: what was measured",
        how="Speeds: both sides in one run, alternated five times, CPU time of one thread, the median. Exploitability: the\n"
        "gain of a best response, averaged over both players, with payoffs from -1 to 1. Games: a new board for each pair,\n"
        "sides swapped; all of them are in [pyrat_games.jsonl](pyrat_games.jsonl).",
        drawing="",
    ),
    Page(
        name="nets",
        benchmarks=("nets",),
        title="Networks: what was measured",
        how="Both sides in one run, alternated five times, CPU time of one thread, the median.",
        drawing="",
    ),
)


def machine() -> dict[str, Any]:
    """What the figures were taken on."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line.split(":", 1)[1].strip() for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = names[0] if names else model
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **{package: _version(package) for package in PACKAGES},
    }


def _version(package: str) -> str:
    if package == "anabranch":
        import anabranch

        return anabranch.__version__
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def load(page: Page) -> dict[str, Any]:
    """The record of earlier runs, empty if there is none."""
    if page.record.exists():
        record: dict[str, Any] = json.loads(page.record.read_text())
        return record
    return {"finished": True, "parts": {}}


def begin(page: Page) -> dict[str, Any]:
    """A new record, in its file at once, so that a run which is broken off on another page is known to want this one."""
    record: dict[str, Any] = {"finished": False, "began": time.time(), "parts": {}}
    RESULTS.mkdir(parents=True, exist_ok=True)
    page.record.write_text(json.dumps(record, indent=1) + "\n")
    return record


def is_broken_off(record: dict[str, Any]) -> bool:
    """Whether a run has begun with this page and not come to its end, not long ago."""
    return not record["finished"] and time.time() - record["began"] < STALE


def save(page: Page, record: dict[str, Any]) -> None:
    """Write the record and the page that shows it."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    page.record.write_text(json.dumps(record, indent=1) + "\n")
    page.text.write_text(markdown(page, record))


def markdown(page: Page, record: dict[str, Any]) -> str:
    """The record as Markdown."""
    versions = ", ".join(f"{package} {record['machine'][package]}" for package in ("python", *PACKAGES))
    figures = figures_of(page, record)
    missed = sum(not figure.met for figure in figures)
    return "\n".join(
        [
            f"# {page.title}",
            "",
            page.how,
            "`make bench` repeats all measurements.",
            "",
            f"{record['date']}, {record['machine']['cpu']}, {record['machine']['cores']} cores, {record['machine']['system']};",
            f"{versions}.",
            "",
            HEADER,
            *(figure.markdown() for figure in figures),
            "",
            "All targets met." if not missed else f"{missed} target{'s' * (missed > 1)} MISSED.",
            "",
            page.drawing,
            "",
        ]
    )


def figures_of(page: Page, record: dict[str, Any]) -> list[Figure]:
    """All figures in order."""
    return [Figure(**entry) for name in page.benchmarks if name in record["parts"] for entry in record["parts"][name]]


def summary(figures: list[Figure]) -> str:
    """The table for a terminal."""
    rows = [("what", "ours", "peer", "ratio", "target", "")]
    rows += [(f.what, f.ours, f.peer, f.ratio, f.target, "" if not f.target else "met" if f.met else "MISSED") for f in figures]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)


def measure(name: str, record: dict[str, Any], quick: bool) -> None:
    """Run one benchmark and put its figures into the record."""
    print(f"{name} ...", file=sys.stderr, flush=True)
    began = time.perf_counter()
    figures = importlib.import_module(name).run(quick)
    print(f"{name}: {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    record["parts"][name] = [asdict(figure) for figure in figures]
    record["machine"], record["date"] = machine(), f"{datetime.now(UTC):%Y-%m-%d}"


def trial(only: str | None) -> list[Figure]:
    """Run what was asked for with few simulations; its figures."""
    record: dict[str, Any] = {"parts": {}}
    for page in PAGES:
        for name in page.benchmarks:
            if only in (None, name):
                measure(name, record, quick=True)
    return [figure for page in PAGES for figure in figures_of(page, record)]


def renew(only: str) -> list[Figure]:
    """Run one benchmark and write its page, where the others' figures stay; all of that page."""
    page = next(page for page in PAGES if only in page.benchmarks)
    record = load(page)
    measure(only, record, quick=False)
    save(page, record)
    return figures_of(page, record)


def everything(fresh: bool) -> list[Figure]:
    """Run all benchmarks, but for those that a broken-off run has done, and write all pages; all figures."""
    records = [load(page) for page in PAGES]
    if fresh or not any(map(is_broken_off, records)):
        records = [begin(page) for page in PAGES]
    for page, record in zip(PAGES, records, strict=True):
        for name in page.benchmarks:
            if name in record["parts"]:
                print(f"{name}: measured before this run was broken off (--fresh measures it again)", file=sys.stderr)
                continue
            measure(name, record, quick=False)
            save(page, record)
        record["finished"] = True
        record.pop("began", None)
        save(page, record)
    return [figure for page, record in zip(PAGES, records, strict=True) for figure in figures_of(page, record)]


def main() -> int:
    """Run what was asked for; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [name for page in PAGES for name in page.benchmarks]
    parser.add_argument("--only", choices=names, help="run this one only")
    parser.add_argument("--quick", action="store_true", help="a trial with few simulations; writes nothing")
    parser.add_argument("--fresh", action="store_true", help="do not take up a run that was broken off")
    options = parser.parse_args()

    figures = trial(options.only) if options.quick else renew(options.only) if options.only else everything(options.fresh)
    print(summary(figures))
    missed = [figure.what for figure in figures if not figure.met]
    print("All targets met." if not missed else f"MISSED: {'; '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
