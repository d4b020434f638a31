"""A game record in memory: a tree of moves, comments and marks, and the position at each of its nodes. No text here:
`protocols/sgf.py` reads and writes it.

A tree may be ten thousand moves deep, so nothing here recurses, and nodes compare and print without their children.
"""

import operator
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from anabranch.errors import IllegalMove, SgfError
from anabranch.games.go import Go, RuleSet
from anabranch.games.go.layout import EMPTY, cell_of
from anabranch.games.go.vertices import handicap_points
from anabranch.games.position import Position
from anabranch.goengine.turns import LONGEST_GAME

BLACK, WHITE = 0, 1  # players, as everywhere outside the board
COLOURS = ("black", "white")

Stones = dict[int, int | None]  # by action: the owner of the stone there; None: empty


class Player(NamedTuple):
    """A player's name and rank."""

    name: str = ""
    rank: str = ""


@dataclass(eq=False, repr=False, slots=True)
class Node:
    """One node: usually a move, with comments and marks on the position after it."""

    action: int | None = None  # the move that leads here, a pass included
    colour: int | None = None  # whose move that is
    comment: str = ""
    stones: Stones = field(default_factory=dict)  # set up or removed here, before the move
    to_play: int | None = None  # who is next, where the record says so
    marks: dict[int, str] = field(default_factory=dict)  # by action, as `Go.svg` draws them: "triangle", ..., or a text
    other: dict[str, list[str]] = field(default_factory=dict)  # other properties, values as in the text
    children: list["Node"] = field(default_factory=list)  # the main line first, then variations
    parent: "Node | None" = None

    @property
    def sets_up(self) -> bool:
        """Whether this node has setup properties."""
        return bool(self.stones) or self.to_play is not None

    def __repr__(self) -> str:
        what = "no move" if self.colour is None else f"{COLOURS[self.colour]} plays {self.action}"
        return f"<Node: {what}, children: {len(self.children)}>"


