"""GTP, version 2: an engine for programs that play Go, show it, or let others play.

    Session(Engine(Options(size=9, visits=1000)), read_lines(sys.stdin.fileno()), sys.stdout).run()

A thread reads lines; this one carries them out, one after the other. Only what is live looks ahead: an analysis ends when any
further line has arrived, a move when `# interrupt` has. An answer is `=` and a text, or `?` and what is wrong, with the
command's id, then an empty line. Nothing that is written to a session ends it, but `quit` and the end of the input; what was
asked before that is still answered, so that a script can be piped in. If nobody listens any more all ends at once (`hang_up`).
Nothing is answered before all that the board needs is compiled (`get_ready`): whoever has had an answer may start a clock.

    gtp_words.py       lines, arguments, the table of commands
    gtp_commands.py    the commands of GTP itself
    gtp_extensions.py  those that GNU Go, KGS and GoGui added
    gtp_analysis.py    lz-analyze, kata-analyze and what goes with them
    gtp_parameters.py  KataGo's parameters
    gtp_network.py     what the network says without a search
"""

import contextlib
import sys
import threading
from collections.abc import Iterable
from typing import Any, NamedTuple, TextIO

from anabranch import interrupts
from anabranch.errors import AnabranchError
from anabranch.goengine.engine import Engine
from anabranch.goengine.searches import is_warm
from anabranch.protocols import gtp_analysis, gtp_commands, gtp_extensions, gtp_network, gtp_parameters
from anabranch.protocols.gtp_words import COMMANDS, INTERRUPT, Arguments, Line, Refused, parsed
from anabranch.protocols.lines import TOO_LONG, ReadAhead, is_too_long, text_of

__all__ = ["Arrived", "Session"]

COMMANDS_FROM = (gtp_commands, gtp_extensions, gtp_analysis, gtp_parameters, gtp_network)  # importing them fills the table
LONGEST_MESSAGE = 500  # characters of a refusal


class Arrived(NamedTuple):
    """A line, and when it came, by the engine's clock."""

    text: str
    at: float
    is_too_long: bool  # then the text is only its beginning


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
        self._lines = ReadAhead()
        self._done = 0.0  # when the last command was
        self._interrupts = 0  # read, and their turn has not come
        self._lock = threading.Lock()
        self._leaves = False  # `quit` was read
        self._compiler: threading.Thread | None = None
        self._tried: Any = None  # the game and options that kernels were compiled for

    def run(self) -> None:
        """Answer until the end."""
        threading.Thread(target=self._read, name="anabranch-gtp-reader", daemon=True).start()
        try:
            while not self.is_over:
                line = self._lines.take()
                if line is None:
                    break
                self.carry_out(line)
                interrupts.check()
        finally:
            self._lines.drop()
            self.engine.stop()

    def hang_up(self) -> None:
        """Nobody listens any more: what runs ends, and so does the session."""
        self.is_over = True
        self._lines.drop()

    # --- reading ---

    def _read(self) -> None:
        try:
            for line in self._source:
                text = text_of(line)
                if INTERRUPT.match(text):
                    self._interrupt(1)
                found = parsed(text)
                if found is not None and found.name == "quit":
                    self._leaves = True
                if not self._lines.put(Arrived(text, self.engine.now(), is_too_long(line)), len(line)):
                    break
        except (OSError, ValueError):  # the stream was closed on us
            pass
        finally:
            self._lines.close()

    def _interrupt(self, change: int) -> None:
        with self._lock:
            self._interrupts += change

    @property
    def is_interrupted(self) -> bool:
        """Whether what runs now should end: `# interrupt` has been read and waits for its turn, or nobody listens."""
        return self._interrupts > 0 or self.is_over

    @property
    def has_input(self) -> bool:
        """Whether another line has arrived."""
        return self._lines.has_any

    def wait_for_input(self) -> None:
        """Wait until another line is there, or the end."""
        self._lines.wait()

    # --- answering ---

    def carry_out(self, line: Arrived) -> None:
        """Do what a line says."""
        if INTERRUPT.match(line.text):
            self._interrupt(-1)
        found = parsed(line.text)
        if found is None:
            return
        self.get_ready()
        self.began, self.number = max(line.at, self._done), found.number
        try:
            if line.is_too_long:
                raise Refused(TOO_LONG)
            answer = self.call(found)
            self.get_ready()  # it may have changed the board
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
            self.hang_up()

    # --- compiling ---

    def warm(self) -> None:
        """Compile, in the background, what the present board needs."""
        engine = self.engine
        needed = type(engine.game), engine.options
        if self._tried != needed and not is_warm(engine.game, engine.options):
            self._tried = needed
            self._compiler = threading.Thread(target=self._warm_quietly, name=interrupts.WORKER, daemon=True)
            self._compiler.start()

    def get_ready(self) -> None:
        """The same, and wait for it. Its time is nobody's. But if the input has ended, or `quit` was read, no clock runs, and
        there may be nothing to be compiled for."""
        self.warm()
        compiler = self._compiler
        if compiler is not None:
            self._lines.wait_for(lambda: self._compiler is None or self._leaves or self.is_over)
            self._done = self.engine.now()

    def _warm_quietly(self) -> None:
        with contextlib.suppress(Exception):  # the command that needs it will say what is wrong
            self.engine.warm()
        self._compiler = None
        self._lines.wake()
