"""The tests of games pass in plain Python too; those of search are in tests/search/test_plain.py."""

import pytest
from tests.search.test_plain import in_another_process

from anabranch.jit import COMPILED


@pytest.mark.skipif(not COMPILED, reason="this is plain Python")
def test_the_tests_of_games_pass_in_plain_python():
    left_out = "--ignore=tests/games/test_check.py"  # it compares plain Python with compiled code itself
    told = in_another_process("-m", "pytest", "-q", "tests/games", left_out, NUMBA_DISABLE_JIT="1", ANABRANCH_RULE_GAMES="5")
    assert " passed" in told
    assert " failed" not in told
