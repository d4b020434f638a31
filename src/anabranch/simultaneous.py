"""Games and rules where both players move at once."""

from anabranch.games.rules import EVERYONE as EVERYONE
from anabranch.games.simultaneous import JointPosition as JointPosition
from anabranch.games.simultaneous import PerPlayer as PerPlayer
from anabranch.games.simultaneous import SimultaneousGame as SimultaneousGame
from anabranch.games.simultaneous import pick_for as pick_for
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
