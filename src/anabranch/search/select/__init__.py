"""WHICH edge a simulation follows: one module per selection rule, all on `base.py`; how rules see edges and virtual losses."""
