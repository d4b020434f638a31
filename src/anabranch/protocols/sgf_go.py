"""What SGF's properties mean in Go: points, moves, stones, marks, and what the first node says of the game. Above: `sgf.py`.
Below: `sgf_grammar.py` for the text of properties, `goengine/game_tree.py` for what is made of them.
"""

import re

from anabranch._version import __version__
from anabranch.errors import GameError, SgfError
from anabranch.games.go import RULE_SETS, Go, RuleSet
from anabranch.games.go.rulesets import rule_set
from anabranch.games.go.vertices import handicap_points
from anabranch.goengine.game_tree import BLACK, COLOURS, WHITE, GameTree, Node, Player
from anabranch.protocols.sgf_grammar import Properties, composed, escaped, halves, plain, plain_line

MOVES = {"B": BLACK, "W": WHITE}
SETUP = {"AB": BLACK, "AW": WHITE, "AE": None}
SETUP_NAMES = {player: name for name, player in SETUP.items()}
SHAPES = {"TR": "triangle", "SQ": "square", "CR": "circle", "MA": "cross"}
SHAPE_NAMES = {shape: name for name, shape in SHAPES.items()}
NAMES = {"PB": "BR", "PW": "WR"}  # of the players, and their ranks
OURS = ("GM", "FF", "CA", "AP", "SZ")  # made anew whenever a record is written
STANDARD_SIZE = 19  # of a record that names none
OLD_PASS, LARGEST_WITH_OLD_PASS = "tt", 19  # FF[3]'s way to pass
FIRST_LETTER = ord("a")
LONGEST_QUOTED = 20  # characters of a value

# How rule sets are called in records, by RU; the first name is the one that we write.
RULE_NAMES = {
    "chinese": ("Chinese", "cn", "Chinese rules"),
    "tromp-taylor": ("Tromp-Taylor", "tt"),
    "japanese": ("Japanese", "jp", "Japanese rules", "Korean", "kr"),
    "aga": ("AGA", "American", "BGA", "French"),
    "new-zealand": ("NZ", "New Zealand", "nzl"),
}
FALLBACK = "chinese"  # for rules that we do not know
# KataGo's way to write any rules: koPOSITIONALscoreAREAtaxNONEsui0whbN
POINTS = re.compile(r"ko([A-Z]+)score([A-Z]+)tax([A-Z]+)sui([01])(?:button([01]))?(?:whb(0|N-1|N))?(?:fpok([01]))?")
BONUSES = {"0": "none", "N": "stones", "N-1": "stones - 1"}
FOX = "foxwq"  # a large server that writes komi in hundredths: 650, or 375 if it is counted in stones of two points
MOST_STONES = 5  # a smaller komi of Fox is counted in stones


# --- points -------------------------------------------------------------------------------------------------------------------


def point_of(value: str, game: Go) -> int | None:
    """The action of a point, such as dd: column and row from the top left. None if it is not on the board."""
    value = value.strip()
    if len(value) != 2:
        return None
    column, down = ord(value[0]) - FIRST_LETTER, ord(value[1]) - FIRST_LETTER
    if not (0 <= column < game.width and 0 <= down < game.height):
        return None
    return (game.height - 1 - down) * game.width + column


def written_point(action: int, game: Go) -> str:
    """The same backwards."""
    if not 0 <= action < game.actions - 1:
        raise SgfError(f"{action} is not a point of {game!r}")
    row, column = divmod(action, game.width)
    return chr(FIRST_LETTER + column) + chr(FIRST_LETTER + game.height - 1 - row)


def points_of(value: str, game: Go) -> list[int] | None:
    """The actions of a point, or of a rectangle that is given by two corners. None if it is not on the board."""
    corners = [point_of(half, game) for half in halves(value) or (value,)]
    if None in corners:
        return None
    places = [divmod(corner, game.width) for corner in corners if corner is not None]
    (low, high), (left, right) = ((min(side), max(side)) for side in zip(*places, strict=True))
    return [row * game.width + column for row in range(low, high + 1) for column in range(left, right + 1)]


def rectangles_in(properties: Properties) -> int:
    """How many rectangles of stones and marks a node has: each may stand for hundreds of points."""
    return sum(":" in value for name in (*SETUP, *SHAPES) for value in properties.get(name, ()))


def move_of(value: str, game: Go) -> int | None:
    """The action of a move, passes included. None if it is not a move."""
    old_pass = value.strip() == OLD_PASS and max(game.width, game.height) <= LARGEST_WITH_OLD_PASS
    return game.actions - 1 if not value.strip() or old_pass else point_of(value, game)


# --- nodes --------------------------------------------------------------------------------------------------------------------


