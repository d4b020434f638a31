"""The commands of GTP 2 itself. Failures are worded as its specification has them; more may follow after a colon."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from anabranch._version import __version__
from anabranch.errors import AnabranchError, GameError, IllegalMove
from anabranch.games.go.score import final
from anabranch.games.go.vertices import handicap_points
from anabranch.goengine.clock import TimeSettings
from anabranch.goengine.turns import LETTERS
from anabranch.protocols import sgf
from anabranch.protocols.gtp_words import COMMANDS, SYNTAX, Arguments, Refused, command
from anabranch.search.results.result import Result

if TYPE_CHECKING:
    from anabranch.protocols.gtp import Session

NAME = "Anabranch"
RESIGN = "resign"
CANCELLED = "cancelled"


# --- the program --------------------------------------------------------------------------------------------------------------


@command("protocol_version")
def protocol_version(session: "Session", arguments: Arguments) -> str:
    """Which protocol this is."""
    return "2"


@command("name")
def name(session: "Session", arguments: Arguments) -> str:
    """Who plays."""
    return NAME


@command("version")
def version(session: "Session", arguments: Arguments) -> str:
    """Which version of it."""
    return session.version or __version__


@command("known_command")
def known_command(session: "Session", arguments: Arguments) -> str:
    """Whether there is such a command."""
    return "true" if arguments and arguments.word() in COMMANDS else "false"


@command("list_commands", "help")
def list_commands(session: "Session", arguments: Arguments) -> str:
    """All commands."""
    return "\n".join(sorted(COMMANDS))


@command("quit")
def quit_(session: "Session", arguments: Arguments) -> str:
    """The end."""
    session.is_over = True
    return ""


# --- the board ----------------------------------------------------------------------------------------------------------------


@command("boardsize", "rectangular_boardsize")
def boardsize(session: "Session", arguments: Arguments) -> str:
    """Another board, empty; one number, or width and height."""
    width = arguments.integer("size")
    height = arguments.integer("height") if arguments else width
    try:
        session.engine.resize(width, height)
    except GameError as error:
        raise Refused(f"unacceptable size: {error}") from None
    return ""


@command("clear_board")
def clear_board(session: "Session", arguments: Arguments) -> str:
    """A new game."""
    session.engine.clear()
    return ""


@command("komi")
def komi(session: "Session", arguments: Arguments) -> str:
    """What white gets."""
    try:
        session.engine.set_komi(arguments.number("komi"))
    except GameError as error:
        raise Refused(f"{SYNTAX}: {error}") from None
    return ""


@command("fixed_handicap")
def fixed_handicap(session: "Session", arguments: Arguments) -> str:
    """Black stones on the usual points."""
    count = arguments.integer("number of stones")
    _must_be_empty(session)
    try:
        points = handicap_points(session.engine.game.width, session.engine.game.height, count)
    except GameError as error:
        raise Refused(f"invalid number of stones: {error}") from None
    return _handicap(session, points)


@command("place_free_handicap")
def place_free_handicap(session: "Session", arguments: Arguments) -> str:
    """Black stones where we like them."""
    count = arguments.integer("number of stones")
    _must_be_empty(session)
    game = session.engine.game
    if not 2 <= count < game.actions - 1:
        raise Refused(f"invalid number of stones: must be from 2 to {game.actions - 2}")
    return _handicap(session, list(_free_points(game.width, game.height, count)))


@command("set_free_handicap")
def set_free_handicap(session: "Session", arguments: Arguments) -> str:
    """Black stones where somebody else likes them."""
    _must_be_empty(session)
    points = []
    while arguments:
        points.append(arguments.point())
    if len(points) < 2 or len(set(points)) < len(points) or len(points) >= session.engine.game.actions - 1:
        raise Refused("bad vertex list: give two points or more, each once")
    _handicap(session, points)
    return ""


def _must_be_empty(session: "Session") -> None:
    engine = session.engine
    if engine.moves or int(engine.position.state.empty_count) < engine.game.actions - 1:
        raise Refused("board not empty")


def _handicap(session: "Session", points: list[int]) -> str:
    engine = session.engine
    engine.arrange(points, [], 1, handicap=len(points))
    return " ".join(map(engine.game.name_of, points))


def _free_points(width: int, height: int, count: int) -> Iterator[int]:
    """The usual points as far as they go, then those that are farthest from stones and not too near to the edge."""
    points: list[int] = []
    for usual in range(count, 1, -1):
        try:
            points = handicap_points(width, height, usual)
            break
        except GameError:
            continue
    while len(points) < count:
        points.append(max(range(width * height), key=lambda point: (point not in points, _room(point, width, height, points))))
    yield from points


def _room(point: int, width: int, height: int, points: list[int]) -> float:
    """How far a point is from other stones, or from the edge, which counts double."""
    row, column = divmod(point, width)
    edge = 2 * (1 + min(row, column, height - 1 - row, width - 1 - column))
    return min([edge, *(abs(row - other // width) + abs(column - other % width) for other in points)])


@command("loadsgf")
def loadsgf(session: "Session", arguments: Arguments) -> str:
    """A game from a file; with a number, the position before that move."""
    path, _, last = arguments.rest.rpartition(" ")
    is_number = bool(path) and last.isascii() and last.isdecimal() and len(last) < 10
    path = path if is_number else arguments.rest
    if not path:
        raise Refused(f"{SYNTAX}: file name is missing")
    try:
        session.engine.load(sgf.load(path.strip().strip('"')), max(int(last) - 1, 0) if is_number else None)
    except (AnabranchError, ValueError) as error:
        raise Refused(f"cannot load file: {error}") from None
    return ""


# --- moves --------------------------------------------------------------------------------------------------------------------


@command("play")
def play(session: "Session", arguments: Arguments) -> str:
    """A move by either player."""
    player = arguments.player()
    action = arguments.vertex()
    try:
        session.engine.play(player, action)
    except IllegalMove as error:
        raise Refused(f"illegal move: {error}") from None
    return ""


@command("genmove")
def genmove(session: "Session", arguments: Arguments) -> str:
    """Find a move and play it."""
    return generate(session, arguments.player())


@command("reg_genmove", "kata-search")
def reg_genmove(session: "Session", arguments: Arguments) -> str:
    """Find a move."""
    player = arguments.player()
    choice = session.engine.choose(player, watch=lambda result: session.is_interrupted, on_clock=False)
    return _played(session, choice.action)


@command("kata-search_cancellable")
def kata_search_cancellable(session: "Session", arguments: Arguments) -> str:
    """Find a move, until any further line arrives."""
    player = arguments.player()
    watch = lambda result: session.is_interrupted or session.has_input  # noqa: E731
    choice = session.engine.choose(player, watch=watch, on_clock=False)
    return CANCELLED if is_cancelled(choice.result) else _played(session, choice.action)


def is_cancelled(result: Result) -> bool:
    """Whether a search was ended from outside."""
    return result.stopped_by == "on_progress"


def generate(session: "Session", player: int, cleanup: bool = False) -> str:
    """Find a move and play it; its name."""
    engine = session.engine
    watch = lambda result: session.is_interrupted  # noqa: E731
    choice = engine.choose(player, cleanup=cleanup, watch=watch, began=session.began)
    engine.commit(choice)
    return _played(session, choice.action)


def _played(session: "Session", action: int | None) -> str:
    return RESIGN if action is None else session.engine.game.name_of(action)


@command("undo")
def undo(session: "Session", arguments: Arguments) -> str:
    """Take a move back."""
    try:
        session.engine.undo()
    except GameError as error:
        raise Refused(f"cannot undo: {error}") from None
    return ""


# --- time ---------------------------------------------------------------------------------------------------------------------


@command("time_settings")
def time_settings(session: "Session", arguments: Arguments) -> str:
    """Main time, seconds of overtime, stones in it."""
    main, period = arguments.number("main time", 0), arguments.number("byo yomi time", 0)
    session.engine.set_time(TimeSettings.canadian(main, period, arguments.integer("byo yomi stones")))
    return ""


@command("time_left")
def time_left(session: "Session", arguments: Arguments) -> str:
    """What a player has left."""
    player = arguments.player()
    seconds = arguments.number("time", 0)
    session.engine.clock.correct(player, seconds, arguments.integer("stones"))
    return ""


# --- the end of a game --------------------------------------------------------------------------------------------------------


@command("final_score")
def final_score(session: "Session", arguments: Arguments) -> str:
    """Who wins by how much: with dead stones taken off, or as the board stands where all stones live."""
    engine = session.engine
    position = engine.position
    if position.is_over and position.state.passes < 2:
        return "0"  # a position that came again
    if engine.rules.dead == "none":
        return final(engine.game.lead(position, dead=[]))
    return final(engine.settle().lead)


@command("final_status_list")
def final_status_list(session: "Session", arguments: Arguments) -> str:
    """The stones that are alive, dead or in seki, a chain a line; GNU Go's words for points are known as well."""
    status = arguments.word("status").lower()
    engine = session.engine
    territories = {"black_territory": 1, "white_territory": -1, "dame": 0}
    if status not in ("alive", "dead", "seki", *territories):
        raise Refused(f"{SYNTAX}: a status is alive, dead or seki")
    settled = engine.settle()
    name_of = engine.game.name_of
    if status in territories:
        standing = {stone for each in ("alive", "seki") for chain in settled.stones(each) for stone in chain}
        owned = [point for point, owner in enumerate(settled.owners) if owner == territories[status] and point not in standing]
        return " ".join(map(name_of, owned))
    if engine.rules.dead == "none":
        chains = settled.stones("dead") + settled.stones("alive") + settled.stones("seki") if status == "alive" else []
    else:
        chains = settled.stones(status)
    return "\n".join(" ".join(map(name_of, chain)) for chain in chains)


@command("showboard")
def showboard(session: "Session", arguments: Arguments) -> str:
    """The board."""
    engine = session.engine
    black, white = engine.captures
    last = ""
    if engine.moves:
        player, action = engine.moves[-1]
        last = f"move {len(engine.moves)}: {LETTERS[player]} {engine.game.name_of(action)}; "
    return f"\n{engine.position}\n{last}black has captured {black}, white {white}"
