"""PyRat for people: a maze as text, and from text. A and B are players 0 and 1, * is cheese, and a digit in the place of a wall
is mud: the number of turns that the passage takes. Next: `picture.py`.
"""

from typing import Any

from anabranch.errors import GameError
from anabranch.games.pyrat.layout import HIGHEST_MUD, RIGHT, UP, cost, has
from anabranch.games.pyrat.maze import Maze, check_sides, passages

PLAYERS = "AB"
CHEESE = "*"
EXAMPLE = """
+---+---+---+
|     *    B|
+   +-3-+   +
|A  2   |   |
+---+---+---+
"""


def text(state: Any) -> str:
    """The maze, the players and the cheese, scores and turn."""
    width, height = int(state.width), int(state.height)
    lines = []
    for y in reversed(range(height)):
        lines.append(_between(state, y, width))
        lines.append(_row(state, y, width))
    lines.append("+" + "---+" * width)
    return "\n".join([*lines, standing(state)])


def standing(state: Any) -> str:
    """Scores, turn, and who is stuck."""
    scores = ", ".join(f"{name} {points / 2:g}" for name, points in zip(PLAYERS, state.points, strict=True))
    stuck = "".join(
        f"; {name} is stuck for {turns} turn{'s' if turns > 1 else ''}"
        for name, turns in zip(PLAYERS, state.stuck, strict=True)
        if turns
    )
    return f"{scores}; turn {state.turn} of {state.max_turns}{stuck}"


def _between(state: Any, y: int, width: int) -> str:
    """The line above a row of cells."""
    return "+" + "".join(("---", "   ", f"-{turns}-")[min(turns, 2)] + "+" for turns in _costs(state, y, width, UP))


def _row(state: Any, y: int, width: int) -> str:
    line = "|"
    for x, turns in enumerate(_costs(state, y, width, RIGHT)):
        cell = y * width + x
        first, second = (name if place == cell else " " for name, place in zip(PLAYERS, state.place, strict=True))
        line += first + (CHEESE if has(state.cheese, cell) else " ") + second + ("|", " ", str(turns))[min(turns, 2)]
    return line


def _costs(state: Any, y: int, width: int, direction: int) -> list[int]:
    return [int(cost(state, y * width + x, direction)) for x in range(width)]


# --- from text ----------------------------------------------------------------------------------------------------------------


def parse(drawing: str) -> Maze:
    """The maze of a drawing; lines below it are left out."""
    lines = [line.strip() for line in drawing.strip().splitlines()]
    lines = [line for line in lines if line.startswith(("+", "|"))]
    height, width = len(lines) // 2, len(lines[0]) // 4 if lines else 0
    if len(lines) % 2 == 0 or any(len(line) != 4 * width + 1 for line in lines):
        raise GameError(f"a maze is drawn in lines of one length, such as\n{EXAMPLE}")
    check_sides(width, height)
    rows = [lines[2 * (height - 1 - y) + 1] for y in range(height)]
    above = [lines[2 * (height - 1 - y)] for y in range(height)]
    walls, mud = set(), {}
    for low, high in passages(width, height):
        x, y = low % width, low // width
        sign = above[y][4 * x + 2] if high == low + width else rows[y][4 * x + 4]
        if sign in "-|":
            walls.add((low, high))
        elif sign != " ":
            if not sign.isdecimal() or not 2 <= int(sign) <= HIGHEST_MUD:
                raise GameError(f"{sign!r} stands for no passage: draw a wall, a blank, or mud of 2 to {HIGHEST_MUD} turns")
            mud[low, high] = int(sign)
    cheese, found = set(), dict.fromkeys(PLAYERS, -1)
    for cell in range(width * height):
        for sign in rows[cell // width][4 * (cell % width) + 1 : 4 * (cell % width) + 4]:
            if sign == CHEESE:
                cheese.add(cell)
            elif sign in PLAYERS:
                found[sign] = cell
            elif sign != " ":
                raise GameError(f"{sign!r} stands for nothing: draw {CHEESE} for cheese, A and B for the players")
    for name, cell in found.items():
        if cell < 0:
            raise GameError(f"player {name} is not in the drawing")
    return Maze(width, height, frozenset(walls), mud, frozenset(cheese), (found["A"], found["B"]))
