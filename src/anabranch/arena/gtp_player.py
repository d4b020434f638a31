"""A program that speaks GTP, as a player of Go. Read first: `gtp_client.py`, `players.py`.

The program lives from game to game; if it failed, or if its command has `{seed}` in it, the next game begins with a fresh one.
It is told size, komi (with what white gets for handicap stones), the random seed where it understands `set_random_seed`, and
the time where there is a clock. Where what stands on the board counts (the referee is "area"), a pass is asked again by
`kgs-genmove_cleanup`, if the program knows that: it then takes dead stones off before it passes.
"""

from typing import Any

from anabranch.arena.gtp_client import PREPARING, GtpClient, GtpRefusal, quoted
from anabranch.arena.notation import ProgramSpec
from anabranch.arena.players import RESIGN, Player
from anabranch.games.game import Game
from anabranch.games.go import Go
from anabranch.games.go.vertices import action_at
from anabranch.games.position import Position
from anabranch.goengine.game_tree import stones_of

COLOURS = ("black", "white")
GRACE = 2.0  # seconds that a program gets above its clock before it counts as hanging; it has lost on time before that
SEED = "{seed}"  # in a command: the game's seed goes there
CLEANUP = "kgs-genmove_cleanup"


class ProgramPlayer(Player):
    """A program over GTP."""

    spec: ProgramSpec

    def __init__(self, spec: ProgramSpec, timeout: float, to_the_end: bool) -> None:
        """`timeout`: seconds for an answer where there is no clock. `to_the_end`: it must take dead stones off itself."""
        super().__init__(spec)
        self.timeout = timeout
        self.to_the_end = to_the_end
        self.client: GtpClient | None = None
        self.known: list[int] = []  # actions that the program was told of, or chose

    def begin(self, game: Game, seed: int, seconds: float | None) -> None:
        """An empty board, or the handicap."""
        assert isinstance(game, Go)
        if self.client is not None and (not self.client.is_alive or any(SEED in word for word in self.spec.command)):
            self.close()
        if self.client is None:
            self.client = GtpClient([word.replace(SEED, str(seed)) for word in self.spec.command], self.timeout)
        set_board(self.client, game, game.start())
        self.start, self.known = game.start().to_play, []
        if "set_random_seed" in self.client.commands:
            self.client.ask(f"set_random_seed {seed}")
        if seconds is not None and "time_settings" in self.client.commands:
            self.client.ask(f"time_settings {max(int(seconds), 1)} 0 0")

    def choose(self, position: Position, left: float | None, seat: int) -> int:
        """What the program answers to `genmove`."""
        assert self.client is not None
        timeout = self.timeout if left is None else left + GRACE
        for ply in range(len(self.known), len(position.moves)):
            name = position.game.name_of(position.moves[ply])
            self.client.ask(f"play {COLOURS[(self.start + ply) % 2]} {name}", timeout)
        colour = COLOURS[position.to_play]
        if left is not None and "time_left" in self.client.commands:
            self.client.ask(f"time_left {colour} {int(left)} 0", timeout)
        action = self._generate("genmove", colour, position.game, timeout)
        if action == position.game.actions - 1 and self.to_the_end and {CLEANUP, "undo"} <= self.client.commands:
            action = self._instead_of_pass(action, colour, position.game, timeout)
        self.known = [*position.moves, action]
        return action

    def _instead_of_pass(self, action: int, colour: str, game: Any, timeout: float) -> int:
        """The pass taken back and asked for again, so that dead stones are taken off first."""
        assert self.client is not None
        try:
            self.client.ask("undo", timeout)
        except GtpRefusal:
            return action
        return self._generate(CLEANUP, colour, game, timeout)

    def _generate(self, command: str, colour: str, game: Any, timeout: float) -> int:
        assert self.client is not None
        answer = self.client.ask(f"{command} {colour}", timeout)
        if answer.lower() == "resign":
            return RESIGN
        action = action_at(answer, game.width, game.height)
        if action is None:
            raise self.client.nonsense(f"answered `{command} {colour}` with {quoted(answer)}, which is not a move")
        return action

    def close(self) -> None:
        """End the program."""
        if self.client is not None:
            self.client.close()
            self.client = None


def set_board(client: GtpClient, game: Go, position: Position) -> None:
    """Size, komi, and the stones of a position; no stone is taken while they are put down one by one."""
    white_gets = game.komi + game.rules.bonus(game.handicap)
    size = f"boardsize {game.width}"
    if game.width != game.height:
        size = f"rectangular_boardsize {game.width} {game.height}"
    for command in (size, "clear_board"):
        client.ask(command, PREPARING * client.timeout)
    client.ask(f"komi {white_gets:g}")
    for action, player in stones_of(position).items():
        assert player is not None
        client.ask(f"play {COLOURS[player]} {game.name_of(action)}")
