"""Review of a game of Go: how good each move of its main line was, and what a search would have played.

    found = review(sgf.load("game.sgf"), Options(visits=5000))
    found.swings(5)          # the moves that lost most
    found.side(BLACK).loss   # what black's moves lost on average

Every position is searched separately, from the same seed, with the engine's own search. Where both players pass in succession,
and the rules let them agree on dead stones, playouts find these (`dead.py`): a search would capture dead stones first.

**Two views.** A position's win rate must not depend on who is to move, but every search is biased in favour of the side to move
at its root: after each move the opponent explores bad replies as well. So the position after a move is judged twice: by the
search before the move, in which it gets as many visits as the preferred one, and by its own, in which the opponent moves.
One is biased towards the mover and the other towards the opponent; in their mean the bias cancels. No search comes before the
first position: there the loss of its move is what its own search says, the preferred move's win rate less that of the move
played, and the position's win rate is set above the next one by as much.

**Noise.** A win rate from n playouts has a standard error, sqrt(p (1 - p) / n). A loss, too, is the mean of two views: that of
the searches with the mover at their root, and that of those with the opponent there. Where searches are too short to understand
a position these differ by more than playouts explain. So the standard error of a loss is that of its playouts, or half the
difference between its views, whichever is larger. A loss below two standard errors is within the noise (`is_noise`).

With a network, losses are also known in points, and moves are ranked by them: where a game is decided, win rates hardly
change whatever is played.

No text here: `cli/show_review.py` prints, `review_chart.py` draws, `review_sgf.py` writes into the record, and
`review_summary.py` sums up.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from anabranch.errors import IllegalMove, SgfError
from anabranch.games.go.dead import dead_stones
from anabranch.games.position import Position
from anabranch.goengine.estimates import Estimator
from anabranch.goengine.game_tree import BLACK, COLOURS, GameTree, Node
from anabranch.goengine.report import Candidate, report_of
from anabranch.goengine.searches import Options, new_search, warm
from anabranch.goengine.turns import go_of, played, with_turn
from anabranch.search.results.result import Result
from anabranch.search.searcher import Search

DEFAULT_VISITS = 5_000  # per position, if there is no other limit, and up to as many again for the move played
NETWORK_VISITS = 50  # the same with a network
SIGNIFICANT = 2.0  # standard errors: one in forty losses that are only noise is larger
LOUD = 0.05  # a standard error of win rates at which only blunders stand out from good moves
INTERRUPTED = "Ctrl-C"  # why a search stopped: then the review stops too

Progress = Callable[[int, int], None]  # positions that are done, of how many


class Turn(NamedTuple):
    """A move of the main line."""

    number: int  # from 1
    node: Node
    player: int
    action: int
    before: Position  # with this player to move
    after: Position


@dataclass(frozen=True)
class Judgement:
    """The evaluation of a position. Win rates and lead are black's."""

    winrate: float
    lead: float  # points
    visits: int  # of the search; 0 where playouts judged the end of the game
    choice: int | None  # what should be played; None where the game is over
    line: tuple[str, ...] = ()  # and how it might go on, the choice first
    error: float = 0.0  # standard error of the win rate
    played: float | None = None  # the win rate after the move that was played; None: it was not searched
    played_error: float = 0.0
    played_lead: float | None = None  # the lead after the move that was played; None: not known
    ownership: np.ndarray | None = field(default=None, compare=False, repr=False)  # by point, 1 for black; None: not known


class Rate(NamedTuple):
    """Black's win rate in a position, from all its estimates, and its standard error."""

    winrate: float
    error: float


