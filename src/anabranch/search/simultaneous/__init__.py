"""Search where both players move at once: an edge of the graph is a pair of outcomes, one of each player.

The loop, memory, batches, threads and reuse are those of all searches; what is here is how a pair is chosen (`decoupled.py`,
`strategies.py`, `equilibrium.py`), how it is read (`results/read.py`), and how far from an equilibrium that is (`exact.py`).
Begin with `grid.py`. Docs: docs/algorithms/simultaneous.md.
"""
