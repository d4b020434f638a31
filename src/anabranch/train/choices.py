"""How self-play searches and chooses moves: the selection rule, noise at the root, temperature."""

from typing import Any

import numpy as np

from anabranch.errors import TrainingError
from anabranch.games.game import Game
from anabranch.games.position import Position
from anabranch.games.simultaneous import SimultaneousGame
from anabranch.search.results.final import Dirichlet, RootTemperature
from anabranch.search.results.result import Result
from anabranch.search.select.forced import Forced
from anabranch.search.select.gumbel import Gumbel
from anabranch.search.select.puct import PUCT
from anabranch.search.simultaneous.decoupled import Decoupled
from anabranch.search.simultaneous.strategies import RegretMatching
from anabranch.train.settings import SelfPlaySettings


def selection_of(game: Game, settings: SelfPlaySettings) -> Any:
    """The selection rule of self-play."""
    both = isinstance(game, SimultaneousGame)
    name = settings.select if settings.select != "auto" else "decoupled" if both else "gumbel"
    if both != (name in ("decoupled", "regret")):
        kinds = "decoupled, regret" if both else "gumbel, puct"
        raise TrainingError(f"self_play.select = {name!r} is not for {game!r}; choose from {kinds}")
    if name == "gumbel":
        return Gumbel(considered=settings.considered)
    if name == "decoupled":
        return Decoupled(c=settings.c, forced=settings.forced)
    if name == "regret":
        return RegretMatching()
    return Forced(PUCT(c=settings.c), settings.forced) if settings.forced > 0.0 else PUCT(c=settings.c)


def noise_of(game: Game, select: Any, settings: SelfPlaySettings) -> Any:
    """Noise on the root's priors: not where Gumbel explores by itself."""
    if isinstance(select, Gumbel):
        return None
    noise = None
    if settings.noise_weight > 0.0 and settings.noise_alpha > 0.0:
        noise = Dirichlet(max(settings.noise_alpha / game.actions, 1e-3), settings.noise_weight)
    return noise if settings.root_temperature == 1.0 else RootTemperature(settings.root_temperature, noise)


def chosen(
    select: Any, settings: SelfPlaySettings, position: Position, result: Result, plies: int, random: np.random.Generator
) -> Any:
    """The move to play here, so many plies after the opening: Gumbel's own choice, or one drawn by visits."""
    if isinstance(select, Gumbel):
        return result.best
    left = 0.5 ** (plies / settings.temperature_plies)
    temperature = settings.temperature_end + (settings.temperature - settings.temperature_end) * left
    if isinstance(result.policy, tuple):  # both move
        return tuple(drawn(policy, temperature, random) for policy in result.policy)
    policy = result.policy.copy()
    while policy.any():
        action = drawn(policy, temperature, random)
        if not is_forbidden(position, action):
            return action
        policy[action] = 0.0
    return result.best


def is_forbidden(position: Position, action: int) -> bool:
    """Whether an action leads back to a position that may not occur again; the search may have visited it."""
    return position.game.repetition == "forbidden" and position.game.would_repeat(position, action)


def drawn(policy: np.ndarray, temperature: float, random: np.random.Generator) -> int:
    """An action, drawn by its probability to the power of 1 / temperature; at 0 the most probable one."""
    if temperature < 1e-2:
        return int(np.argmax(policy))
    weights = (policy / policy.max()) ** (1.0 / temperature)
    return int(random.choice(len(policy), p=weights / weights.sum()))