@dataclass(frozen=True)
class Reviewed:
    """A move and its judgements. Where the win rates are not given, the judgements' own are used."""

    turn: Turn
    before: Judgement
    after: Judgement
    rate_before: Rate | None = None
    rate_after: Rate | None = None

    @property
    def black_rates(self) -> tuple[Rate, Rate]:
        """Black's win rate before and after."""
        before = self.rate_before or Rate(self.before.winrate, self.before.error)
        return before, self.rate_after or Rate(self.after.winrate, self.after.error)

    @property
    def error(self) -> float:
        """The standard error of the loss."""
        before, after = self.black_rates
        playouts = math.hypot(before.error, after.error)
        if self.before.played is None:
            return playouts
        own = (self.before.winrate - self.before.played) * (1 if self.turn.player == BLACK else -1)  # the mover's view
        return max(playouts, abs(self.loss - own))  # the opponent's is as far away on the other side

    @property
    def is_noise(self) -> bool:
        """Whether the loss is within the noise."""
        return self.loss < SIGNIFICANT * self.error

    @property
    def name(self) -> str:
        """The move's name."""
        return self.turn.before.game.name_of(self.turn.action)

    @property
    def rates(self) -> tuple[float, float]:
        """The mover's win rate before and after."""
        before, after = (rate.winrate for rate in self.black_rates)
        return (before, after) if self.turn.player == BLACK else (1.0 - before, 1.0 - after)

    @property
    def loss(self) -> float:
        """What the move cost the mover, from 1 to -1."""
        before, after = self.rates
        return before - after

    @property
    def points_lost(self) -> float | None:
        """What the move cost the mover in points: the mean of what both searches say of it. None where only playouts could
        say, which know win rates much better than points."""
        if self.before.played_lead is None or self.after.visits == 0:
            return None
        side = 1 if self.turn.player == BLACK else -1
        return side * (self.before.lead - (self.before.played_lead + self.after.lead) / 2)

    @property
    def points_error(self) -> float:
        """How far the two searches are apart in this, each from their mean; 0 where points are not known."""
        if self.points_lost is None or self.before.played_lead is None:
            return 0.0
        return abs(self.before.played_lead - self.after.lead) / 2

    @property
    def lead_after(self) -> float:
        """Black's lead after the move, in points, from both searches where both tell it."""
        if self.points_lost is None or self.before.played_lead is None:
            return self.after.lead
        return (self.before.played_lead + self.after.lead) / 2

    @property
    def cost(self) -> float:
        """What moves are ranked by: points lost, or win rate where points are not known."""
        return self.loss if self.points_lost is None else self.points_lost

    @property
    def is_first_choice(self) -> bool:
        """Whether the search would have played it."""
        return self.turn.action == self.before.choice

    def to_dict(self) -> dict[str, Any]:
        """For programs."""
        preferred = None if self.before.choice is None else self.turn.before.game.name_of(self.before.choice)
        return {
            "number": self.turn.number,
            "player": COLOURS[self.turn.player],
            "move": self.name,
            "loss": self.loss,
            "error": self.error,
            "within_noise": self.is_noise,
            "points_lost": self.points_lost,
            "points_error": None if self.points_lost is None else self.points_error,
            "first_choice": self.is_first_choice,
            "preferred": preferred,
            "pv": list(self.before.line),
            "black_winrate": [rate.winrate for rate in self.black_rates],
            "black_lead": [self.before.lead, self.lead_after],
        }


class Side(NamedTuple):
    """How one player did."""

    moves: int
    loss: float  # of a move, on average
    first_choices: int


