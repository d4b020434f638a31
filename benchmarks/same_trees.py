"""Whether two versions of Anabranch grow the same trees: a digest of every edge's visits, for fixed seeds over many options.

Run it with each version on the path, then compare:

    PYTHONPATH=../before/src python benchmarks/same_trees.py --out before.json
    python benchmarks/same_trees.py --out after.json --compare before.json
"""

import argparse
import hashlib
import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import anabranch as ab
from anabranch.engines import best_options
from anabranch.games import ConnectFour, Go, Goofspiel, Hex, Pig, PyRat, TicTacToe

GROUPS = ("select", "evaluate", "backup", "final", "graphs", "simultaneous")
GRAPH_OPTIONS = ("update", "ahead", "stale", "collect")


def named(name: str) -> Any:
    """A public name, wherever this version keeps it: at the top or in a group."""
    homes = (ab, *(getattr(ab, group) for group in GROUPS if hasattr(ab, group)))
    return next(getattr(home, name) for home in homes if hasattr(home, name))


def search_of(game: Any, **options: Any) -> ab.Search:
    """A search; options for graphs are given as this version takes them, one by one or in one object."""
    apart = {name: options.pop(name) for name in GRAPH_OPTIONS if name in options}
    if apart and hasattr(getattr(ab, "graphs", None), "GraphOptions"):
        options["graph"] = named("GraphOptions")(**apart)
    else:
        options.update(apart)
    return ab.Search(game, **options)


class Material:
    """An evaluator in Python: priors and values made of a state's bytes, so that they are the same everywhere."""

    batch = 8

    def __init__(self, actions: int) -> None:
        self.actions = actions

    def __call__(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Priors and values."""
        rows = [np.frombuffer(hashlib.sha256(state.tobytes()).digest(), np.uint8) for state in states]
        values = np.array([row[0] / 127.5 - 1.0 for row in rows])
        priors = np.array([np.resize(row, self.actions) + 1.0 for row in rows])
        return priors / priors.sum(1, keepdims=True), values


def digest(search: ab.Search) -> str:
    """Every node and edge that the root reaches: how often it was visited, and what it is worth to nine digits."""
    view = search.graph
    hasher = hashlib.sha256()
    for name in ("source", "target", "action", "visits"):
        hasher.update(np.ascontiguousarray(view.edges[name].astype(np.int64)))
    hasher.update(np.ascontiguousarray(view.nodes["visits"].astype(np.int64)))
    hasher.update(np.ascontiguousarray(np.round(np.nan_to_num(view.edges["value"]), 9) + 0.0))
    return f"{len(view.nodes)} nodes, {hasher.hexdigest()[:16]}"


def played(game: Any, visits: int, moves: int = 2, keep: str = "statistics", **options: Any) -> str:
    """A search that moves on twice and keeps its tree."""
    search = search_of(game, **options)
    result = search.run(game.start(), visits=visits)
    for _ in range(moves):
        search.advance(result.best, keep=keep)
        result = search.run(visits=visits)
    return digest(search)


def of_fleet() -> str:
    """Eight searches that share batches."""
    game = ConnectFour()
    fleet = named("Fleet")(game, 8, evaluate=Material(7), select=ab.PUCT(), seed=3)
    fleet.run([game.start()] * 8, visits=120)
    return " ".join(digest(search) for search in fleet.searches[:2])


def configurations() -> dict[str, Callable[[], str]]:
    """Name and search of each."""
    four, network = ConnectFour(), Material(7)

    def run(game: Any, visits: int, **options: Any) -> Callable[[], str]:
        return lambda: played(game, visits, **options)

    return {
        "tree, UCT": run(four, 3000),
        "tree, PUCT, maximum": run(four, 1500, select=ab.PUCT(), backup=named("Max")()),
        "tree, chance": run(Pig(), 2000),
        "graph": run(four, 3000, graph=True),
        "graph, proofs": run(TicTacToe(), 800, graph=True, prove=True, moves=1),
        "graph, idempotent, going on": run(
            four, 1500, graph=True, update=named("Idempotent")(), ahead=named("Continue")(), backup=named("Mix")(0.3)
        ),
        "graph, parents": run(TicTacToe(), 800, graph=True, stale=named("Parents")()),
        "graph, catching up": run(TicTacToe(), 800, graph=True, update=named("CatchUp")()),
        "graph, collected": run(four, 3000, graph=True, memory=200_000, collect=named("Forget")()),
        "RAVE on Hex": run(Hex(5), 1500, select=ab.Rave()),
        "Go, default engine": run(Go(size=7), 300, **best_options(Go(size=7))),
        "batch, PUCT": run(four, 400, evaluate=network, select=ab.PUCT()),
        "batch, graph, keeping evaluations": run(four, 400, evaluate=network, graph=True, keep="evaluations"),
        "batch, MuZero": run(four, 300, evaluate=network, select=named("MuZero")()),
        "batch, KataGo, lower bound": run(
            four, 300, evaluate=network, select=named("KataGoPUCT")(), final=named("ByLowerBound")()
        ),
        "batch, Gumbel": run(four, 200, evaluate=network, select=named("Gumbel")()),
        "simultaneous, decoupled": run(PyRat(5, 5, cheese=5, seed=4), 600, graph=True),
        "simultaneous, regret matching": run(Goofspiel(4), 800, select=ab.RegretMatching()),
        "fleet": of_fleet,
    }


def main() -> int:
    """Print a digest a configuration; with --compare, how many differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", help="write the digests into this file")
    parser.add_argument("--compare", help="a file that another version wrote")
    arguments = parser.parse_args()
    found = {}
    for name, search in configurations().items():
        found[name] = search()
        print(f"{name}: {found[name]}", flush=True)
    if arguments.out:
        with open(arguments.out, "w") as file:
            json.dump(found, file, indent=1)
    if not arguments.compare:
        return 0
    with open(arguments.compare) as file:
        before = json.load(file)
    differing = [name for name in found if before.get(name) != found[name]]
    print(f"{len(found) - len(differing)} of {len(found)} configurations grow the same tree", *differing, sep="\n  different: ")
    return len(differing)


if __name__ == "__main__":
    sys.exit(main())
