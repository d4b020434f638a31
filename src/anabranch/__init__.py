"""Anabranch: Monte-Carlo search in games, in Python, at machine speed.

The public names, and nothing else. They are imported when they are first used, so that `import anabranch` (and
`anabranch --help`) does not wait for the compiler.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from anabranch._version import __version__

if TYPE_CHECKING:
    from anabranch.errors import AnabranchError as AnabranchError
    from anabranch.errors import EvaluatorError as EvaluatorError
    from anabranch.errors import GameError as GameError
    from anabranch.errors import IllegalMove as IllegalMove
    from anabranch.errors import MissingExtra as MissingExtra
    from anabranch.errors import NetworkError as NetworkError
    from anabranch.errors import OptionError as OptionError
    from anabranch.errors import RuleError as RuleError
    from anabranch.errors import SearchError as SearchError
    from anabranch.errors import SgfError as SgfError
    from anabranch.errors import UnknownGame as UnknownGame
    from anabranch.games.advice import advise as advise
    from anabranch.games.advice import consider as consider
    from anabranch.games.check import check as check
    from anabranch.games.game import Game as Game
    from anabranch.games.game import rule as rule
    from anabranch.games.objects import ObjectGame as ObjectGame
    from anabranch.games.playout import RandomPolicy as RandomPolicy
    from anabranch.games.playout import pick as pick
    from anabranch.games.position import Position as Position
    from anabranch.games.rules import CHANCE as CHANCE
    from anabranch.games.rules import EVERYONE as EVERYONE
    from anabranch.games.simultaneous import JointPosition as JointPosition
    from anabranch.games.simultaneous import PerPlayer as PerPlayer
    from anabranch.games.simultaneous import SimultaneousGame as SimultaneousGame
    from anabranch.games.simultaneous import pick_for as pick_for
    from anabranch.jit.dispatch import helper as helper
    from anabranch.jit.random import below as below
    from anabranch.jit.random import uniform as uniform
    from anabranch.nets.network import Network as Network
    from anabranch.search.backup import Max as Max
    from anabranch.search.backup import Mean as Mean
    from anabranch.search.backup import Mix as Mix
    from anabranch.search.best_chance import BestChance as BestChance
    from anabranch.search.certainty import ByCertainty as ByCertainty
    from anabranch.search.collect import Forget as Forget
    from anabranch.search.collect import KeepReached as KeepReached
    from anabranch.search.ensemble import Ensemble as Ensemble
    from anabranch.search.evaluate import Rollout as Rollout
    from anabranch.search.evaluate import Uniform as Uniform
    from anabranch.search.export import GraphView as GraphView
    from anabranch.search.final import ByGumbel as ByGumbel
    from anabranch.search.final import ByLowerBound as ByLowerBound
    from anabranch.search.final import ByRegularized as ByRegularized
    from anabranch.search.final import ByTemperature as ByTemperature
    from anabranch.search.final import ByValue as ByValue
    from anabranch.search.final import Dirichlet as Dirichlet
    from anabranch.search.final import MostVisits as MostVisits
    from anabranch.search.fleet import Fleet as Fleet
    from anabranch.search.forced import Forced as Forced
    from anabranch.search.gumbel import Gumbel as Gumbel
    from anabranch.search.heuristic import EvenGame as EvenGame
    from anabranch.search.heuristic import Grandfather as Grandfather
    from anabranch.search.muzero import AmongSiblings as AmongSiblings
    from anabranch.search.muzero import BetweenBounds as BetweenBounds
    from anabranch.search.muzero import MuZero as MuZero
    from anabranch.search.prune import ProgressiveBias as ProgressiveBias
    from anabranch.search.prune import Pruning as Pruning
    from anabranch.search.prune import Widening as Widening
    from anabranch.search.puct import KataGoPUCT as KataGoPUCT
    from anabranch.search.puct import SprlPUCT as SprlPUCT
    from anabranch.search.rave import ExactMSE as ExactMSE
    from anabranch.search.rave import Grave as Grave
    from anabranch.search.rave import HandSelected as HandSelected
    from anabranch.search.rave import LearntBias as LearntBias
    from anabranch.search.rave import MinimumMSE as MinimumMSE
    from anabranch.search.rave import NoAmaf as NoAmaf
    from anabranch.search.rave import OnlyAmaf as OnlyAmaf
    from anabranch.search.rave import OwnAmaf as OwnAmaf
    from anabranch.search.rave import Rave as Rave
    from anabranch.search.rave import WithAncestors as WithAncestors
    from anabranch.search.regularized import Regularized as Regularized
    from anabranch.search.regularized import regularized_policy as regularized_policy
    from anabranch.search.result import Result as Result
    from anabranch.search.searcher import Search as Search
    from anabranch.search.select import PUCT as PUCT
    from anabranch.search.select import UCT as UCT
    from anabranch.search.select import ConstantFPU as ConstantFPU
    from anabranch.search.select import Greedy as Greedy
    from anabranch.search.select import ParentFPU as ParentFPU
    from anabranch.search.select import ReducedFPU as ReducedFPU
    from anabranch.search.select import score as score
    from anabranch.search.select import value_of as value_of
    from anabranch.search.simultaneous.decoupled import ByBoth as ByBoth
    from anabranch.search.simultaneous.decoupled import ByPriors as ByPriors
    from anabranch.search.simultaneous.decoupled import ByReplies as ByReplies
    from anabranch.search.simultaneous.decoupled import ByVisits as ByVisits
    from anabranch.search.simultaneous.decoupled import Decoupled as Decoupled
    from anabranch.search.simultaneous.equilibrium import Equilibrium as Equilibrium
    from anabranch.search.simultaneous.equilibrium import solve_matrix as solve_matrix
    from anabranch.search.simultaneous.exact import exploitability as exploitability
    from anabranch.search.simultaneous.result import PairResult as PairResult
    from anabranch.search.simultaneous.strategies import ByStrategies as ByStrategies
    from anabranch.search.simultaneous.strategies import Exp3 as Exp3
    from anabranch.search.simultaneous.strategies import RegretMatching as RegretMatching
    from anabranch.search.stale import Ancestors as Ancestors
    from anabranch.search.stale import Parents as Parents
    from anabranch.search.stale import PathOnly as PathOnly
    from anabranch.search.stale import Staleness as Staleness
    from anabranch.search.stale import Sweeping as Sweeping
    from anabranch.search.update import CatchUp as CatchUp
    from anabranch.search.update import Continue as Continue
    from anabranch.search.update import Idempotent as Idempotent
    from anabranch.search.update import Incremental as Incremental
    from anabranch.search.update import Stop as Stop
    from anabranch.search.virtual import VirtualLoss as VirtualLoss
    from anabranch.search.wide import WideRoot as WideRoot

_HOMES = {
    "anabranch.errors": (
        "AnabranchError", "EvaluatorError", "GameError", "IllegalMove", "MissingExtra", "NetworkError", "OptionError",
        "RuleError", "SearchError", "SgfError", "UnknownGame",
    ),
    "anabranch.games.advice": ("advise", "consider"),
    "anabranch.games.check": ("check",),
    "anabranch.games.game": ("Game", "rule"),
    "anabranch.games.objects": ("ObjectGame",),
    "anabranch.games.playout": ("RandomPolicy", "pick"),
    "anabranch.games.position": ("Position",),
    "anabranch.games.rules": ("CHANCE", "EVERYONE"),
    "anabranch.jit.dispatch": ("helper",),
    "anabranch.jit.random": ("below", "uniform"),
    "anabranch.nets.network": ("Network",),
    "anabranch.search.backup": ("Max", "Mean", "Mix"),
    "anabranch.search.ensemble": ("Ensemble",),
    "anabranch.search.evaluate": ("Rollout", "Uniform"),
    "anabranch.search.export": ("GraphView",),
    "anabranch.search.final": (
        "ByGumbel", "ByLowerBound", "ByRegularized", "ByTemperature", "ByValue", "Dirichlet", "MostVisits",
    ),
    "anabranch.search.fleet": ("Fleet",),
    "anabranch.search.forced": ("Forced",),
    "anabranch.search.best_chance": ("BestChance",),
    "anabranch.search.gumbel": ("Gumbel",),
    "anabranch.search.heuristic": ("EvenGame", "Grandfather"),
    "anabranch.search.muzero": ("AmongSiblings", "BetweenBounds", "MuZero"),
    "anabranch.search.prune": ("ProgressiveBias", "Pruning", "Widening"),
    "anabranch.search.puct": ("KataGoPUCT", "SprlPUCT"),
    "anabranch.search.rave": (
        "ExactMSE", "Grave", "HandSelected", "LearntBias", "MinimumMSE", "NoAmaf", "OnlyAmaf", "OwnAmaf", "Rave",
        "WithAncestors",
    ),
    "anabranch.search.regularized": ("Regularized", "regularized_policy"),
    "anabranch.search.result": ("Result",),
    "anabranch.search.searcher": ("Search",),
    "anabranch.search.select": ("PUCT", "UCT", "ConstantFPU", "Greedy", "ParentFPU", "ReducedFPU", "score", "value_of"),
    "anabranch.search.certainty": ("ByCertainty",),
    "anabranch.search.collect": ("Forget", "KeepReached"),
    "anabranch.search.stale": ("Ancestors", "Parents", "PathOnly", "Staleness", "Sweeping"),
    "anabranch.search.update": ("CatchUp", "Continue", "Idempotent", "Incremental", "Stop"),
    "anabranch.games.simultaneous": ("JointPosition", "PerPlayer", "SimultaneousGame", "pick_for"),
    "anabranch.search.simultaneous.decoupled": ("ByBoth", "ByPriors", "ByReplies", "ByVisits", "Decoupled"),
    "anabranch.search.simultaneous.equilibrium": ("Equilibrium", "solve_matrix"),
    "anabranch.search.simultaneous.exact": ("exploitability",),
    "anabranch.search.simultaneous.result": ("PairResult",),
    "anabranch.search.simultaneous.strategies": ("ByStrategies", "Exp3", "RegretMatching"),
    "anabranch.search.virtual": ("VirtualLoss",),
    "anabranch.search.wide": ("WideRoot",),
}  # fmt: skip
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = ["__version__", *_HOME_OF]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'anabranch' has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
