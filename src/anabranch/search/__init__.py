"""HOW games are searched, in layers that follow a simulation. Imports go downwards only (`make lint` checks this).

    searcher.py, fleet.py, ensemble.py   the public faces: one search, many that share batches, independent trees added up
    warm.py         compiling before a clock runs
    simultaneous/   simultaneous moves: rules, grids, strategies, results; plugs into the generic functions below
    configure.py    from options to rules, limits and memory; graph_options.py: the options of graphs
    run/            one run of a search: progress, noise and restrictions at the root, one call at a time
    results/        what was found: printable results, the final choice, views, drawings, files
    drivers/        where playing and evaluating happen; what happens between two slices of simulations
    loops/          simulations: descend, evaluate, back up; on trees and graphs, in stages and batches
    select/         WHICH edge: one module per rule; how rules see an edge; virtual loss
    evaluate/       THE VALUE OF A LEAF: playouts, evaluators in Python, heuristics, AMAF values
    backup/         HOW VALUES ARE BACKED UP: operators, updates on graphs, proven bounds, variance
    memory/         WHAT IS STORED: trees, graphs, the transposition table, locks, collection
    requirements.py what options declare about themselves: their needs in memory, what they can be combined with

Read first: `memory/layout.py`, `memory/tree.py`, `loops/tree.py`, `select/base.py`; then `searcher.py`.
"""
