"""Options for search on graphs. Of your own: an update by `after_visit`, what is done at children with more visits than the
edge to them by `has_enough`, who else learns of a value by `spread`, what goes if memory is full by `to_forget`."""

from anabranch.search.backup.graph_update import CatchUp as CatchUp
from anabranch.search.backup.graph_update import Continue as Continue
from anabranch.search.backup.graph_update import Idempotent as Idempotent
from anabranch.search.backup.graph_update import Incremental as Incremental
from anabranch.search.backup.graph_update import Stop as Stop
from anabranch.search.backup.graph_update import after_visit as after_visit
from anabranch.search.backup.graph_update import before_choice as before_choice
from anabranch.search.backup.graph_update import has_enough as has_enough
from anabranch.search.backup.graph_update import keeps_means as keeps_means
from anabranch.search.backup.graph_update import must_catch_up as must_catch_up
from anabranch.search.backup.graph_update import pull_all as pull_all
from anabranch.search.backup.graph_update import pull_edge as pull_edge
from anabranch.search.backup.graph_update import renew as renew
from anabranch.search.backup.graph_update import settle_node as settle_node
from anabranch.search.backup.propagate import Ancestors as Ancestors
from anabranch.search.backup.propagate import Parents as Parents
from anabranch.search.backup.propagate import PathOnly as PathOnly
from anabranch.search.backup.propagate import Staleness as Staleness
from anabranch.search.backup.propagate import Sweeping as Sweeping
from anabranch.search.backup.propagate import follows_links as follows_links
from anabranch.search.backup.propagate import needs_ancestry as needs_ancestry
from anabranch.search.backup.propagate import renew_ancestors as renew_ancestors
from anabranch.search.backup.propagate import renew_one as renew_one
from anabranch.search.backup.propagate import renew_parents as renew_parents
from anabranch.search.backup.propagate import spread as spread
from anabranch.search.backup.propagate import sweep_pause as sweep_pause
from anabranch.search.graph_options import GraphOptions as GraphOptions
from anabranch.search.memory.collect import Forget as Forget
from anabranch.search.memory.collect import Forgettable as Forgettable
from anabranch.search.memory.collect import KeepReached as KeepReached
from anabranch.search.memory.collect import to_forget as to_forget
from anabranch.search.memory.graph import child_of as child_of
from anabranch.search.memory.layout import NO_NODE as NO_NODE
from anabranch.search.memory.layout import edges_of as edges_of
from anabranch.search.results.export import GraphView as GraphView
