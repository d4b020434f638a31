"""What is settled at the end of a game, as far as playouts can tell: which stones are dead, who owns which points.

`settle` judges a position; `final_score` and `final_status_list` report its result. Playouts do not understand capturing races,
kos and much of life and death, so it never chooses a move: the search does, see `passing.py`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from anabranch.errors import IllegalMove
from anabranch.games.go.dead import PLAYOUTS, judge, play_out
from anabranch.games.go.score import half_bonus
from anabranch.games.position import Position
from anabranch.goengine.game_tree import stones_of
from anabranch.goengine.turns import go_of, with_turn

SURE = 0.6  # ownership from which on a point or chain is considered owned: 80 of 100 playouts
LARGEST_GAP = 2  # connected points between living stones of both colours; a larger region is not closed yet


@dataclass(eq=False)
class Chain:
    """A chain of stones and its status."""

    player: int
    stones: list[int]
    own: float  # ownership of its points for its player, from -1 to 1
    is_dead: bool
    is_seki: bool = False

    @property
    def is_sure(self) -> bool:
        """Whether its status is beyond doubt."""
        return self.own <= -SURE if self.is_dead else self.own >= SURE or self.is_seki


@dataclass(eq=False)
class Settlement:
    """The status of a game, if playouts are right."""

    chains: list[Chain]
    owners: np.ndarray  # for each point 1 if it is black's, -1 white's, 0 nobody's, once dead stones are removed
    sure: np.ndarray  # for each point, whether its owner is beyond doubt
    dame: list[int]  # neutral points that either player may fill
    lead: float  # black's, dead stones removed
    surest: tuple[float, float]  # each player's lead if everything doubtful is the other's
    is_proven: bool  # whether the whole board is owned unconditionally (Benson): no move can change that

    @property
    def is_settled(self) -> bool:
        """Whether only neutral points are left to play for."""
        return bool(self.sure.all())

    def stones(self, status: str, player: int | None = None) -> list[list[int]]:
        """The chains that are "dead", "seki" or "alive", of one player or both."""
        return [
            chain.stones
            for chain in self.chains
            if (status == ("dead" if chain.is_dead else "seki" if chain.is_seki else "alive"))
            and player in (None, chain.player)
        ]


def settle(position: Position, policy: Any = None, playouts: int = PLAYOUTS, seed: int = 0) -> Settlement:
    """Judge a position by playouts."""
    by_starter, secure = play_out(position, playouts, policy, seed)
    owned, dead = by_starter.mean(axis=0), judge(position, by_starter, secure)
    board = Board(position)
    chains = board.chains(owned, set(dead))
    owners, sure = np.zeros(board.points, int), np.zeros(board.points, bool)
    standing = {}
    for chain in chains:
        if not chain.is_dead:
            owners[chain.stones], sure[chain.stones] = 1 - 2 * chain.player, chain.is_sure
            standing.update(dict.fromkeys(chain.stones, chain))
    dame: list[int] = []
    for region in board.regions(standing):
        around = {id(standing[near]): standing[near] for point in region for near in board.near[point] if near in standing}
        players = {chain.player for chain in around.values()}
        is_seki = any(chain.is_seki for chain in around.values())
        if len(players) == 1:
            owners[region] = 1 - 2 * players.pop()
            sure[region] = is_seki or bool((owners[region] * owned[region]).mean() >= SURE)
        elif players and board.is_closed(region, standing):
            sure[region] = True
            dame += [] if is_seki else region
    for chain in chains:
        if chain.is_dead and not chain.is_sure:
            sure[chain.stones] = False
    constant = board.komi_and_moves()
    surest = tuple(float(side * (constant + np.where(sure, owners, -side).sum())) for side in (1, -1))
    lead = board.game.lead(position, dead=dead)
    return Settlement(chains, owners, sure, dame, lead, (surest[0], surest[1]), bool(secure.all()))


class Board:
    """A position as points and their neighbours."""

    def __init__(self, position: Position) -> None:
        self.position, self.game = position, go_of(position)
        self.width, self.height = self.game.width, self.game.height
        self.points = self.width * self.height
        self.stones = stones_of(position)
        self.near = [self._near(point) for point in range(self.points)]

    def _near(self, point: int) -> list[int]:
        row, column = divmod(point, self.width)
        near = [point - 1] * (column > 0) + [point + 1] * (column < self.width - 1)
        return near + [point - self.width] * (row > 0) + [point + self.width] * (row < self.height - 1)

    def komi_and_moves(self) -> float:
        """What black gets besides points: komi, and under territory scoring the balance of moves."""
        state = self.position.state
        moves = int(state.balance) if self.game.rules.scoring == "territory" else 0
        return moves - int(half_bonus(state)) / 2

    def connected(self, first: int, among: Any) -> list[int]:
        """All points connected to this one through points for which `among` is true."""
        found, to_do = {first}, [first]
        while to_do:
            for near in self.near[to_do.pop()]:
                if near not in found and among(near):
                    found.add(near)
                    to_do.append(near)
        return sorted(found)

    def chains(self, owned: np.ndarray, dead: set[int]) -> list[Chain]:
        """All chains."""
        found: list[Chain] = []
        seen: set[int] = set()
        for stone, player in self.stones.items():
            if stone not in seen and player is not None:
                stones = self.connected(stone, lambda point, player=player: self.stones.get(point) == player)
                seen.update(stones)
                found.append(Chain(player, stones, float(owned[stones].mean()) * (1 - 2 * player), stone in dead))
        self._find_seki(found)
        return found

    def _find_seki(self, chains: list[Chain]) -> None:
        """Mark chains of both colours that are probably alive and share liberties where neither side can play."""
        doubtful = [chain for chain in chains if not chain.is_dead and not chain.is_sure]
        pairs = [(one, other) for one in doubtful if one.player == 0 for other in doubtful if other.player == 1]
        for one, other in pairs:
            shared = self.liberties(one.stones) & self.liberties(other.stones)
            if shared and not any(self.can_play(player, point) for point in shared for player in (0, 1)):
                one.is_seki = other.is_seki = True

    def liberties(self, stones: Iterable[int]) -> set[int]:
        """The empty points next to these stones."""
        return {near for stone in stones for near in self.near[stone] if near not in self.stones}

    def can_play(self, player: int, point: int) -> bool:
        """Whether a player may play there without self-atari."""
        try:
            after = Board(with_turn(self.position, player).play(point))
        except IllegalMove:
            return False
        chain = after.connected(point, lambda near: after.stones.get(near) == player)
        return point in after.stones and len(after.liberties(chain)) > 1

    def is_closed(self, region: list[int], standing: dict[int, Chain]) -> bool:
        """Whether a region between both colours has no room to play: it is a small gap, or a lane between two walls."""
        if any(point in self.stones for point in region):
            return False
        sides = [{standing[near].player for near in self.near[point] if near in standing} for point in region]
        return len(region) <= LARGEST_GAP or all(len(players) == 2 for players in sides)

    def regions(self, standing: Iterable[int]) -> list[list[int]]:
        """The connected regions of points without living stones."""
        kept = set(standing)
        found: list[list[int]] = []
        seen: set[int] = set()
        for point in range(self.points):
            if point not in kept and point not in seen:
                region = self.connected(point, lambda near: near not in kept)
                seen.update(region)
                found.append(region)
        return found
