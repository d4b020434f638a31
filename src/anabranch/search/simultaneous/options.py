"""Options of a search where both players move at once: the defaults, and what cannot be combined there.

Above: `searcher.py`, through the generic functions of `configure.py` and `requirements.py`.
"""

from anabranch.errors import SearchError
from anabranch.games.simultaneous import SimultaneousGame
from anabranch.search.configure import default_backup, default_rule
from anabranch.search.requirements import check_together
from anabranch.search.results.final import ByTemperature, default_final
from anabranch.search.select.base import chooses_pairs
from anabranch.search.simultaneous.decoupled import Decoupled
from anabranch.search.simultaneous.equilibrium import Equilibrium
from anabranch.search.simultaneous.strategies import ByStrategies, Exp3, RegretMatching


@default_rule.register(SimultaneousGame)
def default_rule_for_pairs(game, evaluate):
    return Decoupled()


@default_backup.register(RegretMatching, Exp3, Equilibrium)
def default_backup_of_strategies(select):
    return ByStrategies()


@default_final.register(RegretMatching, Exp3, Equilibrium)
def default_final_of_strategies(select):
    return ByTemperature(1.0)  # a mixed strategy must be sampled


@check_together.register(SimultaneousGame)
def check_simultaneous_game(game, chosen):
    if not chooses_pairs(chosen.select):
        raise SearchError(
            f"select={chosen.select!r} is for players who take turns, and in {game!r} both move at once: use Decoupled(), "
            "RegretMatching(), Exp3() or Equilibrium()"
        )
    if chosen.heuristic is not None:
        raise SearchError(
            f"heuristic={chosen.heuristic!r}: where both players move at once, prior knowledge comes from the "
            "evaluator's priors: use evaluate="
        )
    if chosen.prove:
        raise SearchError(f"prove=True: in {game!r} both move at once, and a proof would be a strategy; leave it out")
