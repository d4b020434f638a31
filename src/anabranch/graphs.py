"""Options for search on graphs."""

from anabranch.search.backup.graph_update import CatchUp as CatchUp
from anabranch.search.backup.graph_update import Continue as Continue
from anabranch.search.backup.graph_update import Idempotent as Idempotent
from anabranch.search.backup.graph_update import Incremental as Incremental
from anabranch.search.backup.graph_update import Stop as Stop
from anabranch.search.backup.propagate import Ancestors as Ancestors
from anabranch.search.backup.propagate import Parents as Parents
from anabranch.search.backup.propagate import PathOnly as PathOnly
from anabranch.search.backup.propagate import Staleness as Staleness
from anabranch.search.backup.propagate import Sweeping as Sweeping
from anabranch.search.graph_options import GraphOptions as GraphOptions
from anabranch.search.memory.collect import Forget as Forget
from anabranch.search.memory.collect import KeepReached as KeepReached
from anabranch.search.results.export import GraphView as GraphView
