"""Names in machine code: kernels that different processes have compiled for different records do not share them."""

import os
import subprocess
import sys

import numba
import numpy as np
import pytest

import anabranch.jit  # noqa: F401  (names records as it is imported)

pytestmark = pytest.mark.when_compiled
NARROW = np.dtype([("many", "i4", (2,)), ("last", "i4")], align=True)
WIDE = np.dtype([("many", "i4", (100,)), ("last", "i4")], align=True)


def name_of(dtype):
    return numba.from_dtype(dtype).mangling_args


def test_a_record_is_named_by_its_fields_in_every_process():
    """Numba's own number counts types in the order in which a process meets them."""
    assert name_of(NARROW) != name_of(WIDE)
    for script in ("print(name_of(WIDE), name_of(NARROW))", "name_of(NARROW); print(name_of(WIDE), name_of(NARROW))"):
        words = [sys.executable, "-c", f"from tests.jit.test_symbols import *; {script}"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=600, check=True)
        assert done.stdout.strip() == f"{name_of(WIDE)} {name_of(NARROW)}"


SCRIPT = """
import sys
import numpy as np
from anabranch.jit import kernel, routine

NARROW = np.dtype([("many", "i4", (2,)), ("last", "i4")], align=True)
WIDE = np.dtype([("many", "i4", (100,)), ("last", "i4")], align=True)

@routine
def spread(state, left):
    state.many[left % len(state.many)] += left
    return state.last if left == 0 else state.last + len(state.many) * left

@kernel
def sums(states):
    total = 0
    for left in range(5):
        total += spread(states[0], left)
    return total

found = []
for name in sys.argv[1].split(","):
    states = np.zeros(1, globals()[name])
    states["last"] = 7
    found.append(int(sums(states)))
print(found, sums.compilations)
"""


def test_kernels_of_two_processes_do_not_call_each_others_code(tmp_path):
    (tmp_path / "symbols_script.py").write_text(SCRIPT)
    environment = os.environ | {"ANABRANCH_CACHE": str(tmp_path / "cache")}

    def run(names):
        words = [sys.executable, "-c", f"import sys; sys.argv = ['', '{names}']; import symbols_script"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=600, check=True, env=environment, cwd=tmp_path)
        return done.stdout.strip()

    assert run("NARROW") == "[55] 1"
    assert run("WIDE") == "[1035] 1"
    assert run("NARROW,WIDE") == "[55, 1035] 0"
    assert run("WIDE,NARROW") == "[1035, 55] 0"
