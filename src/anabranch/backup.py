"""Backup operators: what a node is worth after its children, `Search(backup=...)`."""

from anabranch.search.backup.certainty import ByCertainty as ByCertainty
from anabranch.search.backup.operators import Max as Max
from anabranch.search.backup.operators import Mean as Mean
from anabranch.search.backup.operators import Mix as Mix
from anabranch.search.backup.operators import carry as carry
from anabranch.search.simultaneous.strategies import ByStrategies as ByStrategies
