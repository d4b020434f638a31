"""Lines of GTP: each command is answered once, in order, with its id, and no answer is an internal error. The real engine
plays, on boards up to 9x9 and with few visits; records are read from memory and written nowhere."""

import contextlib
import io
import traceback
from dataclasses import replace
from typing import Any

from anabranch.errors import AnabranchError, GameError
from anabranch.goengine.engine import Engine
from anabranch.goengine.searches import Options
from anabranch.protocols import sgf
from anabranch.protocols.gtp import Session
from anabranch.protocols.gtp_words import COMMANDS, Line, parsed

LARGEST = 9  # boards beyond have other kernels
VISITS, TIME = 2, 0.05
MOST_LINES = 60
RECORD = "(;SZ[5]KM[0.5]AB[aa];B[cc];W[dd];AE[aa]PL[B];B[bb])"
TEXT = """
black white b w empty pass resign A1 C3 E5 J9 9 5 0 -1 1e9 nan 7.5 # maxVisits maxTime visits seconds
none absolute canadian byoyomi fischer dead alive seki dame chinese japanese tromp-taylor {"ko":"SIMPLE"} suicide true
ponder interrupt ownership minmoves maxmoves avoid allow A1,B2 interval rootInfo
"""
WORDS = [*TEXT.split(), *sorted(COMMANDS), "\n"]


class Small(Engine):
    """An engine that takes small boards and never thinks long, whatever it is told."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "options":
            visits, seconds = min(value.visits or VISITS, VISITS), min(value.seconds or TIME, TIME)
            value = replace(value, visits=visits, seconds=seconds)
        super().__setattr__(name, value)

    def resize(self, width: int, height: int) -> None:
        """Another board, if it is not too large."""
        if max(width, height) > LARGEST:
            raise GameError("that is too large for this test")
        super().resize(width, height)


class Telling(Session):
    """A session that says where an internal error comes from."""

    def call(self, line: Line) -> str | None:
        """Answer."""
        try:
            return super().call(line)
        except AnabranchError:
            raise
        except Exception:
            traceback.print_exc()
            raise


def _load(path: Any) -> sgf.GameTree:
    return sgf.read(RECORD)


def _save(tree: sgf.GameTree, path: Any) -> None:
    sgf.read(sgf.write(tree))


sgf.load, sgf.save = _load, _save  # nothing here touches a file


def check(data: bytes) -> None:
    """A session with these lines."""
    lines = data.split(b"\n")[:MOST_LINES]
    out, said = io.StringIO(), io.StringIO()
    with contextlib.redirect_stderr(said):
        Telling(Small(Options(size=5, memory="1MB", resign=0)), lines, out).run()
    assert not said.getvalue(), said.getvalue()
    asked = [line for line in (parsed(line.decode("utf-8", "replace")) for line in lines) if line is not None]
    leaves = next((place for place, line in enumerate(asked) if line.name == "quit"), len(asked))
    answers = out.getvalue().split("\n\n")
    assert answers.pop() == "" and len(answers) == len(asked[: leaves + 1]), f"{len(answers)} answers to {asked}"
    for line, answer in zip(asked, answers, strict=False):
        assert answer[0] in "=?" and answer[1:].startswith(line.number), f"{line}: {answer}"
        assert "internal error" not in answer, f"{line}: {answer}"
