"""Draws docs/images/search.svg: a position of Connect Four by our own `position.svg()`, and the moves of a real search.

python docs/draw_search.py
"""

import re
from pathlib import Path

import anabranch as ab
from anabranch.games import ConnectFour

TARGET = Path(__file__).parent / "images" / "search.svg"
LINE_MOVES, VISITS = ["d", "d", "d", "e", "c"], 200_000
WIDTH, TOP, ROW, BAR = 820, 62, 32, 140  # pixels: of the drawing; above the first row; of a row; of a bar of 100 %
PANEL = 352  # where the table begins
COLUMNS = {"move": PANEL, "share": PANEL + 50, "visits": PANEL + 300, "value": PANEL + 370, "then": PANEL + 382}


def main() -> None:
    """Search, draw, write."""
    game = ConnectFour()
    position = game.position(LINE_MOVES)
    result = ab.Search(game).run(position, visits=VISITS)
    TARGET.write_text(draw(position.svg(), result), encoding="utf-8")
    print(result)


def draw(board: str, result: ab.Result) -> str:
    """The board on the left, a bar a move on the right."""
    height = int(re.search(r'height="(\d+)"', board)[1])
    parts = ['<rect width="100%" height="100%" fill="#ffffff"/>', board.replace("<svg ", '<svg x="0" y="0" ', 1)]
    for name, x in COLUMNS.items():
        parts.append(text(x, TOP - 18, name, "end" if name in ("visits", "value") else "start", "#777777"))
    for number, move in enumerate(result.moves):
        y = TOP + ROW * number
        colour = "#2f7d4f" if number == 0 else "#9db8a6"
        bar = max(BAR * move.share, 1.0)
        parts += [
            text(COLUMNS["move"], y + 15, move.name),
            f'<rect x="{COLUMNS["share"]}" y="{y}" width="{bar:.1f}" height="{ROW - 10}" fill="{colour}"/>',
            text(COLUMNS["share"] + bar + 6, y + 15, f"{move.share:.1%}"),
            text(COLUMNS["visits"], y + 15, f"{move.visits:,}", "end"),
            text(COLUMNS["value"], y + 15, f"{move.value:+.2f}", "end"),
            text(COLUMNS["then"], y + 15, " ".join(move.pv[1:6]), colour="#777777"),
        ]
    shape = f'width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}"'
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" {shape}>', *parts, "</svg>", ""])


def text(x: float, y: float, words: str, anchor: str = "start", colour: str = "#222222") -> str:
    """A line of text."""
    style = f'text-anchor="{anchor}" font-family="sans-serif" font-size="14" fill="{colour}"'
    return f'<text x="{x:g}" y="{y:g}" {style}>{words}</text>'


if __name__ == "__main__":
    main()
