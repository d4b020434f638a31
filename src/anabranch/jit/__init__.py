"""The compiler layer: everything that depends on Numba.

`kernel` marks the few functions that Python calls and Numba compiles; `helper` and `routine` mark functions that kernels
(and plain Python) call; `generic` marks one that selects its implementation by the type of its first argument; `by_pointer`
marks a named tuple of many arrays, so that passing it on costs the compiler nothing.
Below them: `cache` (kernels on disk), `store` (its files), `diagnose` (readable typing errors), `records`, `options`,
`random`, `atomics`, `prefetch`.
Nothing here depends on games or searches.
"""

from anabranch.jit.dispatch import generic, helper, routine
from anabranch.jit.kernels import Kernel, kernel, report_with
from anabranch.jit.pointers import by_pointer, refer
from anabranch.jit.records import readable
from anabranch.jit.settings import CHECKED, COMPILED

__all__ = [
    "CHECKED",
    "COMPILED",
    "Kernel",
    "by_pointer",
    "generic",
    "helper",
    "kernel",
    "readable",
    "refer",
    "report_with",
    "routine",
]
