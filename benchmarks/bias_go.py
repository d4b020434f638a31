"""How well playouts of Go tell who wins: the mean of playouts from positions of played games, beside the games' results.

A playout need not play well; its mean must be right. What a policy does by rote it gets wrong by rote, and no number of
playouts makes up for that. So every policy plays out the same positions, three from each 9x9 game in docs/results/*.db, and is
charged the log loss of the results under its means, after one logistic curve for all positions has corrected how sure it is:
0.693 is a coin's. Far quicker than matches, and no proof of strength: what is better here is worth a match.

    python benchmarks/bias_go.py
    python benchmarks/bias_go.py "MoGo" "MoGo(pattern=0.8)" --playouts 200
"""

import argparse
import json
import random
import sqlite3
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from anabranch.arena.notation import names_for, value_of
from anabranch.games import rules
from anabranch.games.go import Go, Light, MoGo
from anabranch.games.go.mogo import RELAXED
from anabranch.games.go.score import half_points
from anabranch.games.playout import begin, is_enough, pick
from anabranch.jit import kernel
from anabranch.jit.options import coerce
from anabranch.jit.random import generator

RESULTS = Path(__file__).parents[1] / "docs" / "results"
GAME = Go(9, komi=6.5)
TERMS = "go:size=9,komi=6.5"
PARTS = ((12, 25), (26, 40), (41, 55))  # plies, from each of which a position is taken
LAST = 6  # plies of a game that are too late
POLICIES = (MoGo(), MoGo(self_atari=0.0), MoGo(pattern=0.8, capture=0.8), RELAXED, Light())


class Sample(NamedTuple):
    """A position and who won the game."""

    record: np.ndarray
    ply: int
    black_won: bool


@kernel
def count_wins(states, policy, playouts, random, rewards):
    """How many playouts from states[0] black wins; states[1] is scratch."""
    wins = 0
    for _ in range(playouts):
        states[1] = states[0]
        state = states[1]
        begin(policy, state)
        plies = 0
        while not rules.is_over(state) and not is_enough(policy, state, plies):
            rules.play(state, pick(policy, state, random), rewards)
            plies += 1
        wins += int(half_points(state) > 0)
    return wins


def samples() -> list[Sample]:
    """Positions of all games that were won by someone."""
    draw, found = random.Random(7), []
    for path in sorted(RESULTS.glob("*.db")):
        with sqlite3.connect(path) as database:
            wanted = [
                key for key, terms in database.execute("select id, terms from matches") if json.loads(terms)["game"] == TERMS
            ]
            for key in wanted:
                for text, result in database.execute("select moves, result from games where match = ? order by number", (key,)):
                    moves = text.split()
                    for low, high in PARTS:
                        ply = draw.randint(low, high)
                        if result[0] in "BW" and ply < len(moves) - LAST:
                            found.append(Sample(GAME.position(moves[:ply]).record(), ply, result[0] == "B"))
    return found


def chances(policy: Any, found: list[Sample], playouts: int) -> np.ndarray:
    """How likely black wins each, says the mean of playouts; never certain."""
    luck, rewards = generator(0), np.zeros(2)
    wins = [count_wins(np.concatenate([each.record] * 2), coerce(policy), playouts, luck, rewards) for each in found]
    return (np.array(wins) + 0.5) / (playouts + 1)


def losses(chance: np.ndarray, won: np.ndarray) -> np.ndarray:
    """The log loss of each result, under the logistic curve of the chance's own logit that fits all of them best."""
    logit = np.stack([np.ones_like(chance), np.log(chance / (1 - chance))])
    weights = np.array([0.0, 1.0])
    for _ in range(50):  # Newton's method
        told = 1 / (1 + np.exp(-weights @ logit))
        weights += np.linalg.solve((logit * told * (1 - told)) @ logit.T, logit @ (won - told))
    told = 1 / (1 + np.exp(-weights @ logit))
    return -np.log(np.where(won, told, 1 - told))


def main() -> None:
    """The program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("policies", nargs="*", metavar="POLICY", help="such as MoGo(pattern=0.8); the first is the measure")
    parser.add_argument("--playouts", type=int, default=100, help="from each position")
    arguments = parser.parse_args()
    policies = [value_of(text, names_for(GAME)) for text in arguments.policies] or list(POLICIES)
    found = samples()
    won, plies = np.array([each.black_won for each in found]), np.array([each.ply for each in found])
    print(
        f"| policy ({len(found):,} positions) | log loss | less the first's |"
        + "".join(f" plies {a} to {b} |" for a, b in PARTS)
    )
    print("|---" * (3 + len(PARTS)) + "|")
    first = None
    for policy in policies:
        loss = losses(chances(policy, found, arguments.playouts), won)
        first = loss if first is None else first
        more = loss - first
        parts = "".join(f" {loss[(plies >= low) & (plies <= high)].mean():.3f} |" for low, high in PARTS)
        error = more.std() / len(more) ** 0.5
        print(f"| `{policy}` | {loss.mean():.3f} | {more.mean():+.3f} (standard error {error:.3f}) |{parts}", flush=True)


if __name__ == "__main__":
    main()
