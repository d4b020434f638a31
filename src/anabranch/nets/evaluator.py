"""What evaluators with a network share: the game they are bound to, a cache of evaluations, statistics, copies.

A call computes the keys of the states, looks them up in the cache (`cache.py`), has the rest evaluated, and stores that in
the cache. `Network` (`network.py`) and `KataGoNet` (`katago/evaluator.py`) say how positions are evaluated.
"""

import threading
import time
from typing import Any, NamedTuple

import numpy as np

from anabranch.errors import NetworkError, OptionError
from anabranch.games.game import Game
from anabranch.jit import kernel
from anabranch.jit.dispatch import TAG_PREFIX, tag_of
from anabranch.jit.random import mix
from anabranch.nets.cache import Cache, Found, keys_of
from anabranch.search.checks import at_least_one, parse_memory

SYMMETRIES = ("none", "random", "all")


@kernel
def draw_by_key(keys, seed, count, drawn):
    """Write a number below `count` for each key, which looks random and is the same whenever the key comes."""
    for i in range(len(keys)):
        drawn[i] = np.int64(mix(keys[i, 0] ^ mix(keys[i, 1] ^ mix(seed))) % np.uint64(count))


class NetworkStats(NamedTuple):
    """What a network has done so far."""

    evaluations: int = 0  # positions that the model evaluated
    calls: int = 0  # of the model
    hits: int = 0  # positions that were answered without it: from the cache, or repeated in one call
    seconds: float = 0.0  # inside the model
    fill: float = 0.0  # positions per call, as a share of `batch`


class NetworkEvaluator:
    """An evaluator with a cache. Searches that share the object share the cache."""

    def __init__(
        self, batch: int, cache: int | str, symmetry: str, threads: int, providers: list[Any] | None, seed: int
    ) -> None:
        if symmetry not in SYMMETRIES:
            raise OptionError(f"symmetry={symmetry!r}: it is one of {', '.join(map(repr, SYMMETRIES))}")
        self.batch, self.threads = at_least_one(batch, "batch"), at_least_one(threads, "threads")
        _cache_size(cache)  # raises if it is not a size
        self.cache, self.symmetry, self.providers, self.seed = cache, symmetry, providers, seed
        self.game: Game | None = None
        self._prepare()

    def _prepare(self) -> None:
        """Create what cannot be copied or sent to another process."""
        self._lock = threading.Lock()
        self._stats = NetworkStats()
        self._cache: Cache | None = None

    # --- for subclasses ---

    def _check(self, game: Game) -> None:
        """Raise if this network cannot evaluate a game."""
        raise NotImplementedError

    def serves(self, game: Game) -> bool:
        """Whether evaluations of the network's game are good for this one, too."""
        return self.game == game

    def _widths(self, game: Game) -> tuple[int, int]:
        """How many f4 and f8 numbers are cached for a position; the first ones of the f4 are its priors."""
        raise NotImplementedError

    def _evaluate(self, game: Game, states: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """These numbers for states that are not in the cache: f4 (n, ...) and f8 (n, ...)."""
        raise NotImplementedError

    def __call__(self, states: Any) -> Any:
        """What a search asks for: priors and values of these states, and possibly the values' errors."""
        raise NotImplementedError

    # --- the game ---

    def bind(self, game: Game) -> None:
        """Set the game of this network, which then cannot be used for another one."""
        if self.game is not None and not self.serves(game):
            name = type(self).__name__
            raise NetworkError(f"this network evaluates positions of {self.game!r}; make another {name} for {game!r}")
        if self.game is None:
            self._check(game)
            self.game = game
        if self._cache is None:
            self._limit = int(game.ask("action_limit", game.start().state)) if isinstance(game, Game) else game.actions
            self._cache = Cache(*self._widths(game), **_cache_size(self.cache))

    def _game_of(self, states: np.ndarray) -> tuple[Game, Cache]:
        """The game whose states these are, which must be the network's."""
        tag = tag_of(states.dtype.names)
        if self.game is None:
            self.bind(_only_game(tag, type(self).__name__))
        assert self.game is not None and self._cache is not None
        if tag != TAG_PREFIX + self.game.tag:
            whose = (tag or "no game").removeprefix(TAG_PREFIX)
            raise NetworkError(f"this network evaluates positions of {self.game!r}, not of {whose}")
        return self.game, self._cache

    # --- evaluations ---

    def _find(self, states: np.ndarray) -> tuple[Game, Found]:
        """The cached numbers of these states, once all of them have been evaluated."""
        game, cache = self._game_of(states)
        states = np.ascontiguousarray(states).view(game.record)
        keys = np.empty((len(states), 2), np.uint64)
        if not keys_of(states, self._limit, keys):
            raise NetworkError(f"this network evaluates positions of {game!r}, and these are of another size")
        found = cache.look_up(keys)
        if len(found.first):
            cache.keep(keys, found, *self._evaluate(game, states[found.first], keys[found.first]))
        with self._lock:
            self._stats = self._stats._replace(hits=self._stats.hits + len(states) - len(found.first))
        return game, found

    def _draw(self, keys: np.ndarray, count: int) -> np.ndarray:
        """A random symmetry of `count` for each position, drawn by key and seed, independent of earlier calls."""
        drawn = np.empty(len(keys), np.int64)
        draw_by_key(keys, np.uint64(self.seed & (2**64 - 1)), count, drawn)
        return drawn

    def _timed(self, model: Any, count: int, *given: Any) -> Any:
        """Call the model, and update the statistics."""
        began = time.perf_counter()
        answer = model(*given)
        seconds = time.perf_counter() - began
        with self._lock:
            done = self._stats
            self._stats = NetworkStats(done.evaluations + count, done.calls + 1, done.hits, done.seconds + seconds)
        return answer

    @property
    def stats(self) -> NetworkStats:
        """What it has done so far."""
        done = self._stats
        return done._replace(fill=done.evaluations / done.calls / self.batch if done.calls else 0.0)

    def clear(self) -> None:
        """Clear the cache, as after training the model further, and reset the statistics."""
        with self._lock:
            self._stats = NetworkStats()
        if self._cache is not None:
            self._cache.clear()

    # --- copies ---

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._prepare()
        if self.game is not None:
            self.bind(self.game)


def _cache_size(cache: Any) -> dict[str, int]:
    """The size of the cache, as an argument of `Cache`."""
    if isinstance(cache, str):
        return {"room": parse_memory(cache)}
    if isinstance(cache, bool) or not isinstance(cache, (int, np.integer)) or cache < 0:
        raise OptionError(f'cache={cache!r}: give a number of positions, memory such as "64MB", or 0')
    return {"entries": int(cache)}


def _only_game(tag: str | None, network: str) -> Game:
    """The game of a record's tag, if its class has only one instance: no sizes or other parameters."""
    kinds = [Game]
    for kind in kinds:
        kinds.extend(kind.__subclasses__())
        if tag is not None and tag == TAG_PREFIX + getattr(kind, "tag", ""):
            if kind.__init__ is Game.__init__:
                return kind()
            raise NetworkError(f"there are many games of {kind.__name__}; name the network's: {network}(..., game=...)")
    raise NetworkError(f"these states are of an unknown game; name it: {network}(..., game=...)")
