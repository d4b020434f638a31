"""Go boards to try rules on: drawn on a game, rows from the top, X black and O white."""

from textwrap import dedent

from tests.reference.go import BLACK

from anabranch.games.go import RULE_SETS, Go, RuleSet
from anabranch.games.go.layout import cell_of

KO_RULES = ("simple", "positional", "situational")
SUPERKO_RULES = KO_RULES[1:]


def rule_set(**points):
    """All stones on the board are alive and all territory counts, unless these say otherwise: the judges know no more."""
    return RuleSet(**{"dead": "none", **points})


named = {name: known.but(dead="none", tax="none") for name, known in RULE_SETS.items()}


def with_ko(ko, size, **points):
    return Go(size, komi=0, rules=rule_set(ko=ko, **points), returns="score")


def drawn(game, text, to_play=BLACK):
    """The position with these stones, rows from the top."""
    rows = [row.split() for row in reversed(dedent(text).strip().splitlines())]
    assert [len(row) for row in rows] == [game.width] * game.height
    cells = [cell for row in rows for cell in row]
    black, white = ([action for action, cell in enumerate(cells) if cell == mark] for mark in "XO")
    return game.arranged(black, white, to_play)


def board(position):
    """The stones of a position, drawn in the same way."""
    state, width = position.state, position.game.width
    marks = [".XO"[state.colour[cell_of(state, action)]] for action in range(position.game.actions - 1)]
    rows = [" ".join(marks[start : start + width]) for start in range(0, len(marks), width)]
    return "\n".join(reversed(rows))


def names_of(position, mark):
    """The points with these stones."""
    cells = [cell for row in reversed(board(position).splitlines()) for cell in row.split()]
    return [position.game.name_of(action) for action, cell in enumerate(cells) if cell == mark]


def rows(text):
    return dedent(text).strip()


def play(position, moves):
    for move in moves.split():
        position = position.play(move)
    return position


def can_play(position, name):
    return position.game.action(name) in position.legal_actions


def score(position):
    """What black is ahead by if both players pass."""
    while not position.is_over:
        position = position.play("pass")
    return position.returns[BLACK]


def more_prisoners(state):
    """Black's prisoners less white's: a stone that was put down and is not on the board was taken."""
    return int(state["balance"]) + int(state["stones"])


KO = """
    . X O .
    X O . O
    . X O .
    . . . .
"""
SEND_TWO = """
    . . . .
    . . . .
    X X O O
    . O . O
"""
TRIPLE_KO = """
    . X O .
    X O . O
    . X O .
    . X O .
    X . X O
    . X O .
    . X O .
    X O . O
    . X O .
"""
TRIPLE_CYCLE = "C8 B5 C2 B8 C5"  # one more, B2, and the board is what it was
