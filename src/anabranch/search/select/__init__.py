"""WHICH edge a simulation follows: one module a selection rule, on `base.py`; what rules see of edges and of virtual losses."""
