"""Kernels on disk: found again by another process, missed when anything behind them changes."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from anabranch.jit import COMPILED, cache

pytestmark = pytest.mark.skipif(not COMPILED, reason="nothing is compiled")

GAME = """
import math
from typing import NamedTuple
import numpy as np
import anabranch as ab
from anabranch.search.select import score

TABLE = np.array([1, 2, 3])
LAST = 1.0

class Mine(NamedTuple):
    weight: float = 1.0

@score.register(Mine)
def mine(rule, parent, edge):
    return rule.weight / (1.0 + edge.visits)

@ab.helper
def taken(action):
    return TABLE[action]

class Stones(ab.Game):
    players, actions = 2, 3
    state = np.dtype([("stones", "i4"), ("turn", "i1")])

    @ab.rule
    def setup(state): state.stones, state.turn = 9, 0
    @ab.rule
    def to_play(state): return state.turn
    @ab.rule
    def is_legal(state, action): return taken(action) <= state.stones
    @ab.rule
    def play(state, action):
        state.stones -= taken(action)
        state.turn = 1 - state.turn
    @ab.rule
    def is_over(state): return state.stones == 0
    @ab.rule
    def returns(state, out):
        out[state.turn] = -LAST
        out[1 - state.turn] = LAST
"""

RUN = """
import sys
sys.path.insert(0, {folder!r})
import anabranch as ab
from stones import Mine, Stones
game = Stones()
result = ab.Search(game, select=Mine(weight=2.0)).run(game.start(), visits=50)
print(result.best)
"""


class Workshop:
    """A folder with a user's game and a cache of its own; each run is a new process."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.source = folder, GAME
        self.cache = str(folder / "cache")

    def compiled(self) -> list[str]:
        """Run a search; what it said it compiled."""
        (self.folder / "stones.py").write_text(self.source)
        environment = {**os.environ, "ANABRANCH_CACHE": self.cache, "PYTHONDONTWRITEBYTECODE": "1"}
        environment.pop("ANABRANCH_QUIET", None)
        script = RUN.format(folder=str(self.folder))
        run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment)
        assert run.returncode == 0, run.stderr
        self.said = run.stderr
        return re.findall(r"compiling (.*?) \(", run.stderr)

    def edit(self, old: str, new: str) -> None:
        assert old in self.source
        self.source = self.source.replace(old, new)


@pytest.fixture
def workshop(tmp_path):
    return Workshop(tmp_path)


def test_the_cache_hits_in_another_process_and_misses_after_every_kind_of_edit(workshop):
    assert workshop.compiled() == ["simulate for Tree, Mine, Rollout, Mean, Stones"]
    assert workshop.compiled() == []
    edits = {
        "a rule": ("state.stones == 0", "state.stones <= 0"),
        "a helper": ("return TABLE[action]", "return 1 * TABLE[action]"),
        "a table": ("[1, 2, 3]", "[1, 3, 3]"),
        "a number": ("LAST = 1.0", "LAST = 0.5"),
        "an option's function": ("rule.weight / (1.0 + edge.visits)", "rule.weight / (2.0 + edge.visits)"),
    }
    for what, (old, new) in edits.items():
        workshop.edit(old, new)
        assert len(workshop.compiled()) == 1, f"{what} changed and the old code ran"
    assert workshop.compiled() == []


def test_a_comment_or_a_moved_line_does_not_compile_again(workshop):
    workshop.compiled()
    workshop.edit("import math\n", "import math\n\n# a comment\n\n")
    assert workshop.compiled() == []


def test_a_folder_that_cannot_be_written_costs_time_but_works(workshop):
    workshop.cache = "/proc/no/such/place"
    assert len(workshop.compiled()) == 1
    assert "not kept: no cache folder" in workshop.said
    assert len(workshop.said.strip().splitlines()) == 1


def test_a_file_cut_short_is_compiled_again(workshop):
    workshop.compiled()
    for path in (Path(workshop.cache) / "kernels").iterdir():
        path.write_bytes(path.read_bytes()[:1000])
    assert len(workshop.compiled()) == 1
    assert workshop.compiled() == []


def test_a_read_only_folder_is_named_once_code_cannot_be_kept(tmp_path, monkeypatch):
    from anabranch.jit.cache import KernelCache

    monkeypatch.setattr(cache, "folder", lambda: tmp_path)
    monkeypatch.setattr(cache, "can_write", lambda path: False)
    problems = []
    kept = KernelCache(lambda x: x, lambda types: None, problems.append)

    class Result:
        class target_context:
            @staticmethod
            def codegen():
                class Codegen:
                    magic_tuple = staticmethod(lambda: ())

                return Codegen

    kept.save_overload((), Result)
    assert "read-only; set ANABRANCH_CACHE" in problems[0]


def test_warm_fills_the_cache(tmp_path):
    environment = {**os.environ, "ANABRANCH_CACHE": str(tmp_path)}
    command = [sys.executable, "-m", "anabranch"]
    run = subprocess.run([*command, "warm", "tictactoe"], capture_output=True, text=True, env=environment)
    assert run.returncode == 0 and "ready" in run.stdout
    assert list((tmp_path / "kernels").glob("simulate-*.kernel"))
    run = subprocess.run([*command, "search", "tictactoe", "--visits", "10"], capture_output=True, text=True, env=environment)
    assert run.returncode == 0 and "compiling" not in run.stderr
