"""One game of a match, from its number to its result.

Whoever makes an illegal move, runs out of time, crashes, dies, hangs or talks nonsense has lost that game, and the result says
why; the next game is played all the same. What is wrong with the game itself (a rule that raises) ends the match with an error.
Read first: `match.py`, `players.py`. Above: `worker.py`.
"""

import functools
import time
import traceback
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from anabranch._version import __version__
from anabranch.arena.gtp_client import GtpError
from anabranch.arena.gtp_player import ProgramPlayer
from anabranch.arena.match import AREA, Match
from anabranch.arena.notation import PolicySpec, ProgramSpec, SearchSpec, Spec
from anabranch.arena.openings import LUCK, event, random_for
from anabranch.arena.players import RESIGN, Player, PolicyPlayer, SearchPlayer
from anabranch.arena.referee import Referee
from anabranch.arena.text import last_lines, one_line
from anabranch.errors import AnabranchError, ArenaError, GameError, IllegalMove
from anabranch.games.go import Go
from anabranch.games.position import Position
from anabranch.games.rules import CHANCE, EVERYONE

# How a game may end. The first three are results of play; the others are forfeits.
OVER, RESIGNATION, CAP = "played out", "resignation", "cap"
TIME, ILLEGAL, CRASH, SILENCE, NONSENSE = "time", "illegal move", "crash", "silence", "nonsense"
ENDINGS = (OVER, RESIGNATION, CAP)
OF_GTP = {"death": CRASH, "silence": SILENCE, "nonsense": NONSENSE, "refusal": NONSENSE}
LETTERS = {RESIGNATION: "R", TIME: "T"}  # of results in Go; F for other forfeits
MOST_PLAYERS = 6  # that a process keeps alive
TIMEOUT = 120.0  # seconds for an answer of a program where there is no clock

Note = Callable[[int | None, int], None]  # who is thinking (the match's first or second player), at which ply


@dataclass(frozen=True)
class Played:
    """What came of a game."""

    number: int
    black: int  # who was the game's player 0: 0 the first player of the match, 1 the second
    score: float  # of the match's first player: 1, 0.5 or 0
    result: str  # B+3.5, W+R, 1-0, ...
    ending: str  # one of the words above
    reason: str  # what happened, in a sentence, where there is more to say
    referee: str  # who decided
    moves: str  # their names
    plies: int
    seconds: tuple[float, float]  # that the first and the second player took
    version: str = __version__
    details: str = ""  # the last lines of a failed program's stderr, or a traceback

    @property
    def forfeit(self) -> bool:
        """Whether a player failed."""
        return self.ending not in ENDINGS


class Lost(Exception):
    """A player has lost before the end."""

    def __init__(self, seat: int, ending: str, reason: str = "", details: str = "") -> None:
        super().__init__(reason)
        self.seat, self.ending = seat, ending
        self.reason, self.details = one_line(reason), last_lines(details)


