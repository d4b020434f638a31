"""One search under a random script: every public call, some with a fault in the middle, and a look at everything after each.

The calls are in `calls.py`. The script keeps by itself where the root must be (`Line`) and how many visits it must have. A
call that is not interrupted must succeed, or be refused for a reason that is known (REFUSALS); one that is interrupted is done
or not done.
"""

import contextlib
import re
import signal
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import anabranch as ab
from anabranch.games.objects import ObjectGame
from anabranch.jit import COMPILED
from anabranch.search.graph_options import grouped
from tests.search.invariants import total_visits
from tests.soak.catalogue import Drawn, chance, number, one_of
from tests.soak.checks import check_memory, check_result, facts_of, has_root, is_large, legal_at, state_of
from tests.soak.faults import MANNERS, OURS, RAISED, Advice, Fault, Opinion, by_clock, by_line

DEEPEST_SIGNAL = 3_000 if COMPILED else 20_000  # lines
# Reasons for which `Search` may refuse what it is asked, here or at once.
REFUSALS = [
    r"memory=.* is too little",
    r"nothing was searched from here yet",
    r"there is nothing to take back",
    r"the game is over",
    r"is for graphs that were searched",
    r"is not for CatchUp",
    r"positions that are Python objects are not saved",
    r"must know how many simulations",
    r"ask\(\) wants a compiled game",
    r"is for evaluators in Python",
    r"is running in the background",
    r"no search is running in the background",
    r"is not legal",
    r"leaves of ask\(\) are out",
    r"this search is told values with tell",
    r"there is no root yet",
]
EVALUATOR_REFUSED = r"evaluator|heuristic|f\(state\)"


class Line(NamedTuple):
    """Where the root is, and where `back` leads."""

    position: Any
    before: tuple[Any, ...] = ()


@dataclass
class Call:
    """A public call: how it is made, and where the root is when it is done."""

    name: str
    make: Callable[[], Any]
    after: Line
    leaves_all: bool = False  # whether it changes nothing that a user can see, or all at once
    may_be: list[Any] = field(default_factory=list)  # other states that it may leave: what a file held
    then: Callable[[], None] | None = None  # what must hold besides, if it succeeds


class Wrong(AssertionError):
    """Something that must not be."""


