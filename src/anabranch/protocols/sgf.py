"""Game records: SGF in and out, with variations and comments.

    tree = sgf.load("game.sgf")
    tree.position()                      # at the end of the main line, played by our rules
    node = tree.root.children[0]         # plain data: action, colour, comment, stones, marks, children
    tree.add("D4", after=node, comment="the other corner")
    sgf.save(tree, "better.sgf")
    print(sgf.write(GameTree.from_position(position, comments={12: "a mistake"})))

Reading looks at the text only. `GameTree.position` asks the rules, since a record may well hold what they do not allow:

- If a player moves twice in a row, as black does who puts handicap stones one by one, the other one passes between.
- Stones that are set up in mid-game make a new start: what was played and captured before is forgotten.
- Passes behind the end of a game say nothing and are passed over. Another move there is an error.

Komi is 0 if the record does not say (KM). Rules that we do not know (RU) are taken for Chinese; their name is kept. Read next:
`goengine/game_tree.py`, `sgf_go.py`, `sgf_grammar.py`.
"""

from collections.abc import Iterator
from os import PathLike
from pathlib import Path

from anabranch.errors import SgfError
from anabranch.goengine.game_tree import GameTree, Node, Player
from anabranch.protocols.sgf_go import node_of, properties_of, rectangles_in, root_properties_of, tree_of
from anabranch.protocols.sgf_grammar import END, ROOT, Properties, decoded, parsed, written

__all__ = ["MOST", "GameTree", "Node", "Player", "load", "read", "read_all", "save", "write"]

MOST = 10_000_000  # bytes or characters; ten times a large dictionary of openings, and a gigabyte in memory at worst
MOST_RECTANGLES = 10_000  # such as AB[aa:ss], which is seven bytes and 361 stones


def read(text: str | bytes) -> GameTree:
    """The first game in a text."""
    return next(_games(text))


def read_all(text: str | bytes) -> list[GameTree]:
    """All games in a text."""
    return list(_games(text))


def load(path: str | PathLike[str]) -> GameTree:
    """The first game in a file."""
    try:
        with open(path, "rb") as stream:
            return read(stream.read(MOST + 1))
    except OSError as error:
        raise SgfError(f"{path} cannot be read: {error.strerror or error}") from None
    except SgfError as error:
        raise SgfError(f"{path}: {error}") from None


def write(tree: GameTree) -> str:
    """A game as text."""
    return written(_nodes(tree))


def save(tree: GameTree, path: str | PathLike[str]) -> None:
    """Write a game to a file, in UTF-8."""
    data = write(tree).encode("utf-8", "replace")
    try:
        Path(path).write_bytes(data)
    except OSError as error:
        raise SgfError(f"{path} cannot be written: {error.strerror or error}") from None


def _games(text: str | bytes) -> Iterator[GameTree]:
    if len(text) > MOST:
        raise SgfError(f"the text is too long: it has more than {MOST:,} bytes")
    text = decoded(text) if isinstance(text, bytes) else text
    tree: GameTree | None = None
    nodes: list[Node] = []
    rectangles = 0
    for parent, properties in parsed(text):
        rectangles += rectangles_in(properties)
        if rectangles > MOST_RECTANGLES:
            raise SgfError(f"there are more than {MOST_RECTANGLES:,} rectangles of points in the text")
        if parent == ROOT:
            tree = tree_of(properties)
            nodes = [tree.root]
        elif tree is not None and parent == END:
            yield tree
        elif tree is not None:
            node = node_of(properties, tree.game, nodes[parent])
            nodes[parent].children.append(node)
            nodes.append(node)
    if tree is None:
        raise SgfError("the text contains no game: nothing begins with (;" if text.strip() else "the text is empty")


def _nodes(tree: GameTree) -> Iterator[tuple[int, int, Properties]]:
    """What is written, as `written` wants it."""
    place = 0
    waiting = [(ROOT, tree.root)]
    while waiting:
        parent, node = waiting.pop()
        is_root = node is tree.root
        yield parent, len(node.children), root_properties_of(tree) if is_root else properties_of(node, tree.game)
        waiting += [(place, child) for child in reversed(node.children)]
        place += 1
