"""The evaluator of self-play: the network that the run uses at the moment, looked for again now and then."""

import contextlib
import math
import time
from pathlib import Path
from typing import Any

from anabranch.games.game import Game
from anabranch.nets.network import Network
from anabranch.train.run import Run

LOOK_AGAIN = 2.0  # seconds between two looks for a newer network


class NetworkInUse:
    """The evaluator of the fleet."""

    def __init__(self, run: Run, seed: int) -> None:
        self.run, self.seed = run, seed
        self.batch = run.settings.self_play.games
        self.path: Path | None = None
        self.network: Network | None = None
        self._looked = -math.inf

    def look(self) -> bool:
        """Load the network in use, if it is another one than before; returns whether there is one."""
        now = time.monotonic()
        if now - self._looked < LOOK_AGAIN:
            return self.network is not None
        self._looked = now
        path = self.run.network_in_use
        if path is not None and path != self.path:
            settings = self.run.settings.self_play
            with contextlib.suppress(FileNotFoundError):  # another one is in use by now
                self.network = Network(
                    path, batch=self.batch, symmetry=settings.symmetry, cache=settings.cache, game=self.run.game, seed=self.seed
                )
                self.path = path
        return self.network is not None

    @property
    def name(self) -> str:
        """Its file; "" as long as there is none."""
        return self.path.name if self.path else ""

    def bind(self, game: Game) -> None:
        """Called by searches; the game is always the run's."""

    def __call__(self, states: Any) -> Any:
        """Priors and values."""
        assert self.network is not None
        return self.network(states)
