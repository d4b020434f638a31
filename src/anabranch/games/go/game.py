"""Go: the face and the rules. Boards from 2x2 to 25x25, rule sets as data (`rulesets.py`), positions as records (`layout.py`).

`Go(size=...)` makes a game of the smallest bucket that holds the board: `Go` itself up to 9, then `Go13`, `Go19`, `Go25`. They
differ in nothing but the size of their record. Read next: `stones.py`.
"""

import math
import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from anabranch.errors import GameError, IllegalMove
from anabranch.games.game import Game, rule
from anabranch.games.go import draw, keys
from anabranch.games.go.dead import taken_off
from anabranch.games.go.history import clear_history, keep_board, keep_move
from anabranch.games.go.layout import (
    BLACK,
    BLACK_BUTTON,
    BUCKETS,
    EMPTY,
    FREE_BUTTON,
    HOT_UNKNOWN,
    LARGEST,
    NO_BUTTON,
    NO_CELL,
    PASS_CELL,
    SMALLEST,
    WHITE,
    cell_of,
    pass_of,
    record_of,
    stride,
    stride_of,
)
from anabranch.games.go.mogo import MoGo
from anabranch.games.go.planes import PLANES, fill_planes
from anabranch.games.go.rulesets import CHOICES, RULE_SETS, RuleSet, rule_set
from anabranch.games.go.score import final, half_points, pay, settle
from anabranch.games.go.stones import captures_nothing, clear, may_put, put
from anabranch.games.go.utility import Utility, payments
from anabranch.games.go.vertices import action_at, handicap_points, vertex
from anabranch.games.position import Position
from anabranch.games.symmetry import Symmetries, dihedral, on_points
from anabranch.jit import readable
from anabranch.jit.dispatch import TAG_PREFIX

MOST_KOMI = 10_000
KEPT = ("ko", "scoring", "tax", "dead")  # points of a rule set that kernels know by number
PAYMENTS = ("win_weight", "score_weight", "static_weight", "dynamic_weight", "score_centre")  # fields about what is paid