def node_of(properties: Properties, game: Go, parent: Node | None) -> Node:
    """A node with what its properties say; those that say nothing to us stay as they are."""
    node = Node(parent=parent)
    for name, values in properties.items():
        if name in MOVES:
            _add_move(node, name, values, game)
        elif name in SETUP:
            _add_stones(node, name, values, game)
        elif name == "C":
            node.comment = plain("\n".join(values))
        elif name == "PL" and values[0].strip()[:1].upper() in MOVES:
            node.to_play = MOVES[values[0].strip()[0].upper()]
        elif name == "LB" or name in SHAPES:
            _add_marks(node, name, values, game)
        else:
            node.other[name] = values
    return node


def _add_move(node: Node, name: str, values: list[str], game: Go) -> None:
    if node.action is not None or len(values) > 1:
        raise SgfError(f"move {_number(node)}: there are two moves in one node")
    node.action, node.colour = move_of(values[0], game), MOVES[name]
    if node.action is None:
        size = f"{game.width}x{game.height}"
        who = COLOURS[MOVES[name]]
        raise SgfError(f"move {_number(node)}, by {who}: {_quoted(name, values[0])} is not on a board of {size}")


def _quoted(name: str, value: str) -> str:
    """A property as errors show it: in one line, and not much of it."""
    shown = " ".join(value[:LONGEST_QUOTED].split())
    return f"{name}[{shown}{'...' if len(value) > LONGEST_QUOTED else ''}]"


def _number(node: Node) -> int:
    number = 1
    here = node.parent
    while here is not None:
        number += here.action is not None
        here = here.parent
    return number


def _add_stones(node: Node, name: str, values: list[str], game: Go) -> None:
    for value in filter(str.strip, values):
        points = points_of(value, game)
        if points is None:
            raise SgfError(f"{_quoted(name, value)} is not on a board of {game.width}x{game.height}")
        node.stones.update(dict.fromkeys(points, SETUP[name]))


def _add_marks(node: Node, name: str, values: list[str], game: Go) -> None:
    """One mark a point; what cannot be kept as such stays as it is."""
    for value in values:
        where, text = (value, SHAPES[name]) if name in SHAPES else halves(value) or (value, "")
        text = text if name in SHAPES else plain_line(text)
        points = points_of(where, game)
        if points is None or any(point in node.marks for point in points) or (name == "LB" and text in SHAPE_NAMES):
            node.other.setdefault(name, []).append(value)
        else:
            node.marks.update(dict.fromkeys(points, text))


def properties_of(node: Node, game: Go) -> Properties:
    """What is written of a node."""
    properties: Properties = {}
    if node.action is not None and node.colour is not None:
        passes = node.action == game.actions - 1
        properties["BW"[node.colour]] = ["" if passes else written_point(node.action, game)]
    for action, player in node.stones.items():
        properties.setdefault(SETUP_NAMES[player], []).append(written_point(action, game))
    if node.to_play is not None:
        properties["PL"] = ["BW"[node.to_play]]
    if node.comment:
        properties["C"] = [escaped(node.comment)]
    for action, mark in node.marks.items():
        point = written_point(action, game)
        value = point if mark in SHAPE_NAMES else composed(point, mark.replace("\n", " "))
        properties.setdefault(SHAPE_NAMES.get(mark, "LB"), []).append(value)
    for name, values in node.other.items():
        is_mark = name in SHAPES or name == "LB"
        properties[name] = properties.get(name, []) + values if is_mark else values
    return properties


# --- the first node -----------------------------------------------------------------------------------------------------------


def tree_of(properties: Properties) -> GameTree:
    """A tree with the game that its first node speaks of."""
    rest = dict(properties)
    names_rules = rules_called(plain_line(rest.get("RU", [""])[0]).strip() or "?") is not None
    names_komi = bool(plain_line(rest.get("KM", [""])[0]).strip())
    kind = plain_line(rest.get("GM", ["1"])[0]).strip()
    if kind not in ("1", ""):
        raise SgfError(f"this is not a game of Go: it says {_quoted('GM', kind)}, and Go is GM[1]")
    size, komi = _size(rest), _komi(rest.pop("KM", [""])[0], FOX in "".join(rest.get("AP", [])))
    rules = _rules(rest)
    handicap = _handicap(rest)
    players = tuple(_player(rest, name, rank) for name, rank in NAMES.items())
    result = plain_line(rest.pop("RE", [""])[0])
    for name in OURS:
        rest.pop(name, None)
    try:
        game = Go(size, komi, rules)
        root = node_of(rest, game, None)
        usual = _is_usual(root, game, handicap)
        game = Go(size, komi, rules, handicap) if usual else Go(size, komi + rules.bonus(handicap), rules)
    except GameError as error:
        raise SgfError(str(error)) from None
    return GameTree(game, root, (players[0], players[1]), result, 0 if usual else handicap, names_rules, names_komi)


