"""Selection rules: which edge a simulation follows, `Search(select=...)`, and what simulations under way count
as for them, `Search(virtual=...)`. A rule of your own: `score` (or `at_node`, `prefer`); a virtual loss: `virtual_value`."""

from anabranch.search.select.base import *
from anabranch.search.select.best_chance import *
from anabranch.search.select.forced import *
from anabranch.search.select.gumbel import *
from anabranch.search.select.limits import Expansion as Expansion
from anabranch.search.select.muzero import *
from anabranch.search.select.pruning import *
from anabranch.search.select.puct import *
from anabranch.search.select.rave import *
from anabranch.search.select.regularized import *
from anabranch.search.select.uct import *
from anabranch.search.select.virtual_loss import *
from anabranch.search.select.wide_root import *
