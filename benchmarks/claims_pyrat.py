"""PyRat 7x7, open, 10 cheese: how much of a tree is there twice, and games: against greedy, against random, graph against tree.

Every pair of games has a board of its own, drawn by its number, and the players change seats. Games are kept in
docs/results/pyrat_games.jsonl as they end, so that a run that was broken off goes on.
"""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from anabranch import Decoupled, Search, Uniform
from anabranch.evaluate import RandomPolicy
from anabranch.games import PyRat
from anabranch.games.position import Position
from anabranch.games.pyrat import Nearest
from anabranch.games.simultaneous import pick_for
from anabranch.jit import readable
from anabranch.jit.random import generator
from anabranch.search.memory.graph import numbers
from measure import Figure, main, progress

FILE = Path(__file__).parents[1] / "docs" / "results" / "pyrat_games.jsonl"
COMMAND = "python benchmarks/claims_pyrat.py"
PUBLISHED = {50: 10, 200: 35, 554: 49, 1000: 57, 2000: 65}  # percent, by simulations
VISITS = 500
BOARDS = 20  # that duplicates are counted on

Player = Callable[[Position, int], int]  # position and seat to an action


def board(seed: int) -> PyRat:
    """An open board of 7x7."""
    return PyRat(preset="7x7", seed=seed)


# --- duplicates ---------------------------------------------------------------------------------------------------------------


def duplicates(simulations: int, seed: int) -> float:
    """The share of a tree's nodes whose position another node has as well."""
    search = Search(board(seed), select=Decoupled(c=1.5), evaluate=Uniform(), seed=seed)
    search.run(visits=simulations)
    found = numbers(search.rooted.graph)
    keys = {tuple(key) for key in search.rooted.graph.cards["key"][found - 1].tolist()}
    return 1.0 - len(keys) / len(found)


def duplicate_figures(quick: bool) -> list[Figure]:
    """One figure for each number of simulations that was published."""
    figures = []
    for simulations, published in PUBLISHED.items():
        shares = [duplicates(simulations, seed) for seed in range(2 if quick else BOARDS)]
        mean = sum(shares) / len(shares)
        progress(f"{simulations} simulations: {mean:.0%} duplicates")
        figures.append(
            Figure(
                what=f"PyRat 7x7, c 1.5, uniform evaluator, a tree of {simulations:,} simulations: nodes that are there twice",
                ours=f"{mean:.0%} ({min(shares):.0%} to {max(shares):.0%} on {len(shares)} boards)",
                peer=f"{published} % (alpharat)",
                ratio="",
                target="reported",
                met=True,
                command=COMMAND,
                data={"shares": shares},
            )
        )
    return figures


# --- games --------------------------------------------------------------------------------------------------------------------


def searcher(game: PyRat, seed: int, **options: Any) -> Player:
    """A player that searches, and keeps what it found."""
    search = Search(game, seed=seed, **options)

    def choose(position: Position, seat: int) -> int:
        root = search.position
        if root is not None and position.moves:
            search.advance(position.moves[-1])
        best: Any = search.run(position, visits=VISITS).best
        return int(best[seat])

    return choose


def by_policy(policy: Any, seed: int) -> Player:
    """A player that does not search."""
    random = generator(seed)
    return lambda position, seat: int(pick_for(policy, readable(position.record())[0], seat, random))


class Contest(NamedTuple):
    """Two players, and what is expected of the first."""

    what: str
    first: Callable[[PyRat, int], Player]
    second: Callable[[PyRat, int], Player]
    games: int = 400
    decided: float = 0.0  # of the decided games, won
    low: float = 0.0  # the lower end of the interval of all points


CONTESTS = {
    "greedy": Contest(
        "search with greedy playouts against greedy",
        lambda game, seed: searcher(game, seed, graph=True),
        lambda game, seed: by_policy(Nearest(), seed),
        decided=0.85,
    ),
    "random": Contest(
        "search with greedy playouts against random",
        lambda game, seed: searcher(game, seed, graph=True),
        lambda game, seed: by_policy(RandomPolicy(), seed),
        decided=0.99,
    ),
    "uniform": Contest(
        "search with the uniform evaluator against greedy",
        lambda game, seed: searcher(game, seed, graph=True, evaluate=Uniform()),
        lambda game, seed: by_policy(Nearest(), seed),
    ),
    "graph": Contest(
        "graph against tree, both with greedy playouts",
        lambda game, seed: searcher(game, seed, graph=True),
        lambda game, seed: searcher(game, seed),
        low=0.47,
    ),
}


def play(contest: Contest, number: int) -> list[float]:
    """The cheese of the first and the second player of a contest in one of its games."""
    game = board(1000 + number // 2)
    players = contest.first(game, 2 * number), contest.second(game, 2 * number + 1)
    seats = players if number % 2 == 0 else players[::-1]
    position = game.start()
    while not position.is_over:
        position = position.play((seats[0](position, 0), seats[1](position, 1)))
    points = list(position.rewards)
    return points if number % 2 == 0 else points[::-1]


def played(name: str, games: int) -> list[list[float]]:
    """All games of a contest; those that are missing are played now."""
    lines = FILE.read_text().splitlines() if FILE.exists() else []
    known = {line["game"]: line["cheese"] for line in map(json.loads, lines) if line["contest"] == name}
    for number in range(games):
        if number not in known:
            known[number] = play(CONTESTS[name], number)
            with FILE.open("a") as file:
                file.write(json.dumps({"contest": name, "game": number, "cheese": known[number]}) + "\n")
    return [known[number] for number in range(games)]


def contest_figure(name: str, games: int) -> Figure:
    """How a contest ended."""
    contest = CONTESTS[name]
    found = played(name, games)
    won, lost = sum(a > b for a, b in found), sum(a < b for a, b in found)
    drawn = games - won - lost
    share = (won + drawn / 2) / games
    error = 1.96 * math.sqrt((won + drawn / 4 - games * share**2) / games**2)  # draws vary less than wins and losses
    low, high = max(share - error, 0.0), min(share + error, 1.0)
    decided = won / max(won + lost, 1)
    progress(f"{contest.what}: {won} won, {drawn} drawn, {lost} lost")
    target = (
        f">= {contest.decided:.0%} of the decided"
        if contest.decided
        else f"at least > {contest.low:.0%}"
        if contest.low
        else ""
    )
    return Figure(
        what=f"PyRat 7x7, {VISITS} simulations a turn: {contest.what}",
        ours=f"{won} won, {drawn} drawn, {lost} lost of {games}",
        peer="",
        ratio=f"{decided:.1%} of the decided; {share:.1%} ({low:.1%} to {high:.1%}) of the points",
        target=target or "reported",
        met=decided >= contest.decided and low >= contest.low,
        command=COMMAND,
        data={"won": won, "drawn": drawn, "lost": lost},
    )


def run(quick: bool = False) -> list[Figure]:
    """All figures."""
    if quick:
        return duplicate_figures(quick)
    return [*duplicate_figures(quick), *(contest_figure(name, contest.games) for name, contest in CONTESTS.items())]


if __name__ == "__main__":
    main(run, __doc__)
