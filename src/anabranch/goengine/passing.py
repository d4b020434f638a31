"""When to pass, and how to clean up first where the rules require it: the moves at the end of a game.

**The search decides.** Playouts find what looks settled (`endgame.py`), and suggest a move: a neutral point, a pass, or one
that captures dead stones. It is played only if the search considers it as good as its own move: with as many visits, at least
a thousand, its win rate is not below the lower bound of any other move. To find out, the search runs again (`SecondLook`).

What is suggested if everything looks settled:

- **dead stones are agreed upon**: pass, after the neutral points under area scoring. If the opponent has passed, pass as soon
  as what is beyond doubt wins.
- **all stones count as alive**: pass if the board wins as it is; clean up if it only wins without the dead stones.
- **cleanup was requested** (`kgs-genmove_cleanup`): capture the dead stones, and pass when there are none.

Otherwise the search's move is played; but it passes only if no other move is as good.

**What agreement changes.** After two passes the search recognises only unconditionally dead stones, and the players may know
better. So where a pass would end a game with agreement, the same stones are searched with the opponent to move: if nothing the
opponent does changes the result, a pass is safe. Under territory scoring the search would also spend points on capturing dead
stones. There, what follows a move is counted by area, with the points that the move has cost: from then on moves are free, as
they are where dead stones need not be captured. If the whole board is alive or dead unconditionally (Benson), no search is
needed.
"""

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from anabranch.errors import IllegalMove
from anabranch.games.go import Go
from anabranch.games.go.dead import dead_stones
from anabranch.games.go.layout import cell_of
from anabranch.games.go.stones import is_eye
from anabranch.games.position import Position
from anabranch.goengine.endgame import Board, Settlement, settle
from anabranch.goengine.report import lower_bound, winrate_of
from anabranch.goengine.turns import go_of, resumed, under, with_turn
from anabranch.search.results.result import Move, Result
from anabranch.search.searcher import Search

MOST_EMPTY = 0.7  # share of the board: with more empty points nothing is settled
TRIES = 6  # moves that are tried for one purpose
FEWEST_VISITS, MOST_VISITS = 1_000, 10_000  # of a second look: standard errors of win rates of 1.6 % to 0.5 %
FEWEST_OF_NETWORKS = 50  # the same, for evaluations that are not wins and losses of playouts but win rates
HOPELESS = 0.03  # win rate: if no move has a lower bound above this, all are equally good
CLEANING = 0.1  # win rate by which a requested move that captures dead stones may seem worse
SHORTEST = 0.01  # seconds: a second look never gets less


class Worth(NamedTuple):
    """The search's estimate of a move, for the player to move, from 0 to 1."""

    winrate: float
    lower: float  # its lower bound, see `report.py`


class SecondLook:
    """A search that runs again on a position.

    another  makes a search for a position that is not on the game's path
    left     the seconds left for it; None: no limit. When they are over, the search's first result counts
    fewest   visits at least, if there is time
    """

    def __init__(
        self,
        search: Search,
        another: Callable[[Go], Search],
        left: Callable[[], float | None] = lambda: None,
        fewest: int = FEWEST_VISITS,
    ) -> None:
        self.search, self.another, self.left, self.fewest = search, another, left, fewest

    @property
    def is_over(self) -> bool:
        """Whether there is no time left."""
        left = self.left()
        return left is not None and left <= 0.0

    def more(self, position: Position, action: int, visits: int) -> Result:
        """The result after so many more visits for one move."""
        return self._run(self.search, position, visits, action)

    def elsewhere(self, position: Position, visits: int) -> Result:
        """The result of another search of another position."""
        return self._run(self.another(go_of(position)), position, visits)

    def _run(self, search: Search, position: Position, visits: int, action: int | None = None) -> Result:
        left = self.left()
        search.on_progress = None
        return search.run(position, visits=visits, seconds=None if left is None else max(left / 2, SHORTEST), action=action)


def may_be_over(position: Position, cleanup: bool = False) -> bool:
    """Whether enough of the board is filled for something to be settled, or a pass or cleanup request suggests that it is."""
    return cleanup or position.state.passes == 1 or int(position.state.empty_count) <= MOST_EMPTY * (position.game.actions - 1)


def decide(
    position: Position,
    result: Result,
    look: SecondLook,
    *,
    cleanup: bool = False,
    settled: Settlement | None = None,
    policy: Any = None,
    seed: int = 0,
) -> int:
    """The action to play: the search's, or an equally good one that the end of a game calls for. `result` is what the search
    found, and `settled` what playouts found, if they were already run."""
    if not may_be_over(position, cleanup) and result.best != position.game.actions - 1:
        return result.best
    settled = settle(position, policy, seed=seed) if settled is None else settled
    return _End(position, result, look, cleanup, settled, policy, seed).choose()


