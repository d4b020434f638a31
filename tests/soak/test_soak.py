"""A short soak (`python -m tests.soak`; an hour of it is `make soak`): wide in plain Python, narrow in compiled form."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import IN_CI

ROOT = Path(__file__).parents[2]
SECONDS = float(os.environ.get("ANABRANCH_SOAK_SECONDS", "20"))  # of each
PATIENCE = 1800  # seconds that a busy machine may take for what is under way when the time is up


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(["--plain", "--scope=all"], id="plain"),
        pytest.param(["--scope=few"], id="compiled", marks=pytest.mark.when_compiled),
    ],
)
def test_random_calls_with_faults_in_between_leave_every_search_sound(options):
    seed = 15 if IN_CI else random.SystemRandom().getrandbits(32)  # there, the same every time
    soak = subprocess.run(
        [sys.executable, "-m", "tests.soak", f"--seed={seed}", f"--minutes={SECONDS / 60}", *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=SECONDS + PATIENCE,
    )
    print(soak.stdout)
    assert soak.returncode == 0, soak.stdout[-20_000:] + soak.stderr[-5_000:]
    assert " calls" in soak.stdout and "0 FAILED" in soak.stdout
