"""Who plays and evaluates during a simulation, and what happens between two slices of them."""
