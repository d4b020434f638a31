"""Backup operators: what a node is worth after its children, `Search(backup=...)`. One of your own: `carry`."""

from anabranch.search.backup.certainty import ByCertainty as ByCertainty
from anabranch.search.backup.operators import Max as Max
from anabranch.search.backup.operators import Mean as Mean
from anabranch.search.backup.operators import Mix as Mix
from anabranch.search.backup.operators import best_edge as best_edge
from anabranch.search.backup.operators import carry as carry
from anabranch.search.backup.operators import node_mean as node_mean
from anabranch.search.memory.layout import own_value as own_value
from anabranch.search.memory.layout import sign_of as sign_of
from anabranch.search.simultaneous.strategies import ByStrategies as ByStrategies
