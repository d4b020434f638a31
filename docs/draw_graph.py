"""Draws the pictures of docs/algorithms/graph.md: a tree and a graph of the same positions, the two wrong ways with the numbers
that examples/graph_wrong_ways.py computes, and a real search by our own `search.graph.svg()`.

python docs/draw_graph.py
"""

import re
import sys
from pathlib import Path

import anabranch as ab
from anabranch.games import TicTacToe

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent / "examples"))
import graph_wrong_ways as ways  # noqa: E402

INK, FAINT, PLAIN, JOINED = "#333333", "#9a9a9a", "#f4efe2", "#f7c07a"  # as in search/draw.py
WRONG, RIGHT, BUSY = "#c0392b", "#2e7d32", "#d9822b"
SIZE = 14  # pixels of the font
LINE_MOVES, VISITS, SHOWN = ["b2", "a1", "b1", "b3"], 500, 25


def main() -> None:
    """Draw all three."""
    write("graph_and_tree.svg", graph_and_tree())
    write("graph_wrong_ways.svg", wrong_ways())
    search = ab.Search(TicTacToe(), graph=True, prove=True)
    print(search.run(TicTacToe().position(LINE_MOVES), visits=VISITS))
    write("graph_search.svg", search.graph.svg(limit=SHOWN))


def write(name: str, picture: str) -> None:
    """Into the folder of images."""
    (DOCS / "images" / name).write_text(picture, encoding="utf-8")


# --- a tree and a graph ------------------------------------------------------------------------------------------------------


def graph_and_tree() -> str:
    """Cells that are filled in any order: two paths to one position, and what is searched below it."""
    below, step, left, right = 84, 96, 130, 520
    tree = {
        "top": (left, 0, "..."),
        "x": (left - step / 2, 1, "x.."),
        "y": (left + step / 2, 1, ".x."),
        "xy": (left - step / 2, 2, "xx."),
        "yx": (left + step / 2, 2, "xx."),
        "xyz": (left - step / 2, 3, "xxx"),
        "yxz": (left + step / 2, 3, "xxx"),
    }
    graph = {
        "top": (right, 0, "..."),
        "x": (right - step / 2, 1, "x.."),
        "y": (right + step / 2, 1, ".x."),
        "xy": (right, 2, "xx."),
        "xyz": (right, 3, "xxx"),
    }
    parts = []
    for nodes, edges, title in (
        (tree, ["top x", "top y", "x xy", "y yx", "xy xyz", "yx yxz"], "a tree: seven nodes"),
        (graph, ["top x", "top y", "x xy", "y xy", "xy xyz"], "a graph: five"),
    ):
        middle = nodes["top"][0]
        parts.append(text(middle, 26, [title], bold=True))
        for edge in edges:
            (x1, y1, _), (x2, y2, _) = (nodes[name] for name in edge.split())
            joins = nodes is graph and edge.endswith(" xy")
            parts.append(line(x1, 86 + below * y1, x2, 50 + below * y2, 2.5, BUSY if joins else FAINT))
        for x, row, cells in nodes.values():
            twice = sum(node[2] == cells for node in nodes.values()) > 1
            joined = nodes is graph and cells == "xx."
            parts.append(board(x, 50 + below * row, cells, JOINED if joined else PLAIN, WRONG if twice else INK))
    parts.append(text(310, 50 + 2.65 * below, ["each found, evaluated", "and searched twice"], WRONG))
    parts.append(text(655, 50 + 2.2 * below, ["what is learned here,", "both parents know"], BUSY))
    return document(760, 370, parts)


def board(x: float, y: float, cells: str, fill: str, frame: str) -> str:
    """A box with three cells."""
    parts = [f'<rect x="{x - 42}" y="{y}" width="84" height="36" rx="6" fill="{fill}" stroke="{frame}" stroke-width="1.6"/>']
    for i, cell in enumerate(cells):
        parts.append(f'<rect x="{x - 30 + 20 * i}" y="{y + 8}" width="20" height="20" fill="#ffffff" stroke="{INK}"/>')
        if cell == "x":
            parts.append(f'<circle cx="{x - 20 + 20 * i}" cy="{y + 18}" r="6.5" fill="{INK}"/>')
    return "".join(parts)


# --- the wrong ways --------------------------------------------------------------------------------------------------------


