"""Commands that GTP does not have and that are asked for all the same: GNU Go's, KGS's, GoGui's."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from anabranch.errors import GameError, IllegalMove, OptionError
from anabranch.goengine.clock import TimeSettings
from anabranch.goengine.estimate import estimate
from anabranch.goengine.game_tree import stones_of
from anabranch.goengine.turns import LETTERS, with_turn
from anabranch.protocols import kata_rules, sgf
from anabranch.protocols.gtp_commands import NAME, generate
from anabranch.protocols.gtp_words import SYNTAX, Arguments, Refused, command, written
from anabranch.protocols.info_lines import from_the_top

if TYPE_CHECKING:
    from anabranch.protocols.gtp import Session

COLOUR_NAMES = ("black", "white")
EMPTY = ("e", "empty")


# --- GNU Go -------------------------------------------------------------------------------------------------------------------


@command("list_stones")
def list_stones(session: "Session", arguments: Arguments) -> str:
    """A player's stones."""
    player = arguments.player()
    engine = session.engine
    return " ".join(engine.game.name_of(stone) for stone, owner in stones_of(engine.position).items() if owner == player)


@command("captures")
def captures(session: "Session", arguments: Arguments) -> str:
    """How many stones a player has taken."""
    return str(session.engine.captures[arguments.player()])


@command("is_legal")
def is_legal(session: "Session", arguments: Arguments) -> str:
    """1 if a move is legal, else 0."""
    player = arguments.player()
    try:
        with_turn(session.engine.position, player).play(arguments.vertex())
        return "1"
    except IllegalMove:
        return "0"


@command("all_legal")
def all_legal(session: "Session", arguments: Arguments) -> str:
    """All points that a player may play on."""
    engine = session.engine
    legal = with_turn(engine.position, arguments.player()).legal_actions
    return " ".join(map(engine.game.name_of, legal[:-1] if legal[-1] == engine.game.actions - 1 else legal))


@command("last_move")
def last_move(session: "Session", arguments: Arguments) -> str:
    """The last move, with its colour."""
    if not session.engine.moves:
        raise Refused("no previous move known")
    return _named(session, *session.engine.moves[-1])


@command("move_history")
def move_history(session: "Session", arguments: Arguments) -> str:
    """All moves, the last first."""
    return "\n".join(_named(session, *move) for move in reversed(session.engine.moves))


def _named(session: "Session", player: int, action: int) -> str:
    return f"{COLOUR_NAMES[player]} {session.engine.game.name_of(action)}"


@command("get_komi")
def get_komi(session: "Session", arguments: Arguments) -> str:
    """The komi."""
    return written(session.engine.komi)


@command("query_boardsize")
def query_boardsize(session: "Session", arguments: Arguments) -> str:
    """The size of the board."""
    width, height = session.engine.size
    return f"{width}" if width == height else f"{width} {height}"


@command("gg-undo")
def gg_undo(session: "Session", arguments: Arguments) -> str:
    """Take several moves back."""
    try:
        session.engine.undo(arguments.integer("number of moves") if arguments else 1)
    except GameError as error:
        raise Refused(f"cannot undo: {error}") from None
    return ""


@command("printsgf")
def printsgf(session: "Session", arguments: Arguments) -> str:
    """The game as SGF, or into a file."""
    tree = session.engine.record()
    if not arguments or arguments.rest == "-":
        return sgf.write(tree).strip()
    sgf.save(tree, arguments.rest.strip('"'))
    return ""


@command("cputime", "gomill-cpu_time")
def cputime(session: "Session", arguments: Arguments) -> str:
    """Seconds that all moves have taken."""
    return f"{session.engine.spent:.3f}"


@command("echo")
def echo(session: "Session", arguments: Arguments) -> str:
    """What was said."""
    return arguments.rest


@command("clear_cache")
def clear_cache(session: "Session", arguments: Arguments) -> str:
    """Drop what was searched."""
    session.engine.forget()
    return ""


@command("set_random_seed")
def set_random_seed(session: "Session", arguments: Arguments) -> str:
    """The seed of the game that follows."""
    session.engine.set_seed(arguments.integer("seed"))
    return ""


@command("get_random_seed")
def get_random_seed(session: "Session", arguments: Arguments) -> str:
    """The seed."""
    return str(session.engine.options.seed)


# --- KGS ----------------------------------------------------------------------------------------------------------------------


