"""What a simulation records for AMAF values: the actions of its playouts, and scratch memory. Next: `amaf.py`."""

from typing import Any, NamedTuple

import numpy as np

from anabranch.jit import by_pointer, helper
from anabranch.search.memory.layout import ACTION_CODES, Off, On

LONGEST = 4096  # actions of a playout that are recorded: later ones carry little information
MOST_PLAYOUTS = 64  # of one evaluation, whose actions are recorded if each is as long as that
ACTION_BITS = 16  # of a code; the rest is the player
PLAYOUTS = 0  # in `ends`: the number of playouts; the end of playout p follows at p + 1


@by_pointer
class PlayoutLog(NamedTuple):
    """Scratch memory of one thread."""

    codes: Any  # i4: the actions of the last evaluation's playouts, one playout after the other; see `log_action`
    ends: Any  # i4 (1 + playouts,): see PLAYOUTS
    values: Any  # f8 (playouts, width): their values
    seen: Any  # i8 (players, actions): the last pass that met the action
    clock: Any  # i8 (1,): passes so far
    pool_visits: Any  # f8 (players, actions): AMAF values on the way down, for rules that read those of ancestors
    pool_totals: Any  # f8 (players, actions)
    pooled: Any  # i8 (players, actions): the descent that wrote them
    descents: Any  # i8 (1,): descents so far
    scratch: Any  # f8 (actions,)
    hints: Any  # f4 (actions,): a heuristic's values of a new node's actions, normalised
    worth: Any  # i4 (actions, 2): and the simulations that these count as, own and AMAF
    fault: Any  # f8 (4,): whether a heuristic gave an invalid hint, and its H, C, C~
    strict: bool  # whether an action counts only if no other player has played it before
    used: Any  # On or Off


def new_playout_log(used: bool, players: int, actions: int, width: int, playouts: int, strict: bool) -> PlayoutLog:
    """The playout log of a search, with empty arrays if it is not used."""
    if not used:
        players, actions, playouts = 0, 0, 0
    table = (players, actions)
    return PlayoutLog(
        codes=np.empty(LONGEST * min(playouts, MOST_PLAYOUTS), np.int32),
        ends=np.zeros(1 + playouts, np.int32),
        values=np.zeros((max(playouts, 1), width)),
        seen=np.zeros(table, np.int64),
        clock=np.zeros(1, np.int64),
        pool_visits=np.zeros(table),
        pool_totals=np.zeros(table),
        pooled=np.zeros(table, np.int64),
        descents=np.zeros(1, np.int64),
        scratch=np.zeros(actions),
        hints=np.zeros(actions, np.float32),
        worth=np.zeros((actions, 2), np.int32),
        fault=np.zeros(4),
        strict=strict,
        used=On() if used else Off(),
    )


@helper
def begin_descent(playout_log):
    """Start a simulation."""
    playout_log.descents[0] += 1
    begin_evaluation(playout_log)


@helper
def begin_evaluation(playout_log):
    """Start an evaluation, with no playouts yet."""
    playout_log.ends[PLAYOUTS] = 0


@helper
def begin_playout(playout_log, values):
    """Start one more playout; returns where its actions go. `values` is the sum of the previous playouts."""
    p = playout_log.ends[PLAYOUTS]
    playout_log.ends[PLAYOUTS] = p + 1
    for i in range(len(values)):
        playout_log.values[p, i] = values[i]
    return playout_log.ends[p] if p > 0 else np.int32(0)


@helper
def log_action(playout_log, place, player, action):
    """Record an action of a playout; returns where the next one goes."""
    if place < len(playout_log.codes):
        playout_log.codes[place] = (player << ACTION_BITS) | action
        place += 1
    return place


@helper
def end_playout(playout_log, place, values):
    """End a playout: its value is what it has added to `values`."""
    p = playout_log.ends[PLAYOUTS] - 1
    playout_log.ends[p + 1] = place
    for i in range(len(values)):
        playout_log.values[p, i] = values[i] - playout_log.values[p, i]


@helper
def mark_playout(playout_log, p):
    """Mark the actions of a playout, the last one first."""
    first = playout_log.ends[p] if p > 0 else 0
    for i in range(playout_log.ends[p + 1] - 1, first - 1, -1):
        code = np.int64(playout_log.codes[i])
        mark(playout_log, code >> ACTION_BITS, code & (ACTION_CODES - 1))


@helper
def mark(playout_log, player, action):
    """Mark an action as played by this player before all those marked already. If strict, the same action by others no longer
    counts."""
    if playout_log.strict:
        for other in range(playout_log.seen.shape[0]):
            playout_log.seen[other, action] = 0
    playout_log.seen[player, action] = playout_log.clock[0]
