"""THE VALUE OF A LEAF: playouts, evaluators in Python, heuristics, AMAF values."""
