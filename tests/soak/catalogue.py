"""What is soaked: games and options, drawn at random.

`wide(random)` takes any game with any options; in compiled form nearly each of these has kernels of its own to compile.
`common(random, combinations)` takes one of a few combinations of types and leaves only numbers to chance, so that kernels are
compiled once. Not all that is drawn goes together: `Search` then says so, and the next one is drawn.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

import anabranch as ab
from anabranch.games import ConnectFour, Hex, Nim, Othello, Pig, TicTacToe, Treasure, TriNim
from anabranch.games.go import Go
from anabranch.games.goofspiel import Goofspiel
from anabranch.games.matrix import MatrixGame
from anabranch.games.pyrat import PyRat
from anabranch.games.repeated import Repeated
from anabranch.games.tug import Tug
from anabranch.search.checks import as_game
from anabranch.search.graph_options import grouped
from tests.search.advice import Fancy
from tests.search.games import Board, Coin, Corridor, Dice, Duel, Echo, EchoTrio, Hunt, Percent, Take, Trio
from tests.search.tables import LuckyTable, game_of, random_table, table_objects
from tests.soak.faults import Advice, Opinion

Random = np.random.Generator
Options = dict[str, Any]


class Drawn(NamedTuple):
    """A game and the options of its search."""

    game: Any  # as `Search` wants it
    options: Options

    def __str__(self) -> str:
        return f"Search({self.game!r}, {', '.join(f'{name}={option!r}' for name, option in grouped(self.options).items())})"


def one_of(random: Random, choices: Any) -> Any:
    return choices[random.integers(len(choices))]


def chance(random: Random, share: float) -> bool:
    return bool(random.random() < share)


def number(random: Random, low: int, high: int) -> int:
    """A whole number from `low` to `high`."""
    return int(random.integers(low, high + 1))


# --- games ------------------------------------------------------------------------------------------------------------------


def a_table(random: Random, players: int = 2, rewards: bool = False) -> Any:
    return random_table(random, players, rewards, one_of(random, [None, None, "nothing"]))


def a_lucky_table(random: Random) -> Any:
    table = a_table(random)
    return LuckyTable(replace(table, value_range=(-1.0, 1.0), pays=[tuple(np.clip(pays, -1, 1)) for pays in table.pays]))


def a_matrix(random: Random) -> Any:
    matrices = random.integers(-3, 4, (number(random, 1, 2), number(random, 1, 4), number(random, 1, 4))).astype(float)
    return MatrixGame(*matrices.tolist())


TURNS: list[Callable[[Random], Any]] = [
    lambda random: ConnectFour(),
    lambda random: TicTacToe(),
    lambda random: Nim(),
    lambda random: Pig(target=number(random, 6, 20)),
    lambda random: Treasure(steps=number(random, 2, 8)),
    lambda random: TriNim(number(random, 3, 15)),
    lambda random: Tug(one_of(random, [5, 7, 9])),
    lambda random: Hex(number(random, 2, 4)),
    lambda random: Othello(),
    lambda random: Go(number(random, 2, 4), rules=one_of(random, ["chinese", "japanese", "tromp-taylor"])),
    lambda random: Percent(),
    lambda random: Echo(),
    lambda random: EchoTrio(),
    lambda random: Duel(),
    lambda random: Trio(),
    lambda random: Hunt(steps=number(random, 2, 8)),
    lambda random: Dice(target=number(random, 6, 15)),
    lambda random: Corridor(number(random, 1, 400)),
    lambda random: game_of(a_table(random)),
    lambda random: game_of(a_table(random, players=3)),
    lambda random: game_of(a_table(random, rewards=True)),
    lambda random: game_of(a_table(random, players=3, rewards=True)),
    a_lucky_table,
]
OBJECTS: list[Callable[[Random], Any]] = [
    lambda random: Take,
    lambda random: Board,
    lambda random: Coin,
    lambda random: table_objects(a_table(random)),
    lambda random: table_objects(a_table(random, players=3)),
]
AT_ONCE: list[Callable[[Random], Any]] = [
    lambda random: Goofspiel(number(random, 1, 4)),
    lambda random: Goofspiel(number(random, 2, 3), returns="points"),
    lambda random: Goofspiel(number(random, 2, 3), "random"),
    lambda random: Repeated(number(random, 1, 4), one_of(random, ["dilemma", "stag", "chicken"])),
    lambda random: PyRat(preset="5x5"),
    a_matrix,
]

# --- options ----------------------------------------------------------------------------------------------------------------

SELECT_TURNS: list[Callable[[Random], Any]] = [
    lambda random: ab.UCT(c=float(random.uniform(0.0, 3.0))),
    lambda random: ab.UCT(fpu=one_of(random, [ab.select.ConstantFPU(), ab.select.ParentFPU(0.1), ab.select.ReducedFPU()])),
    lambda random: ab.PUCT(),
    lambda random: ab.PUCT(fpu=one_of(random, [ab.select.ConstantFPU(0.5), ab.select.ParentFPU(), ab.select.ReducedFPU()])),
    lambda random: ab.Greedy(),
    lambda random: ab.select.Regularized(),
    lambda random: ab.select.BestChance(),
    lambda random: ab.select.MuZero(q=one_of(random, [ab.select.AmongSiblings(), ab.select.BetweenBounds()])),
    lambda random: ab.select.SprlPUCT(),
    lambda random: ab.select.KataGoPUCT(),
    lambda random: ab.select.Gumbel(),
    lambda random: ab.Rave(
        schedule=one_of(
            random,
            [
                ab.select.MinimumMSE(),
                ab.select.ExactMSE(),
                ab.select.LearntBias(),
                ab.select.HandSelected(),
                ab.select.OnlyAmaf(),
            ],
        ),
        source=one_of(random, [ab.select.OwnAmaf(), ab.select.Grave(), ab.select.WithAncestors()]),
    ),
    lambda random: ab.select.Widening(one_of(random, [ab.UCT(), ab.PUCT(), ab.Rave()])),
    lambda random: ab.select.Pruning(one_of(random, [ab.UCT(), ab.PUCT()])),
    lambda random: ab.select.ProgressiveBias(ab.UCT()),
    lambda random: ab.select.Forced(ab.PUCT()),
    lambda random: ab.select.WideRoot(ab.PUCT(), noise=float(random.uniform(0.0, 1.0))),
]
SELECT_AT_ONCE: list[Callable[[Random], Any]] = [
    lambda random: ab.Decoupled(
        replies=one_of(
            random,
            [ab.simultaneous.ByReplies(), ab.simultaneous.ByPriors(), ab.simultaneous.ByVisits(), ab.simultaneous.ByBoth()],
        )
    ),
    lambda random: ab.RegretMatching(plus=chance(random, 0.5)),
    lambda random: ab.simultaneous.Exp3(),
    lambda random: ab.simultaneous.Equilibrium(),
]
FINALS = [
    ab.final.MostVisits(),
    ab.final.ByTemperature(1.0),
    ab.final.ByTemperature(0.2),
    ab.final.ByValue(),
    ab.final.ByRegularized(),
    ab.final.ByLowerBound(),
]
MEMORIES = [12_000, 30_000, 60_000, 200_000, "2MB", "2MB", "20MB"]


def an_evaluator(random: Random, game: Any) -> Any:
    endless = game.repetition != "nothing" or "Table" in type(game).__name__
    kind = number(random, 0, 9)
    if kind < 2 and not endless:
        return None
    if kind < 5:
        return ab.Rollout(playouts=number(random, 1, 3), cutoff=30 if endless else one_of(random, [5, 10_000]))
    if kind < 7:
        return ab.Uniform()
    return an_opinion(random, game)


def an_opinion(random: Random, game: Any, deviations: bool = False) -> Opinion:
    return Opinion(game, one_of(random, [1, 1, 3, 8]), chance(random, 0.7), deviations)


def a_backup(random: Random, at_once: bool) -> Any:
    return one_of(
        random,
        [ab.backup.Mean(), ab.backup.ByStrategies()]
        if at_once
        else [ab.backup.Max(), ab.backup.Mix(0.5), ab.backup.Mean(), ab.backup.ByCertainty()],
    )


def a_heuristic(random: Random) -> Any:
    return one_of(random, [ab.evaluate.EvenGame(), ab.evaluate.Grandfather(), Fancy(), Advice()])


def of_graphs(random: Random) -> Options:
    """Options that are for graphs only."""
    return {
        "graph": True,
        "update": one_of(random, [None, ab.graphs.Incremental(), ab.graphs.Idempotent(), ab.graphs.CatchUp()]),
        "ahead": one_of(random, [None, ab.graphs.Stop(factor=2.0), ab.graphs.Stop(number=5, leak=0.2), ab.graphs.Continue()]),
        "stale": one_of(
            random, [None, None, ab.graphs.PathOnly(), ab.graphs.Parents(), ab.graphs.Ancestors(), ab.graphs.Sweeping()]
        ),
    }


def of_no_kernel(random: Random) -> Options:
    """Options that are numbers to a kernel."""
    return {
        "memory": one_of(random, MEMORIES),
        "depth": one_of(random, [None, None, None, 1, 3]),
        "expand_after": one_of(random, [1, 1, 2, 3]),
        "noise": one_of(random, [None, None, ab.final.Dirichlet(0.3, 0.25), ab.final.RootTemperature(1.25)]),
        "seed": number(random, 0, 2**31),
        "collect": one_of(random, [ab.graphs.KeepReached(), ab.graphs.Forget(), ab.graphs.Forget(0.9)]),
        "virtual": one_of(random, [None, ab.select.VirtualLoss(visits=3, loss=0.5)]),
    }


def wide(random: Random) -> Drawn:
    """Anything."""
    games = one_of(random, [TURNS, TURNS, TURNS, OBJECTS, AT_ONCE])
    given = one_of(random, games)(random)
    game, at_once = as_game(given), games is AT_ONCE
    options: Options = of_no_kernel(random) | {"evaluate": an_evaluator(random, game)}
    if chance(random, 0.7):
        options["select"] = one_of(random, SELECT_AT_ONCE if at_once else SELECT_TURNS)(random)
    if chance(random, 0.25):
        options["backup"] = a_backup(random, at_once)
        if isinstance(options["backup"], ab.backup.ByCertainty):
            options["evaluate"] = an_opinion(random, game, deviations=True)
    if chance(random, 0.2) and not at_once:
        options["heuristic"] = a_heuristic(random)
    has_keys = not isinstance(given, type) or hasattr(given, "key")  # objects need not have them
    if chance(random, 0.6) and has_keys:
        options |= of_graphs(random)
    options["prove"] = chance(random, 0.4) and not at_once
    options["threads"] = one_of(random, [1, 1, 2, 4])
    options["ties"] = one_of(random, ["seed", "seed", "lowest"])
    if chance(random, 0.3):
        options["final"] = one_of(random, FINALS)
    return Drawn(given, {name: option for name, option in options.items() if option is not None})


# Types that other tests compile as well; `common` draws the rest.
GRAPH: Options = {"graph": True}
FEW: list[Callable[[Random], Drawn]] = [
    lambda random: Drawn(ConnectFour(), {}),
    lambda random: Drawn(ConnectFour(), GRAPH),
    lambda random: Drawn(ConnectFour(), {"threads": 2}),
    lambda random: Drawn(ConnectFour(), GRAPH | {"threads": 2}),
    lambda random: Drawn(TicTacToe(), GRAPH | {"prove": True}),
    lambda random: Drawn(Tug(), GRAPH | {"prove": True}),
    lambda random: Drawn(ConnectFour(), {"select": ab.PUCT(), "evaluate": an_opinion(random, ConnectFour())}),
]
# For an hour: with more threads, and what else is often used.
MORE: list[Callable[[Random], Drawn]] = [
    *FEW,
    *(lambda random, threads=threads: Drawn(TicTacToe(), GRAPH | {"prove": True, "threads": threads}) for threads in (2, 4)),
    *(lambda random, threads=threads: Drawn(Tug(), GRAPH | {"prove": True, "threads": threads}) for threads in (2, 4)),
    *(lambda random, options=options: Drawn(ConnectFour(), {"threads": 4} | options) for options in ({}, GRAPH)),
    *(
        lambda random, threads=threads, graph=graph: Drawn(
            ConnectFour(),
            {"select": ab.PUCT(), "evaluate": an_opinion(random, ConnectFour()), "threads": threads, "graph": graph},
        )
        for threads in (1, 2, 4)
        for graph in (False, True)
    ),
    lambda random: Drawn(ConnectFour(), {"select": ab.Rave(), "threads": one_of(random, [2, 4])}),
    lambda random: Drawn(ConnectFour(), GRAPH | {"update": ab.graphs.Idempotent(), "stale": ab.graphs.Ancestors()}),
    lambda random: Drawn(ConnectFour(), GRAPH | {"update": ab.graphs.CatchUp()}),
    lambda random: Drawn(ConnectFour(), GRAPH | {"stale": ab.graphs.Sweeping()}),
    lambda random: Drawn(Pig(), GRAPH | {"threads": one_of(random, [1, 2])}),
    lambda random: Drawn(Treasure(), GRAPH | {"prove": True}),
    lambda random: Drawn(TriNim(), GRAPH | {"prove": True, "threads": one_of(random, [1, 2])}),
    lambda random: Drawn(Goofspiel(3), {"threads": one_of(random, [1, 2])}),
    lambda random: Drawn(Board, {"evaluate": an_opinion(random, as_game(Board))}),
    *(
        lambda random, threads=threads: Drawn(
            game_of(random_table(random)), GRAPH | {"prove": True, "evaluate": ab.Rollout(cutoff=20), "threads": threads}
        )
        for threads in (1, 2, 4)
    ),
]


def common(random: Random, combinations: list[Callable[[Random], Drawn]]) -> Drawn:
    """One of these, with all that costs no kernels of its own left to chance."""
    drawn = one_of(random, combinations)(random)
    options = of_no_kernel(random) | drawn.options
    return Drawn(drawn.game, {name: option for name, option in options.items() if option is not None})
