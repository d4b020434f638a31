"""Search in games of simultaneous moves: an edge of the graph is a pair of outcomes, one of each player.

The loop, memory, batches, threads and reuse are those of all searches; what is here is how a pair is chosen (`decoupled.py`,
`strategies.py`, `equilibrium.py`), how results are read (`read.py`), and how far from an equilibrium they are (`exact.py`).
All of it is called through the generic functions of the layers below, for which the modules imported here register
implementations. Start with `grid.py`. Docs: docs/algorithms/simultaneous.md.
"""

from anabranch.search.simultaneous import decoupled as decoupled
from anabranch.search.simultaneous import equilibrium as equilibrium
from anabranch.search.simultaneous import options as options
from anabranch.search.simultaneous import read as read
from anabranch.search.simultaneous import strategies as strategies
