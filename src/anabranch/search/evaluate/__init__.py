"""WHAT A LEAF IS WORTH: playouts, evaluators in Python, heuristics, AMAF values."""
