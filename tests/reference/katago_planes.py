"""The inputs of KataGo's networks, slowly and obviously: what `anabranch.nets.katago.inputs` should compute.

Stones are a dict from points to players, everything is found by flood fills on it, and each of the 22 planes and 19 globals has
its own few lines. No code is shared with the fast version. Points are (x, y) from the top left.
"""

from typing import Any

import numpy as np

BLACK, WHITE = 0, 1
Point = tuple[int, int]
Stones = dict[Point, int]


class Game:
    """A game so far, from which inputs are made."""

    def __init__(self, width: int, height: int, rules: Any, komi: float, stones: Stones | None = None, to_play: int = BLACK):
        self.width, self.height, self.rules, self.komi = width, height, rules, komi
        self.stones: Stones = dict(stones or {})
        self.to_play = to_play
        self.ko: Point | None = None
        self.passes = 0
        self.has_button = rules.button
        self.white_gets = komi  # besides the board
        if rules.scoring == "territory":
            self.white_gets += list(self.stones.values()).count(BLACK) - list(self.stones.values()).count(WHITE)
        self.moves: list[tuple[int, Point | None]] = []
        self.boards: list[tuple[Stones, Point | None]] = []  # before each move
        self.past = [self.what_may_not_return(self.stones, to_play)]

    # --- the board ---

    def points(self) -> list[Point]:
        return [(x, y) for y in range(self.height) for x in range(self.width)]

    def around(self, point: Point) -> list[Point]:
        """Neighbours in the order in which KataGo looks at them."""
        x, y = point
        near = [(x, y - 1), (x - 1, y), (x + 1, y), (x, y + 1)]
        return [(x, y) for x, y in near if 0 <= x < self.width and 0 <= y < self.height]

    def connected(self, start: Point, among: Any) -> list[Point]:
        """All points connected to this one through points for which `among` is true, in reading order, `start` first."""
        found, to_do = {start}, [start]
        while to_do:
            for near in self.around(to_do.pop()):
                if near not in found and among(near):
                    found.add(near)
                    to_do.append(near)
        return [start] + [point for point in self.points() if point in found and point != start]

    def chain(self, stones: Stones, stone: Point) -> list[Point]:
        return self.connected(stone, lambda point: stones.get(point) == stones[stone])

    def liberties(self, stones: Stones, stone: Point) -> list[Point]:
        found: list[Point] = []
        for one in self.chain(stones, stone):
            found += [near for near in self.around(one) if near not in stones and near not in found]
        return found

    def after(self, stones: Stones, point: Point, player: int) -> tuple[Stones, Point | None]:
        """Stones and ko after a play; its own chain is taken off if it has no liberties."""
        stones = {**stones, point: player}
        taken = []
        for near in self.around(point):
            if stones.get(near) == 1 - player and not self.liberties(stones, near):
                chain = self.chain(stones, near)
                taken += chain
                for stone in chain:
                    del stones[stone]
        is_ko = len(taken) == 1 and len(self.chain(stones, point)) == 1 and len(self.liberties(stones, point)) == 1
        if not self.liberties(stones, point):
            for stone in self.chain(stones, point):
                del stones[stone]
        return stones, taken[0] if is_ko else None

    def is_possible(self, stones: Stones, point: Point, player: int, ko: Point | None, suicide: bool) -> bool:
        if point in stones or point == ko:
            return False
        for near in self.around(point):
            if near not in stones:
                return True
            if stones[near] != player and self.liberties(stones, near) == [point]:
                return True
            if stones[near] == player and (suicide or self.liberties(stones, near) != [point]):
                return True
        return False

    # --- the game ---

    def what_may_not_return(self, stones: Stones, to_play: int) -> tuple[Any, ...]:
        player = to_play if self.rules.ko == "situational" else None
        return frozenset(stones.items()), player, self.has_button

    def play(self, point: Point | None) -> None:
        self.boards.append((self.stones, self.ko))
        self.moves.append((self.to_play, point))
        if point is None:
            self.ko = None
            if self.has_button:
                self.has_button = False
                self.white_gets += 0.5 if self.to_play == WHITE else -0.5
            else:
                self.passes += 1
        else:
            self.stones, self.ko = self.after(self.stones, point, self.to_play)
            self.passes = 0
            if self.rules.scoring == "territory":
                self.white_gets += 1 if self.to_play == BLACK else -1
        self.to_play = 1 - self.to_play
        self.past.append(self.what_may_not_return(self.stones, self.to_play))

    def is_legal_but_for_superko(self, point: Point) -> bool:
        return self.is_possible(self.stones, point, self.to_play, self.ko, self.rules.suicide)

    def is_banned(self, point: Point) -> bool:
        """Whether superko forbids it."""
        if self.rules.ko == "simple" or not self.is_legal_but_for_superko(point):
            return False
        stones, _ = self.after(self.stones, point, self.to_play)
        return self.what_may_not_return(stones, 1 - self.to_play) in self.past

    def legal(self) -> np.ndarray:
        found = [self.is_legal_but_for_superko(point) and not self.is_banned(point) for point in self.points()]
        return np.array([*found, True])

    # --- inputs ---

    def hides_pass(self) -> bool:
        """Players agree on dead stones, and a pass is unanswered: KataGo then shows neither it nor any other move."""
        return self.rules.scoring == "area" and self.rules.dead == "agreed" and self.passes == 1

    def shown_moves(self) -> list[Point | None]:
        """The last moves that are shown, latest first."""
        most = 1 if self.passes >= 2 else 0 if self.hides_pass() else 5
        shown: list[Point | None] = []
        mover = 1 - self.to_play
        for player, point in reversed(self.moves[-5:]):
            if len(shown) == most or player != mover:
                break
            shown.append(point)
            mover = 1 - mover
        return shown

    def planes(self, superko: bool = True, with_suicide: bool = False) -> np.ndarray:
        found = np.zeros((22, self.height, self.width), np.float32)

        def mark(plane: int, points: Any) -> None:
            for x, y in points:
                found[plane, y, x] = 1.0

        own, other = self.to_play, 1 - self.to_play
        mark(0, self.points())
        mark(1, [point for point, player in self.stones.items() if player == own])
        mark(2, [point for point, player in self.stones.items() if player == other])
        for count in (1, 2, 3):
            mark(2 + count, [stone for stone in self.stones if len(self.liberties(self.stones, stone)) == count])
        mark(6, [self.ko] if self.ko else [])
        if superko:
            mark(6, [point for point in self.points() if self.is_banned(point)])
        shown = self.shown_moves()
        for i, point in enumerate(shown):
            mark(9 + i, [point] if point else [])
        boards = [(self.stones, self.ko)]
        boards.append(self.boards[-1] if len(shown) >= 1 else boards[0])
        boards.append(self.boards[-2] if len(shown) >= 2 else boards[1])
        for i, (stones, ko) in enumerate(boards):
            mark(14 + i, self.laddered(stones, ko))
        mark(17, self.working_moves(other))
        if self.rules.scoring == "area":
            area = self.area(self.rules.suicide or with_suicide)
            mark(18, [point for point, player in area.items() if player == own])
            mark(19, [point for point, player in area.items() if player == other])
        return found

    def numbers(self) -> np.ndarray:
        found = np.zeros(19, np.float32)
        for i, point in enumerate(self.shown_moves()):
            found[i] = point is None
        points = self.width * self.height
        komi = self.white_gets if self.to_play == WHITE else -self.white_gets
        komi = max(-points - 20, min(points + 20, komi))
        found[5] = komi / 20
        found[6] = self.rules.ko != "simple"
        found[7] = {"simple": 0.0, "positional": 0.5, "situational": -0.5}[self.rules.ko]
        found[8] = self.rules.suicide
        found[9] = self.rules.scoring == "territory"
        found[10] = self.rules.tax != "none"
        found[11] = self.rules.tax == "all"
        found[14] = self.passes >= 1 and not self.hides_pass()
        found[17] = self.has_button
        if self.rules.scoring == "area":
            above = komi - points  # above a komi that allows a draw
            while above < 0:
                above += 2
            while above >= 2:
                above -= 2
            found[18] = {0: 0.0, 1: 0.5, 2: 0.0, 3: -0.5}[round(2 * above)]
        return found

    # --- ladders ---

    def laddered(self, stones: Stones, ko: Point | None) -> list[Point]:
        """Stones that are caught: in atari with no way out, or with two liberties of which one can be taken so they are."""
        found: list[Point] = []
        for chain in self.chains(stones):
            count = len(self.liberties(stones, chain[0]))
            if (count == 1 and self.is_caught(stones, chain[0])) or (count == 2 and self.ways_to_catch(stones, chain[0], ko)):
                found += chain
        return found

    def working_moves(self, victim: int) -> list[Point]:
        """Where a chain of this player with two liberties can be caught."""
        found: list[Point] = []
        for chain in self.chains(self.stones):
            if self.stones[chain[0]] == victim and len(self.liberties(self.stones, chain[0])) == 2:
                found += self.ways_to_catch(self.stones, chain[0], self.ko)
        return found

    def chains(self, stones: Stones) -> list[list[Point]]:
        found: list[list[Point]] = []
        for point in self.points():
            if point in stones and not any(point in chain for chain in found):
                found.append(self.chain(stones, point))
        return found

    def ways_to_catch(self, stones: Stones, stone: Point, ko: Point | None) -> list[Point]:
        attacker = 1 - stones[stone]
        found = []
        for liberty in self.liberties(stones, stone):
            if self.is_possible(stones, liberty, attacker, ko, suicide=False):
                then, _ = self.after(stones, liberty, attacker)  # a ko that this leaves may be retaken
                if self.is_caught(then, stone):
                    found.append(liberty)
        return found

    def is_caught(self, stones: Stones, stone: Point) -> bool:
        """With the owner to move."""
        if len(self.liberties(stones, stone)) >= 2:
            return False
        defender = stones[stone]
        moves = self.moves_to_defend(stones, stone)
        if self.surely_has_three(stones, moves[-1], defender):
            return False
        for move in moves:
            if self.is_possible(stones, move, defender, None, suicide=False):
                then, ko = self.after(stones, move, defender)
                if not self.can_be_caught(then, stone, ko):
                    return False
        return True

    def moves_to_defend(self, stones: Stones, stone: Point) -> list[Point]:
        """Captures of neighbours in atari, and the last liberty."""
        captures = self.captures(stones, stone)
        return captures + [move for move in self.liberties(stones, stone) if move not in captures]

    def captures(self, stones: Stones, stone: Point) -> list[Point]:
        """Moves that take a chain next to the stone's."""
        moves: list[Point] = []
        for one in self.chain(stones, stone):
            for near in self.around(one):
                if near in stones and stones[near] != stones[stone] and len(self.liberties(stones, near)) == 1:
                    moves += [move for move in self.liberties(stones, near) if move not in moves]
        return moves

    def surely_has_three(self, stones: Stones, move: Point, player: int) -> bool:
        """KataGo stops here. That changes nothing where the move is the last liberty, but it need not be: if that is a capture,
        too, another capture may come last."""
        near = self.around(move)
        empty = sum(one not in stones for one in near)
        captures = sum(stones.get(one) == 1 - player and len(self.liberties(stones, one)) == 1 for one in near)
        joined = [len(self.liberties(stones, one)) - 1 for one in near if stones.get(one) == player]
        return captures + max([empty, *joined]) >= 3

    def can_be_caught(self, stones: Stones, stone: Point, ko: Point | None) -> bool:
        """With the attacker to move, who may not leave a ko behind."""
        liberties = self.liberties(stones, stone)
        if len(liberties) != 2:
            return len(liberties) < 2
        if self.is_double_ko(stones, stone, liberties):
            return True
        for liberty in liberties:
            if self.is_possible(stones, liberty, 1 - stones[stone], ko, suicide=False):
                then, new_ko = self.after(stones, liberty, 1 - stones[stone])
                if new_ko is None and self.is_caught(then, stone):
                    return True
        return False

    def is_double_ko(self, stones: Stones, stone: Point, liberties: list[Point]) -> bool:
        """Both liberties are kos which the attacker can take, connecting either leaves two liberties at most, and none of the
        attacker's chains around is in atari."""
        for liberty in liberties:
            near = self.around(liberty)
            if any(stones.get(one) != stones[stone] for one in near):
                return False
            in_atari = [one for one in near if len(self.liberties(stones, one)) == 1]
            if len(in_atari) != 1 or len(self.chain(stones, in_atari[0])) != 1:
                return False
            if len(self.liberties({**stones, liberty: stones[stone]}, liberty)) > 2:
                return False
        return not self.captures(stones, stone)

    # --- area ---

    def area(self, suicide: bool) -> Stones:
        """Whose each point is, if anybody's."""
        area: Stones = {}
        for player in (BLACK, WHITE):
            area.update(dict.fromkeys(self.unconditional(player, suicide), player))
        for point in self.points():
            if point not in area:
                if point in self.stones:
                    area[point] = self.stones[point]
                else:
                    region = self.connected(point, lambda other: other not in self.stones)
                    touched = {self.stones[near] for one in region for near in self.around(one) if near in self.stones}
                    if len(touched) == 1:
                        area[point] = touched.pop()
        return area if self.rules.tax == "none" else self.with_tax(area)

    def with_tax(self, area: Stones) -> Stones:
        """Stones, and territory with independent life."""
        kept: Stones = {}
        for point, player in area.items():
            group = self.connected(point, lambda other, player=player: area.get(other) == player)
            touches_dame = any(near not in area for one in group for near in self.around(one))
            has_atari = any(self.stones.get(one) == player and len(self.liberties(self.stones, one)) == 1 for one in group)
            if self.stones.get(point) == player or not (touches_dame or has_atari):
                kept[point] = player
        return kept

    def unconditional(self, player: int, suicide: bool) -> list[Point]:
        """Benson's algorithm: living stones, and regions of theirs with at most one point inside."""
        chains = [chain for chain in self.chains(self.stones) if self.stones[chain[0]] == player]
        regions: list[list[Point]] = []
        for point in self.points():
            if self.stones.get(point) != player and not any(point in region for region in regions):
                regions.append(self.connected(point, lambda other: self.stones.get(other) != player))
        while True:
            kept = [chain for chain in chains if sum(self.is_vital(region, chain, suicide) for region in regions) >= 2]
            alive = {stone for chain in kept for stone in chain}
            regions = [region for region in regions if self.borders(region, player) <= alive]
            if kept == chains:
                break
            chains = kept
        found = list(alive)
        for region in regions:
            inside = [point for point in region if not self.borders([point], player)]
            if chains and len(inside) <= 1:
                found += region
        return found

    def is_vital(self, region: list[Point], chain: list[Point], suicide: bool) -> bool:
        needed = [point for point in region if suicide or point not in self.stones]
        return all(set(self.around(point)) & set(chain) for point in needed)

    def borders(self, region: list[Point], player: int) -> set[Point]:
        return {near for point in region for near in self.around(point) if self.stones.get(near) == player}
