"""Small games given as tables (`tests/reference/repetitions.py`) for a search, and random ones with many short cycles.

Tables are data of the instance, so that thousands of games run on a few compiled kernels. There is a class where kernels must
differ: two players or three, rewards on the way, ends that are draws of luck. `TableObject` is the same as Python objects.
"""

from typing import Any

import numpy as np

import anabranch as ab
from tests.reference.repetitions import CHANCE, OVER, Numbers, Table, reached

SIZE, ACTIONS, PLAYERS = 12, 3, 3
NOWHERE = -1
FIELDS: list[Any] = [
    ("place", "i4"),
    ("leads", "i4", (SIZE, ACTIONS)),
    ("mover", "i1", (SIZE,)),
    ("pays", "f8", (SIZE, PLAYERS)),
    ("odds", "f8", (SIZE, ACTIONS)),
]


class TableGame(ab.Game):
    """Two players on a table without rewards."""

    players, actions, events = 2, ACTIONS, ACTIONS
    state = np.dtype(FIELDS, align=True)

    def __init__(self, table: Table) -> None:
        super().__init__(**arrays_of(table))
        self.table = table
        self.repetition, self.repetition_count = table.repetition, table.repetition_count
        self.discount, self.value_range = table.discount, table.value_range

    @ab.rule
    def setup(state):
        state.place = 0

    @ab.rule
    def to_play(state):
        return state.mover[state.place]

    @ab.rule
    def is_legal(state, action):
        return state.leads[state.place, action] >= 0

    @ab.rule
    def play(state, action):
        state.place = state.leads[state.place, action]

    @ab.rule
    def chance(state, probabilities):
        for event in range(ACTIONS):
            probabilities[event] = state.odds[state.place, event]

    @ab.rule
    def is_over(state):
        return state.mover[state.place] == OVER

    @ab.rule
    def returns(state, out):
        for player in range(len(out)):
            out[player] = state.pays[state.place, player]

    @ab.rule
    def key(state):
        return np.uint64(state.place), np.uint64(0)


class LuckyTable(TableGame):
    """Where ends pay what the table says or the opposite, by the fall of a coin: nothing that depends on them is certain."""

    @ab.rule
    def returns(state, out, random):
        luck = 1.0 if ab.uniform(random) < 0.5 else -1.0
        for player in range(len(out)):
            out[player] = luck * state.pays[state.place, player]


class TrioTable(TableGame):
    """Three players."""

    players, zero_sum = 3, False


class PayingTable(TableGame):
    """Two players with rewards on the way."""

    state = np.dtype([*FIELDS, ("rewards", "f8", (SIZE, ACTIONS, PLAYERS))], align=True)

    @ab.rule
    def play(state, action, rewards):
        for player in range(len(rewards)):
            rewards[player] += state.rewards[state.place, action, player]
        state.place = state.leads[state.place, action]


class PayingTrioTable(PayingTable):
    """Three players with rewards on the way."""

    players, zero_sum = 3, False


class TableObject:
    """A position as a Python object; `table_objects` makes the class of a table."""

    table: Table
    actions = events = ACTIONS

    def __init__(self, place: int = 0, history: tuple[int, ...] = ()) -> None:
        self.place, self.history = place, history

    @property
    def legal_actions(self) -> list[int]:
        return list(range(len(self.table.leads[self.place])))

    @property
    def to_play(self) -> int:
        return self.table.mover[self.place]

    @property
    def probabilities(self) -> Numbers:
        odds = self.table.odds[self.place]
        return (*odds, *(0.0,) * (ACTIONS - len(odds)))

    @property
    def is_over(self) -> bool:
        return self.table.mover[self.place] == OVER

    @property
    def returns(self) -> Numbers:
        return self.table.pays[self.place]

    @property
    def key(self) -> int:
        return self.place

    def play(self, action: int) -> "TableObject":
        return type(self)(self.table.leads[self.place][action], (*self.history, self.place))


def table_objects(table: Table) -> type[TableObject]:
    """The class of a table's positions."""
    facts = ("players", "repetition", "repetition_count", "discount", "value_range")
    return type("TableObject", (TableObject,), {"table": table, **{name: getattr(table, name) for name in facts}})


def game_of(table: Table) -> TableGame:
    """The game that a table describes."""
    if table.players == 2:
        return PayingTable(table) if table.rewards else TableGame(table)
    return PayingTrioTable(table) if table.rewards else TrioTable(table)


def arrays_of(table: Table) -> dict[str, np.ndarray]:
    """The table as fields of a record."""
    leads, mover = np.full((SIZE, ACTIONS), NOWHERE, "i4"), np.full(SIZE, OVER, "i1")
    pays, odds, rewards = np.zeros((SIZE, PLAYERS)), np.zeros((SIZE, ACTIONS)), np.zeros((SIZE, ACTIONS, PLAYERS))
    for place, targets in enumerate(table.leads):
        leads[place, : len(targets)] = targets
        mover[place] = table.mover[place]
        pays[place, : table.players] = table.pays[place]
        if table.mover[place] == CHANCE:
            odds[place, : len(targets)] = table.odds[place]
        if table.rewards and targets:
            rewards[place, : len(targets), : table.players] = table.rewards[place]
    return {"leads": leads, "mover": mover, "pays": pays, "odds": odds} | ({"rewards": rewards} if table.rewards else {})


