"""Fuzzing with coverage guidance: `run.py` is the program, each `fuzz_*.py` a target, `corpus/` what was interesting so far."""
