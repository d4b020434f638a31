"""A game of Go gone through again: what each move of its main line was worth, and what a search would have played.

    found = review(sgf.load("game.sgf"), Options(visits=5000))
    found.swings(5)          # the moves that lost most
    found.side(BLACK).loss   # what black's moves lost on average

Every position is searched by itself, from the same seed: what is said of a move does not depend on the others. A move's loss is
the mover's win rate before it less that after it, both by searches of their own; so it is below 0 now and then. Where both pass
one after the other, and the rules let players agree on what is dead, playouts find the dead stones (`dead.py`): a search would
take dead stones off first.

A position's win rate must not depend on who is to move. The mean over all moves that were tried (`Result.value`) is too low for
the mover, who tried bad ones as well; the value of the best move is too high, since behind it the opponent did so. In their
middle, and with a search that explores little, both are nearly gone: in trials a move that the search itself would play then
lost next to nothing, where by the value of best moves it seemed to lose a good deal.

No text here: `cli/show_review.py` prints, `review_chart.py` draws, `review_sgf.py` writes into the record.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple

from anabranch.errors import IllegalMove, SgfError
from anabranch.games.go.dead import dead_stones
from anabranch.games.position import Position
from anabranch.protocols.engine import Options, new_search, warm
from anabranch.protocols.estimate import estimate
from anabranch.protocols.live import report_of
from anabranch.protocols.sgf_tree import BLACK, COLOURS, GameTree, Node
from anabranch.protocols.turns import go_of, played, with_turn

DEFAULT_VISITS = 5_000  # of each position, if nothing else says how long; 9x9: some ten seconds a game
EXPLORATION = 0.3  # UCT's constant, if nothing else is said: see above
INTERRUPTED = "Ctrl-C"  # why a search stopped: then the review does so too

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
    """What is thought of a position. Win rate and lead are black's."""

    winrate: float
    lead: float  # points
    visits: int  # of the search; 0 where playouts judged the end of the game
    choice: int | None  # what should be played; None where the game is over
    line: tuple[str, ...] = ()  # and how it might go on, the choice first


@dataclass(frozen=True)
class Reviewed:
    """A move and what became of it."""

    turn: Turn
    before: Judgement
    after: Judgement

    @property
    def name(self) -> str:
        """How people write the move."""
        return self.turn.before.game.name_of(self.turn.action)

    @property
    def rates(self) -> tuple[float, float]:
        """The mover's win rate before and after."""
        before, after = self.before.winrate, self.after.winrate
        return (before, after) if self.turn.player == BLACK else (1.0 - before, 1.0 - after)

    @property
    def loss(self) -> float:
        """What the move cost the mover, from 1 to -1."""
        before, after = self.rates
        return before - after

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
            "first_choice": self.is_first_choice,
            "preferred": preferred,
            "pv": list(self.before.line),
            "black_winrate": [self.before.winrate, self.after.winrate],
            "black_lead": [self.before.lead, self.after.lead],
        }


class Side(NamedTuple):
    """How one player did."""

    moves: int
    loss: float  # of a move, on average
    first_choices: int


@dataclass
class Review:
    """All moves that were gone through, in order."""

    tree: GameTree
    options: Options
    moves: list[Reviewed] = field(default_factory=list)
    is_complete: bool = True  # whether nobody interrupted it

    @property
    def curve(self) -> list[tuple[int, float]]:
        """Black's win rate after so many moves: before the first that was gone through, and after each."""
        if not self.moves:
            return []
        first = self.moves[0]
        return [(first.turn.number - 1, first.before.winrate), *((m.turn.number, m.after.winrate) for m in self.moves)]

    def swings(self, count: int) -> list[Reviewed]:
        """The moves that lost most, the worst first; none that lost nothing."""
        worst = sorted(self.moves, key=lambda move: -move.loss)
        return [move for move in worst[:count] if move.loss > 0]

    def side(self, player: int) -> Side:
        """One player's moves in sum."""
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
            "sides": {colour: self.side(player)._asdict() for player, colour in enumerate(COLOURS)},
            "swings": [move.turn.number for move in self.swings(swings)],
            "moves": [move.to_dict() for move in self.moves],
        }


def review(
    tree: GameTree, options: Options, first: int = 1, last: int | None = None, on_progress: Progress | None = None
) -> Review:
    """Go through the main line, or through its moves from `first` to `last`. Options of the engine that have to do with its
    searches count; size, komi and rules are those of the record. Ctrl-C ends it early, with what is there by then."""
    turns = turns_of(tree, first, last)
    if options.visits is None and options.seconds is None:
        options = replace(options, visits=DEFAULT_VISITS)
    options = replace(options, select="uct", exploration=EXPLORATION if options.exploration is None else options.exploration)
    found = Review(tree, options)
    total = 1 + len(turns) + sum(turn.after != following.before for turn, following in pairwise(turns))
    done = 0

    def judged(position: Position, following: int | None) -> Judgement | None:
        nonlocal done
        try:
            judgement = judge(position, options, following)
        except KeyboardInterrupt:  # between two searches
            return None
        done += 1
        if on_progress is not None:
            on_progress(done, total)
        return judgement

    known: tuple[Position, Judgement] | None = None  # the position after the last move
    for turn in turns:
        before = known[1] if known is not None and known[0] == turn.before else judged(turn.before, turn.action)
        after = judged(turn.after, _following(turn.node)) if before is not None else None
        if before is None or after is None:
            found.is_complete = False
            break
        known = turn.after, after
        found.moves.append(Reviewed(turn, before, after))
    return found


def turns_of(tree: GameTree, first: int = 1, last: int | None = None) -> list[Turn]:
    """The moves of the main line from `first` to `last`. Records are believed: players may move out of turn, or go on after two
    passes, or repeat a position (see `turns.py`). Passes behind the end say nothing and are left out."""
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
    """What was played next."""
    return node.children[0].action if node.children else None


def judge(position: Position, options: Options, following: int | None = None) -> Judgement | None:
    """What a search thinks of a position, or playouts where players agree that the game is over; `following` is what they play
    next. None if it was interrupted."""
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
    report = report_of(result, position)
    best = report.moves[0]
    winrate = (best.winrate + report.winrate) / 2
    ending = estimate(position, result.pv, options.policy, options.seed)
    lead = ending.leads(position.to_play, winrate, report.visits).lead
    if position.to_play != BLACK:
        winrate, lead = 1.0 - winrate, -lead
    return Judgement(winrate, lead, report.visits, best.action, best.line)
