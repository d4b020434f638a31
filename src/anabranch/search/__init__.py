"""HOW games are searched. The way of a simulation: descend with `select`, leaf to `evaluate`, up with `backup` or `update`.

layout.py     what both layouts share           select.py        UCT, PUCT, Greedy, FPU
tree.py       a compact tree in memory          regularized.py   the exact regularised policy
graph.py      a graph in memory, with its table evaluate.py      playouts, Uniform
steps.py      what both loops share             backup.py        mean, max, mix
simulate.py   the loop on trees                 update.py        values on graphs: Incremental, Idempotent, CatchUp, Stop
simulate_graph.py  the loop on graphs           stale.py         how far a change travels; sweeps
parts_graph.py     the same in parts            drive_python.py  where some of it is Python's
drive.py      who plays and evaluates           history.py       positions that come again
answers.py    what Python evaluators say        prove.py         bounds and proofs
reuse.py      the tree when the root moves      collect.py       making room in a graph
searcher.py   the face: Search                  final.py         noise before, the choice of an action after
checks.py     what Search is given              read.py, result.py  from memory to a Result
assemble.py   from options to memory and driver export.py, draw.py  the graph as arrays, JSON, Graphviz, a drawing
around.py     what goes on beside the loop      keep.py          saving and loading
counts.py     functions of visit counts         prune.py         widening, pruning, progressive bias
trail.py      what playouts leave for AMAF      rave.py          Rave and its schedules
lore.py       AMAF values and hints of edges    heuristic.py     what is thought of actions beforehand
squares.py    how far values spread             best_chance.py   Crazy Stone's selection
target.py     what a policy should learn        puct.py          PUCT as SPRL and KataGo have it
forced.py     forced playouts at the root       muzero.py, gumbel.py  search with priors as in mctx
virtual.py    simulations under way             batch.py, drive_batch.py  leaves in batches
leaves.py     leaves for the caller's own loop  locks.py, drive_threads.py  several threads
fleet.py      searches that share batches       ensemble.py      independent trees, added up
certainty.py  evaluations that weigh more       simultaneous/    players who move at once
gray.py       evaluations without visits        tally.py         what a run has cost
"""
