"""Exact values of small games with cycles, slowly: of a position *and* of what came before it.

A game is a table: places, where actions lead, who moves. Whether a move repeats depends on the whole line, so a value belongs
to a place and to how often each place has come; that is what is remembered, and the number of such pairs grows exponentially.

A value is a pair (least, most), each with one number for two players (the first one's, who wants it high) or one a player. Both
are the same unless something is left open: players who are indifferent may give others this or that; if repetitions mean
nothing, a game that never ends may be worth anything; and no rule says what it means that chance, which is no player, repeats.
Beside: `tests/search/tables.py`, the same games for a search.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

CHANCE, OVER = -1, -2  # in the place of a mover
MOST_STATES = 20_000  # pairs of a place and a past
MOST_SWEEPS = 10_000
STILL = 1e-13  # what changes less has come to rest

Numbers = tuple[float, ...]
Worth = tuple[Numbers, Numbers]  # least, most


class TooLarge(Exception):
    """A game with too many lines for this."""


@dataclass(frozen=True)
class Table:
    """A game: places from 0 on, where it starts."""

    players: int
    mover: Sequence[int]  # of each place: a player, CHANCE or OVER
    leads: Sequence[Sequence[int]]  # of each place: where its actions or events lead
    pays: Sequence[Numbers]  # of each place: what the end pays there, one number a player
    odds: Sequence[Numbers] = ()  # of each place: the probabilities of its events
    rewards: Sequence[Sequence[Numbers]] = ()  # of each place and action: what is paid on the way, one number a player
    repetition: str = "draw"
    repetition_count: int = 2
    discount: float = 1.0
    value_range: tuple[float, float] = (-1.0, 1.0)

    @property
    def width(self) -> int:
        """How many numbers a value has."""
        return 1 if self.players == 2 else self.players

    def repeats(self, place: int, past: Iterable[int]) -> bool:
        """Whether a place that comes after these others is the repetition that means something."""
        return self.repetition != "nothing" and list(past).count(place) >= self.repetition_count - 1

    def legal(self, place: int, past: Sequence[int]) -> list[int]:
        """Actions or events that the rules allow; none if all of them are forbidden repetitions."""
        actions = range(len(self.leads[place]))
        if self.repetition != "forbidden":
            return list(actions)
        return [action for action in actions if not self.repeats(self.leads[place][action], [*past, place])]


@dataclass
class Solver:
    """Values of one table's game."""

    table: Table
    reach: list[set[int]] = field(init=False)
    known: dict[tuple[int, tuple[int, ...]], Worth] = field(init=False, default_factory=dict)
    endless: list[Worth] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self.reach = [reached(self.table.leads, place) for place in range(len(self.table.mover))]
        if self.table.repetition == "nothing":
            self.endless = self.rest()

    def value(self, place: int, past: Sequence[int]) -> Worth:
        """What a place is worth from here on, if these places came before it."""
        return self.of_counts(place, self.counts(past))

    def action_value(self, place: int, action: int, past: Sequence[int]) -> Worth:
        """The same of an action there, with what it pays."""
        return self.of_action(place, action, self.counts([*past, place]))

    def counts(self, past: Sequence[int]) -> tuple[int, ...]:
        """How often each place has come."""
        return tuple(past.count(place) for place in range(len(self.table.mover)))

    def of_counts(self, place: int, counts: tuple[int, ...]) -> Worth:
        """The value, remembered for all pasts that are alike as far as it matters from here on."""
        if self.endless:
            return self.endless[place]
        matters = tuple(count if other in self.reach[place] else 0 for other, count in enumerate(counts))
        if (place, matters) not in self.known:
            if len(self.known) >= MOST_STATES:
                raise TooLarge
            self.known[place, matters] = self.compute(place, counts)
        return self.known[place, matters]

    def compute(self, place: int, counts: tuple[int, ...]) -> Worth:
        """The value by the rules of the game."""
        table = self.table
        mover = table.mover[place]
        if mover == OVER:
            return end(table, place)
        now = tuple(count + (other == place) for other, count in enumerate(counts))
        actions = range(len(table.leads[place]))
        if mover == CHANCE:
            return expected([self.of_action(place, event, now) for event in actions], table.odds[place])
        if table.repetition == "forbidden":
            allowed = [action for action in actions if now[table.leads[place][action]] < table.repetition_count - 1]
            if not allowed:  # nothing is left to play: that is lost, as if one of them had been played
                allowed = list(actions)
            return chosen([self.of_action(place, action, now) for action in allowed], mover)
        return chosen([self.of_action(place, action, now) for action in actions], mover)

    def of_action(self, place: int, action: int, counts: tuple[int, ...]) -> Worth:
        """The value of an action; the place that it leaves is counted."""
        table, target = self.table, self.table.leads[place][action]
        if table.repetition != "nothing" and counts[target] >= table.repetition_count - 1:
            worth = repeated(table, table.mover[place])
        else:
            worth = self.of_counts(target, counts)
        return after(table, place, action, worth)

    def rest(self) -> list[Worth]:
        """Where repetitions mean nothing: what is certain of each place, whatever a game that never ends is worth."""
        table = self.table
        low, high = (-math.inf, math.inf) if table.rewards else table.value_range
        found: list[Worth] = [((low,) * table.width, (high,) * table.width)] * len(table.mover)
        for _ in range(MOST_SWEEPS):
            before = found
            found = [self.looked_ahead(place, before) for place in range(len(table.mover))]
            if all(alike(one, other) for one, other in zip(found, before, strict=True)):
                return found
        raise TooLarge

    def looked_ahead(self, place: int, worths: list[Worth]) -> Worth:
        """What follows for a place from what is certain of the others."""
        table = self.table
        if table.mover[place] == OVER:
            return end(table, place)
        options = [after(table, place, action, worths[target]) for action, target in enumerate(table.leads[place])]
        if table.mover[place] == CHANCE:
            return expected(options, table.odds[place])
        return chosen(options, table.mover[place])


