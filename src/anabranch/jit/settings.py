"""How kernels are compiled, decided once from the environment.

NUMBA_DISABLE_JIT=1   run everything as plain Python (for debugging and coverage)
ANABRANCH_CHECK=1     checking mode: every array index is tested against its bounds
ANABRANCH_CACHE=DIR   where compiled kernels are kept
ANABRANCH_QUIET=1     do not say what is being compiled
"""

import os

import numba

COMPILED: bool = not numba.config.DISABLE_JIT
CHECKED: bool = os.environ.get("ANABRANCH_CHECK", "") not in ("", "0")
QUIET: bool = os.environ.get("ANABRANCH_QUIET", "") not in ("", "0")

# nogil: searches run in threads. error_model: x / 0 is inf as in NumPy, not an exception that costs a branch.
OPTIONS = {"nogil": True, "error_model": "numpy", "boundscheck": CHECKED, "_nrt": False}
# Functions that only kernels call need no entry point for C or Python, and are compiled with the kernel. `forceinline` must be
# turned off explicitly: Numba inherits it from the caller.
CALLED = {**OPTIONS, "no_cfunc_wrapper": True, "forceinline": False}
INLINED = {**CALLED, "forceinline": True}
