"""HOW games are searched, in floors that show the way of a simulation. Imports go downwards only (`make lint` checks this).

    searcher.py, fleet.py, ensemble.py   the faces: one search, many that share batches, independent trees added up
    warm.py         compiling before a clock runs
    simultaneous/   players who move at once: rules, grids, strategies, results; plugs into the generic functions below
    configure.py    from options to what is needed: rules, limits, memory; graph_options.py: those of graphs
    run/            one run of a search: progress, noise and restrictions at the root, one call at a time
    results/        what was found: results for people, the final choice, views, drawings, files
    drivers/        who plays and evaluates; what happens between two slices of simulations
    loops/          simulations: descend, evaluate, back up; on trees and graphs, in stages and batches
    select/         WHICH edge: one module a rule; what rules see of an edge; virtual loss
    evaluate/       WHAT A LEAF IS WORTH: playouts, evaluators in Python, heuristics, AMAF values
    backup/         WHAT IS LEARNT on the way up: operators, updates on graphs, proven bounds, variance
    memory/         WHAT IS KEPT: trees, graphs, the transposition table, locks, collection
    requirements.py what options say of themselves: what they need in memory, what they go with

Read first: `memory/layout.py`, `memory/tree.py`, `loops/tree.py`, `select/base.py`; then `searcher.py`.
"""