@command("kgs-genmove_cleanup")
def kgs_genmove_cleanup(session: "Session", arguments: Arguments) -> str:
    """A move that takes dead stones off, if there are any."""
    return generate(session, arguments.player(), cleanup=True)


@command("kgs-rules")
def kgs_rules(session: "Session", arguments: Arguments) -> str:
    """chinese, aga, japanese or new_zealand."""
    try:
        session.engine.set_rules(kata_rules.own_rules_of(arguments.word("rules")))
    except GameError as error:
        raise Refused(f"{SYNTAX}: {error}") from None
    return ""


@command("kgs-time_settings", "kata-time_settings")
def kgs_time_settings(session: "Session", arguments: Arguments) -> str:
    """none; absolute MAIN; canadian MAIN TIME STONES; byoyomi MAIN TIME PERIODS; fischer MAIN INCREMENT; fischer-capped MAIN
    INCREMENT LIMIT LONGEST, with a limit of main time and of a move's time, or a negative number for none."""
    kind = arguments.word("time system").lower().replace("-", "")
    if kind == "none":
        settings = TimeSettings()
    elif kind == "absolute":
        settings = TimeSettings(kind, arguments.number("main time", 0))
    elif kind in ("canadian", "byoyomi"):
        main, period = arguments.number("main time", 0), arguments.number("time of a period", 0)
        settings = TimeSettings(kind, main, period, arguments.integer("stones or periods", least=1))
    elif kind == "fischer":
        settings = TimeSettings(kind, arguments.number("main time", 0), arguments.number("increment", 0))
    elif kind == "fischercapped":
        settings = _capped(arguments)
    else:
        raise Refused(f"{SYNTAX}: a time system is none, absolute, canadian, byoyomi, fischer or fischer-capped")
    session.engine.set_time(settings)
    return ""


def _capped(arguments: Arguments) -> TimeSettings:
    main, increment = arguments.number("main time", 0), arguments.number("increment", 0)
    limit, longest = arguments.number("limit of main time"), arguments.number("longest time of a move")
    if 0 <= limit < main:
        raise Refused(f"{SYNTAX}: the limit of main time must not be below main time")
    limits = (None if number < 0 else number for number in (limit, longest))
    return TimeSettings("fischer", main, increment, 0, *limits)


@command("kata-list_time_settings")
def list_time_settings(session: "Session", arguments: Arguments) -> str:
    """The time systems that are known."""
    return "none absolute byoyomi canadian fischer fischer-capped"


@command("kgs-game_over")
def kgs_game_over(session: "Session", arguments: Arguments) -> str:
    """The game is over: nothing is searched any more."""
    session.engine.stop()
    return ""


@command("kgs-chat")
def kgs_chat(session: "Session", arguments: Arguments) -> str:
    """Somebody says something."""
    return f"I am {NAME}, and I only know how to play."


# --- GoGui --------------------------------------------------------------------------------------------------------------------

ANALYZE_COMMANDS = """
dboard/Ownership/anabranch-ownership
gfx/Moves/anabranch-moves
param/Options/anabranch-options
string/Final Score/final_score
plist/Dead Stones/final_status_list dead
plist/Stones in Seki/final_status_list seki
plist/Black Territory/final_status_list black_territory
plist/White Territory/final_status_list white_territory
plist/Legal Moves/all_legal %c
string/Is Legal/is_legal %c %p
none/Forget/clear_cache
"""


@command("gogui-analyze_commands")
def gogui_analyze_commands(session: "Session", arguments: Arguments) -> str:
    """What GoGui can show, a line each: type, label, command."""
    return ANALYZE_COMMANDS.strip()


@command("gogui-interrupt")
def gogui_interrupt(session: "Session", arguments: Arguments) -> str:
    """That this command is known says: a move may be interrupted by the comment `# interrupt`."""
    return ""


@command("gogui-title")
def gogui_title(session: "Session", arguments: Arguments) -> str:
    """What stands above the window."""
    return NAME


@command("gogui-play_sequence", "play_sequence")
def gogui_play_sequence(session: "Session", arguments: Arguments) -> str:
    """Several moves; if one of them is illegal, none is played."""
    engine = session.engine
    moves, before = arguments.moves(), len(engine.moves)
    for player, action in moves:
        try:
            engine.play(player, action)
        except IllegalMove as error:
            if len(engine.moves) > before:
                engine.undo(len(engine.moves) - before)
            raise Refused(f"illegal move: {error}") from None
    return ""