# --- random ones ------------------------------------------------------------------------------------------------------------

# Where expectations are sums of eighths, equal values are equal numbers: with three players a tie decides what others get.
EXACT_ODDS = {1: [(1.0,)], 2: [(0.5, 0.5), (0.25, 0.75), (0.875, 0.125)], 3: [(0.5, 0.25, 0.25), (0.125, 0.375, 0.5)]}
ODDS = {1: [(1.0,)], 2: [*EXACT_ODDS[2], (0.6, 0.4), (0.1, 0.9)], 3: [*EXACT_ODDS[3], (0.2, 0.3, 0.5)]}
FEWEST, MOST_THRICE = 4, 8  # places; at most, where it is the third time that counts
RANGES = [(-1.0, 1.0)] * 4 + [(0.0, 1.0), (-1.0, 3.0)]


def random_table(random: np.random.Generator, players: int = 2, rewards: bool = False, repetition: str | None = None) -> Table:
    """A game of 4 to 12 places, all of which it may come to; from some it may never end."""
    count = int(random.choice([2, 2, 2, 3]))
    leads = random_leads(random, FEWEST, MOST_THRICE if count == 3 else SIZE)
    luck = random.choice([0.0, 0.0, 0.15, 0.4])
    turns = random.random() < 0.5  # whether movers come in turn as far as numbers go
    mover = [
        OVER if not targets
        else CHANCE if random.random() < luck
        else place % players if turns
        else int(random.integers(players))
        for place, targets in enumerate(leads)
    ]  # fmt: skip
    value_range = RANGES[random.integers(len(RANGES))]
    odds = EXACT_ODDS if players > 2 else ODDS
    return Table(
        players=players,
        mover=mover,
        leads=leads,
        pays=[random_pays(random, players, value_range) for _ in leads],
        odds=[odds[len(targets)][random.integers(len(odds[len(targets)]))] if targets else () for targets in leads],
        rewards=[[random_reward(random, players) for _ in targets] for targets in leads] if rewards else (),
        repetition=repetition or str(random.choice(["draw", "draw", "draw", "loss", "forbidden"])),
        repetition_count=count,
        discount=float(random.choice([1.0, 1.0, 1.0, 0.5] if players > 2 else [1.0, 1.0, 1.0, 0.5, 0.9])),
        value_range=value_range,
    )


def random_leads(random: np.random.Generator, fewest: int, most: int) -> list[list[int]]:
    """Arrows between so many places, all of which are reached, and an end is."""
    while True:
        leads = random_arrows(random, int(random.integers(fewest, most + 1)))
        kept = sorted(reached(leads, 0))
        if len(kept) >= fewest and any(not leads[place] for place in kept):
            number = {place: i for i, place in enumerate(kept)}
            return [[number[target] for target in leads[place]] for place in kept]


def random_arrows(random: np.random.Generator, size: int) -> list[list[int]]:
    """Mostly to near places, forwards or back, so that cycles are short and paths of several lengths join."""
    ends = set(range(size - int(random.integers(1, 4)), size)) - {0}
    back = random.choice([0.2, 0.4, 0.6])
    leads: list[list[int]] = []
    for place in range(size):
        targets = []
        for _ in range(0 if place in ends else int(random.choice([1, 2, 2, 3]))):
            kind = random.random()
            if kind < 0.04:
                targets.append(place)
            elif kind < back:
                targets.append(int(random.integers(max(place - 4, 0), place + 1)))
            elif kind < 0.93:
                targets.append(int(random.integers(place + 1, min(place + 3, size))))
            else:
                targets.append(int(random.integers(size)))
        if targets and all(target <= place for target in targets) and random.random() < 0.8:
            targets[int(random.integers(len(targets)))] = place + 1  # few places lead nowhere else
        leads.append(targets)
    return leads


def random_pays(random: np.random.Generator, players: int, value_range: tuple[float, float]) -> Numbers:
    """What an end pays: mostly all or nothing."""
    low, high = value_range
    shares = random.choice([0.0, 0.0, 0.0, 0.25, 0.5, 0.75, 1.0, 1.0, 1.0], players)
    pays = [low + float(share) * (high - low) for share in shares]
    return (pays[0], -pays[0]) if players == 2 else tuple(pays)


def random_reward(random: np.random.Generator, players: int) -> Numbers:
    """What an action pays: mostly nothing."""
    paid = [float(number) for number in random.choice([0.0, 0.0, 0.0, 0.25, -0.5], players)]
    return (paid[0], -paid[0]) if players == 2 else tuple(paid)
