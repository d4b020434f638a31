"""Compiled or plain Python, in this process or in another: the tests pass in both, and the trees are the same bit for bit."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import anabranch as ab
from anabranch.games import ConnectFour, Pig, TicTacToe, Treasure, TriNim
from anabranch.search.loops.tree import simulate
from anabranch.search.memory.tree import allocate
from tests.conftest import in_soak
from tests.search.advice import Fancy, fancy
from tests.search.amaf_trees import amaf_facts
from tests.search.games import Echo
from tests.search.test_reference import opinion
from tests.search.trees import digest, read_graph, read_tree

pytestmark = pytest.mark.when_compiled

ROOT = Path(__file__).parents[2]
GAMES = [TicTacToe(), ConnectFour(), TriNim(), Pig(), Treasure()]
USUAL = [(ab.UCT(), ab.Rollout()), (ab.PUCT(), ab.Rollout()), (ab.PUCT(), opinion)]
UNUSUAL = [(ab.UCT(), opinion)]
WITH_LORE = [
    (ab.Rave(bias=0.1, c=0.6), Fancy()),
    (ab.Rave(bias=0.1, c=0.6), fancy),
    (ab.Rave(bias=0.1, c=0.6), ab.evaluate.Grandfather()),
    (ab.Rave(bias=0.1, schedule=ab.select.ExactMSE()), None),
    (ab.Rave(bias=0.1, c=0.3, schedule=ab.select.LearntBias()), None),
    (ab.Rave(source=ab.select.WithAncestors()), None),
    (ab.select.ProgressiveBias(ab.UCT(c=0.6)), Fancy()),
    (ab.select.Widening(ab.Rave(bias=0.1, c=0.6), base=4.0), Fancy()),
]
CASES = {"usual": (USUAL, WITH_LORE), "unusual": (UNUSUAL, [])}
VISITS = 60


def in_another_process(*arguments, **environment):
    """Run Python there with these variables set; its output."""
    process = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=os.environ | environment, capture_output=True, text=True, timeout=3000
    )
    assert process.returncode == 0, process.stdout[-5000:] + process.stderr[-2000:]
    return process.stdout


def digests(case):
    """One line a tree: of all games with these rules and kinds of evaluator, and of rules and heuristics with amaf."""
    parts, with_lore = CASES[case]
    lines = []
    for game in GAMES:
        for select, evaluate in parts:
            search = ab.Search(game, select=select, evaluate=evaluate, seed=12, memory="10MB")
            best = search.run(visits=VISITS).best
            search.advance(best)
            search.run(visits=VISITS)
            lines.append(digest(search))
    for rule, heuristic in with_lore:
        search = ab.Search(Echo(), select=rule, heuristic=heuristic, seed=12, memory="10MB")
        search.advance(search.run(visits=VISITS).best)
        search.run(visits=VISITS)
        lines.append(hashlib.sha256(repr(amaf_facts(search)).encode()).hexdigest())
    return lines


@pytest.mark.parametrize("case", ["usual", pytest.param("unusual", marks=in_soak)])
def test_trees_are_the_same_bit_for_bit_in_plain_python_and_in_another_process(case):
    here = digests(case)
    script = f"from tests.search.test_plain import digests; print(*digests({case!r}))"
    assert in_another_process("-c", script, PYTHONHASHSEED="7").split() == here
    assert in_another_process("-c", script, NUMBA_DISABLE_JIT="1").split() == here
    assert len(set(here)) == len(here)


@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_the_kernel_as_plain_python_builds_the_same_tree(game):
    compiled, plain = (ab.Search(game, select=ab.PUCT(), seed=8, memory="1MB") for _ in range(2))
    compiled.run(visits=VISITS)
    plain.run(visits=1)
    driver = plain.rooted.driver
    done = simulate.plain(driver.graph, plain.rooted.root, *driver.rules, driver.limits, driver.work, VISITS - 1)
    assert done == (plain.rooted.root, VISITS - 1)
    assert read_tree(plain) == read_tree(compiled)


def test_memory_that_held_another_tree_before_makes_no_difference():
    """Slots are taken over as they are: whatever they held must not be read."""
    clean, dirty = (ab.Search(TicTacToe(), seed=8, memory="100KB") for _ in range(2))
    dirty.rooted.reserved = allocate(1, dirty.memory)
    dirty.rooted.reserved.nodes.view("u1")[:] = 0xFF
    clean.run(visits=500)
    dirty.run(visits=500)
    assert read_graph(clean.rooted.graph, 0) == read_graph(dirty.rooted.graph, 0)
