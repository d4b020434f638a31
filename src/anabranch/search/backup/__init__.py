"""HOW VALUES ARE BACKED UP: operators, updates on graphs, proven bounds, variance."""
