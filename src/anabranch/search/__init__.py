"""HOW games are searched. The way of a simulation: `simulate` (descend with `select`, leaf to `evaluate`, up with `backup`).

graph.py      nodes and edges in memory         drive.py      who plays and evaluates: kernels or Python
select.py     UCT, PUCT, Greedy, FPU            reuse.py      keeping the tree when the root moves
evaluate.py   playouts, Uniform                 final.py      noise before, the choice of an action after
backup.py     mean, max, mix                    read.py       from the graph to a Result
simulate.py   the loop                          result.py     what was found
counts.py     functions of visit counts         searcher.py   the face: Search
"""
