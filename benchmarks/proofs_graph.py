"""Whether what a search calls proven is true: late Connect Four positions, against the solver `bitbully`.

The positions come from random games in which nobody ends the game or lets the opponent win at once, since what is left to
prove would be little; no two are the same or mirrored. Small ones must be proven within a generous number of simulations, of
the larger ones as many as can be. Whatever is proven, a position or one of its moves, must be worth what the solver says, and
the chosen move must keep it.
"""

import statistics
import time
from typing import Any, NamedTuple

import numpy as np

from anabranch import UCT, Search
from anabranch.games import ConnectFour
from connect_four_set import mirrored, outcomes, solver, wins_at_once
from measure import Figure, main, progress

C = 1.4
CELLS = 42
SEED = 1
QUICK_SHARE = 20
COMMAND = "python benchmarks/proofs_graph.py"


class Group(NamedTuple):
    """Positions of some sizes."""

    empty: range  # empty cells; each number as often as the others
    size: int
    simulations: int  # at most
    all_proven: bool  # whether that is the target


GROUPS = (Group(range(8, 15), 1_000, 2_000_000, True), Group(range(15, 21), 200, 100_000, False))


class Proof(NamedTuple):
    """What one search found."""

    proven: bool
    value_right: bool  # whether all that was proven, the position and its moves, is what the solver says
    move_right: bool  # whether the chosen move keeps the outcome
    simulations: int
    seconds: float


def careful_game(random: np.random.Generator, plies: int) -> str | None:
    """Random moves that neither end the game nor let the opponent win at once; None where there are no others."""
    game = ConnectFour()
    position, moves = game.start(), ""
    for _ in range(plies):
        for action in random.permutation(position.legal_actions):
            after = position.play(int(action))
            if not after.is_over and not wins_at_once(after):
                break
        else:
            return None
        position, moves = after, moves + game.name_of(int(action))
    return moves


def positions(group: Group) -> list[str]:
    """The moves of the group's positions."""
    game, random = ConnectFour(), np.random.default_rng(SEED)
    found: list[str] = []
    seen: set[Any] = set()
    while len(found) < group.size:
        empty = group.empty[len(found) % len(group.empty)]
        moves = careful_game(random, CELLS - empty)
        if moves is None or game.position(moves).key in seen:
            continue
        seen |= {game.position(moves).key, game.position(mirrored(moves)).key}
        found.append(moves)
    return found


def prove(bully: Any, moves: str, seed: int, simulations: int) -> Proof:
    """Search one position and ask the solver."""
    game = ConnectFour()
    search = Search(game, select=UCT(c=C), graph=True, prove=True, seed=seed)
    began = time.process_time()
    result = search.run(game.position(moves), visits=simulations)
    seconds = time.process_time() - began
    worth = outcomes(bully, moves)
    best = max(worth.values())
    of_moves = all(move.value == worth[move.action] for move in result.moves if move.proven)
    return Proof(
        proven=result.proven,
        value_right=of_moves and (not result.proven or result.value == best),
        move_right=worth[result.best] == best,
        simulations=result.stats.simulations,
        seconds=seconds,
    )


def figures_of(group: Group, proofs: list[Proof]) -> list[Figure]:
    """What was proven, what of it is wrong, and what it cost."""
    proven = [proof for proof in proofs if proof.proven]
    wrong_values = sum(not proof.value_right for proof in proofs)
    wrong_moves = sum(not proof.move_right for proof in proven)
    simulations = [proof.simulations for proof in proven] or [0]
    seconds = [proof.seconds for proof in proven] or [0.0]
    what = f"Connect Four, {len(proofs):,} positions with {group.empty[0]} to {group.empty[-1]} empty cells"
    data = {"positions": len(proofs), "proven": len(proven), "wrong_values": wrong_values, "wrong_moves": wrong_moves}
    costs = {
        name: {"median": statistics.median(numbers), "mean": statistics.mean(numbers), "most": max(numbers)}
        for name, numbers in (("simulations", simulations), ("cpu_s", seconds))
    }

    def row(what: str, ours: str, peer: str, target: str, met: bool, data: dict[str, Any]) -> Figure:
        progress(f"{what}: {ours}")
        return Figure(what, ours, peer, "", target, met, COMMAND, data)

    return [
        row(
            f"{what}: proven with at most {group.simulations:,} simulations",
            f"{len(proven):,} of {len(proofs):,}",
            "",
            "all" if group.all_proven else "",
            not group.all_proven or len(proven) == len(proofs),
            data,
        ),
        row(f"{what}: proven values that are wrong", str(wrong_values), "bitbully", "none", wrong_values == 0, {}),
        row(f"{what}: proven, and the best move gives that away", str(wrong_moves), "bitbully", "none", wrong_moves == 0, {}),
        row(
            f"{what}: cost of a proof",
            f"median {costs['simulations']['median']:,.0f} simulations, {1000 * costs['cpu_s']['median']:.1f} ms; "
            f"most {costs['simulations']['most']:,}, {costs['cpu_s']['most']:.2f} s",
            "",
            "",
            True,
            costs,
        ),
    ]


def run(quick: bool = False) -> list[Figure]:
    """Both groups."""
    bully = solver()
    figures = []
    for whole in GROUPS:
        group = whole._replace(size=whole.size // QUICK_SHARE) if quick else whole
        found = positions(group)
        prove(bully, found[0], 0, 10)  # compile
        figures += figures_of(group, [prove(bully, moves, seed, group.simulations) for seed, moves in enumerate(found)])
    return figures


if __name__ == "__main__":
    main(run, __doc__)
