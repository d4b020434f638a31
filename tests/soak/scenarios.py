"""Scenarios by number: what is played is decided by the soak's seed and the scenario's number alone.

Most are searches under a script (`script.py`, `calls.py`); some are games of the judge of proofs (`tests/search/proofs.py`).
"""

from collections import Counter
from collections.abc import Callable

import numpy as np

import anabranch as ab
from anabranch.jit import COMPILED
from anabranch.search.graph_options import grouped
from tests.search.proofs import KINDS, QUICK, judge
from tests.soak.calls import soak
from tests.soak.catalogue import FEW, MORE, chance, common, number, wide
from tests.soak.script import Wrong, none_of

RANGES = FEWEST, SOME, ALL = "few", "some", "all"  # how many combinations of options are tried
PROOFS = 0.1  # share of the scenarios that judge proofs
WIDE = 0.1  # share of those with kernels of their own, where some are tried


def play(seed: int, scenario: int, scope: str, told: Callable[[str], None] = none_of) -> Counter[str]:
    """One scenario; what it counted. Raises what went wrong."""
    random = np.random.default_rng([seed, scenario])
    if chance(random, PROOFS):
        return judge_proofs(number(random, 0, 2**31), scope)
    anything = scope == ALL or (scope == SOME and chance(random, WIDE))
    drawn = wide(random) if anything else common(random, FEW if scope == FEWEST else MORE)
    told(str(drawn))
    try:
        ab.Search(drawn.game, **grouped(drawn.options))
    except ab.AnabranchError:
        return Counter({"combinations refused": 1})
    return soak(drawn, random, told).counts + Counter({"scripts": 1})


def judge_proofs(seed: int, scope: str) -> Counter[str]:
    kinds = KINDS if scope != FEWEST or not COMPILED else QUICK
    verdict = judge(seed, kinds)
    if verdict.faults:
        raise Wrong(str(verdict))
    return Counter({"games of proofs": 1})
