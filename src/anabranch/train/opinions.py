"""What the networks of a run think of the start of the game, from the first one to the latest: policy and value.

It needs ONNX Runtime. Above: `report.py`.
"""

import contextlib
from pathlib import Path
from typing import NamedTuple

import numpy as np

from anabranch.errors import NetworkError
from anabranch.nets.network import Network
from anabranch.train.curves import Curve, line_chart
from anabranch.train.progress import first_decision
from anabranch.train.run import Run

MOST = 20  # networks that are asked
SHOWN = 8  # actions in a chart: there are so many colours


class Opinion(NamedTuple):
    """What a network says of the start."""

    network: int
    policies: np.ndarray  # f8 (policies, actions)
    values: np.ndarray  # f8 (value width,), in the view of the player to move, or one per player


def opinions(run: Run, most: int = MOST) -> list[Opinion]:
    """Those of so many networks, evenly chosen, the first and the latest one among them."""
    start = first_decision(run.game)
    found = []
    for path in evenly(run.networks, most):
        with contextlib.suppress(FileNotFoundError, NetworkError):
            if not path.is_file():  # deleted meanwhile
                continue
            priors, values = Network(path, batch=1, cache=0, game=run.game)(start.record())
            policies = np.asarray(priors, float).reshape(-1, run.game.actions)
            found.append(Opinion(int(path.stem), policies, np.ravel(values)))
    return found


def evenly(paths: list[Path], most: int) -> list[Path]:
    """So many of them, evenly spread, with both ends."""
    if len(paths) <= most:
        return paths
    return [paths[i] for i in sorted({round(i * (len(paths) - 1) / (most - 1)) for i in range(most)})]


def opinion_charts(run: Run, found: list[Opinion]) -> list[str]:
    """A chart for each policy, and one for the value."""
    game, across = run.game, ("network", float(found[0].network), float(max(found[-1].network, found[0].network + 1)))
    charts = []
    several = len(found[-1].policies) > 1
    for place in range(len(found[-1].policies)):
        shares = np.array([opinion.policies[place] for opinion in found])
        best = np.argsort(-shares[-1] - 1e-6 * shares.mean(0), kind="stable")[:SHOWN]
        curves = [
            Curve(game.name_of(int(action)), [(o.network, o.policies[place, action]) for o in found])
            for action in best
            if shares[:, action].max() > 0.0
        ]
        whose = f" of {game.player_name(place)}" if several else ""
        charts.append(line_chart(f"Policy{whose} at the start", curves, across, (0.0,)))
    names = [game.player_name(player) for player in range(len(found[-1].values))]
    views = ["for the player to move"] if len(names) == 1 else [f"for {name}" for name in names]
    values = [Curve(view, [(o.network, float(o.values[place])) for o in found]) for place, view in enumerate(views)]
    charts.append(line_chart("Value of the start", values, across, game.value_range))
    return charts
