"""Backup operators: what a node is worth after its children, `Search(backup=...)`. One of your own: `carry`."""

from anabranch.search.backup.certainty import *
from anabranch.search.backup.operators import *
from anabranch.search.memory.layout import own_value as own_value
from anabranch.search.memory.layout import sign_of as sign_of
from anabranch.search.simultaneous.strategies import ByStrategies as ByStrategies