@command("gogui-setup")
def gogui_setup(session: "Session", arguments: Arguments) -> str:
    """Set stones up beside those that are there, or take some off; the game begins anew from there."""
    engine = session.engine
    stones = dict(stones_of(engine.position))
    while arguments:
        if arguments.words[0].lower() in EMPTY:
            arguments.word()
            stones.pop(arguments.point(), None)
        else:
            player = arguments.player()
            stones[arguments.point()] = player
    _set_up(session, stones, engine.position.to_play)
    return ""


@command("gogui-setup_player")
def gogui_setup_player(session: "Session", arguments: Arguments) -> str:
    """Who moves first where stones were set up."""
    engine = session.engine
    _set_up(session, dict(stones_of(engine.position)), arguments.player())
    return ""


@command("set_position")
def set_position(session: "Session", arguments: Arguments) -> str:
    """These stones and no others; black is to move."""
    points: dict[int, int | None] = {}
    while arguments:
        player, point = arguments.player(), arguments.point()
        if point in points:
            raise Refused(f"{SYNTAX}: {session.engine.game.name_of(point)} is given twice")
        points[point] = player
    _set_up(session, points, 0)
    return ""


def _set_up(session: "Session", stones: dict[int, int | None], to_play: int) -> None:
    black, white = ([stone for stone, owner in stones.items() if owner == player] for player in (0, 1))
    try:
        session.engine.arrange(sorted(black), sorted(white), to_play)
    except IllegalMove as error:
        raise Refused(f"cannot set up: {error}") from None


@command("anabranch-ownership")
def ownership(session: "Session", arguments: Arguments) -> str:
    """Whose points will be whose, from 1 (black's) to -1 (white's), the top row first."""
    engine = session.engine
    engine.stop()
    engine.warm()
    numbers = from_the_top(_owned(session), engine.game)
    width = engine.game.width
    return "\n".join(" ".join(f"{n:.2f}" for n in numbers[i : i + width]) for i in range(0, len(numbers), width))


def _owned(session: "Session") -> np.ndarray:
    """Ownership of each point, 1 for black: by the network, if there is one, or by playouts."""
    position, options = session.engine.position, session.engine.options
    if options.net is None:
        return estimate(position, policy=options.policy).ownership
    opinion = options.net.opinion(with_turn(position, position.to_play))
    return opinion.evaluation.ownership[0].ravel() * (1 - 2 * position.to_play)


@command("anabranch-moves")
def moves(session: "Session", arguments: Arguments) -> str:
    """Search, and draw how the visits fell, as GoGui draws."""
    engine = session.engine
    player = engine.position.to_play
    choice = engine.choose(player, watch=lambda result: session.is_interrupted, on_clock=False)
    result, pass_ = choice.result, engine.game.actions - 1
    shown = [move for move in result.moves if move.visits and move.action != pass_][:20]
    line = " ".join(f"{LETTERS[(player + i) % 2].lower()} {engine.game.name_of(a)}" for i, a in enumerate(result.pv[:10]))
    labels = " ".join(f"{move.name} {move.visits}" for move in shown)
    most = 1.0 if engine.search is None else engine.search.game.value_range[1]
    influence = " ".join(f"{move.name} {0.0 if move.value is None else move.value / most:.2f}" for move in shown)
    return f"VAR {line}\nLABEL {labels}\nINFLUENCE {influence}\nTEXT {result.summary}"


@command("anabranch-options")
def options(session: "Session", arguments: Arguments) -> str:
    """Options that can be changed while playing, as GoGui's dialogs show and change them."""
    engine = session.engine
    now = engine.options
    if not arguments:
        return (
            f"[string] visits {now.visits or 0}\n[string] seconds {written(now.seconds or 0)}\n"
            f"[string] resign {written(now.resign)}\n[bool] ponder {int(now.ponder)}"
        )
    name = arguments.word().lower()
    if name == "visits":
        engine.options = replace(now, visits=arguments.integer(name) or None)
    elif name == "seconds":
        engine.options = replace(now, seconds=arguments.number(name, 0) or None)
    elif name == "resign":
        engine.options = replace(now, resign=arguments.number(name, 0))
    elif name == "ponder":
        engine.options = replace(now, ponder=bool(arguments.integer(name)))
    else:
        raise OptionError(f"there is no option {name[:20]!r}; known ones are visits, seconds, resign, ponder")
    return ""
