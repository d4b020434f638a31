"""How a game will end, by what the engine has: its network, if there is one, or playouts."""

import numpy as np

from anabranch.games.position import Position
from anabranch.goengine.estimate import Estimate, estimate, spread_of
from anabranch.goengine.network_estimate import NetworkEstimate
from anabranch.goengine.searches import Options
from anabranch.nets.katago.evaluator import KataGoNet, Opinion
from anabranch.nets.katago.search import KataGoSearch
from anabranch.search.results.result import Result
from anabranch.search.searcher import Search


class Estimator:
    """Estimates of one position while it is searched."""

    def __init__(self, position: Position, options: Options) -> None:
        self.position, self.options = position, options
        self._spread: float | None = None  # of scores of playouts
        self._opinions: dict[int, Opinion] = {}  # by the identity of networks

    def __call__(self, search: Search, result: Result) -> Estimate | NetworkEstimate:
        """The estimate after so much of the search."""
        options = self.options
        if isinstance(search, KataGoSearch):
            return NetworkEstimate(search)
        if self._spread is None:
            self._spread = spread_of(self.position, options.policy, options.seed)
        return estimate(self.position, result.pv, options.policy, options.seed, self._spread)

    def ownership_after(self, found: Estimate | NetworkEstimate, line: list[int]) -> np.ndarray:
        """Ownership after the first move of a line; 1 for black."""
        if isinstance(found, NetworkEstimate):
            return found.ownership_after(line[0])[0]
        return estimate(self.position, line, self.options.policy, self.options.seed, found.spread).ownership

    def opinion(self, net: KataGoNet) -> Opinion:
        """What a network says of the position without a search, averaged over all symmetries; asked once."""
        if id(net) not in self._opinions:
            self._opinions[id(net)] = net.opinion(self.position)
        return self._opinions[id(net)]
