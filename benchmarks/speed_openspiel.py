"""UCT with random playouts from the start of four games, against OpenSpiel's C++ `MCTSBot`; one thread on both sides.

The same number of simulations and the same constant on both sides, one playout an evaluation, no solver. Every round has a
seed of its own. Timed are `Search.run` as a whole and `mcts_search` as a whole; compiling, and making game and bot, are not.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from anabranch import UCT, Search
from anabranch.games import ConnectFour, Hex, Othello, TicTacToe
from measure import ROUNDS, Figure, alternate, cpu_seconds, main, median_speed, progress

C = 1.4
MOST_MEGABYTES = 16_000  # OpenSpiel's own limit, never reached here
COMMAND = "python benchmarks/speed_openspiel.py"


class Match(NamedTuple):
    """One game on both sides."""

    name: str
    ours: Callable[[], Any]
    theirs: str
    simulations: int  # enough for a second or so of OpenSpiel's
    target: float


MATCHES = (
    Match("Tic-tac-toe", TicTacToe, "tic_tac_toe", 500_000, 3.0),
    Match("Connect Four", ConnectFour, "connect_four", 100_000, 10.0),
    Match("Othello", Othello, "othello", 5_000, 25.0),
    Match("Hex 11x11", lambda: Hex(11), "hex(board_size=11)", 20_000, 6.0),
)


def bot(game: Any, simulations: int, seed: int) -> Any:
    """OpenSpiel's searcher with our settings."""
    import pyspiel

    evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
    return pyspiel.MCTSBot(game, evaluator, C, simulations, MOST_MEGABYTES, False, seed, False)


def compare(match: Match, simulations: int, rounds: int) -> Figure:
    """Both sides on one game."""
    import pyspiel

    game, their_game = match.ours(), pyspiel.load_game(match.theirs)

    def ours(number: int) -> float:
        search = Search(game, select=UCT(c=C), seed=number + 1)
        return cpu_seconds(lambda: search.run(game.start(), visits=simulations)) / simulations

    def peer(number: int) -> float:
        searcher, state = bot(their_game, simulations, number + 1), their_game.new_initial_state()
        return cpu_seconds(lambda: searcher.mcts_search(state)) / simulations

    Search(game, select=UCT(c=C)).run(game.start(), visits=10)  # compile
    comparison = alternate(ours, peer, rounds)
    figure = Figure(
        what=f"{match.name} UCT, {simulations:,} simulations, against OpenSpiel",
        ours=median_speed(comparison.ours),
        peer=median_speed(comparison.peer),
        ratio=f"{comparison.ratio:.1f}",
        target=f">= {match.target:g}",
        met=comparison.ratio >= match.target,
        command=COMMAND,
        data=comparison.data(),
    )
    progress(f"{figure.what}: {figure.ours} to {figure.peer}, {figure.ratio}")
    return figure


def run(quick: bool = False) -> list[Figure]:
    """All four games."""
    return [compare(match, match.simulations // (10 if quick else 1), 2 if quick else ROUNDS) for match in MATCHES]


if __name__ == "__main__":
    main(run, __doc__)
