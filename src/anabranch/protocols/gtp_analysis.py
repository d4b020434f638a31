"""Live analysis over GTP: lz-analyze and kata-analyze, the same while a move is found; rules as KataGo has them.

An analysis is `=` and a line every so often, until any further line arrives; then comes the empty line that ends every answer.
Its arguments, all optional: a colour, an interval in hundredths of a second, and pairs:

    interval N    minmoves N    maxmoves N    rootInfo true    ownership true    ownershipStdev true
    movesOwnership true    movesOwnershipStdev true    pvVisits true    pvEdgeVisits true    noResultValue true
    avoid COLOUR VERTEX,VERTEX,... DEPTH    allow COLOUR VERTEX,VERTEX,... DEPTH

What is to be avoided is not searched, reported or played. Only the first move can be restricted, so DEPTH is 1; as in KataGo,
`allow` is said once, and not together with `avoid`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from anabranch.errors import GameError
from anabranch.games.go import Go
from anabranch.games.position import Position
from anabranch.goengine.estimate import Estimate
from anabranch.goengine.estimates import Estimator
from anabranch.goengine.network_estimate import NetworkEstimate
from anabranch.goengine.report import Report, report_of
from anabranch.goengine.searches import without
from anabranch.goengine.turns import with_turn
from anabranch.protocols import kata_rules
from anabranch.protocols.details import Details
from anabranch.protocols.gtp_commands import CANCELLED, RESIGN, is_cancelled
from anabranch.protocols.gtp_words import SYNTAX, Arguments, Refused, command, vertex
from anabranch.protocols.info_lines import kata_line, lz_line
from anabranch.search.results.result import Result

if TYPE_CHECKING:
    from anabranch.protocols.gtp import Session

INTERVAL = 100  # hundredths of a second, if nothing is said
SHORTEST_INTERVAL = 0.1  # seconds: a search does not report more often
SEARCH_TO_GUESS = 10  # time for searching, by time for playouts that tell who owns what
EXTRAS = (
    "rootInfo",
    "ownership",
    "ownershipStdev",
    "movesOwnership",
    "movesOwnershipStdev",
    "pvVisits",
    "pvEdgeVisits",
    "noResultValue",
)
GENERATES = ("genmove", "kgs-genmove_cleanup", "lz-genmove_analyze", "kata-genmove_analyze", "genmove_analyze")

Writer = Callable[[Report, Go, set[str], Details | None], str]  # a report as a line


@dataclass
class Request:
    """What is to be shown."""

    player: int
    interval: float = INTERVAL / 100
    fewest: int = 0
    most: int | None = None
    extras: set[str] = field(default_factory=set)
    hidden: set[int] = field(default_factory=set)  # actions


def request_of(session: "Session", arguments: Arguments) -> Request:
    """The arguments of an analysis."""
    player = arguments.player_if_any()
    wanted = Request(session.engine.position.to_play if player is None else player)
    if arguments and arguments.words[0].isdecimal():
        wanted.interval = _interval(arguments)
    restrictions = []
    while arguments:
        key = arguments.word()
        if key == "interval":
            wanted.interval = _interval(arguments)
        elif key == "minmoves":
            wanted.fewest = arguments.integer(key)
        elif key == "maxmoves":
            wanted.most = arguments.integer(key)
        elif key in EXTRAS:
            if _truth(arguments):
                wanted.extras.add(key)
        elif key in ("avoid", "allow"):
            restrictions.append(key)
            wanted.hidden |= _hidden(arguments, key == "allow", wanted.player)
        else:
            raise Refused(f"{SYNTAX}: {key[:20]!r} is not an argument of an analysis")
    if "allow" in restrictions and len(restrictions) > 1:
        raise Refused(f"{SYNTAX}: allow can be given once, and not together with avoid")
    without(with_turn(session.engine.position, wanted.player), wanted.hidden)  # raises if nothing is left
    return wanted


def _interval(arguments: Arguments) -> float:
    return max(arguments.number("interval", 0) / 100, SHORTEST_INTERVAL)


def _truth(arguments: Arguments) -> bool:
    word = arguments.word("true or false").lower()
    if word not in ("true", "false"):
        raise Refused(f"{SYNTAX}: must be true or false, not {word[:20]!r}")
    return word == "true"


def _hidden(arguments: Arguments, is_allowed: bool, player: int) -> set[int]:
    """Actions of this player that are not wanted at the first move."""
    whose = arguments.player()
    named = {vertex(word, arguments.game) for word in arguments.word("vertices").split(",")}
    depth = arguments.integer("depth", least=1)
    if depth > 1:
        raise Refused(f"{SYNTAX}: only the first move can be restricted: the depth must be 1, not {depth}")
    if whose != player:
        return set()
    return set(range(arguments.game.actions)) - named if is_allowed else named


# --- live ---------------------------------------------------------------------------------------------------------------------


class Live:
    """Writes lines while a search goes on."""

    def __init__(self, session: "Session", wanted: Request, position: Position, line: Writer) -> None:
        self.session, self.wanted, self.position, self.line = session, wanted, position, line
        self.written = session.engine.now()
        self._guess: Estimate | NetworkEstimate | None = None
        self._estimator = Estimator(position, session.engine.options)
        self._next_guess = 0.0  # when it is time for another

    def show(self, result: Result) -> None:
        """Write a line, if it is time."""
        now = self.session.engine.now()
        if now - self.written >= self.wanted.interval - 0.01:
            self.written = now
            self.write(result)

    def write(self, result: Result) -> None:
        """Write a line, if there is something to say: an empty one would be the end."""
        text = self.text(result)
        if text:
            self.session.write(text + "\n")

    def text(self, result: Result) -> str:
        """A line."""
        wanted, engine = self.wanted, self.session.engine
        if self.line is not lz_line and engine.now() >= self._next_guess:
            began = engine.now()
            search = engine.search
            self._guess = None if search is None else self._estimator(search, result)
            self._next_guess = engine.now() + (engine.now() - began) * SEARCH_TO_GUESS
        report = report_of(result, self.position, self._guess, wanted.hidden, wanted.fewest)
        report = report if wanted.most is None else report.at_most(wanted.most)
        return self.line(report, engine.game, wanted.extras, self._details())

    def _details(self) -> Details | None:
        """What can be told beyond the report."""
        search = self.session.engine.search
        return None if search is None or self._guess is None else Details(search, self._estimator, self._guess)


def _analyze(session: "Session", arguments: Arguments, line: Writer) -> None:
    wanted = request_of(session, arguments)
    engine = session.engine
    engine.searcher()  # what can go wrong does so before the answer begins
    live = Live(session, wanted, with_turn(engine.position, wanted.player), line)
    session.write(f"={session.number}\n")
    engine.analyse(wanted.player, live.show, wanted.hidden)
    session.wait_for_input()
    engine.stop()
    session.write("\n")


def _generate(
    session: "Session", arguments: Arguments, line: Writer, is_played: bool = True, is_cancellable: bool = False
) -> None:
    wanted = request_of(session, arguments)
    engine = session.engine
    engine.searcher()
    live = Live(session, wanted, with_turn(engine.position, wanted.player), line)
    session.write(f"={session.number}\n")

    def watch(result: Result) -> bool:
        live.show(result)
        return session.is_interrupted or (is_cancellable and session.has_input)

    choice = engine.choose(wanted.player, watch=watch, began=session.began, hidden=wanted.hidden, on_clock=is_played)
    live.write(choice.result)
    if is_played:
        engine.commit(choice)
    move = RESIGN if choice.action is None else engine.game.name_of(choice.action)
    session.write(f"play {CANCELLED if is_cancellable and is_cancelled(choice.result) else move}\n\n")


@command("lz-analyze")
def lz_analyze(session: "Session", arguments: Arguments) -> None:
    """Analyse, and write as Leela Zero does."""
    _analyze(session, arguments, lz_line)


@command("kata-analyze", "analyze")
def kata_analyze(session: "Session", arguments: Arguments) -> None:
    """Analyse, and write as KataGo does."""
    _analyze(session, arguments, kata_line)


@command("lz-genmove_analyze")
def lz_genmove_analyze(session: "Session", arguments: Arguments) -> None:
    """Find a move and play it, and write meanwhile as Leela Zero does."""
    _generate(session, arguments, lz_line)


@command("kata-genmove_analyze", "genmove_analyze")
def kata_genmove_analyze(session: "Session", arguments: Arguments) -> None:
    """Find a move and play it, and write meanwhile as KataGo does."""
    _generate(session, arguments, kata_line)


@command("kata-search_analyze")
def kata_search_analyze(session: "Session", arguments: Arguments) -> None:
    """Find a move, and write meanwhile as KataGo does."""
    _generate(session, arguments, kata_line, is_played=False)


@command("kata-search_analyze_cancellable")
def kata_search_analyze_cancellable(session: "Session", arguments: Arguments) -> None:
    """The same, until any further line arrives."""
    _generate(session, arguments, kata_line, is_played=False, is_cancellable=True)


@command("stop")
def stop(session: "Session", arguments: Arguments) -> str:
    """End what is searched in the background."""
    session.engine.stop()
    return ""


# --- rules --------------------------------------------------------------------------------------------------------------------


@command("kata-get-rules")
def kata_get_rules(session: "Session", arguments: Arguments) -> str:
    """The rules as JSON."""
    return kata_rules.written(session.engine.rules)


@command("kata-set-rules")
def kata_set_rules(session: "Session", arguments: Arguments) -> str:
    """Other rules, by name or as JSON."""
    try:
        session.engine.set_rules(kata_rules.rules_of(arguments.rest))
    except GameError as error:
        raise Refused(f"{SYNTAX}: {error}") from None
    return ""


@command("kata-set-rule")
def kata_set_rule(session: "Session", arguments: Arguments) -> str:
    """Another value for one point of the rules."""
    name, value = arguments.word("rule"), arguments.word("value")
    try:
        session.engine.set_rules(kata_rules.with_point(session.engine.rules, name, value))
    except GameError as error:
        raise Refused(f"{SYNTAX}: {error}") from None
    return ""
