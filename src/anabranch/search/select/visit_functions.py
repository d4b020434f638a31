"""The functions of visit counts that selection rules need: 1 / n, 1 / sqrt(n), sqrt(ln n), in single precision.

Most edges and nodes have few visits, and looking them up in a small table is faster than a division and a root at every level
of a descent. Single precision suffices, because its 24 bits are more than the precision of a mean of random outcomes; stored
values stay in double precision. Beyond the tables the same numbers are computed.
"""

import math

import numpy as np

from anabranch.jit import helper
from anabranch.search.memory.layout import F4

SIZE = 16_384  # 64 KB per table; smaller ones were slower in trials, since the branch is then harder to predict
ONE = F4(1.0)
INVERSES = np.array([ONE, *(ONE / F4(n) for n in range(1, SIZE))])  # [0] is never read
ROOTS = np.sqrt(INVERSES)
LOG_ROOTS = np.sqrt(np.array([0.0, *(math.log(n) for n in range(1, SIZE))], F4))


@helper
def inverse(n):
    """1 / n for n > 0."""
    return INVERSES[n] if n < SIZE else ONE / F4(n)


@helper
def inverse_root(n):
    """1 / sqrt(n) for n > 0."""
    return ROOTS[n] if n < SIZE else np.sqrt(ONE / F4(n))


@helper
def log_root(n):
    """sqrt(ln n) for n > 0."""
    return LOG_ROOTS[n] if n < SIZE else np.sqrt(F4(math.log(n)))
