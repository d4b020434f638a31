"""Another program, spoken to over GTP (version 2): a client that expects the worst.

    client = GtpClient(["gnugo", "--mode", "gtp"], timeout=60)
    client.ask("boardsize 9")
    client.ask("genmove b")          # "E5"

Every answer has a time limit. A program that dies, hangs, or gives something other than an answer raises `GtpError`, which
says what happened and at which command, with the last lines of its stderr in `details`; after that it is closed. `? ...` is an
answer, too, and raises `GtpRefusal`; the program lives on. What is printed before the first answer is a banner and passed over.
"""

import time
from collections.abc import Sequence

from anabranch.arena.process import CannotStart, Child
from anabranch.arena.text import NAME, one_line
from anabranch.errors import ArenaError

MOST_LINES, MOST_CHARACTERS = 1_000, 1_000_000  # of one answer
LONGEST_QUOTED = 60  # characters of an answer, where errors show it
PATIENCE = 2.0  # seconds that a program gets to leave after `quit`
PREPARING = 5  # times as long as other answers: the first one, and that to a new board, for which programs compile or load


class GtpError(ArenaError):
    """The program died, hangs, or talks nonsense."""

    def __init__(self, kind: str, message: str, details: str = "") -> None:
        super().__init__(message)
        self.kind = kind  # "death", "silence", "nonsense", "refusal"
        self.details = details  # the last lines of its stderr


class GtpRefusal(GtpError):
    """The program answered with an error message (`? ...`)."""


class GtpClient:
    """A program that answers commands."""

    def __init__(self, command: Sequence[str], timeout: float) -> None:
        """`timeout`: seconds for an answer, unless `ask` is told otherwise."""
        self.command = list(command)
        self.timeout = timeout
        try:
            self.child = Child(command)
        except CannotStart as error:
            raise GtpError("death", str(error)) from None
        self._banner = True  # what comes before the first answer may be anything
        self._or_nothing("protocol_version", PREPARING * timeout)
        self.name = one_line(self._or_nothing("name"), NAME)
        self.version = one_line(self._or_nothing("version"), NAME)
        self.commands = frozenset(self._or_nothing("list_commands").split())

    def _or_nothing(self, command: str, timeout: float | None = None) -> str:
        try:
            return self.ask(command, timeout)
        except GtpRefusal:
            return ""

    # --- asking ---

    def ask(self, command: str, timeout: float | None = None) -> str:
        """The text of the answer to a command."""
        timeout = self.timeout if timeout is None else timeout
        deadline = time.monotonic() + timeout
        unasked = [] if self._banner else [line for line in self.child.waiting() if line.strip()]
        if unasked:
            raise self._failure("nonsense", f"said {quoted(*unasked)} unasked, before `{command}`")
        try:
            self.child.write(command, deadline)
            lines = self._paragraph(deadline)
            while self._banner and lines is not None and lines[0][:1] not in ("=", "?"):
                lines = self._paragraph(deadline)
        except TimeoutError:
            raise self._failure("silence", f"did not answer `{command}` within {timeout:g} s") from None
        if lines is None:
            raise self._failure("death", f"{self.child.ending} at `{command}`")
        return self._read(command, lines)

    def _paragraph(self, deadline: float) -> list[str] | None:
        """Lines up to an empty one; None if the program is dead. In a banner, an answer may follow at once."""
        lines: list[str] = []
        length = 0
        while len(lines) < MOST_LINES and length < MOST_CHARACTERS:
            line = self.child.read(deadline)
            if line is None:
                return None
            if line.strip():
                if self._banner and line[:1] in ("=", "?"):
                    lines, length = [], 0
                lines.append(line)
                length += len(line)
            elif lines:
                break
        return lines

    def _read(self, command: str, lines: list[str]) -> str:
        first, self._banner = lines[0], False
        is_too_long = len(lines) >= MOST_LINES or sum(map(len, lines)) >= MOST_CHARACTERS
        if first[:1] not in ("=", "?") or is_too_long:
            raise self._failure("nonsense", f"answered `{command}` with {quoted(*lines)}")
        text = "\n".join([first[1:].lstrip("0123456789").strip(), *(line.rstrip() for line in lines[1:])]).strip()
        if first[0] == "?":
            raise GtpRefusal("refusal", f"{self.what} refuses `{command}`: {quoted(text)}", self.child.last_words)
        return text

    def _failure(self, kind: str, what: str) -> GtpError:
        self.child.close()
        return GtpError(kind, f"{self.what} {what}", self.child.last_words)

    def nonsense(self, what: str) -> GtpError:
        """The error for an answer that is well formed and means nothing; the program is closed."""
        return self._failure("nonsense", what)

    @property
    def what(self) -> str:
        """The program, as errors call it."""
        return self.command[0].rpartition("/")[2]

    # --- leaving ---

    @property
    def is_alive(self) -> bool:
        """Whether it still runs."""
        return self.child.process.poll() is None

    def close(self) -> None:
        """Ask it to leave, and see to it."""
        if self.is_alive:
            self.child.write("quit")
            self.child.close(PATIENCE)
        else:
            self.child.close()


def quoted(*lines: str) -> str:
    """What a program said, as errors show it."""
    return repr(one_line(" ".join(lines), LONGEST_QUOTED))
