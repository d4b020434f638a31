"""The corpus of every target, and some seconds of fuzzing; two minutes each in `make soak`. The seed is printed, what fails is
kept in a file.

ANABRANCH_FUZZ_SECONDS=600 pytest tests/fuzz
"""

import os
import subprocess
import sys

import pytest

from tests.conftest import IN_CI, needs, when_compiled
from tests.fuzz.run import CORPUS, ROOT, TARGETS

SECONDS = int(os.environ.get("ANABRANCH_FUZZ_SECONDS", "15" if IN_CI else "5"))
SEED = ("--seed", 15) if IN_CI else ()  # there, the same every time
TO_COMPILE = 600  # seconds, at most, for what must be compiled first

pytestmark = when_compiled


def run(*arguments):
    """The program's exit code and what it printed."""
    command = [sys.executable, str(ROOT / "tests" / "fuzz" / "run.py"), *map(str, arguments)]
    limit = SECONDS + TO_COMPILE
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=limit, check=False)
    return done.returncode, done.stdout.decode("utf-8", "replace")


@pytest.mark.parametrize("target", TARGETS)
def test_the_corpus_does_no_harm(target):
    code, told = run(target, CORPUS / target)
    assert code == 0 and "all right" in told, told[-3000:]


@pytest.mark.parametrize("target", TARGETS)
def test_nothing_is_found_by_fuzzing(target):
    needs("atheris")
    code, told = run(target, "--seconds", SECONDS, *SEED)
    print(told.splitlines()[0])
    assert code == 0, told[:100] + " ... " + told[-5000:]


def test_what_fails_is_kept_and_can_be_replayed(tmp_path):
    """A target that fails at once: the file that is written makes it fail again."""
    needs("atheris")
    code, told = run("broken", "--seconds", 20, "--seed", 7, "--failures", tmp_path)
    assert code != 0 and "seed 7" in told and "AssertionError" in told
    (kept,) = tmp_path.iterdir()
    assert kept.name.startswith("broken-") and f"again: python tests/fuzz/run.py broken {kept}" in told
    again, _ = run("broken", kept)
    assert again != 0


def test_the_corpus_is_small():
    files = [path for path in CORPUS.rglob("*") if path.is_file()]
    assert len(files) <= 100 and sum(path.stat().st_size for path in files) < 300_000
