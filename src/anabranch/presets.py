"""Presets: how a game is best searched, as far as that was measured; with a KataGo network, as KataGo itself searches.

`anabranch search`, `play` and `gtp` search like this unless told otherwise, and so does the player `best` of the arena: with
the package's own network for a game, if it has one and ONNX Runtime is installed (`nets/trained`), otherwise by playouts.
In Python: `Search(game, **best_options(game))`; with one of KataGo's networks `Search(game, **network_options(net, game))`, or
`KataGoSearch(game, net)` (`nets/katago/search.py`). Measurements: docs/algorithms/rave.md, docs/results/training.md,
docs/katago.md.
"""

from typing import Any

from anabranch.games.game import Game
from anabranch.games.go import Go, Shapes
from anabranch.games.go.mogo import RELAXED
from anabranch.games.hex import Hex
from anabranch.games.simultaneous import SimultaneousGame
from anabranch.nets.evaluator import NetworkEvaluator
from anabranch.nets.files import open_network
from anabranch.nets.katago.evaluator import KataGoNet
from anabranch.nets.katago.search import katago_options
from anabranch.nets.trained import trained_file
from anabranch.search.evaluate.rollout import Rollout
from anabranch.search.select.rave import Rave

BEST: dict[type[Game], dict[str, Any]] = {
    Go: {"select": Rave(bias=0.018), "heuristic": Shapes(), "evaluate": Rollout(policy=RELAXED)},
    Hex: {"select": Rave()},
    SimultaneousGame: {"graph": True},
}

BOARDS = {"go": ("go", "go:size=13", "go:size=19")}  # what is meant by a game's name alone, where each takes its own kernels


def boards_of(name: str) -> tuple[str, ...]:
    """The boards that a game is usually played on, as the registry names them; a name with options is one."""
    return BOARDS.get(name.lower(), (name,))


def best_options(game: Any, networks: bool = True) -> dict[str, Any]:
    """Options of `Search` for this game; none where its defaults are the best that is known. `networks`: whether the package's
    networks may be among them."""
    file = trained_file(game) if networks else None
    if file is not None:
        return network_options(open_network(file, game), game)
    for kind, options in BEST.items():
        if isinstance(game, kind):
            return dict(options)
    return {}


def network_options(net: NetworkEvaluator, game: Any = None) -> dict[str, Any]:
    """Options of `Search` for a network, in a game."""
    if isinstance(net, KataGoNet):
        return katago_options(net, game if isinstance(game, Go) else None)
    return {"evaluate": net, "graph": True} if isinstance(game, SimultaneousGame) else {"evaluate": net}
