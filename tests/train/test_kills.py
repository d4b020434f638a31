"""Any process of a run may be killed at any moment."""

import subprocess
import sys

import pytest

from anabranch.train.run import Run
from tests.conftest import in_soak, when_compiled
from tests.train.kills import PARTS, rounds


@when_compiled
@pytest.mark.parametrize("parts", [("self-play", "supervisor"), pytest.param(PARTS, marks=in_soak)], ids=["two", "all"])
def test_whatever_is_killed_the_run_goes_on_and_no_finished_game_is_lost_or_doubled(parts, tmp_path):
    """With the supervisor all others end, too."""
    killed = rounds(tmp_path / "run", kills=len(parts), seed=1, parts=parts)
    assert set(killed) == set(parts)


@when_compiled
def test_a_part_whose_supervisor_has_died_before_it_began_ends_at_once(tmp_path):
    run = Run.create(tmp_path / "run", "tictactoe")
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    command = [sys.executable, "-m", "anabranch.train.part", str(run.path), "gate", "0", str(dead.pid)]
    assert subprocess.run(command, timeout=60).returncode == 0
