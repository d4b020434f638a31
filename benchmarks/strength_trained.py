"""How strong a trained Connect Four network is: against solved positions, minimax, UCT and perfect play.

    python benchmarks/strength_trained.py                                                         the package's; ten minutes
    python benchmarks/strength_trained.py --net runs/connectfour/networks/000100.onnx             another one
    python benchmarks/strength_trained.py --only solved                                           a part

  solved    positions of `connect_four_set.py` whose one right move is found with 600 visits
  stages    errors with 600 visits, and of the network alone, in the six sets of `connect_four_stages.py`
  minimax   games of the network alone (its most probable move) against minimax of depth 5
  uct       games of the network alone against UCT with 1,000 simulations
  first     games as first player, with 600 visits, against UCT with 100,000 simulations
  perfect   games as first player, with 1,000 visits, against `bitbully`, which chooses at random among equal moves; a game that
            is not won tells the ply of the first move that gave the win away

Minimax counts, beyond its depth, lines of four that the other player cannot fill any more: 1, 3 and 9 for one, two and three
stones. Games of two players begin with an opening of `--plies` random moves, the same for both colours, so that they differ.
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import anabranch as ab
from anabranch.arena.rating import wilson
from anabranch.games import ConnectFour
from anabranch.jit import kernel
from anabranch.nets.trained import trained_file
from connect_four_set import read
from connect_four_stages import SETS, positions

GAME = ConnectFour()
PARTS = ("solved", "stages", "minimax", "uct", "first", "perfect")
STAGED = 500  # positions of each set
DEPTH = 5
LINES = np.array(
    [
        [7 * (x + i * dx) + y + i * dy for i in range(4)]
        for x in range(7)
        for y in range(6)
        for dx, dy in ((1, 0), (0, 1), (1, 1), (1, -1))
        if 0 <= x + 3 * dx < 7 and 0 <= y + 3 * dy < 6
    ],
    np.int64,
)  # the cells of every line of four
WORTHS = np.array([0.0, 1.0, 3.0, 9.0, 0.0])
WIN = 1e6
Chooser = Callable[[Any], int]


@kernel
def lines_worth(own, other, lines, worths):
    """What open lines are worth to the player with `own` stones."""
    total = 0.0
    for line in range(len(lines)):
        mine, theirs = 0, 0
        for i in range(4):
            bit = np.uint64(1) << np.uint64(lines[line, i])
            mine += np.int64((own & bit) != np.uint64(0))
            theirs += np.int64((other & bit) != np.uint64(0))
        if theirs == 0:
            total += worths[mine]
        if mine == 0:
            total -= worths[theirs]
    return total


def minimax(position: Any, depth: int, low: float = -2 * WIN, high: float = 2 * WIN) -> float:
    """The value for the player to move, by alpha-beta; wins are worth more the sooner they come."""
    if position.is_over:
        return -WIN - depth if any(position.returns) else 0.0
    if depth == 0:
        state = position.state
        own, stones = np.uint64(int(state.mover)), np.uint64(int(state.stones))
        return float(lines_worth(own, stones ^ own, LINES, WORTHS))
    for action in sorted(position.legal_actions, key=lambda action: abs(action - 3)):
        value = -minimax(position.after(action), depth - 1, -high, -low)
        low = max(low, value)
        if low >= high:
            break
    return low


def by_minimax(random: np.random.Generator) -> Chooser:
    """Plays one of the best moves, at random."""

    def choose(position: Any) -> int:
        values = {action: -minimax(position.after(action), DEPTH - 1) for action in position.legal_actions}
        best = max(values.values())
        return int(random.choice([action for action, value in values.items() if value == best]))

    return choose


def by_search(search: Any, visits: int) -> Chooser:
    """Plays what a search finds, a new one for each move."""

    def choose(position: Any) -> int:
        return int(search.run(position, visits=visits).best)

    return choose


def by_solver(bully: Any, random: np.random.Generator) -> Chooser:
    """Plays perfectly: one of the moves that win soonest, or lose latest, at random."""
    from bitbully import Board

    def choose(position: Any) -> int:
        scores = bully.score_all_moves(Board(list(position.moves)))
        best = max(scores.values())
        return int(random.choice([column for column, score in scores.items() if score == best]))

    return choose


def game_between(first: Chooser, second: Chooser, start: Any) -> Any:
    """The last position."""
    position = start
    while not position.is_over:
        position = position.play((first, second)[position.to_play](position))
    return position


def opening(random: np.random.Generator, plies: int) -> Any:
    """A position after random moves."""
    while True:
        position = GAME.start()
        for _ in range(plies):
            if not position.is_over:
                position = position.play(int(random.choice(position.legal_actions)))
        if not position.is_over:
            return position


def shown(name: str, wins: int, draws: int, losses: int) -> None:
    """A line."""
    games = wins + draws + losses
    low, high = wilson(wins + draws / 2, games)
    rate = f"{(wins + draws / 2) / games:.1%} ({low:.1%} to {high:.1%})"
    print(f"{name}: {wins} won, {draws} drawn, {losses} lost of {games}: {rate}", flush=True)


def both_colours(name: str, mine: Chooser, other: Chooser, games: int, plies: int) -> None:
    """Games with both colours from each opening."""
    counts = {1.0: 0, 0.0: 0, -1.0: 0}
    random = np.random.default_rng(0)
    for _ in range(games // 2):
        start = opening(random, plies)
        for seat in (0, 1):
            end = game_between(*((mine, other) if seat == 0 else (other, mine)), start)
            counts[end.returns[seat]] += 1
    shown(name, counts[1.0], counts[0.0], counts[-1.0])


def network_search(net: ab.Network, seed: int) -> ab.Search:
    """A search with the network."""
    return ab.Search(GAME, select=ab.PUCT(c=1.5), evaluate=net, seed=seed, memory="200MB")


def solved(net: ab.Network, visits: int) -> None:
    """Right moves of the solved set."""
    rows = read()
    fleet = ab.Fleet(GAME, len(rows), evaluate=net, select=ab.PUCT(c=1.5), memory="2GB")
    results = fleet.run([GAME.position(row.moves) for row in rows], visits=visits)
    right = [result is not None and GAME.name_of(result.best) == row.best for result, row in zip(results, rows, strict=True)]
    free = [hit for hit, row in zip(right, rows, strict=True) if not row.forced]
    low, high = wilson(sum(right), len(right))
    rate = f"{np.mean(right):.1%} ({low:.1%} to {high:.1%})"
    print(
        f"solved: {sum(right)} of {len(right)} right, {rate}; {np.mean(free):.1%} of those not forced; {visits} visits",
        flush=True,
    )


def stages(net: ab.Network, visits: int) -> None:
    """Errors in each set."""
    from bitbully import BitBully

    bully = BitBully()
    for name in SETS:
        rows = list(positions(name, STAGED, bully))
        errors = []
        for count in (visits, 1):
            fleet = ab.Fleet(GAME, STAGED, evaluate=net, select=ab.PUCT(c=1.5), memory="2GB")
            results = fleet.run([row.position for row in rows], visits=count)
            missed = [result.best not in row.keeping for result, row in zip(results, rows, strict=True) if result is not None]
            errors.append(sum(missed))
        low, high = wilson(errors[0], STAGED)
        rate = f"{errors[0] / STAGED:.1%} ({low:.1%} to {high:.1%})"
        print(f"{name}: errors {rate} with {visits} visits, {errors[1] / STAGED:.1%} of the network alone", flush=True)


def perfect(net: ab.Network, games: int) -> None:
    """Games as first player against the solver."""
    from bitbully import BitBully, Board

    bully, random = BitBully(), np.random.default_rng(1)
    counts, errors = {1.0: 0, 0.0: 0, -1.0: 0}, []
    for number in range(games):
        end = game_between(by_search(network_search(net, number), 1000), by_solver(bully, random), GAME.start())
        counts[end.returns[0]] += 1
        if end.returns[0] < 1.0:
            for ply in range(0, len(end.moves), 2):
                if max(bully.score_all_moves(Board(list(end.moves[: ply + 1]))).values(), default=-1) >= 0:
                    errors.append(ply + 1)
                    break
    shown("perfect play", counts[1.0], counts[0.0], counts[-1.0])
    if errors:
        print(f"  the win was given away at plies {sorted(errors)}")


def main() -> None:
    """Run the parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--net", type=Path, default=trained_file(GAME), help="its file; by default the package's")
    parser.add_argument("--only", choices=PARTS, action="append", help="this part alone; may be repeated")
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--plies", type=int, default=2, help="random moves before games with both colours")
    arguments = parser.parse_args()
    parts = arguments.only or PARTS
    net = ab.Network(arguments.net, batch=16, symmetry="none", game=GAME)
    alone, games = by_search(network_search(net, 0), 1), arguments.games
    if "solved" in parts:
        solved(ab.Network(arguments.net, batch=400, game=GAME), 600)
    if "stages" in parts:
        stages(ab.Network(arguments.net, batch=STAGED, game=GAME), 600)
    if "minimax" in parts:
        both_colours("network alone, minimax 5", alone, by_minimax(np.random.default_rng(2)), games, arguments.plies)
    if "uct" in parts:
        weak = by_search(ab.Search(GAME, seed=3), 1000)
        both_colours("network alone, UCT 1,000", alone, weak, games, arguments.plies)
    if "first" in parts:
        counts = {1.0: 0, 0.0: 0, -1.0: 0}
        for number in range(games):
            strong = by_search(ab.Search(GAME, seed=number), 100_000)
            counts[game_between(by_search(network_search(net, number), 600), strong, GAME.start()).returns[0]] += 1
        shown("first, 600 visits, UCT 100,000", counts[1.0], counts[0.0], counts[-1.0])
    if "perfect" in parts:
        perfect(net, games)


if __name__ == "__main__":
    main()
