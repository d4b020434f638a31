"""Options for search on graphs. Of your own: an update by `after_visit`, what is done at children with more visits than the
edge to them by `has_enough`, who else learns of a value by `spread`, what goes if memory is full by `to_forget`."""

from anabranch.search.backup.graph_update import *
from anabranch.search.backup.propagate import *
from anabranch.search.graph_options import GraphOptions as GraphOptions
from anabranch.search.memory.collect import *
from anabranch.search.memory.graph import child_of as child_of
from anabranch.search.memory.layout import NO_NODE as NO_NODE
from anabranch.search.memory.layout import edges_of as edges_of
from anabranch.search.results.export import GraphView as GraphView
