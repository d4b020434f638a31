"""Search where both players move at once: an edge of the graph is a pair of outcomes, one of each player.

The loop, memory, batches, threads and reuse are those of all searches; what is here is how a pair is chosen (`decoupled.py`,
`strategies.py`, `equilibrium.py`), how it is read (`results/read.py`), and how far from an equilibrium that is (`exact.py`).
All of it is reached through the generic functions of the floors below, to which the modules imported here add their own.
Begin with `grid.py`. Docs: docs/algorithms/simultaneous.md.
"""

from anabranch.search.simultaneous import decoupled as decoupled
from anabranch.search.simultaneous import equilibrium as equilibrium
from anabranch.search.simultaneous import options as options
from anabranch.search.simultaneous import read as read
from anabranch.search.simultaneous import strategies as strategies
