"""Acting and searching by the exact regularised policy (Grill et al. 2020), beside visits, on the solved Connect Four set.

Footnote 3 of "Monte-Carlo Graph Search from First Principles" warns that the exact policy can put its weight on a move with few
visits whose value only seems good. Counted here: how often its favourite has less than a tenth of the largest number of visits,
how often that is the wrong move, and whether a floor of visits helps. Each position is searched once by PUCT on a graph, seeded
by its place in the set; the ways of choosing are compared on the same searches.
"""

from typing import Any

import numpy as np

from anabranch import PUCT, Search
from anabranch.games import ConnectFour
from anabranch.select import Regularized, regularized_policy
from connect_four_set import read
from measure import Figure, main, progress

C = 1.25
VISITS = (50, 1_000, 10_000)
FLOORS = (0.0, 0.1)
LITTLE = 0.1  # of the largest number of visits
COMMAND = "python benchmarks/regularized.py"


def favourites(result: Any) -> dict[str, tuple[int, bool]]:
    """For each way of choosing: the action, and whether it has few visits."""
    visits = np.array([move.visits for move in result.moves], float)
    priors = np.array([move.prior for move in result.moves])
    values = np.array([move.value if move.visits else 0.0 for move in result.moves])
    found = {"most visits": int(visits.argmax())}
    for floor in FLOORS:
        policy = regularized_policy(priors / priors.sum(), values, visits, result.value, C, floor)
        found[f"regularised, floor {floor:g}"] = int(np.lexsort((visits, policy))[-1])
    return {name: (result.moves[i].action, bool(visits[i] < LITTLE * visits.max())) for name, i in found.items()}


def run(quick: bool = False) -> list[Figure]:
    """Right moves by way of choosing, and by rule of selection."""
    game, rows = ConnectFour(), read()[:: 8 if quick else 1]
    figures = []
    for visits in VISITS[: 2 if quick else None]:
        chosen: dict[str, list[tuple[bool, bool]]] = {}
        for seed, row in enumerate(rows):
            right = game.action(row.best)
            for label, select in (("PUCT", PUCT(c=C)), ("drawn from the policy", Regularized(c=C))):
                result = Search(game, select=select, graph=True, seed=seed).run(game.position(row.moves), visits=visits)
                for name, (action, little) in favourites(result).items():
                    chosen.setdefault(f"search by {label}, choice by {name}", []).append((action == right, little))
        for name, answers in chosen.items():
            hits, doubtful = sum(hit for hit, _ in answers), [hit for hit, few in answers if few]
            wrong = f"{len(doubtful)} favourites with few visits, {len(doubtful) - sum(doubtful)} of them wrong"
            progress(f"{visits:,} visits, {name}: {hits} of {len(rows)}; {wrong}")
            figures.append(
                Figure(
                    what=f"Connect Four, {visits:,} visits, {name}: right moves",
                    ours=f"{hits} of {len(rows)}; {wrong}",
                    peer="",
                    ratio="",
                    target="",
                    met=True,
                    command=COMMAND,
                    data={"visits": visits, "name": name, "hits": hits, "few": len(doubtful), "few_right": sum(doubtful)},
                )
            )
    return figures


if __name__ == "__main__":
    main(run, __doc__)
