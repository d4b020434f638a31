"""A network's cached evaluations, by the position's key: a table of bounded size that all searches with the network share.

The table is set-associative: a key belongs to one set of WAYS entries, and a new one replaces the least recently used. Keys
have 128 bits and are taken as the positions' identity. A look-up serves a whole batch in one kernel, under a lock that is held
for microseconds.

Touching memory for the first time costs more than everything else here. So the table starts with a few sets, and doubles when
one of them is full, up to its limit; and the fields of an entry are contiguous.
"""

import threading
from typing import NamedTuple

import numpy as np

from anabranch.games import rules
from anabranch.jit import helper, kernel
from anabranch.jit.random import mix

WAYS = 4  # entries that a key may be in
NOWHERE = -1
SEEN = -1  # in `place`: the answer was known
HALF = np.uint64(32)
FEW = 256  # sets, at most, to begin with
CLOCK, SETS = 0, 1  # of `counters`


class Table(NamedTuple):
    """The entries; those of set i are WAYS * i and following. Fields are columns of one array, which is zero beyond the used
    part."""

    keys: np.ndarray  # u8 (entries, 2)
    times: np.ndarray  # u8 (entries,): when it was last used; 0: empty
    priors: np.ndarray  # f4 (entries, actions)
    values: np.ndarray  # f8 (entries, value width)
    counters: np.ndarray  # u8 (2,): the time, and how many sets are used


class Found(NamedTuple):
    """The answers for a batch, as far as they are known."""

    priors: np.ndarray  # f4 (n, actions)
    values: np.ndarray  # f8 (n, value width)
    place: np.ndarray  # i8 (n,): SEEN, or which of `first` is the same position
    first: np.ndarray  # i8 (missing,): positions to evaluate, each only once


@kernel
def keys_of(states, actions, keys):
    """Write the key of each state; returns whether all have this number of actions, as all states of one game instance do."""
    for i in range(len(states)):
        if rules.action_limit(states[i]) != actions:
            return False
        keys[i, 0], keys[i, 1] = rules.key(states[i])
    return True


@helper
def spread(low, high):
    """A hash of a key; keys need not be hashes themselves."""
    return mix(low ^ mix(high))


@helper
def set_of(table, low, high):
    """The first entry of a key's set. With twice as many sets, the keys of set i belong to 2i and 2i + 1."""
    return WAYS * np.int64(((spread(low, high) >> HALF) * table.counters[SETS]) >> HALF)


@helper
def entry_of(table, low, high):
    """The entry of a key, or NOWHERE."""
    if len(table.times) > 0:
        start = set_of(table, low, high)
        for entry in range(start, start + WAYS):
            if table.times[entry] > 0 and table.keys[entry, 0] == low and table.keys[entry, 1] == high:
                return entry
    return NOWHERE


@helper
def touch(table, entry):
    """Mark an entry as used now."""
    table.counters[CLOCK] += np.uint64(1)
    table.times[entry] = table.counters[CLOCK]


@helper
def oldest_of(table, start):
    """The least recently used entry of a set; an empty one, if there is any."""
    oldest = start
    for entry in range(start + 1, start + WAYS):
        if table.times[entry] < table.times[oldest]:
            oldest = entry
    return oldest


@helper
def double(table):
    """Distribute all entries over twice as many sets, the last ones first: their targets are empty by then."""
    end = WAYS * np.int64(table.counters[SETS])
    table.counters[SETS] *= np.uint64(2)
    for entry in range(end - 1, -1, -1):
        if table.times[entry] == 0:
            continue
        start = set_of(table, table.keys[entry, 0], table.keys[entry, 1])
        if start > entry:
            target = oldest_of(table, start)
            table.times[target] = table.times[entry]
            table.times[entry] = 0
            copy_row(table.keys, entry, table.keys, target)
            copy_row(table.priors, entry, table.priors, target)
            copy_row(table.values, entry, table.values, target)


@helper
def copy_row(source, i, target, j):
    """Copy row i of one array into row j of another."""
    for column in range(source.shape[1]):
        target[j, column] = source[i, column]