def reached(leads: Sequence[Sequence[int]], place: int) -> set[int]:
    """All places that a game may come to from here, this one included."""
    found, new = {place}, [place]
    while new:
        new = [target for target in {target for place in new for target in leads[place]} if target not in found]
        found.update(new)
    return found


def end(table: Table, place: int) -> Worth:
    """What the end of the game pays."""
    pays = tuple(table.pays[place][: table.width])
    return pays, pays


def repeated(table: Table, who: int) -> Worth:
    """What a repetition is worth that this player, or chance, has brought about."""
    low, high = table.value_range
    middle = (low + high) / 2
    if table.repetition == "draw":
        return (middle,) * table.width, (middle,) * table.width
    if who == CHANCE:
        return (low,) * table.width, (high,) * table.width
    if table.width == 1:
        lost = (low if who == 0 else high,)
    else:
        lost = tuple(low if player == who else middle for player in range(table.width))
    return lost, lost


def after(table: Table, place: int, action: int, worth: Worth) -> Worth:
    """What an action is worth that leads to something of this worth."""
    paid = table.rewards[place][action] if table.rewards else (0.0,) * table.players
    least, most = ([paid[i] + table.discount * side[i] for i in range(table.width)] for side in worth)
    return tuple(least), tuple(most)


def expected(events: list[Worth], odds: Numbers) -> Worth:
    """The expectation."""
    width = len(events[0][0])
    least, most = (
        tuple(math.fsum(odd * event[side][i] for odd, event in zip(odds, events, strict=True)) for i in range(width))
        for side in (0, 1)
    )
    return least, most


def chosen(options: list[Worth], mover: int) -> Worth:
    """What it is worth to let this player choose: the best for themselves; for others whatever that may be."""
    width = len(options[0][0])
    if width == 1:
        best = max if mover == 0 else min
        return (best(least[0] for least, _ in options),), (best(most[0] for _, most in options),)
    sure = max(least[mover] for least, _ in options)
    rational = [(least, most) for least, most in options if most[mover] >= sure]
    lows = [min(least[i] for least, _ in rational) for i in range(width)]
    highs = [max(most[i] for _, most in rational) for i in range(width)]
    lows[mover] = sure
    return tuple(lows), tuple(highs)


def alike(one: Worth, other: Worth) -> bool:
    """Whether two worths differ by no more than rounding."""
    pairs = zip(one[0] + one[1], other[0] + other[1], strict=True)
    return all(x == y or abs(x - y) < STILL for x, y in pairs)