def _size(rest: Properties) -> tuple[int, int]:
    written = plain_line(rest.get("SZ", [""])[0]).strip() or str(STANDARD_SIZE)
    sides = re.fullmatch(r"([0-9]{1,9})(?:\s*:\s*([0-9]{1,9}))?", written)
    if sides is None:
        raise SgfError(f"{_quoted('SZ', written)} is not a board size; sizes look like SZ[19] and SZ[7:10]")
    return int(sides[1]), int(sides[2] or sides[1])


def _komi(value: str, fox: bool) -> float:
    """What white gets; nothing if the record does not say. In China it is also counted in stones, worth two points each."""
    written = plain_line(value).strip().replace(",", ".") or "0"
    try:
        komi = float(written)
        if fox and komi >= 100:
            komi = komi / 100 if komi >= 100 * MOST_STONES else komi / 50
        for points in (komi, 2 * komi):
            if 2 * points == round(2 * points):
                return points
    except (ValueError, OverflowError):
        pass
    raise SgfError(f"{_quoted('KM', value)} is not a komi; it looks like KM[6.5]")


def _rules(rest: Properties) -> RuleSet:
    """The rule set that RU names, which is then taken out; one that we do not know stays there."""
    written = plain_line(rest.get("RU", [""])[0]).strip()
    found = rules_called(written)
    if found is not None or not written:
        rest.pop("RU", None)
    return found or RULE_SETS[FALLBACK]


def rules_called(name: str) -> RuleSet | None:
    """The rule set that records call so, if we have it."""
    points = POINTS.fullmatch(name)
    try:
        if points:
            ko, scoring, tax = (points[group].lower() for group in (1, 2, 3))
            dead = "agreed" if points[7] == "1" else "none"
            return RuleSet(ko, scoring, points[4] == "1", tax, dead, BONUSES[points[6] or "0"], points[5] == "1")
        for own, names in RULE_NAMES.items():
            if _letters(name) in map(_letters, names):
                return RULE_SETS[own]
        return rule_set(name)
    except GameError:
        return None


def _letters(name: str) -> str:
    return re.sub(r"[^a-z]", "", name.lower())


def rules_name(rules: RuleSet) -> str:
    """How records call a rule set."""
    for own, known in RULE_SETS.items():
        if known == rules:
            return RULE_NAMES[own][0] if own in RULE_NAMES else own
    bonus = next(short for short, words in BONUSES.items() if words == rules.handicap_bonus)
    choices = f"ko{rules.ko.upper()}score{rules.scoring.upper()}tax{rules.tax.upper()}"
    button = "button1" if rules.button else ""
    return f"{choices}sui{int(rules.suicide)}{button}whb{bonus}fpok{int(rules.dead == 'agreed')}"


def _handicap(rest: Properties) -> int:
    """Handicap stones, which are then taken out; one is no more than the first move, and stays."""
    written = plain_line(rest.get("HA", [""])[0]).strip() or "0"
    if not re.fullmatch(r"[0-9]{1,3}", written):
        raise SgfError(f"{_quoted('HA', written)} is not a handicap; it looks like HA[4]")
    if int(written) == 1:
        return 0
    rest.pop("HA", None)
    return int(written)


def _is_usual(root: Node, game: Go, handicap: int) -> bool:
    """Whether a handicap stands on the points on which it usually does, or there is none."""
    if not handicap:
        return True
    try:
        return root.stones == dict.fromkeys(handicap_points(game.width, game.height, handicap), BLACK)
    except GameError:
        return False


def _player(rest: Properties, name: str, rank: str) -> Player:
    return Player(plain_line(rest.pop(name, [""])[0]), plain_line(rest.pop(rank, [""])[0]))


def root_properties_of(tree: GameTree) -> Properties:
    """What is written of the first node."""
    game = tree.game
    handicap = game.handicap or tree.free_handicap
    size = f"{game.width}" if game.width == game.height else f"{game.width}:{game.height}"
    application = f"Anabranch:{__version__}"
    properties = {"GM": ["1"], "FF": ["4"], "CA": ["UTF-8"], "AP": [application], "SZ": [size], "KM": [f"{tree.komi:g}"]}
    if handicap:
        properties["HA"] = [str(handicap)]
    properties["RU"] = [escaped(rules_name(game.rules))]
    for (name, rank), player in zip(NAMES.items(), tree.players, strict=True):
        properties |= {key: [escaped(text)] for key, text in ((name, player.name), (rank, player.rank)) if text}
    if tree.result:
        properties["RE"] = [escaped(tree.result)]
    return properties | properties_of(tree.root, game)
