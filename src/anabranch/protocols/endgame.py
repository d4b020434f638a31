"""The end of a game: what is settled, when to pass, and how to clean up first where the rules want that.

A search scores a game after two passes as the rules have it. Where players agree about dead stones (`dead="agreed"`) those
are only the unconditionally dead ones, so that it would rather take every dead stone off than pass; under territory scoring
that costs a point a move. Where all stones count (`dead="none"`) it must clean up, but not more than that. So before a move
is played, the position is judged by playouts (`settle`), and if nothing is left to be won the move is not the search's:

- **agreed**: pass, after the neutral points under area scoring. If the opponent has passed, pass as soon as what is sure wins.
- **all live**: pass if the board wins as it stands; clean up if it only wins without the dead stones.
- **clean-up was asked for** (`kgs-genmove_cleanup`): take the dead stones off, and pass when there are none.

A move that cleans up is played only if the game is still won behind it; under territory scoring, only if the points are there.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from anabranch.errors import IllegalMove
from anabranch.games.go.dead import PLAYOUTS, dead_stones, ownership
from anabranch.games.go.layout import cell_of
from anabranch.games.go.stones import is_eye
from anabranch.games.position import Position
from anabranch.protocols.sgf_tree import stones_of
from anabranch.protocols.turns import go_of, with_turn
from anabranch.search.result import Move, Result

SURE = 0.6  # ownership from which a point or chain is somebody's: 80 of 100 playouts
LARGEST_GAP = 2  # points between living stones of both colours that hang together; a larger region is not closed yet
MOST_EMPTY = 0.7  # share of the board: with more empty points nothing is settled
TRIES = 6  # moves that are looked at when cleaning up
NEEDED = 0.1  # by so much better than all others a move is that is needed, on the scale from -1 to 1
MUCH = 0.2  # worse than the best, on the same scale
FEW = 20  # visits: of fewer, values are not compared


# --- what is settled ----------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Chain:
    """Stones that hang together, and what becomes of them."""

    player: int
    stones: list[int]
    own: float  # ownership of its points for its player, from -1 to 1
    is_dead: bool
    is_seki: bool = False

    @property
    def is_sure(self) -> bool:
        """Whether there is no doubt about it."""
        return self.own <= -SURE if self.is_dead else self.own >= SURE or self.is_seki


@dataclass(eq=False)
class Settlement:
    """How a game stands, if playouts are right."""

    chains: list[Chain]
    owners: np.ndarray  # for each point 1 if it is black's, -1 white's, 0 nobody's, once dead stones are off
    sure: np.ndarray  # for each point, whether there is no doubt about it
    dame: list[int]  # neutral points that either player may fill
    lead: float  # black's, dead stones taken off
    surest: tuple[float, float]  # each player's lead if all that is not sure is the other's

    @property
    def is_settled(self) -> bool:
        """Whether nothing is left to play for but neutral points."""
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
    owned = ownership(position, playouts, policy, seed)
    dead = dead_stones(position, playouts, policy, seed)
    board = _Board(position)
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
    constant = board.beside_the_board()
    surest = tuple(float(side * (constant + np.where(sure, owners, -side).sum())) for side in (1, -1))
    return Settlement(chains, owners, sure, dame, board.game.lead(position, dead=dead), (surest[0], surest[1]))


class _Board:
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

    def beside_the_board(self) -> float:
        """What black gets beside points: komi, and under territory scoring the balance of moves."""
        state = self.position.state
        moves = int(state.balance) if self.game.rules.scoring == "territory" else 0
        return moves - int(state.half_komi) / 2

    def connected(self, first: int, among: Any) -> list[int]:
        """All points that hang together with this one, of those for which `among` says yes."""
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
        """Chains of both colours that live, but not for sure, and share liberties where neither can play."""
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
        """Whether a player may play there and does not put himself into atari."""
        try:
            after = _Board(with_turn(self.position, player).play(point))
        except IllegalMove:
            return False
        chain = after.connected(point, lambda near: after.stones.get(near) == player)
        return point in after.stones and len(after.liberties(chain)) > 1

    def is_closed(self, region: list[int], standing: dict[int, Chain]) -> bool:
        """Whether a region between both colours has no room for anything: it is a small gap, or a lane between two walls."""
        if any(point in self.stones for point in region):
            return False
        sides = [{standing[near].player for near in self.near[point] if near in standing} for point in region]
        return len(region) <= LARGEST_GAP or all(len(players) == 2 for players in sides)

    def regions(self, standing: Iterable[int]) -> list[list[int]]:
        """What hangs together of the points on which nothing stands that lives."""
        kept = set(standing)
        found: list[list[int]] = []
        seen: set[int] = set()
        for point in range(self.points):
            if point not in kept and point not in seen:
                region = self.connected(point, lambda near: near not in kept)
                seen.update(region)
                found.append(region)
        return found


# --- what to play -------------------------------------------------------------------------------------------------------------


def decide(position: Position, result: Result, cleanup: bool = False, policy: Any = None, seed: int = 0) -> int:
    """The action to play: the search's, or what the end of a game calls for."""
    state, pass_ = position.state, position.game.actions - 1
    if not (is_late(position) or cleanup or state.passes == 1 or result.best == pass_):
        return result.best
    end = _End(position, result, settle(position, policy, seed=seed), policy, seed)
    if cleanup:
        return end.clean_up()
    return end.if_all_live() if go_of(position).rules.dead == "none" else end.if_agreed()


