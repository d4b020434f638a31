"""Who won: the game's own rules, the area as it stands, playouts, or GnuGo. Each verdict says who gave it.

GnuGo is told the moves, passes included, and asked for `final_score`. If it refuses one of them (suicide, a repetition that it
counts otherwise), it is shown the final stones instead. If it fails twice, the area as it stands decides, and the verdict says
so.
"""

import re
from typing import NamedTuple

from anabranch.arena.gtp_client import GtpClient, GtpError, GtpRefusal, quoted
from anabranch.arena.gtp_player import COLOURS, set_board
from anabranch.arena.match import AREA, GNUGO, PLAYOUTS, RULES
from anabranch.arena.notation import find_program
from anabranch.arena.text import one_line
from anabranch.errors import ArenaError
from anabranch.games.go import Go
from anabranch.games.go.score import final
from anabranch.games.position import Position

DEAD = {RULES: None, AREA: (), PLAYOUTS: "playouts"}  # which stones are, as `Go.lead` takes it
SCORE = re.compile(r"(?P<winner>[BW])\+(?P<lead>[0-9]+(?:\.[0-9]+)?)", re.IGNORECASE)


class Judgement(NamedTuple):
    """How a game ended."""

    points: float  # of player 0: 1, 0.5 or 0
    result: str  # B+3.5, 1-0, ...
    by: str  # who says so


class Referee:
    """Judges final positions; keeps GnuGo running between them."""

    def __init__(self, kind: str, timeout: float) -> None:
        self.kind = kind
        self.timeout = timeout
        self.client: GtpClient | None = None

    def judge(self, position: Position) -> Judgement:
        """The verdict on a position, whether or not the game is over."""
        game = position.game
        if not isinstance(game, Go):
            return by_returns(position)
        if position.is_over and position.repeats:
            return Judgement(0.5, "Void", "the rule on repetition")
        if self.kind == GNUGO:
            return self._by_gnugo(position)
        return by_lead(game.lead(position, DEAD[self.kind]), self.kind)

    def _by_gnugo(self, position: Position) -> Judgement:
        failure = ""
        for _ in range(2):
            try:
                return self._asked(position)
            except GtpError as error:
                failure = one_line(str(error))
                self.close()
        assert isinstance(position.game, Go)
        return by_lead(position.game.lead(position, DEAD[AREA]), f"area, since {failure}")

    def _asked(self, position: Position) -> Judgement:
        game = position.game
        assert isinstance(game, Go)
        if self.client is None:
            self.client = GtpClient(gnugo_command(game), self.timeout)
        try:
            set_board(self.client, game, game.start())
            for ply, action in enumerate(position.moves):
                self.client.ask(f"play {COLOURS[(game.start().to_play + ply) % 2]} {game.name_of(action)}")
        except GtpRefusal:
            set_board(self.client, game, position)
        answer = self.client.ask("final_score")
        score = SCORE.fullmatch(answer)
        if score is None and answer != "0":
            raise self.client.nonsense(f"answered `final_score` with {quoted(answer)}")
        lead = 0.0 if score is None else float(score["lead"]) * (1 if score["winner"].upper() == "B" else -1)
        return by_lead(lead, f"GNU Go {self.client.version}")

    def close(self) -> None:
        """End GnuGo, if it runs."""
        if self.client is not None:
            self.client.close()
            self.client = None


def gnugo_command(game: Go) -> list[str]:
    """How GnuGo is started to count as the game's rules do."""
    program = find_program(GNUGO)
    if program is None:
        raise ArenaError("the referee gnugo needs the program gnugo, which is not installed; install it or use --referee area")
    counting = "--chinese-rules" if game.rules.scoring == "area" else "--japanese-rules"
    suicide = ["--allow-suicide"] if game.rules.suicide else []
    return [program, "--mode", "gtp", "--quiet", counting, *suicide]


def by_lead(lead: float, by: str) -> Judgement:
    """The verdict on a game of Go in which black is ahead by so much."""
    return Judgement(1.0 if lead > 0 else 0.0 if lead < 0 else 0.5, final(lead), by)


def by_returns(position: Position) -> Judgement:
    """The verdict by what the game pays, rewards on the way included; a game that is not over is a draw."""
    if not position.is_over:
        return Judgement(0.5, "1/2-1/2", "the limit on plies")
    first, second = (end + paid for end, paid in zip(position.returns, position.rewards, strict=True))
    points = 0.5 if first == second else 1.0 if first > second else 0.0
    return Judgement(points, {1.0: "1-0", 0.5: "1/2-1/2", 0.0: "0-1"}[points], RULES)
