"""What KataGo's analysis protocol asks for: a request in JSON becomes a `Query` with its positions, or a `BadQuery` that
names the field which is wrong. Above: `analysis.py`, which answers.

Clients send the whole game with each request, so positions are kept by the moves that lead to them (`Positions`): each move
of a game is played once, however often it is sent.
"""

import itertools
import json
import math
import re
from dataclasses import dataclass, field
from typing import Any

from anabranch.errors import AnabranchError, GameError, IllegalMove
from anabranch.games.go import Go, RuleSet
from anabranch.games.go.layout import LARGEST, SMALLEST
from anabranch.games.go.vertices import action_at
from anabranch.games.position import Position
from anabranch.goengine.searches import WIDEST, Options
from anabranch.goengine.turns import COLOURS, LONGEST_GAME, played, with_turn
from anabranch.protocols import kata_rules
from anabranch.protocols.parameters import OF_SEARCH

MOST_VISITS = 10**15
MOST_KOMI = 400  # KataGo knows no larger one
LONGEST_ID = 1_000  # characters; each answer repeats it
MOST_WARNINGS = 20  # of fields that are not used
AREA_KOMI, TERRITORY_KOMI = 7.5, 6.5  # if a request does not say
VIEWS = ("BLACK", "WHITE", "SIDETOMOVE")
COORDINATES = re.compile(r"\(\s*([0-9]{1,3})\s*,\s*([0-9]{1,3})\s*\)")  # column and row from the top left

# What is understood; anything else is warned of and not used.
USED = (
    "id", "moves", "initialStones", "initialPlayer", "rules", "komi", "whiteHandicapBonus", "boardXSize", "boardYSize",
    "analyzeTurns", "maxVisits", "includeOwnership", "includeMovesOwnership", "includePolicy", "includePVVisits",
    "includeOwnershipStdev", "includeMovesOwnershipStdev", "includeNoResultValue", "analysisPVLen", "rootFpuReductionMax",
    "avoidMoves", "allowMoves", "overrideSettings", "reportDuringSearchEvery", "priority", "priorities", "action",
)  # fmt: skip
OVERRIDES = ("reportAnalysisWinratesAs", "maxVisits", "maxTime", "wideRootNoise", "analysisPVLen", *OF_SEARCH)

Moves = tuple[tuple[int, int], ...]  # players and actions


class BadQuery(AnabranchError):
    """A request cannot be carried out."""

    def __init__(self, message: str, name: str | None = None) -> None:
        super().__init__(message)
        self.name = name  # of the field


@dataclass
class Query:
    """A request."""

    id: str
    positions: dict[int, Position]  # by the number of the turn
    priorities: dict[int, int]
    visits: int | None = None
    seconds: float | None = None
    view: str | None = None  # whose win rates are reported
    width: float | None = None  # how widely the search looks at the root
    wants_ownership: bool = False
    wants_moves_ownership: bool = False  # the same behind each of the best moves
    wants_line_visits: bool = False  # how often the moves of variations were visited
    wants_policy: bool = False
    wants_ownership_spread: bool = False  # how much it varies over the search; with a network
    wants_moves_ownership_spread: bool = False
    wants_no_result: bool = False  # how likely the game ends without a result; with a network
    longest_line: int | None = None  # moves of a variation after its first
    every: float | None = None  # seconds between reports
    settings: dict[str, Any] = field(default_factory=dict)  # parameters of the search, by KataGo's names
    options: Options | None = None  # the engine's, with these settings
    hidden: tuple[frozenset[int], frozenset[int]] = (frozenset(), frozenset())  # actions of each player that are not searched
    warnings: list[tuple[str, str]] = field(default_factory=list)  # fields, and what about them


class Positions:
    """Positions by the moves that lead to them."""

    MOST = 4_000  # positions that are kept

    def __init__(self) -> None:
        self._known: dict[Any, tuple[int, Position]] = {}  # by the position before and the move: a number of its own, and it
        self._numbers = itertools.count()

    def clear(self) -> None:
        """Forget all."""
        self._known.clear()

    def after(self, start: Position, name: Any, moves: Moves) -> list[Position]:
        """The positions from the start on, after each of the moves; `name` is what tells the start from others."""
        if len(self._known) > self.MOST:
            self.clear()
        found = [start]
        for place, (player, action) in enumerate(moves):
            known = self._known.get((name, player, action))
            if known is None:
                try:
                    known = next(self._numbers), played(with_turn(found[-1], player), action)
                except IllegalMove as error:
                    raise BadQuery(f"Illegal move {place}: {error}", "moves") from None
                self._known[name, player, action] = known
            name = known[0]
            found.append(known[1])
        return found


