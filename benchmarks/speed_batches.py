"""Batches: 64 Connect Four searches that share them beside mctx, and how much of its time a search spends inside its network.

mctx and pgx are asked for in a Python of their own, named by ANABRANCH_MCTX_PYTHON (`pip install mctx pgx` there).
"""

import json
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from anabranch import PUCT, Fleet, Network, Search
from anabranch.games import ConnectFour
from measure import ROUNDS, Figure, cpu_seconds, main, progress

PEER = Path(__file__).parent / "peers" / "mctx_search.py"
PYTHON = os.environ.get("ANABRANCH_MCTX_PYTHON", "")
SEARCHES, SIMULATIONS = 64, 800
PEER_BATCHES = (1, 4, 16, 64)
LEAST_RATIO, LEAST_SHARE = 5.0, 0.9
COMMAND = "python benchmarks/speed_batches.py"


class Uniform:
    """Knows nothing, in Python: uniform priors, value 0."""

    batch = 1024

    def __call__(self, states: Any) -> tuple[None, np.ndarray]:
        """Nothing, for each."""
        return None, np.zeros(len(states))


def ours(number: int) -> float:
    """CPU seconds a simulation of all searches together, results included."""
    fleet = Fleet(ConnectFour(), SEARCHES, evaluate=Uniform(), select=PUCT(c=1.25), memory="1GB", seed=1000 * number)
    return cpu_seconds(lambda: fleet.run(visits=SIMULATIONS)) / (SEARCHES * SIMULATIONS)


def peer(policy: str, batch: int) -> float:
    """CPU seconds a simulation of mctx."""
    arguments = [PYTHON, str(PEER), policy, str(batch), str(SIMULATIONS), "2"]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    return min(json.loads(done.stdout)["cpu_seconds"]) / (batch * SIMULATIONS)


def beside_mctx(rounds: int) -> Figure:
    """The 64 searches, and mctx at the batch size where it is fastest."""
    ours(0)  # compile
    trials = {(policy, batch): peer(policy, batch) for policy in ("muzero", "gumbel") for batch in PEER_BATCHES}
    best = min(trials, key=lambda trial: trials[trial])
    progress(f"mctx is fastest with {best}: {1 / trials[best]:,.0f} simulations/s")
    costs = [(ours(number), peer(*best)) for number in range(rounds)]
    our_cost, peer_cost = (float(np.median(column)) for column in zip(*costs, strict=True))
    return Figure(
        what=f"Connect Four, {SEARCHES} searches of {SIMULATIONS} simulations that share batches, uniform evaluator in Python, "
        f"beside mctx ({best[0]}, batch {best[1]})",
        ours=f"{1 / our_cost:,.0f} simulations/s",
        peer=f"{1 / peer_cost:,.0f}",
        ratio=f"{peer_cost / our_cost:.1f}",
        target=f">= {LEAST_RATIO:g}",
        met=peer_cost / our_cost >= LEAST_RATIO,
        command=COMMAND,
        data={"rounds": costs, "trials": {f"{policy} {batch}": 1 / cost for (policy, batch), cost in trials.items()}},
    )


def inside_network(visits: int, rounds: int) -> Figure:
    """The share of a search's time that its network takes."""
    from anabranch.nets.model import export, make_model

    game = ConnectFour()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "net.onnx"
        export(make_model(game, blocks=6, channels=64), game, path)
        shares = []
        for number in range(rounds):
            network = Network(path, batch=16, threads=1, game=game)
            search = Search(game, select=PUCT(), evaluate=network, memory="100MB", seed=number)
            search.run(visits=16)
            before, began = network.stats.seconds, time.perf_counter()
            search.run(visits=visits)
            shares.append((network.stats.seconds - before) / (time.perf_counter() - began))
            fill = network.stats.fill
    share = float(np.median(shares))
    return Figure(
        what=f"Connect Four, {visits:,} visits with a 6x64 network at batch 16, one thread: time inside the network",
        ours=f"{share:.1%}",
        peer="",
        ratio=f"{share:.2f}",
        target=f">= {LEAST_SHARE:.0%}",
        met=share >= LEAST_SHARE,
        command=COMMAND,
        data={"shares": shares, "fill": fill},
    )


def run(quick: bool = False) -> list[Figure]:
    """All figures; those beside mctx only where there is one."""
    figures = [inside_network(160 if quick else 1600, 1 if quick else ROUNDS)]
    if PYTHON:
        figures.append(beside_mctx(1 if quick else ROUNDS))
    else:
        progress("no mctx: ANABRANCH_MCTX_PYTHON names no Python that has it")
    return figures


if __name__ == "__main__":
    main(run, __doc__)
