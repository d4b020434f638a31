"""A review (`review.py`) as part of the record: win rates and losses as comments, the search's preferences as variations.

Each node gets a paragraph at the end of its comment (C), the estimated score as its value (V, black's points, as SGF defines it
for Go) and black's win rate in percent (SBKV, from which Sabaki draws its curve). The text of an earlier review is replaced.
"""

from anabranch.errors import IllegalMove
from anabranch.games.position import Position
from anabranch.goengine.game_tree import COLOURS, GameTree, Node
from anabranch.goengine.review import Rate, Review, Reviewed
from anabranch.goengine.review_summary import size_of

SIGNATURE = "Anabranch: "  # how our paragraphs begin
LONGEST = 10  # moves of a variation


def annotate(review: Review) -> GameTree:
    """Write a review into its record."""
    tree = review.tree
    last: Node | None = None
    for move in review.moves:
        before, after = move.black_rates
        _write(move.turn.node, move.lead_after, after, _comment_on(move))
        start = _before(tree, move)
        if start is not None:
            if start is not last:  # which has what both searches say of it
                _write(start, move.before.lead, before)
            _add_variation(tree, start, move)
        last = move.turn.node
    return tree


def _comment_on(move: Reviewed) -> str:
    """A move in words."""
    before, after = move.rates
    who = COLOURS[move.turn.player].capitalize()
    text = f"{SIGNATURE}{who}'s win rate {before:.1%} -> {after:.1%}, loss {move.loss:+.1%} (standard error {move.error:.1%}"
    text += ", within the noise)." if move.is_noise else ")."
    if move.points_lost is not None:
        size = size_of(move)
        text += f" Points lost: {round(move.points_lost, 1) + 0.0:.1f}" + (f", {_article(size)} {size}." if size else ".")
    if move.is_first_choice:
        return f"{text} The search's own choice."
    return f"{text} Preferred: {' '.join(move.before.line[:LONGEST])}" if move.before.line else text


def _before(tree: GameTree, move: Reviewed) -> Node | None:
    """The node before the move; None if the move's own node sets something up first."""
    node = move.turn.node
    return None if node is tree.root or node.sets_up else node.parent


def _article(noun: str) -> str:
    return "an" if noun[0] in "aeiou" else "a"


def _write(node: Node, lead: float, rate: Rate, text: str | None = None) -> None:
    node.other |= {"V": [f"{lead:.1f}"], "SBKV": [f"{100 * rate.winrate:.2f}"]}
    if text is not None:
        own = [paragraph for paragraph in node.comment.split("\n\n") if paragraph and not paragraph.startswith(SIGNATURE)]
        node.comment = "\n\n".join([*own, text])


def _add_variation(tree: GameTree, start: Node, move: Reviewed) -> None:
    """Add the preferred line, as far as it is legal: a search on a graph may return lines that repeat a position."""
    if move.is_first_choice or move.before.choice is None:
        return
    node, position = start, move.turn.before
    for name in move.before.line[:LONGEST]:
        following = _after(position, name)
        if following is None:
            break
        node = tree.add(name, after=node, colour=position.to_play)
        position = following
        if node.parent is start and not node.comment:
            node.comment = f"{SIGNATURE}preferred to {move.name}, {COLOURS[move.turn.player]} wins {move.rates[0]:.1%}."


def _after(position: Position, name: str) -> Position | None:
    try:
        return None if position.is_over else position.play(name)
    except IllegalMove:
        return None