@dataclass
class Review:
    """All reviewed moves, in order."""

    tree: GameTree
    options: Options
    moves: list[Reviewed] = field(default_factory=list)
    is_complete: bool = True  # False if it was interrupted

    @property
    def curve(self) -> list[tuple[int, float]]:
        """Black's win rate by number of moves: before the first reviewed move, and after each."""
        if not self.moves:
            return []
        first = self.moves[0]
        after = ((move.turn.number, move.black_rates[1].winrate) for move in self.moves)
        return [(first.turn.number - 1, first.black_rates[0].winrate), *after]

    @property
    def error(self) -> float:
        """The median standard error of a loss, over all moves."""
        return median(move.error for move in self.moves) if self.moves else 0.0

    @property
    def is_loud(self) -> bool:
        """Whether there are too few visits to say much."""
        return self.error > LOUD

    def swings(self, count: int) -> list[Reviewed]:
        """The moves that lost most, the worst first; none that lost nothing. Where points are known, by points."""
        ranked = [move for move in self.moves if move.points_lost is not None] or self.moves
        worst = sorted(ranked, key=lambda move: -move.cost)
        return [move for move in worst[:count] if move.cost > 0]

    @property
    def has_points(self) -> bool:
        """Whether losses are known in points."""
        return any(move.points_lost is not None for move in self.moves)

    def side(self, player: int) -> Side:
        """A summary of one player's moves."""
        own = [move for move in self.moves if move.turn.player == player]
        loss = sum(move.loss for move in own) / len(own) if own else 0.0
        return Side(len(own), loss, sum(move.is_first_choice for move in own))

    def to_dict(self, swings: int) -> dict[str, Any]:
        """For programs."""
        tree, options = self.tree, self.options
        return {
            "game": repr(tree.game),
            "players": {colour: player._asdict() for colour, player in zip(COLOURS, tree.players, strict=True)},
            "result": tree.result,
            "settings": {"visits": options.visits, "seconds": options.seconds, "seed": options.seed},
            "complete": self.is_complete,
            "error": self.error,
            "too_few_visits": self.is_loud,
            "sides": {colour: self.side(player)._asdict() for player, colour in enumerate(COLOURS)},
            "swings": [move.turn.number for move in self.swings(swings)],
            "moves": [move.to_dict() for move in self.moves],
        }


def review(
    tree: GameTree, options: Options, first: int = 1, last: int | None = None, on_progress: Progress | None = None
) -> Review:
    """Review the main line, or its moves from `first` to `last`. The engine's options that concern its searches apply; size,
    komi and rules are those of the record. Ctrl-C ends it early, with the moves reviewed so far."""
    turns = turns_of(tree, first, last)
    if options.visits is None and options.seconds is None:
        options = replace(options, visits=DEFAULT_VISITS if options.net is None else NETWORK_VISITS)
    turns = turns_of(tree, max(first - 1, 1), last)  # the search before the first move counts as well
    found = Review(tree, options)
    total = 1 + len(turns) + sum(turn.after != following.before for turn, following in pairwise(turns))
    done = 0

    def judged(position: Position, following: int | None, is_reviewed: bool) -> Judgement | None:
        nonlocal done
        try:
            judgement = judge(position, options, following, is_reviewed)
        except KeyboardInterrupt:  # between two searches
            return None
        done += 1
        if on_progress is not None:
            on_progress(done, total)
        return judgement

    known: tuple[Position, Judgement, Rate] | None = None  # the position after the last move
    for turn, following in zip(turns, [*turns[1:], None], strict=True):
        is_next = known is not None and known[0] == turn.before
        before = known[1] if known is not None and is_next else judged(turn.before, turn.action, True)
        goes_on = following is not None and following.before == turn.after
        after = judged(turn.after, _following(turn.node), goes_on) if before is not None else None
        if before is None or after is None:
            found.is_complete = False
            break
        rate = joined(before, after)
        start = known[2] if known is not None and is_next else begun(before, rate)
        known = turn.after, after, rate
        if turn.number >= first:
            found.moves.append(Reviewed(turn, before, after, start, rate))
    return found


def joined(before: Judgement, after: Judgement) -> Rate:
    """The win rate after a move, from the search before it and its own. At the end of a game, playouts alone decide."""
    if before.played is None or after.visits == 0:
        return Rate(after.winrate, after.error)
    return Rate((before.played + after.winrate) / 2, math.hypot(before.played_error, after.error) / 2)


def begun(before: Judgement, after: Rate) -> Rate:
    """The win rate of a position that has only its own search: that after the move, plus the loss by this search."""
    if before.played is None:
        return Rate(before.winrate, before.error)
    winrate = min(max(after.winrate + before.winrate - before.played, 0.0), 1.0)
    return Rate(winrate, math.hypot(before.error, before.played_error))


