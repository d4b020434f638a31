"""A slow, obvious Go board: what `anabranch.games.go` should do, written from the rules.

Stones are a dict from points to colours, and everything is found by flood fills on it. It shares no code with the fast board.
Points are (column, row) from the bottom left. Actions count them row by row, A1 is 0; the last action passes.
"""

from dataclasses import dataclass, field

BLACK, WHITE = 0, 1  # players, and the colours of their stones

Point = tuple[int, int]
Stones = dict[Point, int]


@dataclass(frozen=True)
class Situation:
    """What may come again: the stones, who is to move, and white's plays less black's."""

    stones: frozenset[tuple[Point, int]]
    to_play: int
    balance: int


@dataclass
class Board:
    width: int
    height: int
    komi: float = 0.0
    ko: str = "positional"  # or "situational", "simple"
    scoring: str = "area"  # or "territory"
    suicide: bool = False

    stones: Stones = field(default_factory=dict)
    to_play: int = BLACK
    passes: int = 0  # in succession, up to now
    plays: list[int] = field(default_factory=lambda: [0, 0])  # stones that each player has put down
    prisoners: list[int] = field(default_factory=lambda: [0, 0])  # stones of the other colour that each player holds
    past: list[Situation] = field(default_factory=list)  # before this one
    is_draw: bool = False  # by repetition

    def arrange(self, cells: list[str]) -> None:
        """Begin with these stones, from the top left on: X black, O white, others empty. Each was a play once."""
        assert not self.stones and len(cells) == self.pass_action
        for place, mark in enumerate(cells):
            if mark in "XO":
                column, row = self.point(place)
                self.stones[column, self.height - 1 - row] = "XO".index(mark)
                self.plays["XO".index(mark)] += 1

    # --- points, actions ---

    @property
    def points(self) -> list[Point]:
        return [(column, row) for row in range(self.height) for column in range(self.width)]

    @property
    def pass_action(self) -> int:
        return self.width * self.height

    def point(self, action: int) -> Point:
        return action % self.width, action // self.width

    def neighbours(self, point: Point) -> list[Point]:
        column, row = point
        around = [(column + 1, row), (column - 1, row), (column, row + 1), (column, row - 1)]
        return [(x, y) for x, y in around if 0 <= x < self.width and 0 <= y < self.height]

    # --- chains and regions ---

    def connected(self, stones: Stones, point: Point) -> set[Point]:
        """All points of the same content that hang together with this one: a chain, or an empty region."""
        found, to_do = {point}, [point]
        while to_do:
            for neighbour in self.neighbours(to_do.pop()):
                if neighbour not in found and stones.get(neighbour) == stones.get(point):
                    found.add(neighbour)
                    to_do.append(neighbour)
        return found

    def liberties(self, stones: Stones, chain: set[Point]) -> set[Point]:
        return {neighbour for stone in chain for neighbour in self.neighbours(stone) if neighbour not in stones}

    # --- what a play does ---

    def after(self, point: Point) -> tuple[Stones, set[Point], set[Point]]:
        """The stones after a play on an empty point: what it takes off the enemy, then what it takes off itself."""
        own, enemy = self.to_play, 1 - self.to_play
        stones = {**self.stones, point: own}
        taken: set[Point] = set()
        for neighbour in self.neighbours(point):
            if stones.get(neighbour) == enemy:
                chain = self.connected(stones, neighbour)
                if not self.liberties(stones, chain):
                    taken |= chain
        for stone in taken:
            del stones[stone]
        lost = self.connected(stones, point)
        if self.liberties(stones, lost):
            lost = set()
        for stone in lost:
            del stones[stone]
        return stones, taken, lost

    def situation(self) -> Situation:
        return self.situation_of(self.stones, self.to_play, self.plays)

    def situation_of(self, stones: Stones, to_play: int, plays: list[int]) -> Situation:
        return Situation(frozenset(stones.items()), to_play, plays[WHITE] - plays[BLACK])

    def situation_after(self, point: Point) -> Situation:
        plays = list(self.plays)
        plays[self.to_play] += 1
        return self.situation_of(self.after(point)[0], 1 - self.to_play, plays)

    # --- what is legal ---

    def why_illegal(self, action: int) -> str:
        """What is wrong with an action; nothing if it is legal."""
        if self.is_over:
            return "over"
        if action == self.pass_action:
            return ""
        point = self.point(action)
        if point in self.stones:
            return "occupied"
        lost = self.after(point)[2]
        if len(lost) == 1 or (lost and not self.suicide):
            return "suicide"
        if self.retakes_ko(point):
            return "ko"
        if self.ko != "simple" and self.comes_again(self.situation_after(point)):
            return "superko"
        return ""

    def retakes_ko(self, point: Point) -> bool:
        """Whether a play brings back the stones as they were before the other player's last move."""
        return bool(self.past) and self.situation_after(point).stones == self.past[-1].stones

    def comes_again(self, situation: Situation) -> bool:
        return any(self.is_the_same(situation, earlier) for earlier in [*self.past, self.situation()])

    def is_the_same(self, one: Situation, other: Situation) -> bool:
        if one.stones != other.stones:
            return False
        if self.ko == "positional":
            return True
        if one.to_play != other.to_play:
            return False
        return self.ko == "situational" or self.scoring == "area" or one.balance == other.balance

    def legal_actions(self) -> list[int]:
        return [action for action in range(self.pass_action + 1) if not self.why_illegal(action)]

    def ko_point(self) -> Point | None:
        """Where a ko may not be retaken at once."""
        for action in range(self.pass_action):
            if self.why_illegal(action) == "ko":
                return self.point(action)
        return None

    # --- the game ---

    @property
    def is_over(self) -> bool:
        return self.passes >= 2 or self.is_draw

    def play(self, action: int) -> None:
        assert not self.why_illegal(action), (action, self.why_illegal(action))
        before = self.situation()
        if action == self.pass_action:
            self.passes += 1
            repeats = False
        else:
            point = self.point(action)
            repeats = self.comes_again(self.situation_after(point))
            self.stones, taken, lost = self.after(point)
            self.prisoners[self.to_play] += len(taken)
            self.prisoners[1 - self.to_play] += len(lost)
            self.plays[self.to_play] += 1
            self.passes = 0
        self.past.append(before)
        self.to_play = 1 - self.to_play
        self.is_draw = repeats

    # --- the score: everything on the board is alive ---

    def territory(self) -> list[int]:
        """Empty points of each player: regions that touch no stone but theirs."""
        points = [0, 0]
        left = {point for point in self.points if point not in self.stones}
        while left:
            region = self.connected(self.stones, next(iter(left)))
            left -= region
            touched = {self.stones[n] for point in region for n in self.neighbours(point) if n in self.stones}
            if len(touched) == 1:
                points[touched.pop()] += len(region)
        return points

    def area(self) -> list[int]:
        """Stones and territory."""
        colours = list(self.stones.values())
        return [colours.count(player) + points for player, points in enumerate(self.territory())]

    def score(self) -> float:
        """What black is ahead by."""
        if self.is_draw:
            return 0.0
        if self.scoring == "area":
            black, white = self.area()
        else:
            black, white = (t + p for t, p in zip(self.territory(), self.prisoners, strict=True))
        return black - white - self.komi

    def rows(self) -> str:
        """The board as text, the top row first."""
        marks = {None: ".", BLACK: "X", WHITE: "O"}
        rows = [" ".join(marks[self.stones.get((x, y))] for x in range(self.width)) for y in range(self.height)]
        return "\n".join(reversed(rows))
