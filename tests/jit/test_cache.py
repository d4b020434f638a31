"""Kernels on disk: found again by another process, missed when anything behind them changes."""

import os
import random
import re
import stat
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from anabranch.jit import Kernel, apart, cache, store
from anabranch.jit import kernels as kernels_module
from anabranch.jit.kernels import Reporter
from tests.jit import flip_kernels

pytestmark = pytest.mark.when_compiled

GAME = """
import math
from typing import NamedTuple
import numpy as np
import anabranch as ab
from anabranch.select import score

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


PROCESSES = """
import sys
from anabranch.jit import kernel

@kernel
def halve(x):
    return x / 2.0

print("ready", flush=True)
sys.stdin.readline()
assert halve(3.0) == 1.5
print(halve.compilations)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs fcntl")
def test_processes_that_want_a_kernel_at_the_same_time_compile_it_once(tmp_path):
    (tmp_path / "halving.py").write_text(PROCESSES)
    environment = {**os.environ, "ANABRANCH_CACHE": str(tmp_path / "cache"), "ANABRANCH_FORK_ABOVE": ""}
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import halving"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "env": environment}
    processes = [subprocess.Popen(command, **pipes) for _ in range(3)]
    for process in processes:
        process.stdout.readline()  # it is ready
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    compiled = [int(process.communicate(timeout=120)[0]) for process in processes]
    assert sum(compiled) == 1
    assert [path.suffix for path in (tmp_path / "cache" / "kernels").iterdir()] == [".kernel"]


def test_a_helper_that_lost_its_mark_is_noticed_although_the_cache_is_warm(workshop):
    workshop.compiled()
    workshop.edit("@ab.helper\n", "")
    with pytest.raises(AssertionError, match="`taken` is a plain function"):
        workshop.compiled()


def test_a_comment_a_docstring_or_a_moved_line_does_not_compile_again(workshop):
    workshop.edit("def taken(action):\n", 'def taken(action):\n    """Stones."""\n')
    workshop.compiled()
    workshop.edit("import math\n", "import math\n\n# a comment\n\n")
    workshop.edit('"""Stones."""', '"""How many stones an action takes."""')
    assert workshop.compiled() == []


def test_a_folder_that_cannot_be_made_costs_time_but_works(workshop):
    workshop.cache = "/proc/no/such/place"
    assert len(workshop.compiled()) == 1
    assert "not kept: no cache folder" in workshop.said
    assert len(workshop.said.strip().splitlines()) == 1


class Told(Reporter):
    """Remembers why kernels were not kept."""

    def __init__(self):
        self.problems = []

    def started(self, what):
        pass

    def finished(self, what, seconds, problem):
        self.problems.append(problem)


@pytest.fixture
def told(monkeypatch):
    found = Told()
    monkeypatch.setattr(kernels_module, "_reporter", found)
    return found


@pytest.fixture
def compiles(tmp_path, monkeypatch, told):
    """Call a small kernel as a new process would; whether it was compiled. Its answer is right either way."""
    monkeypatch.setenv("ANABRANCH_CACHE", str(tmp_path / "cache"))

    def call():
        weigh = Kernel(flip_kernels.weigh.function)
        assert weigh(np.array([1.0, 2.0, 3.0]), 2.0) == 6.5
        return weigh.compilations == 1

    return call


def only_file() -> Path:
    (file,) = store.folder().path.iterdir()
    return file


def test_a_flipped_bit_anywhere_in_a_kernel_is_a_miss(tmp_path, monkeypatch, told):
    monkeypatch.setenv("ANABRANCH_CACHE", os.environ.get("ANABRANCH_CACHE", ""))  # so that it is put back
    cases = flip_kernels.kernels(tmp_path)
    assert len(cases) >= 4 and all(flip_kernels.load(case) for case in cases)
    for (*case, file), bit in flip_kernels.flips(cases, 100, random.Random(7)):
        assert flip_kernels.load((*case, file)) is None, f"bit {bit} of {file.name}"
    assert all(flip_kernels.load(case) for case in cases)


