"""Games and rules where both players move at once."""

from anabranch.games.rules import EVERYONE as EVERYONE
from anabranch.games.simultaneous import JointPosition as JointPosition
from anabranch.games.simultaneous import PerPlayer as PerPlayer
from anabranch.games.simultaneous import SimultaneousGame as SimultaneousGame
from anabranch.games.simultaneous import pick_for as pick_for
from anabranch.search.simultaneous.decoupled import *
from anabranch.search.simultaneous.equilibrium import *
from anabranch.search.simultaneous.exact import *
from anabranch.search.simultaneous.result import *
from anabranch.search.simultaneous.strategies import *