class Go(Game):
    """Surround more of the board than your opponent: all common rule sets, boards from 2x2 to 25x25."""

    player_names = ("black", "white")
    state = record_of(BUCKETS[0])
    actions = BUCKETS[0] ** 2 + 1
    planes = PLANES, BUCKETS[0], BUCKETS[0]
    policy = MoGo()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        _register_stride(cls)

    def __new__(cls, size: Any = 9, *arguments: Any, **options: Any) -> "Go":
        return super().__new__(_bucket(size) if cls is Go else cls)

    def __init__(
        self,
        size: int | tuple[int, int] = 9,
        komi: float = 7.5,
        rules: str | RuleSet = "chinese",
        handicap: int = 0,
        returns: str | Utility = "win",
    ) -> None:
        """size      a number, or (width, height)
        komi      what white gets, in whole or half points
        rules     "chinese", "tromp-taylor", "japanese", "aga", "new-zealand", or a `RuleSet`
        handicap  black stones on the usual points; white then begins
        returns   what is played for: "win" (1, 0, -1), "score" (points), "mix" (mostly the win, a little the points),
                  "utility" (KataGo's mixture), or a `Utility`
        """
        self.width, self.height = _sides(size)
        if max(self.width, self.height) > bucket_of(type(self)):
            raise GameError(f"{type(self).__name__} is for boards up to {bucket_of(type(self))}; write Go(size={size!r})")
        self.rules, self.komi, self.plays_for = rule_set(rules), _komi(komi), returns
        self.handicap = _handicap(handicap, self.width, self.height)
        points = self.width * self.height
        white_gets = self.komi + self.rules.bonus(self.handicap)
        most = (points if self.rules.scoring == "area" else 2 * points) + abs(white_gets) + 0.5 * self.rules.button
        paid, most_paid = payments(returns, most)
        super().__init__(
            width=self.width,
            height=self.height,
            reciprocal=-(-(2**15) // self.width),
            half_komi=round(2 * white_gets),
            suicide=int(self.rules.suicide),
            button=FREE_BUTTON if self.rules.button else NO_BUTTON,
            **dict.fromkeys(PAYMENTS, 0.0) | paid,
            **{name: CHOICES[name].index(getattr(self.rules, name)) for name in KEPT},
        )
        self.actions = points + 1
        self.planes = PLANES, self.height, self.width
        self.value_range = -most_paid, most_paid
        self.repetition = "draw" if self.rules.ko == "simple" else "forbidden"

    # --- the rules ---

    @rule
    def setup(state):
        clear(state)
        state.turn, state.passes, state.ply, state.balance, state.quick = 0, 0, 0, 0, 0
        state.last, state.second_last = NO_CELL, NO_CELL
        clear_history(state)
        state.hot[:] = 0
        state.hot_count, state.hot_ply = 0, HOT_UNKNOWN
        keys.start_keys(state)

    @rule
    def action_limit(state):
        return pass_of(state) + 1

    @rule
    def to_play(state):
        return np.int64(state.turn)

    @rule
    def is_legal(state, action):
        if action == pass_of(state):
            return True
        cell = cell_of(state, action)
        return state.colour[cell] == EMPTY and may_put(state, cell, np.int64(state.turn) + 1)

    @rule
    def play(state, action):
        if state.quick == 0:
            keep_board(state)
        state.second_last = state.last
        if action == pass_of(state):
            if state.button == FREE_BUTTON:  # taking it does not bring the end closer
                state.button = BLACK_BUTTON + state.turn
            else:
                state.passes += 1
            state.last = NO_CELL
            state.ko_cell = NO_CELL
        else:
            cell = cell_of(state, action)
            put(state, cell, np.int64(state.turn) + 1)
            state.passes = 0
            state.last = cell
            if state.quick == 0:
                state.balance += 2 * np.int64(state.turn) - 1
        if state.quick == 0:
            keep_move(state, state.last if state.last != NO_CELL else PASS_CELL)
        state.turn = 1 - state.turn
        state.ply += 1
        if state.quick == 0:
            keys.update_graph_key(state)

    @rule
    def is_over(state):
        return state.passes >= 2

    @rule
    def returns(state, out):
        pay(state, out)

    @rule
    def heuristic(state, out):
        pay(state, out)

    @rule
    def key(state):
        return state.graph[0], state.graph[1]

    @rule
    def repetition_key(state):
        return keys.repetition_key(state)

    @rule
    def may_repeat(state):
        return state.passes > 0

    @rule
    def keeps_meaning(state, action):
        return action != pass_of(state)

    @rule
    def encode(state, planes):
        fill_planes(state, planes)

    def symmetries(self) -> Symmetries:
        """All turns and mirrors of the board; a pass stays a pass."""
        return on_points(dihedral(self.height, self.width), self.actions)

    def would_repeat(self, position: Position, action: int) -> bool:
        """Whether superko forbids an action; a move that captures nothing is judged without playing it."""
        if action == self.actions - 1:
            return False
        state = readable(position.record())[0]
        cell, colour = cell_of(state, action), int(state.turn) + 1
        if captures_nothing(state, cell, colour):
            with np.errstate(over="ignore"):
                keys.toggle(state, cell, colour)
                state.balance += 2 * colour - 3
                state.turn = 1 - state.turn
                low, high = keys.repetition_key(state)
            return (int(low), int(high)) in position.past
        return super().would_repeat(position, action)

    def paying(self, returns: str | Utility) -> "Go":
        """The same game, played for something else."""
        return Go((self.width, self.height), self.komi, self.rules, self.handicap, returns)

    # --- positions that were not played ---

    def start(self) -> Position:
        """The empty board, or the handicap."""
        empty = super().start()
        if not self.handicap:
            return empty
        return self.arranged(handicap_points(self.width, self.height, self.handicap), to_play=1)

    def arranged(self, black: Iterable[int | str] = (), white: Iterable[int | str] = (), to_play: int = 0) -> Position:
        """The position with these stones (actions or names) and this player to move, where a game may begin."""
        pool = readable(super().start().record())
        state = pool[0]
        if to_play not in (0, 1):
            raise GameError(f"to_play={to_play!r}: say 0 for black, 1 for white")
        for colour, points in ((BLACK, black), (WHITE, white)):
            for point in points:
                action = self.action(point) if isinstance(point, str) else operator.index(point)
                if not 0 <= action < self.actions - 1:
                    raise IllegalMove(f"{point} is not a point of {self!r}")
                cell = cell_of(state, action)
                if state.colour[cell] != EMPTY:
                    raise IllegalMove(f"{self.name_of(action)} has two stones")
                left = state.empty_count - 1
                with np.errstate(over="ignore"):
                    put(state, cell, colour)
                if state.empty_count != left or state.liberties[state.chain[cell]] == 0:
                    raise IllegalMove(f"with {self.name_of(action)} there are stones without liberties")
                state.balance += 2 * colour - 3
        state.turn, state.ko_cell = to_play, NO_CELL
        with np.errstate(over="ignore"):
            keys.update_graph_key(state)
        return Position(self, pool)

    def drawn(self, drawing: str, to_play: int = 0) -> Position:
        """The position that is drawn as text (see `draw.parse`), with this player to move."""
        width, height, black, white = draw.parse(drawing)
        if (width, height) != (self.width, self.height):
            raise GameError(f"the drawing has {width}x{height} points, {self!r} has {self.width}x{self.height}")
        return self.arranged(black, white, to_play)

    def lead(self, position: Position, dead: str | Iterable[int | str] | None = None) -> float:
        """What black is ahead by if the game ended here, komi included. `dead` are the dead stones (actions or names, one of
        each chain is enough), or "playouts" to let playouts find them; without it, what the rule set takes for dead after two
        passes."""
        pool = position.record() if dead is None else taken_off(position, dead)
        return half_points(readable(pool)[0]) / 2

    def result(self, position: Position, dead: str | Iterable[int | str] | None = None) -> str:
        """The same as people write it: B+3.5, W+12, or 0 for a draw, also by repetition."""
        is_repeated = position.is_over and position.state.passes < 2
        return final(0.0 if is_repeated else self.lead(position, dead))

    def final_ownership(self, position: Position) -> np.ndarray:
        """Whose area each point is, dead stones taken off as the rules have it; a tax changes only the score."""
        return self._settled(position)[0]

    def final_score(self, position: Position) -> float:
        """What black is ahead by, as `lead` has it."""
        return self._settled(position)[1]

    def _settled(self, position: Position) -> tuple[np.ndarray, float]:
        owners = np.zeros(self.actions - 1, np.int8)
        half = settle(position.record(), owners)
        return owners, half / 2

    # --- what people write and see ---

    def name_of(self, action: int) -> str:
        return vertex(action, self.width, self.height)

    def action(self, name: str) -> int:
        found = action_at(name, self.width, self.height)
        return super().action(name) if found is None else found

    def why_illegal(self, state: Any, action: int) -> str:
        """What is wrong with an action that `is_legal` refuses."""
        cell = cell_of(state, action)
        if state.colour[cell] != EMPTY:
            return "there is a stone"
        return "it retakes a ko at once" if cell == state.ko_cell else "it is suicide"

    def text(self, state: Any) -> str:
        return draw.text(state)

    def svg(self, state: Any, **shown: Any) -> str:
        """The board; `marks`, `heat`, `ownership` and `coordinates` as `draw.svg` has them."""
        return draw.svg(state, **shown)

    def __repr__(self) -> str:
        size = self.width if self.width == self.height else (self.width, self.height)
        name = next((name for name, known in RULE_SETS.items() if known == self.rules), self.rules)
        handicap = f", handicap={self.handicap}" if self.handicap else ""
        returns = f", returns={self.plays_for!r}" if self.plays_for != "win" else ""
        return f"Go(size={size}, komi={self.komi:g}, rules={name!r}{handicap}{returns})"


def _sides(size: Any) -> tuple[int, int]:
    sides = size if isinstance(size, (tuple, list)) else (size, size)
    if len(sides) != 2 or any(isinstance(side, bool) or not isinstance(side, (int, np.integer)) for side in sides):
        raise GameError(f"size={size!r}: give a number such as 19, or (width, height)")
    if not all(SMALLEST <= side <= LARGEST for side in sides):
        raise GameError(f"Go is played on boards with sides of {SMALLEST} to {LARGEST}, not {size}")
    return int(sides[0]), int(sides[1])


def _komi(komi: Any) -> float:
    try:
        value = float(komi)
    except (TypeError, ValueError):
        raise GameError(f"komi={komi!r}: give a number of points, such as 6.5") from None
    if not abs(value) <= MOST_KOMI or 2 * value != round(2 * value):
        raise GameError(f"komi={komi!r}: give whole or half points, such as 7 or 6.5")
    return value


def _handicap(handicap: Any, width: int, height: int) -> int:
    if isinstance(handicap, bool) or not isinstance(handicap, (int, np.integer)):
        raise GameError(f"handicap={handicap!r}: give a number of stones")
    if handicap:
        handicap_points(width, height, int(handicap))  # raises if there is no such handicap
    return int(handicap)


# --- the buckets -------------------------------------------------------------------------------------------------------------


def bucket_of(kind: type[Go]) -> int:
    """The largest side of a board in this bucket."""
    return math.isqrt(kind.state["empties"].shape[0])


def _register_stride(kind: type[Go]) -> None:
    """Make the distance between rows a constant for the compiler."""
    cells = np.uint64(stride_of(bucket_of(kind)))
    stride.register(TAG_PREFIX + kind.tag)(lambda state: cells)


_register_stride(Go)


class Go13(Go):
    """Go on boards up to 13x13."""

    state, actions = record_of(13), 13**2 + 1


class Go19(Go):
    """Go on boards up to 19x19."""

    state, actions = record_of(19), 19**2 + 1


class Go25(Go):
    """Go on boards up to 25x25."""

    state, actions = record_of(25), 25**2 + 1


KINDS = dict(zip(BUCKETS, (Go, Go13, Go19, Go25), strict=True))


def _bucket(size: Any) -> type[Go]:
    side = max(_sides(size))
    return next(kind for bucket, kind in KINDS.items() if side <= bucket)
