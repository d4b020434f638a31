"""PyRat, slowly: cells are (x, y), walls and mud lie between two of them, cheese is a set, points are fractions.

Written from the table of rules alone (docs/games/pyrat.md), with dicts and sets; `src/anabranch/games/pyrat` must agree.
"""

import heapq
from collections.abc import Iterable, Mapping
from fractions import Fraction

Cell = tuple[int, int]
DIRECTIONS = ((0, 1), (1, 0), (0, -1), (-1, 0))  # up, right, down, left
STAY = 4
HALF = Fraction(1, 2)


class SlowPyRat:
    """A game in progress."""

    def __init__(
        self,
        width: int,
        height: int,
        walls: Iterable[tuple[Cell, Cell]],
        mud: Mapping[tuple[Cell, Cell], int],
        cheese: Iterable[Cell],
        starts: tuple[Cell, Cell],
        max_turns: int,
    ) -> None:
        self.width, self.height, self.max_turns = width, height, max_turns
        self.walls = {frozenset(pair) for pair in walls}
        self.mud = {frozenset(pair): turns for pair, turns in mud.items()}
        self.cheese = set(cheese)
        self.total = len(self.cheese)
        self.places = list(starts)
        self.waiting = [0, 0]  # turns for which each player's actions are ignored
        self.scores = [Fraction(0), Fraction(0)]
        self.turn = 0
        self.far: dict[Cell, dict[Cell, int]] = {}

    def target(self, cell: Cell, action: int) -> Cell:
        """Where an action leads: to a neighbour, or nowhere."""
        if action == STAY:
            return cell
        right, up = DIRECTIONS[action]
        beside = cell[0] + right, cell[1] + up
        on_board = 0 <= beside[0] < self.width and 0 <= beside[1] < self.height
        return beside if on_board and frozenset((cell, beside)) not in self.walls else cell

    def turns_between(self, cell: Cell, beside: Cell) -> int:
        """How long a step takes."""
        return self.mud.get(frozenset((cell, beside)), 1)

    def play(self, actions: tuple[int, int]) -> list[Fraction]:
        """Both move, cheese is collected, the turn is counted; what each has collected."""
        for player, action in enumerate(actions):
            if self.waiting[player]:
                self.waiting[player] -= 1
                continue
            before = self.places[player]
            self.places[player] = self.target(before, action)
            if self.places[player] != before:
                self.waiting[player] = self.turns_between(before, self.places[player]) - 1
        collected = [Fraction(0), Fraction(0)]
        for cell in set(self.places) & self.cheese:
            eating = [player for player in (0, 1) if self.places[player] == cell and not self.waiting[player]]
            for player in eating:
                collected[player] += Fraction(1, len(eating))
            if eating:
                self.cheese.remove(cell)
        self.scores = [score + now for score, now in zip(self.scores, collected, strict=True)]
        self.turn += 1
        return collected

    def is_over(self) -> bool:
        """More than half of all cheese, no cheese, or no time."""
        return max(self.scores) > HALF * self.total or not self.cheese or self.turn == self.max_turns

    def outcomes(self, player: int) -> dict[int, list[int]]:
        """Actions by what they do, each group under its last one: staying, if that is among them."""
        groups: dict[object, list[int]] = {}
        for action in range(5):
            effect = None if self.waiting[player] else self.target(self.places[player], action)
            groups.setdefault(effect, []).append(action)
        return {max(actions): actions for actions in groups.values()}

    def facts(self) -> tuple[object, ...]:
        """All that the future depends on."""
        return tuple(self.places), tuple(self.waiting), frozenset(self.cheese), tuple(self.scores), self.turn

    def distances(self, start: Cell) -> dict[Cell, int]:
        """How many turns each cell is away (Dijkstra); found once for each start, as the maze stays what it is."""
        if start in self.far:
            return self.far[start]
        found: dict[Cell, int] = {}
        heap = [(0, start)]
        while heap:
            distance, cell = heapq.heappop(heap)
            if cell not in found:
                found[cell] = distance
                for action in range(4):
                    beside = self.target(cell, action)
                    if beside != cell:
                        heapq.heappush(heap, (distance + self.turns_between(cell, beside), beside))
        self.far[start] = found
        return found

    def steps_to_nearest_cheese(self, player: int) -> set[int]:
        """The first steps of all shortest ways to a nearest cheese."""
        here = self.places[player]
        far = self.distances(here)
        nearest = min(far[cell] for cell in self.cheese)
        steps = set()
        for action in range(4):
            beside = self.target(here, action)
            if beside != here:
                ahead = self.distances(beside)
                if self.turns_between(here, beside) + min(ahead[cell] for cell in self.cheese) == nearest:
                    steps.add(action)
        return steps
