"""Whose points are whose at the end, by playouts: `ownership` for each point, `dead_stones` for what to take off.

Playouts go on from a position until nothing is left to take. Half of them begin with the other player. A chain is dead if its
points end as the opponent's more often than not, whoever begins, or stand in his unconditional territory; it is alive if it is
unconditionally so (`life.py`). What is lost only by the one who begins is not dead: that is how seki looks, and what is not
settled. A chain that is lost, but not clearly, follows those of its colour that no living enemy cuts it off from, if they are
dead.

What random moves cannot know: races and kos of many moves, and what one side would never play. In seki they play nevertheless,
so that its points look open; bent four in the corner they take for dead if they lose the ko often enough.
Read first: `score.py`.
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

PLAYOUTS = 200  # rounded up to an even number; standard error of a point's ownership: 0.07 at most
CLEAR = 0.1  # ownership by which a lost chain is lost for sure; of 0 to 0.4, it and 0 agree best with GNU Go
BY_PLAYOUTS = "playouts"  # instead of a list of dead stones
ALIVE, UNCLEAR, DEAD = range(3)


# --- playouts ----------------------------------------------------------------------------------------------------------------


def ownership(position: Position, playouts: int = PLAYOUTS, policy: Any = None, seed: int = 0) -> np.ndarray:
    """How often each point ends as black's less how often as white's, from 1 to -1; `policy` is the game's own by default."""
    return play_out(position, playouts, policy, seed)[0].mean(axis=0)


def play_out(position: Position, playouts: int, policy: Any, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The ownership of each point, where the player to move begins and where the other one does: shape (2, points); and whose
    each point is unconditionally (1, -1, 0)."""
    if playouts < 1:
        raise GameError(f"playouts={playouts}: give 1 or more")
    states = np.concatenate([position.record()] * 2)
    states["passes"], states["last"], states["second_last"], states["hot_ply"] = 0, NO_CELL, NO_CELL, HOT_UNKNOWN
    points, each = position.game.actions - 1, (playouts + 1) // 2
    owned, secure, rewards = np.zeros((2, points)), np.zeros(points, np.int8), np.zeros(position.game.players)
    chosen = coerce(position.game.policy if policy is None else policy)
    sum_owners(states, chosen, each, generator(seed), rewards, owned, secure)
    return owned / each, secure


@kernel
def sum_owners(states, policy, each, random, rewards, owned, secure):
    """Add up who owns each point after playouts from states[0], so many with each player to begin, and say whose it is
    unconditionally. states[1] is scratch."""
    points = pass_of(states[0])
    for i in range(2 * each):
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
            owned[i % 2, action] += owner_of(state.mark[cell_of(state, action)])
    state = states[0]
    for colour in (BLACK, WHITE):
        mark_life(state, colour)
    for action in range(points):
        mark = state.mark[cell_of(state, action)]
        secure[action] = int((mark & (LIFE << BLACK)) != 0) - int((mark & (LIFE << WHITE)) != 0)
    state.mark[:] = 0


# --- dead stones -------------------------------------------------------------------------------------------------------------


def dead_stones(position: Position, playouts: int = PLAYOUTS, policy: Any = None, seed: int = 0) -> list[int]:
    """The stones that will be taken if play goes on, whole chains, as actions in rising order."""
    return judge(position, *play_out(position, playouts, policy, seed))


@dataclass(eq=False)
class Chain:
    """A chain and what becomes of it."""

    side: int  # 1: black, -1: white
    stones: list[int]
    fate: int


def judge(position: Position, owned: np.ndarray, secure: np.ndarray) -> list[int]:
    """The dead stones, if points end like this (for each player to begin) and are someone's unconditionally: see `play_out`."""
    chains = _chains(position, owned, secure)
    unclear = {chain for chain in chains.values() if chain.fate == UNCLEAR}
    fates = {chain: {other.fate for other in _not_cut_off(position, chain, chains)} for chain in unclear}
    for chain in unclear:
        chain.fate = DEAD if DEAD in fates[chain] and ALIVE not in fates[chain] else ALIVE
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
        own = side * secure[actions[0]] or max(side * owned[:, actions].mean(axis=1))
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