@dataclass(eq=False, repr=False)
class GameTree:
    """A game with its variations."""

    game: Go
    root: Node = field(default_factory=Node)
    players: tuple[Player, Player] = (Player(), Player())  # black, white
    result: str = ""  # as in SGF: B+3.5, W+R (resigned), W+T (time), 0 (a draw), Void
    free_handicap: int = 0  # freely placed handicap stones; white's compensation for them is in the game's komi
    names_rules: bool = False  # whether the record says under which rules it was played
    names_komi: bool = False  # likewise

    def __post_init__(self) -> None:
        if self.game.handicap and not self.root.stones:
            self.root.stones = dict.fromkeys(handicap_points(self.game.width, self.game.height, self.game.handicap), BLACK)

    # --- its nodes ---

    def nodes(self) -> Iterator[Node]:
        """All nodes in preorder: a node, then the subtree of its first child, then that of its second ..."""
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += reversed(node.children)

    def path(self, node: Node | None = None) -> list[Node]:
        """From the root to this node, or to the end of the main line."""
        if node is None:
            return [self.root, *_main_line(self.root)]
        nodes = []
        here: Node | None = node
        while here is not None:
            nodes.append(here)
            here = here.parent
        if nodes[-1] is not self.root:
            raise SgfError("that node is of another tree")
        return nodes[::-1]

    def main_line(self) -> list[int]:
        """The actions of the main line, as they are recorded."""
        return [node.action for node in self.path() if node.action is not None]

    def add(self, action: int | str, after: Node | None = None, comment: str = "", colour: int | None = None) -> Node:
        """Record a move after this node, or at the end of the main line: as the last of its variations, if it is not there
        yet. `position` checks whether it is legal. Returns the move's node."""
        number = self.game.action(action) if isinstance(action, str) else operator.index(action)
        if not 0 <= number < self.game.actions:
            raise IllegalMove(f"action {number} is out of range: {self.game!r} has 0 to {self.game.actions - 1}")
        if colour not in (None, BLACK, WHITE):
            raise SgfError(f"colour={colour!r}: say 0 for black or 1 for white")
        after = self.path(after)[-1]
        colour = self._next_by_turns(after) if colour is None else colour
        for child in after.children:
            if (child.action, child.colour) == (number, colour):
                child.comment = comment or child.comment
                return child
        child = Node(number, colour, comment, parent=after)
        after.children.append(child)
        return child

    def _next_by_turns(self, node: Node) -> int:
        """Who moves after this node, unless the record says otherwise."""
        here: Node | None = node
        while here is not None:
            if here.to_play is not None:
                return here.to_play
            if here.colour is not None:
                return 1 - here.colour
            here = here.parent
        return WHITE if self.game.handicap or self.free_handicap else BLACK

    # --- its positions ---

    @property
    def komi(self) -> float:
        """The komi as records state it, without compensation for a handicap."""
        return self.game.komi - self.game.rules.bonus(self.free_handicap)

    def change(self, komi: float | None = None, rules: RuleSet | None = None) -> None:
        """The same moves under another komi or other rules."""
        if rules is not None:
            self.root.other.pop("RU", None)  # an unknown name
        komi, rules = self.komi if komi is None else komi, self.game.rules if rules is None else rules
        size = (self.game.width, self.game.height)
        self.game = Go(size, komi + rules.bonus(self.free_handicap), rules, self.game.handicap)

    def position(self, node: Node | None = None, before: bool = False) -> Position:
        """The position at this node, or at the end of the main line, played by our rules as `protocols/sgf.py` explains.
        `before`: with the node's setup, but without its move."""
        path = self.playable_path(node)
        position = self.game.start()
        number = 0
        for place, here in enumerate(path):
            if here.sets_up or here is self.root:
                position = self.arranged(position, path, place)
            if here.action is not None and here.colour is not None and not (before and here is path[-1]):
                number += 1
                position = self._played(position, here.action, here.colour, number)
        return position

    def playable_path(self, node: Node | None = None) -> list[Node]:
        """The path to this node, or to the end of the main line; raises if it is too long to be played."""
        path = self.path(node)
        if sum(here.sets_up or here.action is not None for here in path) > LONGEST_GAME:
            raise SgfError(f"the game is too long: at most {LONGEST_GAME:,} moves are played")
        return path

    def arranged(self, position: Position, path: list[Node], place: int) -> Position:
        """The position with the setup at this place of the path."""
        return self._set_up(position, path[place], self._next(path, place))

    def _next(self, path: list[Node], place: int) -> int:
        """Who moves after a setup: as the node says, or the player of the next move, or by turns."""
        here = path[place]
        if here.to_play is not None:
            return here.to_play
        following = chain(path[place + 1 :], _main_line(path[-1])) if here.colour is None else iter([here])
        for node in following:
            if node.colour is not None:
                return node.colour
            if node.sets_up:
                break
        return self._next_by_turns(here)

    def _set_up(self, position: Position, node: Node, to_play: int) -> Position:
        before = stones_of(position)
        after = {action: player for action, player in (before | node.stones).items() if player is not None}
        if after == before and position.to_play == to_play:
            return position
        black, white = (sorted(action for action, player in after.items() if player == colour) for colour in (BLACK, WHITE))
        try:
            return self.game.arranged(black, white, to_play)
        except IllegalMove as error:
            raise SgfError(f"stones cannot be set up like that: {error}") from None

    def _played(self, position: Position, action: int, colour: int, number: int) -> Position:
        passes = self.game.actions - 1
        if position.is_over and action == passes:
            return position
        try:
            if not position.is_over and position.to_play != colour:
                position = position.play(passes)
            return position.play(action)
        except IllegalMove as error:
            raise SgfError(f"move {number}, by {COLOURS[colour]}: {error}") from None

    # --- games that were played here ---

    @classmethod
    def from_position(
        cls,
        position: Position,
        comments: Mapping[int, str] | None = None,
        start: Position | None = None,
        players: tuple[Player, Player] = (Player(), Player()),
    ) -> "GameTree":
        """The record of a game.

        comments  by the number of the move; 0: on the game
        start     the first position, if that was neither the start of the game nor this position
        """
        game = position.game
        if not isinstance(game, Go):
            raise SgfError(f"records are of games of Go, not of {game!r}")
        if start is None:
            start = game.start() if position.moves else position
        tree = cls(game, players=players, result=_result(game, position))
        tree.root.stones = dict(stones_of(start))
        if start != game.start():
            tree.root.to_play = start.to_play
        replayed, node = start, tree.root
        for action in position.moves[len(start.moves) :]:
            node.children.append(Node(action, replayed.to_play, parent=node))
            node = node.children[0]
            replayed = _replayed(replayed, action)
        if replayed != position:
            raise _other_start(position)
        _comment(tree.path(), comments or {})
        return tree

    def __repr__(self) -> str:
        names = " - ".join(player.name or COLOURS[place] for place, player in enumerate(self.players))
        result = f", {self.result}" if self.result else ""
        return f"<GameTree: {names}, {self.game!r}, {len(self.main_line())} moves{result}>"


def stones_of(position: Position) -> Stones:
    """The stones on the board, by action."""
    state = position.state
    colours = ((action, int(state.colour[cell_of(state, action)])) for action in range(position.game.actions - 1))
    return {action: colour - 1 for action, colour in colours if colour != EMPTY}


def _main_line(node: Node) -> Iterator[Node]:
    """The nodes after this one, following the first child."""
    while node.children:
        node = node.children[0]
        yield node


def _comment(path: list[Node], comments: Mapping[int, str]) -> None:
    for number, comment in comments.items():
        if not 0 <= number < len(path):
            raise SgfError(f"there is a comment on move {number} of a game of {len(path) - 1} moves")
        path[number].comment = comment


def _replayed(position: Position, action: int) -> Position:
    try:
        return position.play(action)
    except IllegalMove:
        raise _other_start(position) from None


def _other_start(position: Position) -> SgfError:
    return SgfError(f"the moves do not lead here from the start of {position.game!r}; say where it began with start=...")


def _result(game: Go, position: Position) -> str:
    """Who won by how much, where a game is over."""
    if not position.is_over:
        return ""
    return "Void" if position.repeats else game.result(position)
