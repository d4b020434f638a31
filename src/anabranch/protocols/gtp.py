"""GTP, version 2: an engine for programs that play Go, show it, or let others play.

    Session(Engine(Options(size=9, visits=1000)), sys.stdin.buffer, sys.stdout).run()

A thread reads lines; this one carries them out, one after the other. Only what is live looks ahead: an analysis ends when any
further line has arrived, a move when `# interrupt` has. An answer is `=` and a text, or `?` and what is wrong, with the
command's id, then an empty line. Nothing that is written to a session ends it, but `quit` and the end of the input.

    gtp_words.py       lines, arguments, the table of commands
    gtp_commands.py    the commands of GTP itself
    gtp_extensions.py  those that GNU Go, KGS and GoGui added
    gtp_analysis.py    lz-analyze, kata-analyze and what goes with them
"""

import contextlib
import queue
import sys
import threading
from collections.abc import Iterable
from typing import NamedTuple, TextIO

from anabranch.errors import AnabranchError
from anabranch.protocols import gtp_analysis, gtp_commands, gtp_extensions
from anabranch.protocols.engine import Engine, is_warm
from anabranch.protocols.gtp_words import COMMANDS, INTERRUPT, Arguments, Line, Refused, parsed

__all__ = ["Arrived", "Session"]

COMMANDS_FROM = (gtp_commands, gtp_extensions, gtp_analysis)  # importing them fills the table
LONGEST_MESSAGE = 500  # characters of a refusal
WARM_AFTER = 0.5  # seconds of silence before kernels are compiled ahead of time


class Arrived(NamedTuple):
    """A line, and when it came, by the engine's clock."""

    text: str
    at: float


class Session:
    """One conversation."""

    def __init__(self, engine: Engine, source: Iterable[str | bytes], out: TextIO, version: str | None = None) -> None:
        """`version`: what to answer to the command of that name, for clients that ask for a certain one."""
        self.engine = engine
        self.version = version
        self.is_over = False
        self.began = 0.0  # when the present command did: when it arrived, or the one before it was done
        self.number = ""  # its id
        self._source = source
        self._out = out
        self._lines: queue.SimpleQueue[Arrived | None] = queue.SimpleQueue()  # None: the end
        self._ahead: list[Arrived | None] = []  # looked at, not carried out yet
        self._done = 0.0  # when the last command was
        self._interrupts = 0  # read, and their turn has not come
        self._lock = threading.Lock()

    def run(self) -> None:
        """Answer until the end."""
        threading.Thread(target=self._read, name="anabranch-gtp-reader", daemon=True).start()
        try:
            while not self.is_over:
                line = self._ahead.pop() if self._ahead else self._lines.get()
                if line is None:
                    break
                self.carry_out(line)
        finally:
            self.engine.rest()

    # --- reading ---

    def _read(self) -> None:
        try:
            for line in self._source:
                text = line.decode("utf-8", "replace") if isinstance(line, bytes) else line
                if INTERRUPT.match(text):
                    self._interrupt(1)
                self._lines.put(Arrived(text, self.engine.now()))
        except (OSError, ValueError):  # the stream was closed on us
            pass
        finally:
            self._lines.put(None)

    def _interrupt(self, change: int) -> None:
        with self._lock:
            self._interrupts += change

    @property
    def is_interrupted(self) -> bool:
        """Whether `# interrupt` has been read and waits for its turn: what runs now should end."""
        return self._interrupts > 0

    def wait_for_input(self, seconds: float | None = None) -> bool:
        """Wait until another line is there, or the end; whether it is."""
        if not self._ahead:
            try:
                self._ahead.append(self._lines.get(timeout=seconds))
            except queue.Empty:
                return False
        return True

    # --- answering ---

    def carry_out(self, line: Arrived) -> None:
        """Do what a line says."""
        if INTERRUPT.match(line.text):
            self._interrupt(-1)
        found = parsed(line.text)
        if found is None:
            return
        self.began, self.number = max(line.at, self._done), found.number
        try:
            answer = self.call(found)
        except AnabranchError as error:
            self.refuse(str(error))
        except Exception as error:
            print(f"anabranch: {found.name}: {type(error).__name__}: {error}", file=sys.stderr)
            self.refuse(f"internal error: {type(error).__name__}: {error}")
        else:
            if answer is not None:
                self.answer(answer)
        self._done = self.engine.now()
        if found.name in gtp_analysis.GENERATES:
            self._ponder()

    def _ponder(self) -> None:
        try:
            self.engine.ponder()
        except Exception as error:  # the answer is given: this is nobody's business
            print(f"anabranch: pondering failed: {error}", file=sys.stderr)

    def call(self, line: Line) -> str | None:
        """The answer to a command, or None if it was given already."""
        function = COMMANDS.get(line.name)
        if function is None:
            raise Refused("unknown command")
        return function(self, Arguments(line.rest, self.engine.game))

    def answer(self, text: str) -> None:
        """Success."""
        first, *others = text.split("\n")
        lines = [f"={self.number} {first}", *(line or " " for line in others)]  # an empty line would be the end
        self.write("\n".join(lines) + "\n\n")

    def refuse(self, message: str) -> None:
        """Failure."""
        plain = " ".join(message.split())
        self.write(f"?{self.number} {plain[:LONGEST_MESSAGE]}\n\n")

    def write(self, text: str) -> None:
        """Write at once; whoever does not listen any more ends the session."""
        try:
            with self._lock:
                self._out.write(text.encode("ascii", "backslashreplace").decode())
                self._out.flush()
        except (OSError, ValueError):
            self.is_over = True

    def warm(self) -> None:
        """Compile ahead of time, in the background, what the present board needs."""
        if is_warm(self.engine.game, self.engine.options):
            return
        waiting = threading.Timer(WARM_AFTER, _warm_quietly, [self.engine])
        waiting.daemon = True
        waiting.start()


def _warm_quietly(engine: Engine) -> None:
    with contextlib.suppress(AnabranchError):  # the command that needs it will say what is wrong
        engine.warm()
