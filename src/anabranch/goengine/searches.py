"""The engine's options, and the searches that they describe. All searches of the engine are made here: to play, to analyse and
to review. Kernels are compiled ahead of time by `warm`, never while a clock runs. Above: `engine.py`, `review.py`.
"""

import threading
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from anabranch.errors import GameError, SearchError
from anabranch.games.go import Go, RuleSet, Utility
from anabranch.games.position import Position
from anabranch.goengine.clock import LAG
from anabranch.goengine.endgame import settle
from anabranch.jit import COMPILED
from anabranch.nets.katago.evaluator import KataGoNet
from anabranch.nets.katago.search import KataGoSearch, katago_rule, unit_of
from anabranch.option_names import option_of
from anabranch.presets import best_options
from anabranch.search.evaluate.rollout import Rollout
from anabranch.search.results.final import RootTemperature
from anabranch.search.searcher import Search
from anabranch.search.select.puct import KataGoPUCT
from anabranch.search.select.wide_root import WideRoot
from anabranch.search.warm import warm_search, warm_up

BEST = "best"  # the strongest selection rule, heuristic and playouts: see `presets.py`
KATAGO_UTILITY = Utility()
WIDEST = 5.0  # the largest `width`; KataGo's limit
WIDTH = 0.04  # KataGo's default of analysisWideRootNoise; see `search/select/wide_root.py`


@dataclass(frozen=True)
class Options:
    """How to play."""

    size: int | tuple[int, int] = 9
    komi: float = 7.5
    rules: str | RuleSet = "chinese"
    visits: int | None = None  # of the root, kept ones included, at which a search ends
    seconds: float | None = None  # for a move; with a clock, at most
    policy: Any = None  # of playouts; None: the game's own
    net: KataGoNet | None = None  # evaluates positions in place of playouts
    utility: Utility = KATAGO_UTILITY  # what is played for with a network, apart from its centre
    root_temperature: float = 1.0  # of the root's priors, with a network
    human_net: Any = None  # a human-like network, which predicts how people play; it is only asked for reports
    human_profile: str = ""  # whose moves it predicts, such as rank_5k; it is not asked without
    select: Any = BEST  # a selection rule, or its name: "best" is the strongest, heuristic included
    exploration: float | None = None  # the rule's constant c; None: its default
    graph: bool = True  # whether transpositions share a node
    memory: int | str = "512MB"
    seed: int = 0  # of the first game; each further one takes the next
    ponder: bool = False  # search while the opponent thinks
    resign: float = 0.05  # win rate below which the engine resigns; 0: never
    lag: float = LAG
    width: float = WIDTH  # how widely an analysis explores the root: `WideRoot`'s noise


_warming = threading.Lock()
_warm: set[Any] = set()


def new_search(game: Go, options: Options, seed: int, width: float = 0.0) -> Search:
    """A search with these options, with `width` as the noise at its root."""
    chosen: dict[str, Any] = {"graph": options.graph, "seed": seed, "memory": options.memory}
    if options.net is not None:
        chosen["noise"] = None if options.root_temperature == 1.0 else RootTemperature(options.root_temperature)
        return KataGoSearch(game, options.net, options.utility, select=rule_of(game, options, width), **chosen)
    return Search(game, **_playout_options(game, options, width) | chosen)


def _playout_options(game: Go, options: Options, width: float = 0.0) -> dict[str, Any]:
    """Options of a search by playouts."""
    chosen = best_options(game) if options.select == BEST else {}
    if options.policy is not None:
        chosen["evaluate"] = Rollout(policy=options.policy)
    return {**chosen, "select": rule_of(game, options, width), "graph": options.graph}


def rule_of(game: Go, options: Options, width: float = 0.0) -> WideRoot:
    """The selection rule, with `width` as the noise at the root. It is the same kind of rule for playing and for analysis, so
    that one tree serves both and nothing is compiled twice."""
    if options.select == BEST:
        rule = best_options(game)["select"] if options.net is None else KataGoPUCT()
    else:
        rule = option_of("select", options.select, game) if isinstance(options.select, str) else options.select
    if options.exploration is not None:
        if "c" not in rule._fields:
            raise SearchError(f"{rule!r} has no exploration constant c")
        rule = rule._replace(c=options.exploration)
    if options.net is None:
        return WideRoot(rule, width)
    unit = unit_of(game.paying(options.utility))
    return WideRoot(katago_rule(unit, rule) if isinstance(rule, KataGoPUCT) else rule, width * unit)


def without(position: Position, hidden: Collection[int]) -> list[int] | None:
    """The legal actions without the hidden ones; None: all."""
    if not hidden:
        return None
    left = [action for action in position.legal_actions if action not in hidden]
    if not left:
        raise GameError("no legal move is left to search")
    return left


def warm(game: Go, options: Options) -> None:
    """Compile what searches of such a game and playouts need, unless that was done already; one thread at a time."""
    with _warming:
        if is_warm(game, options):
            return
        if options.net is None:
            warm_up(game, _playout_options(game, options))
        else:
            _warm_network(game, options)
        settle(game.start(), options.policy, playouts=1)
        _warm.add(_kernels(game, options))


def _warm_network(game: Go, options: Options) -> None:
    """Compile what a search with the network needs, and load the network."""
    search = new_search(game, options, options.seed)
    assert isinstance(search, KataGoSearch)
    warm_search(search)
    search.averages().ownership()


def is_warm(game: Go, options: Options) -> bool:
    """Whether nothing is left to compile."""
    return not COMPILED or _kernels(game, options) in _warm


def _kernels(game: Go, options: Options) -> tuple[Any, ...]:
    """What decides which kernels a search needs."""
    return type(game), options.net is not None, options.select, options.policy, options.graph
