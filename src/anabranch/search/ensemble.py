"""Root-parallel search: independent trees, one per thread, whose results are added up.

    Ensemble(ConnectFour(), threads=4, select=UCT()).run(visits=100_000)

Threads share nothing, so there are no locks and no virtual losses; but each tree is only as deep as its own share of the
simulations makes it. The alternative is tree parallelism, `Search(threads=...)`: one tree for all threads. Compared in
docs/algorithms/batches.md.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from anabranch.errors import SearchError
from anabranch.games.simultaneous import SimultaneousGame
from anabranch.search.checks import at_least_one, check_limits, parse_memory
from anabranch.search.results.result import Move, Result
from anabranch.search.searcher import Search


class Ensemble:
    """So many searches of the same position at once."""

    def __init__(self, game: Any, *, threads: int, memory: int | str = "1GB", seed: int = 0, **options: Any) -> None:
        """`memory`: of all trees together; `options`: those of `Search`. The trees have consecutive seeds, from `seed` on."""
        each = parse_memory(memory) // at_least_one(threads, "threads")
        if isinstance(game, SimultaneousGame):
            raise SearchError(f"an Ensemble adds up tables of one player; in {game!r} both move at once: use threads in Search")
        self.searches = [Search(game, memory=each, seed=seed + number, **options) for number in range(threads)]

    def run(
        self, position: Any = None, visits: int | None = None, total: int | None = None, seconds: float | None = None
    ) -> Result:
        """Like `Search.run`: `visits` and `total` are those of all trees together."""
        check_limits(visits, total, seconds)
        count = len(self.searches)
        shares = [(share(visits, number, count), share(total, number, count)) for number in range(count)]
        with ThreadPoolExecutor(count, "anabranch-ensemble") as pool:
            futures = [
                pool.submit(search.run, position, visits=some, total=all_in_all, seconds=seconds)
                for search, (some, all_in_all) in zip(self.searches, shares, strict=True)
                if some != 0 and all_in_all != 0
            ]
        return add_up([future.result() for future in futures])

    def advance(self, action: int | str) -> None:
        """Play an action at all roots."""
        for search in self.searches:
            search.advance(action)

    @property
    def position(self) -> Any:
        """Where the roots are."""
        return self.searches[0].position


def share(number: int | None, which: int, count: int) -> int | None:
    """One of `count` nearly equal parts of a number."""
    return None if number is None else number // count + (which < number % count)


def add_up(results: list[Result]) -> Result:
    """Combine several results of the same position into one."""
    visits = np.sum([result.visits for result in results], axis=0)
    weights = np.array([result.visits.sum() for result in results], float)
    moves = sorted((join([move_of(result, move.action) for result in results]) for move in results[0].moves), key=order)
    best = moves[0].action
    leader = max(results, key=lambda result: (result.best == best, result.visits[best]))
    means = np.average([np.atleast_1d(result.value) for result in results], axis=0, weights=weights)
    cost = {name: sum(getattr(result.stats, name) for result in results) for name in ("simulations", "evaluations", "nodes")}
    more = {name: sum(getattr(result.stats, name) for result in results) for name in ("merges", "bytes", "kept")}
    return replace(
        leader,
        best=best,
        visits=visits,
        policy=visits / visits.sum(),
        target=np.average([result.target for result in results], axis=0, weights=weights),
        regularizing=partial(np.average, [result.regularized for result in results], axis=0, weights=weights),
        value=means.tolist() if isinstance(leader.value, list) else float(means[0]),
        pv=leader.pv if leader.best == best else [best],
        stats=replace(leader.stats, seconds=max(result.stats.seconds for result in results), **cost, **more),
        moves=[replace(move, share=move.visits / visits.sum()) for move in moves],
        memory_full=any(result.memory_full for result in results),
        proven=any(result.proven for result in results) and leader.proven,
        settings={**leader.settings, "ensemble": len(results)},
    )


def move_of(result: Result, action: int) -> Move:
    """A result's row of this action."""
    return next(move for move in result.moves if move.action == action)


def join(moves: list[Move]) -> Move:
    """Combine the rows of one action from several trees; the line is that of the tree with the most visits."""
    visits = sum(move.visits for move in moves)
    tried = [(move.value, move.visits) for move in moves if move.value is not None]
    weight = sum(count for _, count in tried)
    value = sum(value * count for value, count in tried) / weight if weight else None
    return replace(max(moves, key=lambda move: move.visits), visits=visits, value=value)


def order(move: Move) -> tuple[float, float]:
    """Most visits first, then the higher value."""
    return -move.visits, -(move.value if move.value is not None else float("-inf"))