def test_a_damaged_file_is_never_unpickled(compiles, monkeypatch):
    compiles()
    content = bytearray(only_file().read_bytes())
    content[-1] ^= 1
    only_file().write_bytes(content)
    monkeypatch.setattr(cache.pickle, "loads", lambda content: pytest.fail("it was unpickled"))
    monkeypatch.setattr(apart, "is_worthwhile", lambda: False)  # what a child has written would be read
    assert compiles()


@pytest.mark.parametrize("damage", ["flipped", "cut", "empty", "longer", "open to others", "a link", "a pipe"])
def test_a_file_that_is_not_to_be_trusted_is_compiled_again_and_replaced(compiles, damage, tmp_path):
    assert compiles() and not compiles()
    file = only_file()
    whole = file.read_bytes()
    if damage == "flipped":
        file.write_bytes(whole[:500] + bytes([whole[500] ^ 4]) + whole[501:])
    elif damage in ("cut", "empty", "longer"):
        file.write_bytes({"cut": whole[:-1], "empty": b"", "longer": whole + b"\0"}[damage])
    elif damage == "open to others":
        file.chmod(0o620)
    else:
        file.rename(tmp_path / "elsewhere")
        file.symlink_to(tmp_path / "elsewhere") if damage == "a link" else os.mkfifo(file)
    assert compiles() and not compiles()
    assert stat.S_ISREG(file.lstat().st_mode) and stat.S_IMODE(file.lstat().st_mode) == 0o600
    if damage == "a link":
        assert (tmp_path / "elsewhere").read_bytes() == whole, "what the link points to was written to"


def test_a_kernel_under_the_name_of_another_is_a_miss(compiles):
    compiles()
    weigh = only_file()
    other = Kernel(weigh_otherwise)
    assert other(np.array([1.0, 2.0, 3.0]), 2.0) == 7.5 and other.compilations == 1
    (file,) = {*weigh.parent.iterdir()} - {weigh}
    weigh.replace(file)
    other = Kernel(weigh_otherwise)
    assert other(np.array([1.0, 2.0, 3.0]), 2.0) == 7.5 and other.compilations == 1


def weigh_otherwise(values, factor):
    total = 1.25
    for value in values:
        total += value * factor if value > 1.5 else -3.75
    return total


@pytest.mark.parametrize("what", ["numba", "llvmlite", "np", "sys"])
def test_another_version_does_not_load_what_this_one_has_written(compiles, monkeypatch, what):
    compiles()
    version = "version_info" if what == "sys" else "__version__"
    monkeypatch.setattr(cache, what, SimpleNamespace(**{version: (3, 99, 0) if what == "sys" else "99.0"}))
    assert compiles()
    assert len(list(store.folder().path.iterdir())) == 2


def test_nothing_is_read_from_or_written_to_a_folder_that_others_can_write_to(compiles, told, tmp_path):
    assert compiles() and not compiles()
    before = only_file().read_bytes()
    only_file().parent.chmod(0o777)
    store._prepared.cache_clear()  # as in a new process
    assert compiles() and compiles()
    assert only_file().read_bytes() == before
    assert told.problems[-1].startswith(f"the cache is not used: others can write to {tmp_path}/cache/kernels; run chmod go-w")


@pytest.mark.parametrize("game", ["tictactoe", "hex"])
def test_warm_compiles_what_the_default_engine_of_a_game_needs(game, tmp_path):
    """Hex is searched with RAVE, which its default rule is not."""
    environment = {**os.environ, "ANABRANCH_CACHE": str(tmp_path)}
    command = [sys.executable, "-m", "anabranch"]
    run = subprocess.run([*command, "warm", game], capture_output=True, text=True, env=environment)
    assert run.returncode == 0 and "ready" in run.stdout
    assert list((tmp_path / "kernels").glob("simulate*.kernel"))
    run = subprocess.run([*command, "search", game, "--visits", "10"], capture_output=True, text=True, env=environment)
    assert run.returncode == 0 and "compiling" not in run.stderr