@kernel
def look_up(table, keys, scratch, priors, values, place, first):
    """Fill in the known answers, and number the missing ones; returns how many are missing. `scratch` is a table of places, all
    NOWHERE, whose length is a power of two and at least twice the batch."""
    last = np.uint64(len(scratch) - 1)
    missing = 0
    for i in range(len(keys)):
        low, high = keys[i, 0], keys[i, 1]
        entry = entry_of(table, low, high)
        if entry != NOWHERE:
            touch(table, entry)
            copy_row(table.priors, entry, priors, i)
            copy_row(table.values, entry, values, i)
            place[i] = SEEN
            continue
        slot = spread(low, high) & last
        while scratch[slot] != NOWHERE:
            same = first[scratch[slot]]
            if keys[same, 0] == low and keys[same, 1] == high:
                break
            slot = (slot + np.uint64(1)) & last
        if scratch[slot] == NOWHERE:
            scratch[slot] = missing
            first[missing] = i
            missing += 1
        place[i] = scratch[slot]
    return missing


@kernel
def keep(table, keys, found, new_priors, new_values):
    """Fill in new answers, row j for position `found.first[j]`, and put them into the table; existing entries stay."""
    for i in range(len(keys)):
        if found.place[i] != SEEN:
            copy_row(new_priors, found.place[i], found.priors, i)
            copy_row(new_values, found.place[i], found.values, i)
    for j in range(len(found.first)):
        i = found.first[j]
        low, high = keys[i, 0], keys[i, 1]
        if len(table.times) == 0 or entry_of(table, low, high) != NOWHERE:
            continue
        oldest = oldest_of(table, set_of(table, low, high))
        while table.times[oldest] > 0 and 2 * WAYS * np.int64(table.counters[SETS]) <= len(table.times):
            double(table)
            oldest = oldest_of(table, set_of(table, low, high))
        touch(table, oldest)
        copy_row(keys, i, table.keys, oldest)
        copy_row(new_priors, j, table.priors, oldest)
        copy_row(new_values, j, table.values, oldest)


class Cache:
    """The table of one network and one game, for any number of threads."""

    def __init__(self, actions: int, width: int, entries: int | None = None, room: int = 0) -> None:
        """At least `entries` entries, or as many as fit into `room` bytes, less one in FEW / 2."""
        fields = [("key", "u8", (2,)), ("time", "u8"), ("priors", "f4", (actions,)), ("values", "f8", (width,))]
        entry = np.dtype(fields, align=True)
        sets = room // entry.itemsize // WAYS if entries is None else -(-entries // WAYS)
        doublings = (sets // FEW).bit_length()
        self.first = sets >> doublings if entries is None else -(-sets >> doublings)
        rows = np.zeros(WAYS * self.first << doublings, entry)
        self.lock = threading.Lock()
        counters = np.array([0, self.first], np.uint64)
        self.table = Table(rows["key"], rows["time"], rows["priors"], rows["values"], counters)

    def look_up(self, keys: np.ndarray) -> Found:
        """What is known of these positions."""
        count = len(keys)
        priors = np.zeros((count, self.table.priors.shape[1]), np.float32)
        values = np.zeros((count, self.table.values.shape[1]))
        place, first = np.zeros(count, np.int64), np.zeros(count, np.int64)
        scratch = np.full(2 << count.bit_length(), NOWHERE, np.int64)
        with self.lock:
            missing = look_up(self.table, keys, scratch, priors, values, place, first)
        return Found(priors, values, place, first[:missing])

    def keep(self, keys: np.ndarray, found: Found, new_priors: np.ndarray, new_values: np.ndarray) -> None:
        """Store the answers for `found.first`, and fill them in."""
        with self.lock:
            keep(self.table, keys, found, new_priors, new_values)

    def clear(self) -> None:
        """Forget everything."""
        with self.lock:
            self.table.times[: WAYS * int(self.table.counters[SETS])] = 0
            self.table.counters[SETS] = self.first
