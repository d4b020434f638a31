"""Whose points are whose at the end, by playouts: `ownership` for each point, `dead_stones` for what to take off.

Playouts go on from a position until nothing is left to take. Half of them begin with the other player: where the result
depends on who moves, a point belongs to neither. A chain is dead if its points end as the opponent's in a clear majority, or
stand in his unconditional territory; it is alive if it is unconditionally so (`life.py`). A chain that the playouts leave
unclear follows those of its colour that no living enemy cuts it off from, if they are dead; else it lives.

What random moves cannot know: that a chain in seki is best left alone (they take it, or lose it, about as often: it lives, but
its points look open), bent four in the corner (whose owner need not begin), and races of many moves. Read first: `score.py`.
"""

import operator
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from anabranch.errors import GameError
from anabranch.games import rules
from anabranch.games.go.layout import BLACK, EMPTY, HOT_UNKNOWN, NO_CELL, WHITE, cell_of, pass_of
from anabranch.games.go.life import LIFE, mark_life
from anabranch.games.go.rulesets import ALL_ALIVE
from anabranch.games.go.score import mark_owners, owner_of
from anabranch.games.go.stones import remove
from anabranch.games.playout import begin, is_enough, pick
from anabranch.games.position import Position
from anabranch.jit import kernel, readable
from anabranch.jit.options import coerce
from anabranch.jit.random import generator

PLAYOUTS = 200  # standard error of a point's ownership: 0.07 at most
CLEAR = 0.3  # ownership by which points are the opponent's in a clear majority: 65 of 100 playouts
BY_PLAYOUTS = "playouts"  # instead of a list of dead stones
ALIVE, UNCLEAR, DEAD = range(3)


# --- playouts ----------------------------------------------------------------------------------------------------------------


def ownership(position: Position, playouts: int = PLAYOUTS, policy: Any = None, seed: int = 0) -> np.ndarray:
    """How often each point ends as black's less how often as white's, from 1 to -1; `policy` is the game's own by default."""
    return _play_out(position, playouts, policy, seed)[0]


def _play_out(position: Position, playouts: int, policy: Any, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """For each point its ownership, and whose it is unconditionally (1, -1, 0)."""
    if playouts < 1:
        raise GameError(f"playouts={playouts}: give 1 or more")
    states = np.concatenate([position.record()] * 2)
    states["passes"], states["last"], states["second_last"], states["hot_ply"] = 0, NO_CELL, NO_CELL, HOT_UNKNOWN
    points = position.game.actions - 1
    owned, secure, rewards = np.zeros(points), np.zeros(points, np.int8), np.zeros(position.game.players)
    chosen = coerce(position.game.policy if policy is None else policy)
    sum_owners(states, chosen, playouts, generator(seed), rewards, owned, secure)
    return owned / playouts, secure


@kernel
def sum_owners(states, policy, playouts, random, rewards, owned, secure):
    """Add up who owns each point after playouts from states[0], and say whose it is unconditionally. states[1] is scratch."""
    points = pass_of(states[0])
    for i in range(playouts):
        states[1] = states[0]
        state = states[1]
        if i % 2 == 1:
            state.turn = 1 - state.turn
            state.ko_cell = NO_CELL
        begin(policy, state)
        plies = 0
        while not rules.is_over(state) and not is_enough(policy, state, plies):
            rules.play(state, pick(policy, state, random), rewards)
            plies += 1
        mark_owners(state)
        for action in range(points):
            owned[action] += owner_of(state.mark[cell_of(state, action)])
    state = states[0]
    mark_life(state, BLACK)
    mark_life(state, WHITE)
    for action in range(points):
        mark = state.mark[cell_of(state, action)]
        secure[action] = int((mark & (LIFE << BLACK)) != 0) - int((mark & (LIFE << WHITE)) != 0)
    state.mark[:] = 0


# --- dead stones -------------------------------------------------------------------------------------------------------------


def dead_stones(position: Position, playouts: int = PLAYOUTS, policy: Any = None, seed: int = 0) -> list[int]:
    """The stones that will be taken if play goes on, whole chains, as actions in rising order."""
    return judge(position, *_play_out(position, playouts, policy, seed))


@dataclass(eq=False)
class Chain:
    """A chain and what becomes of it."""

    side: int  # 1: black, -1: white
    stones: list[int]
    fate: int


def judge(position: Position, owned: np.ndarray, secure: np.ndarray) -> list[int]:
    """The dead stones, if this is how points end, and these are someone's unconditionally."""
    chains = _chains(position, owned, secure)
    for chain in [chain for chain in chains.values() if chain.fate == UNCLEAR]:
        fates = {other.fate for other in _not_cut_off(position, chain, chains)}
        chain.fate = DEAD if DEAD in fates and ALIVE not in fates else ALIVE
    return sorted(action for action, chain in chains.items() if chain.fate == DEAD)


def _chains(position: Position, owned: np.ndarray, secure: np.ndarray) -> dict[int, Chain]:
    """The chain of each stone."""
    state = position.state
    stones: dict[int, list[int]] = {}
    for action in range(pass_of(state)):
        cell = cell_of(state, action)
        if state.colour[cell] != EMPTY:
            stones.setdefault(int(state.chain[cell]), []).append(action)
    chains = {}
    for head, actions in stones.items():
        side = 1 if state.colour[head] == BLACK else -1
        own = side * (secure[actions[0]] or owned[actions].mean())
        chain = Chain(side, actions, DEAD if own < -CLEAR else UNCLEAR if own < 0 else ALIVE)
        chains.update(dict.fromkeys(actions, chain))
    return chains


def _not_cut_off(position: Position, chain: Chain, chains: dict[int, Chain]) -> set[Chain]:
    """The chains of the same colour that can be reached from this one without crossing an enemy that is not dead."""
    width, height = position.state.width, position.state.height
    found: set[Chain] = set()
    reached, to_do = set(chain.stones), list(chain.stones)
    while to_do:
        row, column = divmod(to_do.pop(), width)
        for y, x in ((row, column + 1), (row, column - 1), (row + 1, column), (row - 1, column)):
            near = y * width + x
            if not (0 <= y < height and 0 <= x < width) or near in reached:
                continue
            there = chains.get(near)
            if there is not None and there.side != chain.side and there.fate != DEAD:
                continue
            reached.add(near)
            to_do.append(near)
            if there is not None and there.side == chain.side:
                found.add(there)
    return found


def taken_off(position: Position, dead: str | Iterable[int | str]) -> np.ndarray:
    """The position's record without these stones (actions or names; the whole chain of each) or, with "playouts", those that
    playouts find dead. What is left counts as alive."""
    if isinstance(dead, str):
        if dead != BY_PLAYOUTS:
            raise GameError(f"dead={dead!r}: give the dead stones, or {BY_PLAYOUTS!r}")
        dead = dead_stones(position)
    pool = readable(position.record())
    state = pool[0]
    for stone in dead:
        action = position.game.action(stone) if isinstance(stone, str) else operator.index(stone)
        if not 0 <= action < pass_of(state) or position.state.colour[cell_of(state, action)] == EMPTY:
            raise GameError(f"there is no stone at {stone}, so it is not dead")
        cell = cell_of(state, action)
        if state.colour[cell] != EMPTY:  # not taken off with an earlier one
            with np.errstate(over="ignore"):
                remove(state, np.uint64(state.chain[cell]), np.int64(state.colour[cell]))
    state.dead, state.liberties[NO_CELL] = ALL_ALIVE, 0
    return pool