def turns_of(tree: GameTree, first: int = 1, last: int | None = None) -> list[Turn]:
    """The moves of the main line from `first` to `last`. Records are trusted: players may move out of turn, go on after two
    passes, or repeat a position (see `turns.py`). Passes after the end mean nothing and are left out."""
    found: list[Turn] = []
    number = 0
    position = tree.game.start()
    path = tree.playable_path()
    for place, node in enumerate(path):
        if node.sets_up or node is tree.root:
            position = tree.arranged(position, path, place)
        if node.action is None or node.colour is None or (position.is_over and node.action == tree.game.actions - 1):
            continue
        number += 1
        if last is not None and number > last:
            break
        try:
            before = with_turn(position, node.colour)
            position = played(before, node.action)
        except IllegalMove as error:
            raise SgfError(f"move {number}, by {COLOURS[node.colour]}: {error}") from None
        found.append(Turn(number, node, node.colour, node.action, before, position))
    if not found:
        raise SgfError("there are no moves in the game")
    if first > len(found):
        raise SgfError(f"there is no move {first} to begin with: the game has {len(found)} moves")
    return found[max(first - 1, 0) :]


def _following(node: Node) -> int | None:
    """The next move of the record."""
    return node.children[0].action if node.children else None


def judge(position: Position, options: Options, following: int | None = None, is_reviewed: bool = False) -> Judgement | None:
    """A search's judgement of a position, or that of playouts where players agree that the game is over; `following` is the
    move played next, which is searched as well if it is reviewed. None if it was interrupted."""
    game = go_of(position)
    warm(game, options)
    passes, agrees = game.actions - 1, game.rules.dead == "agreed"
    if position.is_over or (agrees and position.state.passes and following == passes):
        dead = dead_stones(position, policy=options.policy, seed=options.seed) if agrees else None
        lead = 0.0 if position.repeats else float(game.lead(position, dead))
        choice, line = (None, ()) if position.is_over else (passes, (game.name_of(passes),))
        return Judgement(1.0 if lead > 0 else 0.5 if lead == 0 else 0.0, lead, 0, choice, line)
    search = new_search(game, options, options.seed)
    result = search.run(position, visits=options.visits, seconds=options.seconds)
    if result.stopped_by == INTERRUPTED:
        return None
    report = report_of(result, position, Estimator(position, options)(search, result))
    best = report.moves[0]
    lead = 0.0 if best.points is None else best.points.lead
    played = best
    if is_reviewed and following is not None and following != best.action:
        candidate = candidate_of(search, result, following, best.visits, options)
        if candidate is None:
            return None
        played = candidate
    return Judgement(
        best.winrate if position.to_play == BLACK else 1.0 - best.winrate,
        lead if position.to_play == BLACK else -lead,
        int(result.visits.sum()),
        best.action,
        best.line,
        standard_error(best),
        (played.winrate if position.to_play == BLACK else 1.0 - played.winrate) if is_reviewed else None,
        standard_error(played) if is_reviewed else 0.0,
        _black(played, position) if is_reviewed and options.net is not None else None,
        None if report.ownership is None else report.ownership * (1 if position.to_play == BLACK else -1),
    )


def _black(move: Candidate, position: Position) -> float | None:
    """Black's lead after a move."""
    return None if move.points is None else move.points.lead * (1 if position.to_play == BLACK else -1)


def candidate_of(search: Search, result: Result, action: int, visits: int, options: Options) -> Candidate | None:
    """A search's report on a move after as many visits as another one has had; None if it was interrupted."""
    more = visits - int(result.visits[action])
    if more > 0:
        result = search.run(visits=more, seconds=options.seconds, action=action)
    if result.stopped_by == INTERRUPTED:
        return None
    by_network = None if options.net is None else Estimator(search.position, options)(search, result)
    report = report_of(result, search.position, by_network)
    return next(move for move in report.moves if move.action == action)


def standard_error(move: Candidate) -> float:
    """The standard error of a win rate: by a network's evaluations; or by playouts, where one pseudo-win and one pseudo-loss
    keep it above 0."""
    if move.points is not None and move.points.rate_error is not None:
        return move.points.rate_error
    rate = (move.winrate * move.visits + 1.0) / (move.visits + 2.0)
    return math.sqrt(rate * (1.0 - rate) / (move.visits + 2.0))
