"""A run of a search: its progress, restrictions at the root, and what happens around it."""
