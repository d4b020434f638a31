"""A Go engine: plays, analyses and reviews games of Go with the searches of this package. No text protocols here: those are in
`protocols/`. Used by `anabranch gtp`, `analyze` and `review`.

    engine.py      `Engine`: the game so far, the search that follows it, when to resign
    searches.py    `Options`, and the searches that they describe; compiling ahead of time
    clock.py       time systems, and how long to think about a move
    endgame.py     what is settled at the end of a game, by playouts
    passing.py     when to pass, and the cleanup before that
    estimate.py    ownership and points, by playouts
    report.py      what a search has found so far: win rates, points, ownership
    turns.py       positions with any player to move, after the end of a game, under other rules
    game_tree.py   a game record in memory, with variations; SGF is read and written in `protocols/`
    review.py      a game review; `review_chart.py` draws it, `review_sgf.py` writes it into the record

Read `engine.py` first.
"""

from anabranch.goengine.engine import Engine
from anabranch.goengine.searches import Options

__all__ = ["Engine", "Options"]
