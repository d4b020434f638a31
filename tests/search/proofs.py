"""Whether what a search calls proven is true, on random small games with cycles, whatever was done with the search before.

`judge(seed)` makes a game and a search by that number, plays a random script (run, advance, back, jump to another position,
save and load) and compares what is shown as certain after each step with `tests/reference/repetitions.py`: the root's value and
best move, the values of moves, the root's bounds. It keeps the line that was played by itself and trusts nothing else.
"""

import tempfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import anabranch as ab
from anabranch.search.graph_options import grouped
from tests.reference.repetitions import CHANCE, OVER, Solver, Table, TooLarge
from tests.search.tables import LuckyTable, TableGame, game_of, random_table, table_objects

CLOSE = 1e-6  # priors, which are the odds of events, are kept in single precision
VISITS = [1, 4, 16, 50, 150, 400]
STOPS = [ab.graphs.Stop(), ab.graphs.Continue(), ab.graphs.Stop(factor=2.0), ab.graphs.Stop(number=5), ab.graphs.Stop(leak=0.2)]
LITTLE = 9_728  # bytes: the least that is allowed for two players; some of the larger games do not fit
PLAYOUTS = ab.Rollout(cutoff=20)  # where a game may go on for ever


def opinion(states: Any) -> tuple[None, np.ndarray]:
    """An evaluator in Python that says something of every position, always the same: to player 0, or one number a player."""
    three = "Trio" in str(states.dtype.names)
    rows = [[zlib.crc32(bytes([int(state["place"]), i])) % 5 / 16 for i in range(3 if three else 1)] for state in states]
    if three:
        return None, np.array(rows)
    signs = [-1.0 if state["mover"][state["place"]] == 1 else 1.0 for state in states]  # asked for whoever moves
    return None, np.array(rows) * np.array(signs)[:, None]


# --- what is tried --------------------------------------------------------------------------------------------------------

Options = dict[str, Any]


def on_graph(random: np.random.Generator, **options: Any) -> Options:
    """Options of a graph, with all that costs no kernels of its own left to chance."""
    chosen: Options = {"graph": True, "ahead": STOPS[random.integers(len(STOPS))], "memory": "4MB"}
    return chosen | {"select": ab.UCT(c=float(random.choice([0.5, 1.4, 5.0]))), "evaluate": PLAYOUTS} | options


def on_tree(random: np.random.Generator) -> Options:
    return on_graph(random, graph=False, ahead=None)


def with_little_memory(random: np.random.Generator) -> Options:
    collect = [ab.graphs.KeepReached(), ab.graphs.Forget(), ab.graphs.Forget(0.2), ab.graphs.Forget(0.9)][random.integers(4)]
    return on_graph(random, memory=LITTLE, collect=collect)


def with_threads(random: np.random.Generator) -> Options:
    return on_graph(random, threads=int(random.choice([2, 4])))


MANNERS: dict[str, Callable[[np.random.Generator], Options]] = {
    "graph": on_graph,
    "tree": on_tree,
    "little memory": with_little_memory,
    "late edges": lambda random: on_graph(random, expand_after=int(random.integers(2, 4))),
    "threads": with_threads,
    "threads on a tree": lambda random: with_threads(random) | {"graph": False, "ahead": None},
    "Idempotent and Ancestors": lambda random: on_graph(random, update=ab.graphs.Idempotent(), stale=ab.graphs.Ancestors()),
    "Incremental and Parents": lambda random: on_graph(random, stale=ab.graphs.Parents()),
    "Idempotent and Sweeping": lambda random: on_graph(random, update=ab.graphs.Idempotent(), stale=ab.graphs.Sweeping()),
    "CatchUp": lambda random: on_graph(random, update=ab.graphs.CatchUp()),
    "PUCT": lambda random: on_graph(random, select=ab.PUCT(), evaluate=ab.Uniform()),
    "evaluator in Python": lambda random: on_graph(random, select=ab.PUCT(), evaluate=opinion),
    "objects": lambda random: on_graph(random, evaluate=ab.Uniform()),
}


class Kind(NamedTuple):
    """A sort of game, and how it is searched."""

    manner: str
    players: int = 2
    rewards: bool = False
    endless: bool = False  # whether repetitions mean nothing
    lucky: bool = False  # whether ends are draws of luck

    def __str__(self) -> str:
        facts = {"rewards": self.rewards, "repetitions mean nothing": self.endless, "ends by luck": self.lucky}
        return ", ".join([self.manner, f"{self.players} players", *(name for name, holds in facts.items() if holds)])


