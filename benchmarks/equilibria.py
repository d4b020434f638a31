"""How far from an equilibrium the rules for simultaneous moves come: matrix games, and Goofspiel with exact values below.

Exploitability is what a best answer gains, on average of both players (half of NashConv); payoffs are from -1 to 1.
"""

from typing import Any

import numpy as np

from anabranch import Decoupled, RegretMatching, Search, Uniform
from anabranch.games import Goofspiel, MatrixGame
from anabranch.search.simultaneous.exact import Solver
from anabranch.simultaneous import Equilibrium, Exp3, exploitability
from measure import Figure, main, progress

SIMULATIONS = 100_000
CARDS = 4
MOST_MATRIX, MOST_GOOFSPIEL = 0.02, 0.05
RULES = (RegretMatching(), Equilibrium(), Exp3(), Decoupled())
COMMAND = "python benchmarks/equilibria.py"
RPS = np.array([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])
BIASED = np.array([[0.0, -0.25, 0.5], [0.25, 0.0, -1.0], [-0.5, 1.0, 0.0]])


def matrices() -> dict[str, list[Any]]:
    """Games by name."""
    random = np.random.default_rng(1)
    return {
        "rock-paper-scissors": [RPS],
        "biased rock-paper-scissors": [BIASED],
        "ten random 5x5 matrices": [random.uniform(-1.0, 1.0, (5, 5)) for _ in range(10)],
    }


def figure(what: str, rule: Any, gaps: list[float], most: float) -> Figure:
    """The worst of some games."""
    wanted = isinstance(rule, RegretMatching)
    progress(f"{what}, {type(rule).__name__}: {max(gaps):.4f}")
    return Figure(
        what=f"{what}: exploitability of `{type(rule).__name__}()` after {SIMULATIONS:,} simulations",
        ours=f"{max(gaps):.4f}" + (f" (mean {sum(gaps) / len(gaps):.4f})" if len(gaps) > 1 else ""),
        peer="0 in an equilibrium",
        ratio="",
        target=f"< {most}" if wanted else "reported",
        met=not wanted or max(gaps) < most,
        command=COMMAND,
        data={"exploitability": gaps},
    )


def run(quick: bool = False) -> list[Figure]:
    """All figures."""
    simulations = SIMULATIONS // 100 if quick else SIMULATIONS
    figures = []
    for what, given in matrices().items():
        for rule in RULES:
            gaps = []
            for matrix in given:
                game = MatrixGame(matrix)
                result: Any = Search(game, select=rule, evaluate=Uniform(), graph=True).run(visits=simulations)
                gaps.append(exploitability(game.start(), result.policy).exploitability)
            figures.append(figure(what, rule, gaps, MOST_MATRIX))
    game = Goofspiel(CARDS, prizes="descending")
    solver = Solver(game)
    for rule in RULES:
        result = Search(game, select=rule, evaluate=Uniform(), graph=True).run(visits=simulations)
        gap = exploitability(game.start(), result.policy, solver).exploitability
        figures.append(figure(f"Goofspiel, {CARDS} cards, descending prizes, at the root", rule, [gap], MOST_GOOFSPIEL))
    return figures


if __name__ == "__main__":
    main(run, __doc__)
