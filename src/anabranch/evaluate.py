"""Evaluators and heuristics: what positions and actions are worth, `Search(evaluate=..., heuristic=...)`. Of your own,
compiled: `evaluate`, `pick` for playouts, `advise` for heuristics."""

from anabranch.games.advice import advise as advise
from anabranch.games.advice import consider as consider
from anabranch.games.playout import RandomPolicy as RandomPolicy
from anabranch.games.playout import pick as pick
from anabranch.games.simultaneous import PerPlayer as PerPlayer
from anabranch.games.simultaneous import pick_for as pick_for
from anabranch.nets.katago.evaluator import KataGoNet as KataGoNet
from anabranch.nets.network import Network as Network
from anabranch.search.evaluate.heuristic import *
from anabranch.search.evaluate.rollout import *