# Those on one line run on the same kernels.
KINDS = [
    *(Kind(manner) for manner in ("graph", "graph", "tree", "little memory", "late edges")),
    *(Kind(manner, players=3) for manner in ("graph", "tree", "late edges")),
    *(Kind(manner, rewards=True) for manner in ("graph", "tree", "little memory")),
    *(Kind(manner, players=3, rewards=True) for manner in ("graph", "late edges")),
    *(Kind(manner, endless=True) for manner in ("graph", "little memory")),
    Kind("graph", rewards=True, endless=True),
    Kind("graph", lucky=True),
    *(Kind(manner) for manner in ("threads", "threads on a tree")),
    Kind("threads", players=3, rewards=True),
    *(Kind(manner) for manner in MANNERS if manner not in ("graph", "tree", "threads on a tree", "threads")),
    Kind("Idempotent and Ancestors", players=3, rewards=True),
    Kind("evaluator in Python", players=3),
    Kind("objects", players=3),
]
QUICK = [Kind("graph"), Kind("tree"), Kind("little memory")]  # of few kernels
OTHERS = [Kind("graph", players=3), Kind("tree", players=3), Kind("objects")]


# --- one game ---------------------------------------------------------------------------------------------------------------


@dataclass
class Verdict:
    """What came of one game."""

    seed: int
    kind: Kind
    looks: int = 0  # at a result
    proven: int = 0  # roots among them
    moves: int = 0  # moves that were shown as proven
    faults: list[str] = field(default_factory=list)
    script: list[str] = field(default_factory=list)
    table: Table | None = None

    def __str__(self) -> str:
        return "\n    ".join([f"seed {self.seed}, {self.kind}: {self.table}", "; ".join(self.script), *self.faults])


@dataclass
class Line:
    """Where the game is, and all that came before."""

    position: Any
    place: int = 0
    past: tuple[int, ...] = ()

    def played(self, table: Table, action: int) -> "Line":
        return Line(self.position.play(action), table.leads[self.place][action], (*self.past, self.place))

    def goes_on(self, table: Table) -> bool:
        return table.mover[self.place] != OVER and not table.repeats(self.place, self.past)


