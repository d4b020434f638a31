"""Compiling everything that a search of a game may need before a clock runs, or before somebody waits for it.

Kernels are compiled when they are first called. So everything is done once, on a search that is thrown away: a run, a step
forward, a run that exhausts memory, so that a graph must collect, and a step back. Used by `anabranch warm`, by the engine
behind GTP and JSON, and by players of matches.
"""

from typing import Any

from anabranch.games.game import Game
from anabranch.games.rules import CHANCE
from anabranch.jit import COMPILED
from anabranch.jit.options import is_option
from anabranch.search.searcher import Search

CRAMPED, UNTIL_FULL = 300_000, 2_000  # bytes, and the visits that fill them
FEW = 2  # visits


def warm_up(game: Game, options: dict[str, Any]) -> None:
    """Compile, or load, what `Search(game, **options)` will run."""
    if not COMPILED:
        return
    warm_search(Search(game, **{**options, "seed": 0, **_cramped(options)}), UNTIL_FULL if _cramped(options) else FEW)


def warm_search(search: Search, visits: int = FEW) -> None:
    """Compile, or load, what this new search will run. `visits`: those of its second run."""
    start = position = search.game.start()
    while position.to_play == CHANCE and not position.is_over:
        position = position.play(position.legal_actions[0])
    if position.is_over:
        return
    best = search.run(position, visits=FEW).best
    search.advance(best)
    following = search.position
    if following.to_play == CHANCE and not following.is_over:
        search.advance(following.legal_actions[0])
    if not search.position.is_over:
        search.run(visits=visits)
    if not start.is_over:
        search.run(start, visits=FEW)


def _cramped(options: dict[str, Any]) -> dict[str, Any]:
    """Little memory for graphs, so that they collect; but not where an evaluator in Python would be called 2,000 times."""
    evaluator = options.get("evaluate")
    asks_python = evaluator is not None and not is_option(evaluator)
    return {"memory": CRAMPED} if options.get("graph") and not asks_python else {}