class Trial:
    """A search under a script."""

    def __init__(self, drawn: Drawn, random: np.random.Generator, folder: Path, told: Callable[[str], None]) -> None:
        self.drawn, self.random, self.folder, self.tell = drawn, random, folder, told
        self.options = dict(drawn.options)
        self.search = ab.Search(drawn.game, **grouped(self.options))
        self.game = self.search.game
        self.line = Line(None)
        self.visits: int | None = None  # of the root, if they are known
        self.saved: Any = None  # the state that is in the file,
        self.saved_position: Any = None  # and where its root is
        self.told = False  # whether others evaluate for it, from now on
        self.timed = chance(random, 0.3)  # whether the clock decides something; then it is not the same every time
        self.script: list[str] = []
        self.counts: Counter[str] = Counter()

    def play(self, calls: Sequence[Callable[["Trial"], Call | None]]) -> None:
        """So many of these calls."""
        for _ in range(number(self.random, 20, 60)):
            call = one_of(self.random, calls)(self)
            if call is not None:
                self.step(call)

    # --- a step -------------------------------------------------------------------------------------------------------------

    def step(self, call: Call) -> None:
        fault, context = self.a_fault()
        self.script.append(call.name + (f" with {fault}" if fault else ""))
        self.tell(self.script[-1])
        self.counts["calls"] += 1
        before, result, error = self.state(), None, None
        try:
            with context:
                result = call.make()
        except RAISED as raised:
            if hides_a_fault(raised):
                raise
            error = raised
        except ab.AnabranchError as refused:
            self.check_reason(refused, fault)
            error = refused
        self.go_right()
        self.come_to_rest()
        if error is not None:
            self.script[-1] += f": {type(error).__name__}: {str(error)[:60]}"
            self.counts["interrupted" if isinstance(error, RAISED) else "refused"] += 1
        self.settle(call, before, error)
        if error is None and call.then is not None:
            call.then()
        self.check(result)

    def a_fault(self) -> tuple[str, Any]:
        """Something that goes wrong during the next call; mostly nothing."""
        kind = number(self.random, 0, 9)
        if kind == 0:
            line = int(self.random.integers(1, DEEPEST_SIGNAL) ** self.random.random())
            which = one_of(self.random, [signal.SIGUSR1, signal.SIGUSR1, signal.SIGINT])
            return f"{which.name} at line {line}", by_line(line, which)
        if kind == 1 and self.timed:
            seconds = float(self.random.exponential(0.005))
            return f"a signal after {seconds:.4f} s", by_clock(max(seconds, 1e-6))
        talkers = [each for each in (self.options.get("evaluate"), self.options.get("heuristic")) if hasattr(each, "go_wrong")]
        if kind < 5 and talkers:
            talker, manner, calls = one_of(self.random, talkers), one_of(self.random, MANNERS), number(self.random, 1, 12)
            talker.go_wrong(calls, manner)
            return f"{type(talker).__name__} {manner} at call {calls}", contextlib.nullcontext()
        if kind == 5 and self.timed:
            end = one_of(self.random, ["raises", "stops"])
            self.search.on_progress = raise_fault if end == "raises" else lambda result: True
            return f"on_progress that {end}", contextlib.nullcontext()
        return "", contextlib.nullcontext()

    def go_right(self) -> None:
        self.search.on_progress = None
        for each in (self.options.get("evaluate"), self.options.get("heuristic")):
            if isinstance(each, (Opinion, Advice)):
                each.go_wrong(0, "")

    def come_to_rest(self) -> None:
        """After a call that was interrupted, a search may go on in the background, and leaves may be out."""
        if self.search._thread is not None:
            with contextlib.suppress(*RAISED, ab.errors.SearchError):
                self.search.stop()
        if self.search._leaves is not None:
            self.search.tell(self.search._leaves)

    def check_reason(self, error: ab.AnabranchError, fault: str) -> None:
        text = str(error)
        known = any(re.search(reason, text) for reason in REFUSALS)
        if fault and isinstance(error, ab.errors.EvaluatorError) and re.search(EVALUATOR_REFUSED, text):
            known = True
        if (
            fault and isinstance(error, ab.errors.GameError) and re.search(r": Alarm", text)
        ):  # a handler that raised within a rule
            known = True
        if not known:
            raise Wrong(f"refused: {type(error).__name__}: {text}") from error

    def settle(self, call: Call, before: Any, error: BaseException | None) -> None:
        """See where the root is."""
        there, here = self.is_at(call.after), self.is_at(self.line)
        if error is None and not there:
            raise Wrong(f"the root is at {self.search.position!r}, not at {call.after.position!r}")
        if not there and not here:
            raise Wrong(f"the root is at {self.search.position!r}: neither where it was nor where it should be")
        if call.may_be or not here or call.after.position is not self.line.position:
            self.visits = None
        if there and (error is None or not here):
            self.line = call.after
        elif call.leaves_all and is_known(before) and self.state() not in [before, *call.may_be]:
            raise Wrong("the call did not succeed, and what was found has changed")

    def is_at(self, line: Line) -> bool:
        same = facts_of(self.search.position) == facts_of(line.position)
        return same and len(self.search.rooted.before) == len(line.before)

    def state(self) -> Any:
        return None if has_root(self.search) and is_large(self.search) else state_of(self.search)

    # --- what must hold -----------------------------------------------------------------------------------------------------

    def check(self, result: Any) -> None:
        """After a call, if the search is at rest."""
        if not has_root(self.search):
            self.visits = None
            return
        visits = total_visits(self.search)
        if isinstance(result, ab.Result):
            self.check_run(result, visits)
        elif self.visits is not None and visits < self.visits:
            raise Wrong(f"the root had {self.visits} visits, and has {visits}")
        self.visits = visits
        if not is_large(self.search) or chance(self.random, 0.1):
            check_memory(self.search)
        check_result(self.search.result(), self.search)
        assert self.visits == total_visits(self.search)

    def check_run(self, result: ab.Result, visits: int) -> None:
        if self.visits is not None and result.stats.kept != self.visits:
            raise Wrong(f"the root had {self.visits} visits, and the result says {result.stats.kept}")
        if result.stats.kept + result.stats.simulations != visits:
            raise Wrong(f"{result.stats.kept} visits kept, {result.stats.simulations} new, and there are {visits}")

    # --- help for calls -----------------------------------------------------------------------------------------------------

    def root(self) -> Any:
        """Where the next search begins, if nothing is said."""
        return self.game.start() if self.line.position is None else self.line.position

    def is_over(self, position: Any) -> bool:
        return bool(self.game.is_over(position) if isinstance(self.game, ObjectGame) else position.is_over)

    def some_move(self, position: Any) -> Any:
        """A legal action, a pair of them, or an event; None if there is none."""
        legal = legal_at(self.game, position)
        if isinstance(self.game, ObjectGame) or not legal:
            return one_of(self.random, legal) if legal else None
        if position.to_play != ab.simultaneous.EVERYONE:
            return int(one_of(self.random, position.legal_actions)) if position.legal_actions else None
        return tuple(int(one_of(self.random, actions)) for actions in position.legal_actions)

    def played(self, position: Any, move: Any) -> Any:
        return self.game.play(position, move) if isinstance(self.game, ObjectGame) else position.play(move)

    def some_position(self) -> Any:
        """A position of another line that is not over."""
        position = self.game.start()
        for _ in range(number(self.random, 0, 6)):
            move = self.some_move(position)
            following = None if move is None else self.played(position, move)
            if following is None or self.is_over(following):
                break
            position = following
        return position


def hides_a_fault(raised: BaseException) -> bool:
    """Whether the search's own code had failed when a signal that waited was let in."""
    before = raised.__context__
    if before is None or isinstance(before, (*RAISED, ab.AnabranchError)):
        return False
    frames = [frame for frame, _ in traceback.walk_tb(before.__traceback__)]
    return bool(frames) and frames[-1].f_code.co_filename.startswith(OURS)


def is_known(state: Any) -> bool:
    """Whether something was found, and not too much to compare."""
    return state is not None and state[1] is not None


def raise_fault(result: Any) -> bool:
    raise Fault("on_progress")


def none_of(anything: Any) -> None:
    """No result."""
