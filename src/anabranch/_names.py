"""The names at the top of the package, `ab.Search` and so on, each listed here and nowhere else. All other options are in
groups: `ab.select`, `ab.evaluate.evaluate`, `ab.backup`, `ab.final`, `ab.graphs`, `ab.simultaneous`, `ab.errors`."""

from anabranch.errors import AnabranchError as AnabranchError
from anabranch.games.check import check as check
from anabranch.games.game import Game as Game
from anabranch.games.game import rule as rule
from anabranch.games.objects import ObjectGame as ObjectGame
from anabranch.games.position import Position as Position
from anabranch.games.rules import CHANCE as CHANCE
from anabranch.games.simultaneous import SimultaneousGame as SimultaneousGame
from anabranch.jit.dispatch import helper as helper
from anabranch.jit.random import below as below
from anabranch.jit.random import uniform as uniform
from anabranch.nets.katago.evaluator import KataGoNet as KataGoNet
from anabranch.nets.network import Network as Network
from anabranch.search.ensemble import Ensemble as Ensemble
from anabranch.search.evaluate.rollout import Rollout as Rollout
from anabranch.search.evaluate.rollout import Uniform as Uniform
from anabranch.search.fleet import Fleet as Fleet
from anabranch.search.results.result import Result as Result
from anabranch.search.searcher import Search as Search
from anabranch.search.select.base import score as score
from anabranch.search.select.puct import PUCT as PUCT
from anabranch.search.select.puct import KataGoPUCT as KataGoPUCT
from anabranch.search.select.rave import Rave as Rave
from anabranch.search.select.uct import UCT as UCT
from anabranch.search.select.uct import Greedy as Greedy
from anabranch.search.simultaneous.decoupled import Decoupled as Decoupled
from anabranch.search.simultaneous.strategies import RegretMatching as RegretMatching