class _End:
    """A position that may be the end of a game. Leads and values are those of the player to move."""

    def __init__(
        self,
        position: Position,
        result: Result,
        look: SecondLook,
        cleanup: bool,
        settled: Settlement,
        policy: Any,
        seed: int,
    ) -> None:
        self.position, self.result, self.look, self.settled = position, result, look, settled
        self.cleanup, self.policy, self.seed = cleanup, policy, seed
        self.game, self.player = go_of(position), position.to_play
        self.side = 1 - 2 * self.player
        self.pass_ = self.game.actions - 1
        self.has_passed = int(position.state.passes) == 1  # the opponent
        self.is_area = self.game.rules.scoring == "area"
        self.is_agreed = self.game.rules.dead == "agreed"
        self.is_by_agreed_points = self.is_agreed and not self.is_area
        self.lead = self.side * settled.lead
        self.as_it_stands = self.side * self.game.lead(position, dead=[])
        self.is_in_doubt = any(
            chain.player == self.player and not chain.is_dead and not chain.is_sure for chain in settled.chains
        )  # one of the player's own chains that should live
        self.best = result.best
        self.visits = int(result.visits[self.best])
        self.known: dict[int, Worth] = {}

    def choose(self) -> int:
        """The first suggestion that the search considers as good as its own move; else that move."""
        if self.settled.is_proven and self.is_agreed and not self.cleanup:
            return self.pass_
        if self.cleanup and self.can_afford_cleaning():
            found = max(self.cleaning_moves(), key=lambda action: self.worth(action).lower, default=self.pass_)
            if found != self.pass_ and self.worth(found).winrate >= self.level() - CLEANING:
                return found
        for action in self.suggestions():
            if action == self.best != self.pass_ or self.is_as_good(action):
                return action
        return self.best if self.best != self.pass_ else self.best_but_for_passing()

    # --- suggestions ---

    def suggestions(self) -> Iterator[int]:
        """Moves that the end of a game calls for, if this is one."""
        wins_at_once = self.settled.surest[self.player] > 0 if self.is_agreed else self.as_it_stands > 0
        if self.has_passed and wins_at_once:
            yield self.pass_
        if not self.is_agreed and self.as_it_stands <= 0 < self.lead:
            yield from self.cleaning_moves()
        elif self.settled.is_settled:
            yield from self.leaving(self.settled.dame if self.is_area else [], self.lead)
            yield self.pass_
        elif self.is_by_agreed_points and self.is_wasted(self.best):
            yield from (action for action in self.promising() if not self.is_wasted(action))
            yield self.pass_

    def cleaning_moves(self) -> Iterator[int]:
        """Moves next to dead chains after which the game is still won; then any such moves."""
        least = 0.5 if self.lead > 0 else self.lead - 1
        yield from self.leaving(self.liberties(self.settled.stones("dead", 1 - self.player)), least)
        if not self.cleanup:
            yield from self.leaving(self.promising(), least)

    def can_afford_cleaning(self) -> bool:
        """Whether there is something to clean up, and it does not cost the game."""
        dead = self.settled.stones("dead", 1 - self.player)
        return bool(dead) and (self.is_area or self.lead > len(self.liberties(dead)))

    def leaving(self, actions: Iterable[int], least: float) -> Iterator[int]:
        """Those of these actions, by visits, that leave a lead of at least this much, if playouts are right."""
        for action in sorted(actions, key=lambda action: -self.result.visits[action])[:TRIES]:
            following = self.after(action)
            if following is not None and not self.look.is_over and self.lead_at(following) >= least:
                yield action

    def promising(self, moves: list[Move] | None = None) -> list[int]:
        """Moves that the search has tried, most visits first, except passes and own eyes; then untried ones by AMAF value: the
        search may have seen that a pass would win at once, and tried nothing else."""
        moves = self.result.moves if moves is None else moves
        ordered = sorted(moves, key=lambda move: (-move.visits, -2.0 if move.amaf_value is None else -move.amaf_value))
        return [move.action for move in ordered if move.action != self.pass_ and self.after(move.action) is not None][:TRIES]

    def best_but_for_passing(self) -> int:
        """The best move instead of the search's pass, if other moves are as good; else the pass."""
        good = [action for action in self.promising(self.alternatives) if self.is_as_good(action)]
        return max(good, key=lambda action: self.worth(action).lower, default=self.pass_)

    @functools.cached_property
    def alternatives(self) -> list[Move]:
        """The search's moves besides a pass. If a pass wins at once by its count, it tries nothing else; then the same stones
        are searched as if nobody had passed."""
        if self.look.is_over or not (self.is_agreed and self.has_passed):
            return self.result.moves
        return self.look.elsewhere(resumed(self.position), self.enough(int(self.result.visits.sum()))).moves

    # --- what the search thinks ---

    def is_as_good(self, action: int) -> bool:
        """Whether the search, with as many visits, finds no lower bound of another move above this one's win rate."""
        return self.worth(action).winrate >= self.level()

    def level(self) -> float:
        """The highest lower bound of all moves. A pass is included if it is the search's best move."""
        bounds = [worth.lower for action, worth in self.known.items() if action != self.pass_]
        if not self.is_by_agreed_points:
            bounds += [self.row_worth(move).lower for move in self.result.moves if move.visits and move.action != self.pass_]
        if self.best == self.pass_ and self.is_agreed and self.has_passed:
            bounds += [self.worth(action).lower for action in self.promising(self.alternatives)[:1]]
        found = max([*bounds, self.worth(self.best).lower])
        return 0.0 if found < HOPELESS else found

    def worth(self, action: int) -> Worth:
        """The estimate of a move, from as many visits as the search's own move has or gets; 0 if superko forbids it."""
        if action not in self.known:
            try:
                self.known[action] = self.worth_of_passing() if action == self.pass_ else self.worth_of_playing(action)
            except IllegalMove:
                self.known[action] = Worth(0.0, 0.0)
        return self.known[action]

    def worth_of_playing(self, action: int) -> Worth:
        """The estimate of a move other than a pass."""
        if not self.is_by_agreed_points or self.look.is_over:
            return self.searched(action)
        return self.against(self.by_area(self.position.play(action), self.settled.dame.count(action)))

    def worth_of_passing(self) -> Worth:
        """The estimate of a pass. One that ends the game by agreement must also win by the agreed count, and under area scoring
        by the search's own count too: there, nothing is lost by making sure."""
        if not (self.is_by_agreed_points or self.cleanup or (self.is_agreed and self.has_passed)):
            return self.searched(self.pass_)
        waiting = with_turn(self.position, 1 - self.player)
        found = self.against(self.by_area(waiting) if self.is_by_agreed_points else waiting)
        if self.has_passed and not self.cleanup:
            ends = [self.lead, self.side * self.game.lead(self.position.play(self.pass_))][: 1 + self.is_area]
            found = min([found, *(self.bounded(self.rate(lead), self.enough(self.visits)) for lead in ends)])
        return found

    def searched(self, action: int) -> Worth:
        """The search's estimate of a move."""
        move = self.row(self.result, action)
        missing = self.enough(self.visits) - move.visits
        if missing > 0 and self.look.is_over:  # an uncertain estimate is not trusted
            lower = self.row_worth(move).lower
            return Worth(lower, lower)
        return self.row_worth(self.row(self.look.more(self.position, action, missing), action) if missing > 0 else move)

    def against(self, position: Position) -> Worth:
        """The player's estimate of a position with the opponent to move; 0 if there is no time for a search."""
        if self.look.is_over:
            return Worth(0.0, 0.0)
        if position.is_over:
            return self.bounded(winrate_of(position.returns[self.player]), self.enough(self.visits))
        found = self.look.elsewhere(position, self.enough(int(self.result.visits.sum())))
        reply = self.row(found, found.best).value
        return self.bounded(1.0 - self.share(found.value if reply is None else reply), self.enough(self.visits))

    def by_area(self, position: Position, filled: int = 0) -> Position:
        """A position under territory scoring, with the opponent to move, converted to area scoring, so that moves cost nothing
        from now on. Neutral points must gain nothing either, so komi offsets an odd one, if `filled` of them are gone."""
        odd = self.side * ((len(self.settled.dame) - filled) % 2)
        komi = int(position.state.half_komi) / 2 - int(position.state.balance) - odd
        game = Go((self.game.width, self.game.height), komi, self.game.rules.but(scoring="area"))
        return under(game, [position])[0]

    @staticmethod
    def rate(lead: float) -> float:
        """A lead at the end as a win rate."""
        return 1.0 if lead > 0 else 0.0 if lead < 0 else 0.5

    @staticmethod
    def bounded(rate: float, visits: int) -> Worth:
        """A win rate from so many visits."""
        return Worth(rate, lower_bound(rate, visits))

    def row_worth(self, move: Move) -> Worth:
        """The estimate in a row of the search's table."""
        return self.bounded(self.share(0.0 if move.value is None else move.value), move.visits)

    def share(self, value: Any) -> float:
        """A value of the search from 0 to 1: a win rate, or as much of the largest utility if it is played for points, too."""
        return winrate_of(value / self.look.search.game.value_range[1])

    @staticmethod
    def row(result: Result, action: int) -> Move:
        """A result's row for an action."""
        return next(move for move in result.moves if move.action == action)

    def enough(self, visits: int) -> int:
        """Visits for a second look to be as reliable as the first."""
        return min(max(visits, self.look.fewest), MOST_VISITS)

    # --- facts ---

    def after(self, action: int) -> Position | None:
        """The position after an action that is legal and does not fill an own eye."""
        state = self.position.state
        try:
            return None if is_eye(state, cell_of(state, action), self.player + 1) else self.position.play(action)
        except IllegalMove:
            return None

    def lead_at(self, position: Position) -> float:
        """The player's lead in another position, dead stones removed."""
        return self.side * self.game.lead(position, dead=dead_stones(position, policy=self.policy, seed=self.seed))

    def liberties(self, chains: list[list[int]]) -> set[int]:
        """All liberties of these chains."""
        return Board(self.position).liberties(stone for chain in chains for stone in chain)

    def is_wasted(self, action: int) -> bool:
        """Whether a move is played where everything looks decided, or in the player's own territory would cost the game."""
        if action == self.pass_:
            return False
        is_own = self.settled.owners[action] == self.side
        is_in_vain = self.settled.sure[action] and (is_own or self.lead > 0)
        return bool(is_in_vain or (is_own and 0 < self.lead <= 1 and not self.is_in_doubt))
