"""A run of a search: its progress, its limits at the root, what happens around it."""