def request_of(line: str) -> Any:
    """What a line of JSON says. NaN and the like are not JSON, and a number that is too large for Python is no number here."""
    try:
        return json.loads(line, parse_constant=_no_number, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise BadQuery(f"Could not parse this as JSON: {error}") from None


def _no_number(word: str) -> float:
    raise ValueError(f"{word} is not a number")


def _finite(word: str) -> float:
    number = float(word)
    return number if math.isfinite(number) else _no_number(word[:20])


def query_of(request: dict[str, Any], positions: Positions) -> Query:
    """The request with its positions."""
    game = _game(request)
    stones = _moves(request, "initialStones", game)
    moves = _moves(request, "moves", game, required=True)
    if any(action == game.actions - 1 for _, action in stones):
        raise BadQuery("Initial stones cannot be passes", "initialStones")
    priorities = _priorities(request, _turns(request, len(moves)))
    first = _player(request.get("initialPlayer", "BW"[moves[0][0]] if moves else "B"), "initialPlayer")
    start = _start(request, game, stones, first)
    name = (repr(start.game), tuple(sorted(stones)), first)
    all_positions = positions.after(start, name, moves)
    unused = (key for key in request if key not in USED)
    warnings = [(key[:100], "is not used by this engine") for key in itertools.islice(unused, MOST_WARNINGS)]
    found = Query(
        id=request["id"],
        positions={
            turn: with_turn(position, position.to_play) for turn, position in enumerate(all_positions) if turn in priorities
        },
        priorities=priorities,
        wants_ownership=_flag(request, "includeOwnership"),
        wants_moves_ownership=_flag(request, "includeMovesOwnership"),
        wants_line_visits=_flag(request, "includePVVisits"),
        wants_policy=_flag(request, "includePolicy"),
        wants_ownership_spread=_flag(request, "includeOwnershipStdev"),
        wants_moves_ownership_spread=_flag(request, "includeMovesOwnershipStdev"),
        wants_no_result=_flag(request, "includeNoResultValue"),
        hidden=_hidden(request, game),
        warnings=warnings,
    )
    if "analysisPVLen" in request:
        found.longest_line = _integer(request["analysisPVLen"], "analysisPVLen", 1, LONGEST_GAME)
    if "maxVisits" in request:
        found.visits = _integer(request["maxVisits"], "maxVisits", 1, MOST_VISITS)
    if "reportDuringSearchEvery" in request:
        found.every = _number(request["reportDuringSearchEvery"], "reportDuringSearchEvery", 0.001, 1e6)
    _override(request.get("overrideSettings", {}), found)
    if "rootFpuReductionMax" in request:
        found.settings["rootFpuReductionMax"] = request["rootFpuReductionMax"]
    return found


# --- the game -----------------------------------------------------------------------------------------------------------------


def _game(request: dict[str, Any]) -> Go:
    width, height = (_integer(_required(request, name), name, SMALLEST, LARGEST) for name in ("boardXSize", "boardYSize"))
    rules = _rules(request)
    usual = TERRITORY_KOMI if rules.scoring == "territory" else AREA_KOMI
    komi = _number(request.get("komi", usual), "komi", -MOST_KOMI, MOST_KOMI)
    try:
        return Go((width, height), komi, rules)
    except GameError as error:
        raise BadQuery(str(error), "komi") from None


def _rules(request: dict[str, Any]) -> RuleSet:
    name = "rules"
    try:
        rules = kata_rules.rules_of(_required(request, name))
        if "whiteHandicapBonus" in request:
            name = "whiteHandicapBonus"
            rules = kata_rules.with_point(rules, name, str(request[name]))
    except GameError as error:
        raise BadQuery(str(error), name) from None
    return rules


def _start(request: dict[str, Any], game: Go, stones: Moves, first: int) -> Position:
    """Where the game begins; black stones alone are a handicap, for which white may get points."""
    last = {action: player for player, action in stones}  # a point that is given twice has its last stone, as in KataGo
    black, white = ([action for action, player in last.items() if player == colour] for colour in (0, 1))
    bonus = game.rules.bonus(len(black)) if len(black) > 1 and not white else 0
    try:
        return Go((game.width, game.height), game.komi + bonus, game.rules).arranged(black, white, first)
    except (GameError, IllegalMove) as error:
        raise BadQuery(f"Illegal initial stones: {error}", "initialStones") from None


def _moves(request: dict[str, Any], name: str, game: Go, required: bool = False) -> Moves:
    pairs = _required(request, name) if required else request.get(name, [])
    if not isinstance(pairs, list) or len(pairs) > LONGEST_GAME:
        raise BadQuery(f"Must be an array of at most {LONGEST_GAME:,} pairs such as ['B', 'C4']", name)
    found = []
    for pair in pairs:
        if not isinstance(pair, list) or len(pair) != 2:
            raise BadQuery("Must be an array of pairs such as ['B', 'C4']", name)
        found.append((_player(pair[0], name), _location(pair[1], name, game)))
    return tuple(found)


def _player(written: Any, name: str) -> int:
    if not isinstance(written, str) or written.lower() not in COLOURS:
        raise BadQuery("A player is 'B' or 'W'", name)
    return COLOURS[written.lower()]


def _location(written: Any, name: str, game: Go) -> int:
    text = written if isinstance(written, str) and len(written) < 16 else ""
    pair = COORDINATES.fullmatch(text)
    action: int | None
    if pair:
        column, down = int(pair[1]), int(pair[2])
        action = (game.height - 1 - down) * game.width + column if column < game.width and down < game.height else None
    else:
        action = action_at(text, game.width, game.height)
    if action is None:
        raise BadQuery(f"{str(written)[:20]!r} is not a location on a board of {game.width}x{game.height}", name)
    return action


# --- what is to be done -------------------------------------------------------------------------------------------------------


def _turns(request: dict[str, Any], last: int) -> list[int]:
    turns = request.get("analyzeTurns", [last])
    if not isinstance(turns, list) or not 1 <= len(turns) <= LONGEST_GAME + 1:
        raise BadQuery(f"Must be an array of at most {LONGEST_GAME + 1:,} turns", "analyzeTurns")
    return [_integer(turn, "analyzeTurns", 0, last) for turn in turns]


def _priorities(request: dict[str, Any], turns: list[int]) -> dict[int, int]:
    if "priorities" not in request:
        return dict.fromkeys(turns, _integer(request.get("priority", 0), "priority", -MOST_VISITS, MOST_VISITS))
    each = request["priorities"]
    if not isinstance(each, list) or len(each) != len(turns):
        raise BadQuery("Must be an array as long as analyzeTurns", "priorities")
    return {turn: _integer(one, "priorities", -MOST_VISITS, MOST_VISITS) for turn, one in zip(turns, each, strict=True)}


def _hidden(request: dict[str, Any], game: Go) -> tuple[frozenset[int], frozenset[int]]:
    """Actions of black and of white that are not wanted at the first move. As in KataGo, either some are to be avoided or
    others alone allowed, those by one entry for each player."""
    hidden: tuple[set[int], set[int]] = (set(), set())
    if request.get("avoidMoves") and request.get("allowMoves"):
        raise BadQuery("Cannot be given together with avoidMoves", "allowMoves")
    for name in ("avoidMoves", "allowMoves"):
        entries = request.get(name, [])
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise BadQuery("Must be an array of objects with player, moves, untilDepth", name)
        for entry in entries:
            player = _player(entry.get("player"), name)
            moves = entry.get("moves")
            if not isinstance(moves, list):
                raise BadQuery("moves must be an array of locations", name)
            if _integer(entry.get("untilDepth"), name, 1, MOST_VISITS) > 1:
                raise BadQuery("Only the first move can be restricted: untilDepth must be 1", name)
            if name == "allowMoves" and hidden[player]:
                raise BadQuery("Must have one entry for each player, at most", name)
            named = {_location(move, name, game) for move in moves}
            hidden[player].update(named if name == "avoidMoves" else set(range(game.actions)) - named)
    return frozenset(hidden[0]), frozenset(hidden[1])


def _override(settings: Any, query: Query) -> None:
    """Settings of KataGo's that mean something here; others are warned of."""
    if not isinstance(settings, dict):
        raise BadQuery("Must be an object", "overrideSettings")
    unused = [name for name in settings if name not in OVERRIDES]
    if unused:
        query.warnings.append(
            ("overrideSettings", f"Unknown settings, which this engine does not use: {', '.join(unused)[:200]}")
        )
    query.settings = {name: settings[name] for name in OF_SEARCH if name in settings}
    view = settings.get("reportAnalysisWinratesAs")
    if view is not None:
        if str(view).upper() not in VIEWS:
            raise BadQuery(f"reportAnalysisWinratesAs must be one of {', '.join(VIEWS)}", "overrideSettings")
        query.view = str(view).upper()
    if "maxTime" in settings:
        query.seconds = _number(settings["maxTime"], "overrideSettings", 0.001, 1e9)
    if "analysisPVLen" in settings and query.longest_line is None:
        query.longest_line = _integer(settings["analysisPVLen"], "overrideSettings", 1, LONGEST_GAME)
    if "wideRootNoise" in settings:
        query.width = _number(settings["wideRootNoise"], "overrideSettings", 0, WIDEST)
    if "maxVisits" in settings and query.visits is None:
        query.visits = _integer(settings["maxVisits"], "overrideSettings", 1, MOST_VISITS)


# --- values -------------------------------------------------------------------------------------------------------------------


def _required(request: dict[str, Any], name: str) -> Any:
    if name not in request:
        raise BadQuery("Must be given", name)
    return request[name]


def _integer(value: Any, name: str, least: int, most: int) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise BadQuery(f"Must be a whole number from {least} to {most}", name)
    return value


def _number(value: Any, name: str, least: float, most: float) -> float:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not least <= value <= most or not math.isfinite(value):
        raise BadQuery(f"Must be a number from {least:g} to {most:g}", name)
    return float(value)


def _flag(request: dict[str, Any], name: str) -> bool:
    value = request.get(name, False)
    if not isinstance(value, bool):
        raise BadQuery("Must be true or false", name)
    return value
