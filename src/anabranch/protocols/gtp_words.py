"""The words of GTP: what a line is, what its arguments are, the table of commands. Above: `gtp.py`, which reads and answers.

A line is `[id] command arguments`; what follows `#` is a comment, control characters are nothing, tabs are blanks. A command
is a function of the session and its `Arguments`. It gives the text of the answer, raises `Refused` to answer with `?`, or
gives None if it has answered by itself. Modules of commands enter them into `COMMANDS` with `@command`.
"""

import math
import re
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from anabranch.errors import AnabranchError
from anabranch.games.go import Go
from anabranch.games.go.vertices import action_at
from anabranch.goengine.turns import COLOURS

if TYPE_CHECKING:
    from anabranch.protocols.gtp import Session

SYNTAX = "syntax error"
CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
INTERRUPT = re.compile(r"\s*#\s*interrupt\b", re.IGNORECASE)
MOST_DIGITS = 15


class Refused(AnabranchError):
    """A command fails; the message is the answer."""


class Line(NamedTuple):
    """A command as it was written."""

    number: str  # its id, which the answer repeats; may be empty
    name: str
    rest: str  # the arguments in one piece


def parsed(text: str) -> Line | None:
    """The command of a line; None if there is none."""
    plain = CONTROL.sub("", text).replace("\t", " ").partition("#")[0].strip()
    number, _, behind = plain.partition(" ")
    if not (number.isascii() and number.isdecimal()):
        number, behind = "", plain
    name, _, rest = behind.strip().partition(" ")
    return Line(number, name, rest.strip()) if plain else None


class Arguments:
    """The arguments of a command, taken one by one."""

    def __init__(self, rest: str, game: Go) -> None:
        self.rest = rest  # as they were written
        self.words = deque(rest.split())
        self.game = game

    def __bool__(self) -> bool:
        return bool(self.words)

    def word(self, what: str = "argument") -> str:
        """The next word."""
        if not self.words:
            raise Refused(f"{SYNTAX}: {what} is missing")
        return self.words.popleft()

    def integer(self, what: str = "number", least: int = 0) -> int:
        """The next word as a whole number."""
        word = self.word(what)
        if not re.fullmatch(rf"[+-]?[0-9]{{1,{MOST_DIGITS}}}", word) or int(word) < least:
            raise Refused(f"{SYNTAX}: {what} must be a whole number of {least} or more")
        return int(word)

    def number(self, what: str = "number", least: float = -math.inf, most: float = math.inf) -> float:
        """The next word as a number."""
        try:
            found = float(self.word(what))
        except ValueError:
            found = math.nan
        if not math.isfinite(found) or not least <= found <= most:
            bounds = f" of {least:g} or more" if math.isfinite(least) else ""
            bounds = f" from {least:g} to {most:g}" if math.isfinite(most) else bounds
            raise Refused(f"{SYNTAX}: {what} must be a number{bounds}")
        return found

    def player(self) -> int:
        """The next word as a colour."""
        found = self.player_if_any()
        if found is None:
            word = self.word("colour")
            raise Refused(f"{SYNTAX}: {word[:20]!r} is not a colour")
        return found

    def player_if_any(self) -> int | None:
        """The next word as a colour, if it is one."""
        if self.words and self.words[0].lower() in COLOURS:
            return COLOURS[self.words.popleft().lower()]
        return None

    def vertex(self) -> int:
        """The next word as a move: a point or a pass."""
        return vertex(self.word("vertex"), self.game)

    def point(self) -> int:
        """The next word as a point."""
        action = self.vertex()
        if action == self.game.actions - 1:
            raise Refused(f"{SYNTAX}: a pass is not a point")
        return action

    def moves(self) -> list[tuple[int, int]]:
        """All further words as pairs of colour and vertex."""
        found = []
        while self:
            player = self.player()
            found.append((player, self.vertex()))
        return found


def vertex(word: str, game: Go) -> int:
    """The action that is written like this."""
    action = action_at(word, game.width, game.height) if len(word) < 8 else None
    if action is None:
        raise Refused(f"{SYNTAX}: {word[:20]!r} is not a vertex")
    return action


def written(number: float) -> str:
    """A number as text that reads back as the same one."""
    return repr(number).removesuffix(".0")


Command = Callable[["Session", Arguments], str | None]
COMMANDS: dict[str, Command] = {}


def command(*names: str) -> Callable[[Command], Command]:
    """Enter a function into the table of commands."""

    def enter(function: Command) -> Command:
        COMMANDS.update(dict.fromkeys(names, function))
        return function

    return enter