class Trial:
    """A search under a script."""

    def __init__(self, seed: int, kind: Kind) -> None:
        self.random = np.random.default_rng(seed)
        self.verdict = Verdict(seed, kind)
        self.table, self.solver = some_table(self.random, kind)
        self.verdict.table = self.table
        self.game: Any = table_objects(self.table) if kind.manner == "objects" else game_of(self.table)
        if kind.lucky:
            self.game = LuckyTable(self.table)
            self.solver = Solver(replace(self.table, pays=[(0.0, 0.0)] * len(self.table.mover)))
        self.options = MANNERS[kind.manner](self.random) | {"prove": True, "seed": seed}
        self.search = ab.Search(self.game, **grouped(self.options))
        self.line = self.start()
        self.before: list[Line] = []

    def start(self) -> Line:
        return Line(self.game.start() if isinstance(self.game, TableGame) else self.game())

    def play(self) -> Verdict:
        """Some steps, and a look after each."""
        steps = [self.advance] * 4 + [self.back] * 2 + [self.jump] * 2 + [self.save_and_load]
        self.run(self.line.position)
        for _ in range(int(self.random.integers(1, 7))):
            step = steps[self.random.integers(len(steps))]
            if step():
                self.look()
                self.run()
        return self.verdict

    # --- steps; False: not possible here ---

    def run(self, position: Any = None) -> None:
        visits = int(self.random.choice(VISITS))
        action = None
        if position is None and self.random.random() < 0.1:
            action = self.some_action()
        self.note(f"run(visits={visits}" + (")" if action is None else f", action={action})"))
        self.judge(self.search.run(position, visits=visits, action=action))

    def advance(self) -> bool:
        action = self.some_action()
        if self.random.random() < 0.4 and self.searched():
            action = self.search.result().best
        if action is None or action not in self.table.legal(self.line.place, self.line.past):
            return False
        following = self.line.played(self.table, action)
        if not following.goes_on(self.table):
            return False
        keep = "nothing" if self.random.random() < 0.05 else "statistics"
        self.note(f"advance({action}, keep={keep!r})")
        self.search.advance(action, keep=keep)
        self.before.append(self.line)
        self.line = following
        return True

    def back(self) -> bool:
        if not self.before:
            return False
        self.note("back()")
        self.search.back()
        self.line = self.before.pop()
        return True

    def jump(self) -> bool:
        """To the end of another line, or to the same position without its past."""
        line = self.start()
        for _ in range(int(self.random.integers(7))):
            legal = self.table.legal(line.place, line.past)
            following = line.played(self.table, int(self.random.choice(legal))) if legal else line
            if not following.goes_on(self.table):
                break
            line = following
        if self.random.random() < 0.3:
            position = line.position
            bare = position.without_past() if isinstance(self.game, TableGame) else type(position)(position.place)
            line = Line(bare, line.place)
        self.note(f"jump to {line.place} after {line.past}")
        self.line, self.before = line, []
        self.run(line.position)
        return False

    def save_and_load(self) -> bool:
        if not self.searched() or not isinstance(self.game, TableGame):
            return False
        self.note("save and load")
        with tempfile.TemporaryDirectory() as folder:
            self.search.save(Path(folder) / "search")
            self.search = ab.Search(self.game, **grouped(self.options))
            self.search.load(Path(folder) / "search")
        self.before = []
        return True

    def some_action(self) -> int | None:
        legal = self.table.legal(self.line.place, self.line.past)
        return int(self.random.choice(legal)) if legal else None

    def searched(self) -> bool:
        return self.search.rooted.driver is not None

    def note(self, step: str) -> None:
        self.verdict.script.append(step)

    # --- looks ---

    def look(self) -> None:
        """At what is known before anything is searched."""
        if self.searched():
            self.judge(self.search.result())

    def judge(self, result: ab.Result) -> None:
        """Compare all that is shown as certain."""
        self.verdict.looks += 1
        self.verdict.proven += result.proven
        self.verdict.moves += sum(move.proven for move in result.moves)
        place, past = self.line.place, self.line.past
        low, high = self.seen(self.solver.value(place, past))
        legal = self.table.legal(place, past)
        if result.proven:
            value = result.value[self.table.mover[place]] if isinstance(result.value, list) else result.value
            if not (close(value, low) and close(value, high)):
                self.fault(f"proven value {value:g}, is {span(low, high)}")
            if result.best not in legal:
                self.fault(f"best {result.best} is not legal")
            elif not close(self.seen(self.solver.action_value(place, result.best, past))[0], high):
                self.fault(f"best {result.best} is not best")
        for move in result.moves:
            if move.proven and move.action in legal:
                least, most = self.seen(self.solver.action_value(place, move.action, past))
                if not (close(move.value, least) and close(move.value, most)):
                    self.fault(f"move {move.action} proven {move.value:g}, is {span(least, most)}")
        root = self.search.graph.nodes[0]
        for least, most, bound, limit in zip(root["low"], root["high"], *self.solver.value(place, past), strict=True):
            if least > bound + CLOSE or most < limit - CLOSE:
                self.fault(f"bounds {span(least, most)}, is {span(bound, limit)}")

    def seen(self, worth: Any) -> tuple[float, float]:
        """The least and the most to the player who moves at the root."""
        mover, (least, most) = self.table.mover[self.line.place], worth
        if self.table.width > 1 and mover != CHANCE:
            return least[mover], most[mover]
        return (-most[0], -least[0]) if mover == 1 else (least[0], most[0])

    def fault(self, what: str) -> None:
        self.verdict.faults.append(f"after step {len(self.verdict.script)}, at {self.line.place} past {self.line.past}: {what}")


def some_table(random: np.random.Generator, kind: Kind) -> tuple[Table, Solver]:
    """A table that can be solved."""
    while True:
        table = random_table(random, kind.players, kind.rewards, "nothing" if kind.endless else None)
        if kind.lucky:
            table = replace(table, value_range=(-1.0, 1.0), pays=[tuple(np.clip(pays, -1, 1).tolist()) for pays in table.pays])
        try:
            solver = Solver(table)
            solver.value(0, ())
        except TooLarge:
            continue
        return table, solver


def judge(seed: int, kinds: list[Kind] = KINDS) -> Verdict:
    """One game, of one of these kinds."""
    return Trial(seed, kinds[seed % len(kinds)]).play()


def close(one: float | None, other: float) -> bool:
    return one is not None and (one == other or abs(one - other) <= CLOSE)


def span(low: float, high: float) -> str:
    return f"{low:g}" if close(low, high) else f"{low:g} to {high:g}"
