"""What records say, as plain data, to compare them."""

import re

BLACK, WHITE = 0, 1


def shown(tree):
    """All that a record says, as plain data."""
    nodes = list(tree.nodes())
    places = {id(node): place for place, node in enumerate(nodes)}
    facts = [
        (
            places.get(id(node.parent)),
            node.action,
            node.colour,
            node.comment,
            node.stones,
            node.to_play,
            node.marks,
            node.other,
        )
        for node in nodes
    ]
    return repr(tree.game), tree.players, tree.result, tree.free_handicap, facts


def names(tree, actions):
    """How people write these actions."""
    return " ".join(tree.game.name_of(action) for action in actions)


def board(position):
    """The rows of a board without coordinates and marks."""
    rows = str(position).splitlines()[: position.game.height]
    return [re.sub(r"[\d() ]", "", row).replace("+", ".") for row in rows]