class Participants:
    """What a process keeps from game to game: players and referees that are alive."""

    def __init__(self, timeout: float = TIMEOUT, shared: Callable[[Spec], Spec] | None = None) -> None:
        """`shared`: gives a player as it is to be where others play beside it (`game_threads.py`)."""
        self.timeout = timeout
        self.shared = shared or (lambda spec: spec)
        self._players: OrderedDict[str, Player] = OrderedDict()
        self._referees: dict[str, Referee] = {}

    def players(self, match: Match) -> list[Player]:
        """Both players of a match."""
        return [self._player(match, side) for side in (0, 1)]

    def warm_up(self, match: Match) -> None:
        """Compile what this match needs: players of ours begin a game; programs are left alone."""
        for spec, player in zip(match.table.specs, self.players(match), strict=True):
            if not isinstance(spec, ProgramSpec):
                player.begin(match.table.game, 0, match.seconds)

    def _player(self, match: Match, side: int) -> Player:
        """Two players of the same text are two; those that were not needed for long are closed."""
        spec, table = match.table.specs[side], match.table
        key = repr((side, spec.text, match.game, match.visits, table.referee))
        if key not in self._players:
            self._players[key] = self._made(match, side)
        self._players.move_to_end(key)
        while len(self._players) > MOST_PLAYERS:
            self._players.popitem(last=False)[1].close()
        return self._players[key]

    def _made(self, match: Match, side: int) -> Player:
        spec = self.shared(match.table.specs[side])
        if isinstance(spec, ProgramSpec):
            return ProgramPlayer(spec, self.timeout, to_the_end=match.table.referee == AREA)
        if isinstance(spec, SearchSpec):
            return SearchPlayer(spec, {} if match.visits is None else {"visits": match.visits})
        assert isinstance(spec, PolicySpec)
        return PolicyPlayer(spec)

    def referee(self, match: Match) -> Referee:
        """Who judges this match."""
        key = f"{match.table.referee} {match.game}"
        if key not in self._referees:
            self._referees[key] = Referee(match.table.referee, self.timeout)
        return self._referees[key]

    def close(self) -> None:
        """End all of them."""
        for player in self._players.values():
            player.close()
        for referee in self._referees.values():
            referee.close()
        self._players.clear()
        self._referees.clear()

    def __enter__(self) -> "Participants":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Play:
    """A game that is going on."""

    def __init__(self, match: Match, number: int, participants: Participants, note: Note | None = None) -> None:
        self.match, self.number, self.participants = match, number, participants
        self.note = note or (lambda side, ply: None)
        self.side_of = (match.begins(number), 1 - match.begins(number))  # of the game's players 0 and 1
        self.position = match.opening(number)
        self.used = [0.0, 0.0]  # seconds, by the game's players

    def play(self) -> Played:
        """To the end."""
        try:
            self._to_the_end()
        except Lost as lost:
            return self._lost(lost)
        self.note(None, len(self.position.moves))
        judgement = self.participants.referee(self.match).judge(self.position)
        capped = not self.position.is_over
        reason = f"after {len(self.position.moves)} plies the board is judged as it stands" if capped else ""
        return self._played(judgement.points, judgement.result, CAP if capped else OVER, reason, judgement.by)

    def _to_the_end(self) -> None:
        players = self.participants.players(self.match)
        seats = [players[side] for side in self.side_of]
        luck = random_for(self.match.seed, self.number // 2, LUCK)
        for seat, player in enumerate(seats):
            seed = self.match.seed_of(self.number, self.side_of[seat])
            begin = functools.partial(player.begin, self.match.table.game, seed, self.match.seconds)
            self._guarded(seat, begin, AnabranchError)
        while not self.position.is_over and len(self.position.moves) < self.match.table.cap:
            if self.position.to_play == CHANCE:
                self.position = self.position.play(event(self.position, luck))
            elif self.position.to_play == EVERYONE:
                self._played_on((self._chosen(0, seats[0]), self._chosen(1, seats[1])), seats)
            else:
                seat = self.position.to_play
                self._played_on(self._chosen(seat, seats[seat]), seats)

    def _chosen(self, seat: int, player: Player) -> int:
        """What a player wants to play here, in time."""
        position, seconds = self.position, self.match.seconds
        left = None if seconds is None else seconds - self.used[seat]
        began = time.perf_counter()
        try:
            action = self._guarded(seat, functools.partial(player.choose, position, left, seat), (GameError, ArenaError))
        finally:
            self.used[seat] += time.perf_counter() - began
        if seconds is not None and self.used[seat] > seconds:
            raise Lost(seat, TIME, f"used {self.used[seat]:.2f} of {seconds:g} s")
        if action == RESIGN:
            raise Lost(seat, RESIGNATION)
        return int(action)

    def _played_on(self, move: Any, seats: list[Player]) -> None:
        """The game goes on with this action, or pair of them."""
        try:
            self.position = self.position.play(move)
        except IllegalMove as error:
            seat = self._culprit(move)
            seats[seat].close()
            raise Lost(seat, ILLEGAL, str(error)) from None

    def _culprit(self, move: Any) -> int:
        """Whose action is not legal; if both players' are, the first one's."""
        if self.position.to_play != EVERYONE:
            return self.position.to_play
        legal: Any = self.position.legal_actions
        return 0 if move[0] not in legal[0] else 1

    def _guarded(self, seat: int, work: Callable[[], Any], passed_on: Any) -> Any:
        """What a player answers; if it fails, it has lost. Errors that are not the player's fault alone are passed on."""
        self.note(self.side_of[seat], len(self.position.moves))
        try:
            return work()
        except GtpError as error:
            ending = OF_GTP[error.kind]
            if ending == SILENCE and self.match.seconds is not None:
                ending = TIME
            raise Lost(seat, ending, str(error), error.details) from None
        except passed_on:
            raise
        except Exception as error:
            where = traceback.format_exc(limit=-8)
            raise Lost(seat, CRASH, f"{type(error).__name__}: {error}", where) from None

    # --- results ---

    def _lost(self, lost: Lost) -> Played:
        winner = 1 - lost.seat
        if isinstance(self.match.table.game, Go):
            result = f"{'BW'[winner]}+{LETTERS.get(lost.ending, 'F')}"
        else:
            result = "1-0" if winner == 0 else "0-1"
        by = "the opponent" if lost.ending == RESIGNATION else "the arena"
        return self._played(float(winner == 0), result, lost.ending, lost.reason, by, lost.details)

    def _played(self, points: float, result: str, ending: str, reason: str, by: str, details: str = "") -> Played:
        """`points` are those of the game's player 0."""
        black = self.side_of[0]
        return Played(
            number=self.number,
            black=black,
            score=points if black == 0 else 1.0 - points,
            result=result,
            ending=ending,
            reason=reason,
            referee=by,
            moves=move_names(self.position, self.match.table.game),
            plies=len(self.position.moves),
            seconds=(round(self.used[self.side_of[0]], 4), round(self.used[self.side_of[1]], 4)),
            details=details,
        )


def play_game(match: Match, number: int, participants: Participants, note: Note | None = None) -> tuple[Played, Position]:
    """A game and where it ended."""
    try:
        play = Play(match, number, participants, note)
        return play.play(), play.position
    except ArenaError:
        raise
    except AnabranchError as error:
        raise ArenaError(f"game {number}: {error}") from error


def move_names(position: Position, game: Any) -> str:
    """The moves as people write them, events of chance included, divided by blanks."""
    names, here = [], game.start()  # whose turn it is does not depend on the board
    for move in position.moves:
        if isinstance(move, tuple):
            names.append(game.pair_name(move))
        else:
            names.append(game.event_name(move) if here.to_play == CHANCE else game.name_of(move))
        here = here.play(move) if game.events else here
    return " ".join(name.replace(" ", "_") for name in names)
