"""Search as KataGo does it: its options for a network, and `KataGoSearch`, which also plays for its utility.

    net = ab.KataGoNet("b6c96.bin.gz")
    search = KataGoSearch(Go(19), net)
    result = search.run(visits=200)
    print(result, search.averages().root.winrate)

With `Search(game, **katago_options(net, game))` a game is played for what it pays. `KataGoSearch` plays for win and score, as
KataGo does: the centre of the dynamic score utility (`games/go/utility.py`) is near the score that the network expects at
the root. KataGo moves it at every move, and recomputes the values of the tree. Here it moves only when the expected score has
changed enough to matter, and then the search starts over; the network's cache knows most positions by then.
"""

from typing import Any

import numpy as np

from anabranch.games.go import Go, Utility
from anabranch.games.go.game import PAYMENTS
from anabranch.games.go.utility import DYNAMIC_SCALE
from anabranch.games.position import Position
from anabranch.jit import readable
from anabranch.nets.katago.averages import SearchAverages
from anabranch.nets.katago.columns import SCORE_MEAN
from anabranch.nets.katago.evaluator import KataGoNet
from anabranch.nets.katago.outputs import KNOWS_ERRORS
from anabranch.search.backup.certainty import ByCertainty
from anabranch.search.results.final import ByLowerBound
from anabranch.search.searcher import Search
from anabranch.search.select.base import ReducedFPU
from anabranch.search.select.puct import KataGoPUCT

ZERO_WEIGHT = 0.2  # of an even score in the centre: KataGo's dynamicScoreCenterZeroWeight
TOLERANCE = 0.25  # how far the centre may be off, in units of the scale on which the dynamic utility saturates
RULE, CERTAINTY = KataGoPUCT(), ByCertainty()


def katago_options(net: KataGoNet, game: Go | None = None) -> dict[str, Any]:
    """KataGo's own defaults as options of `Search`: its PUCT on a graph, lower confidence bounds for the final choice,
    evaluations weighted by their certainty where the network tells it. docs/katago.md says what differs from KataGo.

    game   the game that is searched; without it, one that is played for the win
    """
    unit = 1.0 if game is None else unit_of(game)
    options = {"select": katago_rule(unit), "evaluate": net, "graph": True, "final": ByLowerBound()}
    if net.model().header.version >= KNOWS_ERRORS:
        options["backup"] = CERTAINTY._replace(coefficient=CERTAINTY.coefficient * unit)
    return options


def unit_of(game: Go) -> float:
    """What a win is worth in a search, which scales values to -1 to 1. KataGo's constants are for values in which it is 1."""
    win = float(game.fields["win_weight"])
    return win / game.value_range[1] if win > 0.0 else 1.0


def katago_rule(unit: float = 1.0, rule: KataGoPUCT = RULE) -> KataGoPUCT:
    """KataGo's PUCT, or one with other numbers, where a win is worth so much."""
    return rule._replace(
        c=rule.c * unit,
        growth=rule.growth * unit,
        usual=rule.usual * unit,
        fpu=_scaled(rule.fpu, unit),
        root_fpu=_scaled(rule.root_fpu, unit),
    )


def _scaled(fpu: Any, unit: float) -> Any:
    return ReducedFPU(fpu.offset * unit) if isinstance(fpu, ReducedFPU) else fpu


class KataGoSearch(Search):
    """A search of Go with a KataGo network and KataGo's defaults, played for KataGo's utility. Positions of any game that
    differs from `game` in nothing but what it pays can be searched; values of results are utilities."""

    def __init__(self, game: Go, net: KataGoNet, utility: Utility | None = None, **options: Any) -> None:
        """utility   what is played for, apart from its centre; KataGo's default
        options   those of `Search`, in place of KataGo's defaults
        """
        paid = game.paying(Utility() if utility is None else utility)
        self.net, self.paid = net.for_game(paid), paid
        super().__init__(paid, **{**katago_options(self.net, paid), **options})

    def averages(self) -> SearchAverages:
        """What the network says of the positions of this search: win rates, leads, scores, ownership."""
        return SearchAverages(self.graph, self.net, float(self.paid.fields["win_weight"]))

    @property
    def centre(self) -> float | None:
        """Of the dynamic score utility at the root, in black's points; None before the first search."""
        return None if self.position is None else float(self.position.state.score_centre)

    def _own(self, position: Any) -> Any:
        position = self.paid.start() if position is None and self.position is None else position
        if not isinstance(position, Position) or not self.net.serves(position.game):
            return position  # `Search` says what is wrong
        if self.centre is not None:
            kept = self._adopted(position, self.centre)
            if kept == self.position:
                return kept
        centre = self._centre_for(position)
        is_near = self.centre is not None and abs(centre - self.centre) <= TOLERANCE * self._scale
        return self._adopted(position, self.centre if is_near else centre)

    def _is_kept(self, root: Position) -> bool:
        return self.centre is None or float(root.state.score_centre) == self.centre

    @property
    def _scale(self) -> float:
        """Points on which the dynamic utility saturates."""
        return DYNAMIC_SCALE * float(np.sqrt(self.paid.width * self.paid.height))

    def _centre_for(self, position: Position) -> float:
        """Near the score that the network expects: at a fifth of the way to an even one, but not too far from it."""
        sign = 1.0 if position.to_play == 0 else -1.0
        expected = sign * float(self.net.numbers(position)[SCORE_MEAN])
        return float(np.clip((1.0 - ZERO_WEIGHT) * expected, expected - self._scale, expected + self._scale))

    def _adopted(self, position: Position, centre: float | None) -> Position:
        """A position as one of this search's game, with this centre."""
        pool = readable(position.record())
        for name in PAYMENTS:
            pool[name][0] = self.paid.fields[name]
        pool["score_centre"][0] = centre
        return Position(self.paid, pool, position.moves, position.rewards, position.past, position.before)
