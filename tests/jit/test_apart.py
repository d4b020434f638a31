"""Compiling in a child, which a process does that has grown: the kernel comes from the cache, errors are told as ever."""

import os
import subprocess
import sys
import time

import pytest

from anabranch.jit import apart

pytestmark = [
    pytest.mark.when_compiled,
    pytest.mark.skipif(sys.platform != "linux", reason="processes fork on Linux only"),
]

SCRIPT = """
import os
import numpy as np
from anabranch.jit import apart, kernel

forks = []
in_child = apart.in_child
apart.in_child = lambda work: forks.append(1) or in_child(work)

@kernel
def twice(x):
    return 2.0 * x

@kernel
def wrong(x):
    return x.no_such_field

print(twice(3.0), twice(4.0), len(forks), twice.compilations)
try:
    wrong(1.0)
except Exception as error:
    print(type(error).__name__, "no_such_field" in str(error), len(forks))
print("end")
"""


def run(tmp_path, above, script=SCRIPT, **environment):
    """The script with an empty cache, its module importable, so that kernels can be kept."""
    (tmp_path / "script_of_apart.py").write_text(script)
    variables = os.environ | {
        "ANABRANCH_CACHE": str(tmp_path / "cache"), "ANABRANCH_FORK_ABOVE": str(above), "PYTHONPATH": os.pathsep.join(
            [str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    } | environment  # fmt: skip
    command = [sys.executable, "-c", "import script_of_apart"]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=600, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines(), done.stderr


def test_a_large_process_compiles_in_a_child_and_loads_what_it_wrote(tmp_path):
    lines, told = run(tmp_path, above=1)
    assert lines[0] == "6.0 8.0 1 1"
    assert lines[-1] == "end"  # and once: the child has printed nothing
    assert len(lines) == 3
    assert told.count("compiling twice") == 1


def test_what_does_not_compile_is_told_by_the_parent(tmp_path):
    lines, _ = run(tmp_path, above=1)
    assert lines[1] == "RuleError True 2"


WHILE_COMPILING = """
import threading, time
import numba
from anabranch.jit import apart, kernel

@kernel
def twice(x):
    return 2.0 * x

held, done = threading.Event(), threading.Event()

def another_compilation():
    with numba.core.compiler_lock.global_compiler_lock:
        held.set()
        done.wait(3.0)

threading.Thread(target=another_compilation).start()
held.wait()
began = time.monotonic()
print(twice(3.0), time.monotonic() - began < 20.0)
"""


def test_a_thread_that_compiles_does_not_leave_its_lock_to_the_child(tmp_path):
    assert run(tmp_path, above=1, script=WHILE_COMPILING)[0] == ["6.0 True"]


def test_a_child_that_does_nothing_is_given_up(monkeypatch):
    monkeypatch.setattr(apart, "STALLED", 0.3)
    began = time.monotonic()
    apart.in_child(lambda: time.sleep(60))
    assert time.monotonic() - began < 20


def test_nothing_forks_by_default():
    code = "from anabranch.jit import apart; print(apart.is_worthwhile())"
    environment = {name: value for name, value in os.environ.items() if name != "ANABRANCH_FORK_ABOVE"}
    assert subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True).stdout == "False\n"


def test_a_small_process_compiles_by_itself(tmp_path):
    lines, _ = run(tmp_path, above=2**60)
    assert lines[0] == "6.0 8.0 0 1"


def test_both_give_the_same_answer_from_the_cache(tmp_path):
    run(tmp_path, above=1)
    lines, told = run(tmp_path, above=2**60)
    assert lines[0] == "6.0 8.0 0 0"
    assert "compiling twice" not in told
