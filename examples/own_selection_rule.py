"""A selection rule of one's own: an option class and one function, compiled into the search like the built-in ones.

    python examples/own_selection_rule.py

The rule is Q + c N^(1/4) / n^(1/2), a polynomial bonus in place of UCT's logarithm (Shah, Xie & Xu 2020 analyse such bonuses).
"""

import math
from typing import NamedTuple

import anabranch as ab
from anabranch import score
from anabranch.games import TicTacToe
from anabranch.select import value_of


class PolynomialUCT(NamedTuple):
    """Its fields are numbers at run time: changing `c` compiles nothing."""

    c: float = 0.7


@score.register(PolynomialUCT)
def polynomial_score(rule, parent, edge):
    """The edge with the highest score is followed; values are in [-1, 1], in the view of who moves at the parent."""
    if edge.visits == 0:
        return math.inf  # every action once before any twice
    return float(value_of(parent, edge)) + rule.c * math.sqrt(math.sqrt(parent.visits) / edge.visits)


def main() -> None:
    """Find the only move that does not lose: O must answer a corner with the centre."""
    game = TicTacToe()
    position = game.position(["a1"])
    for c in (0.5, 0.7):
        result = ab.Search(game, select=PolynomialUCT(c=c)).run(position, visits=20_000)
        print(f"c={c}: {result!r}")
        assert result.best_name == "b2"


if __name__ == "__main__":
    main()