def is_late(position: Position) -> bool:
    """Whether so much is filled of the board that something can be settled."""
    return int(position.state.empty_count) <= MOST_EMPTY * (position.game.actions - 1)


class _End:
    """A position that may be the end of a game, and what a search thinks of it. Leads are those of the player to move."""

    def __init__(self, position: Position, result: Result, settlement: Settlement, policy: Any, seed: int) -> None:
        self.position, self.result, self.settled = position, result, settlement
        self.policy, self.seed = policy, seed
        self.game, self.player = go_of(position), position.to_play
        self.side = 1 - 2 * self.player
        self.pass_ = self.game.actions - 1
        self.has_passed = int(position.state.passes) == 1  # the opponent
        self.is_area = self.game.rules.scoring == "area"
        self.lead = self.side * settlement.lead
        self.is_in_doubt = any(
            chain.player == self.player and not chain.is_dead and not chain.is_sure for chain in settlement.chains
        )  # an own chain that should live

    def if_agreed(self) -> int:
        """Dead stones are taken off by agreement."""
        if self.has_passed and self.settled.surest[self.player] > 0:
            return self.pass_
        if self.settled.is_settled:
            return self.dame_move()
        best = self.better_than_passing()
        return best if self.is_area or not self.is_wasted(best) else self.other_than(best)

    def if_all_live(self) -> int:
        """Whatever stands on the board at the end lives."""
        as_it_stands = self.side * self.game.lead(self.position, dead=[])
        if self.has_passed and as_it_stands > 0:
            return self.pass_
        must_clean_up = as_it_stands <= 0 < self.lead
        if self.settled.is_settled:
            return self.cleaning_move() if must_clean_up else self.dame_move()
        if must_clean_up and self.result.best == self.pass_:
            return self.cleaning_move()
        return self.better_than_passing(as_it_stands)

    def clean_up(self) -> int:
        """Take off what is dead, as far as it can be afforded."""
        dead = self.settled.stones("dead", 1 - self.player)
        if not dead:
            return self.if_agreed() if self.game.rules.dead == "agreed" else self.if_all_live()
        if not self.is_area and self.lead <= len(self.liberties(dead)):
            return self.pass_
        return self.cleaning_move()

    # --- moves ---

    def dame_move(self) -> int:
        """A neutral point that costs nothing, where it is worth something; else a pass."""
        return self.first_good(self.settled.dame if self.is_area else [], self.lead)

    def cleaning_move(self) -> int:
        """A move at a dead chain behind which the game is still won; failing that any such move; failing that a pass."""
        least = 0.5 if self.lead > 0 else self.lead - 1
        dead = self.settled.stones("dead", 1 - self.player)
        found = self.first_good(self.liberties(dead), least)
        others = [move.action for move in self.result.moves if move.visits and move.action != self.pass_]
        return self.first_good(others, least) if found == self.pass_ else found

    def better_than_passing(self, as_it_stands: float = 0.0) -> int:
        """The search's move. While something is to be played for it passes only if all else is worse, and ends a game only if
        that wins and nothing else does."""
        best = self.result.best
        may_pass = not self.has_passed or (max(self.lead, as_it_stands) > 0 and not self.wins_by_playing())
        if best != self.pass_ or (self.is_needed(best) and may_pass):
            return best
        for move in self.by_promise():
            if move.action != self.pass_ and not self.is_own_eye(move.action) and self.after(move.action):
                return move.action
        return self.pass_

    def by_promise(self) -> list[Move]:
        """Moves that the search has tried, most visits first. On a nearly empty board all others come behind, by what is
        thought of them beforehand: the search may have seen that a pass would win at once, and tried nothing else."""
        tried = [move for move in self.result.moves if move.visits]
        if is_late(self.position):
            return tried
        untried = [move for move in self.result.moves if not move.visits]
        return tried + sorted(untried, key=lambda move: -(-np.inf if move.amaf_value is None else move.amaf_value))

    def other_than(self, wasted: int) -> int:
        """A move that is nearly as good as one that would be wasted, and is not; any that is not, while own stones are in
        doubt, or if nobody knows how good the wasted one would be; else a pass."""
        values = {move.action: move.value for move in self.result.moves if move.value is not None}
        enough = -np.inf if self.is_in_doubt or wasted not in values else values[wasted] - MUCH
        for action, value in values.items():
            is_good = value >= enough
            if action == self.pass_ or not is_good or self.is_wasted(action):
                continue
            if not self.is_own_eye(action) and self.after(action):
                return action
        return self.pass_

    def first_good(self, actions: Iterable[int], least: float) -> int:
        """The first of these actions, in the search's order, that leaves a lead of this much; else a pass."""
        visits = self.result.visits
        for action in sorted(actions, key=lambda action: -visits[action])[:TRIES]:
            following = None if self.is_own_eye(action) else self.after(action)
            if following is not None and self.lead_at(following) >= least:
                return action
        return self.pass_

    # --- facts ---

    def after(self, action: int) -> Position | None:
        """The position after an action, if it is legal."""
        try:
            return self.position.play(action)
        except IllegalMove:
            return None

    def lead_at(self, position: Position) -> float:
        """What the player is ahead by in another position, dead stones taken off."""
        return self.side * self.game.lead(position, dead=dead_stones(position, policy=self.policy, seed=self.seed))

    def liberties(self, chains: list[list[int]]) -> set[int]:
        """All liberties of these chains."""
        return _Board(self.position).liberties(stone for chain in chains for stone in chain)

    def is_own_eye(self, action: int) -> bool:
        """Whether a move fills an own eye."""
        state = self.position.state
        return bool(is_eye(state, cell_of(state, action), self.player + 1))

    def is_wasted(self, action: int) -> bool:
        """Whether a move is played where all is decided, or would cost the game in own territory, and is not needed."""
        if action == self.pass_:
            return False
        is_own = self.settled.owners[action] == self.side
        is_in_vain = self.settled.sure[action] and (is_own or self.lead > 0)
        costs_the_game = is_own and 0 < self.lead <= 1 and not self.is_in_doubt
        return bool((is_in_vain or costs_the_game) and not self.is_needed(action))

    def wins_by_playing(self) -> bool:
        """Whether the search knows of a move, not a pass, that is likelier to win than to lose."""
        return any(move.visits >= FEW and move.action != self.pass_ and (move.value or 0.0) > 0.0 for move in self.result.moves)

    def is_needed(self, action: int) -> bool:
        """Whether the search knows of no other move that is nearly as good."""
        known: list[Move] = [move for move in self.result.moves if move.visits >= FEW]
        values = {move.action: move.value or 0.0 for move in known if move.action in (action, *range(self.pass_))}
        if action not in values or len(values) < 2:
            return False
        return values.pop(action) - max(values.values()) > NEEDED
