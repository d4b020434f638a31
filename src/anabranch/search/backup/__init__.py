"""WHAT IS LEARNT on the way up: operators, updates on graphs, proven bounds, variance."""
