"""Names in machine code: kernels that different processes have compiled for different records do not share them."""

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