def wrong_ways() -> str:
    """Both situations, with what the methods say before and after."""
    rising = {type(method).__name__: list(ways.a_child_that_rises(method)) for method in ways.METHODS}
    popular = {type(method).__name__: list(ways.a_child_that_is_popular(method)) for method in ways.METHODS}
    from_a, from_b = counts(rising["Edges"][0])
    from_d, from_g = counts(popular["Edges"][0])
    q_c, q_f = ([value for _, value, _ in rows["Edges"][:2]] for rows in (rising, popular))
    to_c = {method: rows[3][2] for method, rows in rising.items()}
    parts = [
        text(235, 26, ["1. Running means: A does not learn what C is worth"], bold=True),
        line(140, 120, 85, 262, 1.2),
        line(150, 120, 110, 262, 1.2),
        line(170, 120, 290, 262, 4),
        line(395, 120, 300, 262, 9, BUSY),
        text(222, 214, [from_a], anchor="end"),
        text(378, 206, [f"{from_b}, then", "1,000 more"], BUSY, anchor="start"),
        node(160, 50, "A", [change("Running", rising, 2, WRONG), change("Edges", rising, 2, RIGHT)], wide=190),
        node(395, 50, "B", [("finds a tactic", INK), ("below C", INK)], wide=120),
        node(100, 262, "X, Y", [("worse than C", INK)], wide=110),
        node(295, 262, "C", [(f"{q_c[0]:.3f} to {q_c[1]:.3f}", INK)], JOINED, wide=140),
        text(
            235,
            348,
            [f"of A's next 20 visits {to_c['Running']} goes to C by running means,", f"{to_c['Edges']} by edge visits"],
        ),
        text(725, 26, ["2. All parents: D is dragged down by F"], bold=True),
        line(620, 120, 570, 262, 5),
        line(650, 120, 735, 262, 1.2),
        line(865, 120, 755, 262, 9, BUSY),
        text(682, 214, [from_d], anchor="end"),
        text(842, 206, [f"{from_g}, then", "100 more"], BUSY, anchor="start"),
        node(635, 50, "D", [change("AllParents", popular, 1, WRONG), change("Edges", popular, 1, RIGHT)], wide=200),
        node(865, 50, "G", [("leads to F for", INK), ("reasons of its own", INK)], wide=150),
        node(570, 262, "E", [("0.560: D's best", INK)], wide=120),
        node(745, 262, "F", [(f"{q_f[1]:.3f}", INK)], JOINED, wide=130),
        text(725, 348, ["D would never have put 100 visits into F;", "its best move is worth what it was"]),
    ]
    return document(960, 400, parts)


def change(method: str, rows: dict[str, list], after: int, colour: str) -> tuple[str, str]:
    """What a method says of the node above, at first and after some rows."""
    return f"{method}: {rows[method][0][2]:.3f} to {rows[method][after][2]:.3f}", colour


def counts(row: tuple[str, float, float]) -> list[str]:
    """The numbers in a row's words."""
    return re.findall(r"\d+", row[0])


def node(x: float, y: float, name: str, lines: list[tuple[str, str]], fill: str = PLAIN, wide: float = 170) -> str:
    """A box with a name and what is said of its value."""
    height = 30 + 20 * len(lines)
    shape = f'x="{x - wide / 2}" y="{y}" width="{wide}" height="{height}" rx="8"'
    parts = [f'<rect {shape} fill="{fill}" stroke="{INK}"/>', text(x, y + 20, [name], bold=True)]
    return "".join([*parts, *(text(x, y + 40 + 20 * i, [words], colour) for i, (words, colour) in enumerate(lines))])


# --- small things ----------------------------------------------------------------------------------------------------------


def line(x1: float, y1: float, x2: float, y2: float, width: float, colour: str = FAINT) -> str:
    """From a box down to another."""
    middle = (y1 + y2) / 2
    path = f"M{x1} {y1}C{x1} {middle} {x2} {middle} {x2} {y2}"
    return f'<path d="{path}" fill="none" stroke="{colour}" stroke-opacity="0.85" stroke-width="{width}"/>'


def text(x: float, y: float, lines: list[str], colour: str = INK, anchor: str = "middle", bold: bool = False) -> str:
    """Lines of text, one below the other."""
    style = f'text-anchor="{anchor}" fill="{colour}"' + ' font-weight="bold"' * bold
    return "".join(f'<text x="{x:g}" y="{y + 18 * i:g}" {style}>{words}</text>' for i, words in enumerate(lines))


def document(width: int, height: int, parts: list[str]) -> str:
    """The whole drawing."""
    shape = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {shape} font-family="sans-serif" font-size="{SIZE}">'
    return "\n".join([head, '<rect width="100%" height="100%" fill="#ffffff"/>', *parts, "</svg>", ""])


if __name__ == "__main__":
    main()
