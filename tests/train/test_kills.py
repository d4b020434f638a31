"""Any process of a run may be killed at any moment."""

from tests.conftest import when_compiled
from tests.train.kills import PARTS, rounds


@when_compiled
def test_whatever_is_killed_the_run_goes_on_and_no_finished_game_is_lost_or_doubled(tmp_path):
    killed = rounds(tmp_path / "run", kills=len(PARTS), seed=1)
    assert set(killed) == set(PARTS)
