"""How self-play searches and chooses moves: the selection rule, noise at the root, temperature."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from anabranch.errors import TrainingError
from anabranch.games.game import Game
from anabranch.games.position import Position
from anabranch.games.simultaneous import SimultaneousGame
from anabranch.search.results.final import Dirichlet, RootTemperature
from anabranch.search.results.roots import Roots
from anabranch.search.select.forced import Forced
from anabranch.search.select.gumbel import Gumbel
from anabranch.search.select.puct import PUCT
from anabranch.search.simultaneous.decoupled import Decoupled
from anabranch.search.simultaneous.strategies import RegretMatching
from anabranch.train.settings import SelfPlaySettings

LEAST_TEMPERATURE = 1e-2  # below this the most probable action is played


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
    game: Game,
    select: Any,
    settings: SelfPlaySettings,
    found: Roots,
    positions: Sequence[Position],
    plies: list[int],
    randoms: list[np.random.Generator],
) -> Sequence[Any]:
    """The move to play in each game, so many plies after its opening: Gumbel's own choice, or one drawn by visits."""
    if isinstance(select, Gumbel):
        return found.best
    left = 0.5 ** (np.array(plies) / settings.temperature_plies)
    temperatures = settings.temperature_end + (settings.temperature - settings.temperature_end) * left
    each = [
        drawn(policies, temperatures, np.array([random.random() for random in randoms]))
        for policies in np.split(found.policy, found.policy.shape[1] // game.actions, axis=1)
    ]
    if len(each) > 1:
        return list(zip(*(actions.tolist() for actions in each), strict=True))
    if game.repetition != "forbidden":
        return list(each[0].tolist())
    return [
        allowed(position, int(each[0][g]), found.policy[g], temperatures[g], randoms[g], found.best[g])
        for g, position in enumerate(positions)
    ]


def allowed(
    position: Position, action: int, policy: np.ndarray, temperature: float, random: np.random.Generator, best: int
) -> int:
    """This action; if it leads back to a position that may not occur again, which the search may have visited, another one."""
    left = policy.copy()
    while position.game.would_repeat(position, action):
        left[action] = 0.0
        if not left.any():
            return best
        action = int(drawn(left[None], np.array([temperature]), np.array([random.random()]))[0])
    return action


def drawn(policies: np.ndarray, temperatures: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """An action of each policy, (n, actions), drawn with a number from [0, 1) by its probability to the power of
    1 / temperature; at 0 the most probable one."""
    powers = 1.0 / np.maximum(temperatures, LEAST_TEMPERATURE)[:, None]
    sums = ((policies / policies.max(axis=1, keepdims=True)) ** powers).cumsum(axis=1)
    by_chance = (sums <= uniform[:, None] * sums[:, -1:]).sum(axis=1)
    return np.where(temperatures < LEAST_TEMPERATURE, policies.argmax(axis=1), by_chance)
