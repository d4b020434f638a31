"""`Network`: a network as an evaluator, states -> (priors, values), with batches, a cache and symmetries.

A call computes the keys of the states, looks them up in the cache (`cache.py`), encodes the rest as planes
(`games/encoding.py`) under a symmetry, runs the model (`runtimes.py`), maps its outputs back, reads them (`outputs.py`), and
stores them in the cache.
"""

import math
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from anabranch.errors import NetworkError, OptionError
from anabranch.games.encoding import encode
from anabranch.games.game import Game
from anabranch.games.simultaneous import SimultaneousGame
from anabranch.jit import readable
from anabranch.jit.dispatch import TAG_PREFIX, tag_of
from anabranch.jit.random import mix
from anabranch.nets.cache import Cache, keys_of
from anabranch.nets.outputs import ALL_WELL, Returns, read_both, read_outputs
from anabranch.nets.runtimes import Model, is_module, load
from anabranch.search.checks import at_least_one, parse_memory
from anabranch.search.evaluate.python import Checked

SYMMETRIES = ("none", "random", "all")


class NetworkStats(NamedTuple):
    """What a network has done so far."""

    evaluations: int = 0  # positions that the model evaluated
    calls: int = 0  # of the model
    hits: int = 0  # positions that were answered without it: from the cache, or repeated in one call
    seconds: float = 0.0  # inside the model
    fill: float = 0.0  # positions per call, as a share of `batch`


class Network:
    """A network as an evaluator. Searches that share the object share its cache."""

    def __init__(
        self,
        model: Any,
        batch: int = 16,
        cache: int | str = "64MB",
        symmetry: str = "none",
        threads: int = 1,
        providers: list[Any] | None = None,
        game: Game | None = None,
        seed: int = 0,
    ) -> None:
        """model      an .onnx file's path, a torch.nn.Module, a `Model`, or any f(states) -> (priors, values), used as it is
        batch      how many leaves a search may collect for one call
        cache      positions to remember: a number of them, or memory such as "64MB"; 0: none
        symmetry   a position is evaluated as it is ("none"), under a random symmetry ("random"), or under all, averaged ("all")
        threads    of the model
        providers  of ONNX Runtime; by default the CPU
        game       the game it evaluates; `Search` sets it too
        seed       of the random symmetries
        """
        if symmetry not in SYMMETRIES:
            raise OptionError(f"symmetry={symmetry!r}: it is one of {', '.join(map(repr, SYMMETRIES))}")
        if not isinstance(model, (str, Path)) and (not callable(model) or isinstance(model, type)):
            raise NetworkError(f"model={model!r}: give the path of an .onnx file, a torch.nn.Module, or a function of states")
        self.model = Path(model) if isinstance(model, str) else model
        self.batch, self.threads = at_least_one(batch, "batch"), at_least_one(threads, "threads")
        _cache_size(cache)  # raises if it is not a size
        self.cache, self.symmetry, self.providers, self.seed = cache, symmetry, providers, seed
        self.game: Game | None = None
        self._prepare()
        if self._is_function and symmetry != "none":
            raise OptionError(f"symmetry={symmetry!r}: a function sees states, not planes, and those have no sides")
        if not self._is_function:
            self._load()
        if game is not None:
            self.bind(game)

    def _prepare(self) -> None:
        """Create what cannot be copied or sent to another process."""
        self._lock = threading.Lock()
        self._stats = NetworkStats()
        self._cache: Cache | None = None
        self._loaded: Model | None = None
        self._is_function = not isinstance(self.model, (Path, Model)) and not is_module(self.model)

    def _load(self) -> Model:
        """The model; a copy in another process loads it when first called."""
        if self._loaded is None:
            self._loaded = load(self.model, self.threads, self.providers)
        return self._loaded

    def bind(self, game: Game) -> None:
        """Set the game of this network, which then cannot be used for another one."""
        if self.game is not None and self.game != game:
            raise NetworkError(f"this network evaluates positions of {self.game!r}; make another Network for {game!r}")
        if self.game is None and not self._is_function:
            if getattr(game, "planes", None) is None:
                raise NetworkError(f"{game!r} has no encoding for networks: give it `planes` and a rule `encode`")
            self._load().check(game)
        self.game = game
        if self._cache is None:
            self._limit = int(game.ask("action_limit", game.start().state)) if isinstance(game, Game) else game.actions
            self._cache = Cache(math.prod(game.policy_shape), game.value_width(), **_cache_size(self.cache))

    def __call__(self, states: Any) -> tuple[np.ndarray, np.ndarray]:
        """Priors, f4 (n, actions) or (n, 2, actions) where both players move, and values, f8 (n,) in the view of the player to
        move, in units of the game's returns; (n, players) where a value has more than one number."""
        if not isinstance(states, np.ndarray):
            return self._ask_objects(states)
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
        priors = found.priors.reshape(len(states), *game.policy_shape)
        answer = priors, found.values[:, 0] if found.values.shape[1] == 1 else found.values
        return answer if self._is_function else Checked(*answer)  # `read_outputs` has checked it

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

    # --- the game ---

    def _game_of(self, states: np.ndarray) -> tuple[Game, Cache]:
        """The game whose states these are, which must be the network's."""
        tag = tag_of(states.dtype.names)
        if self.game is None:
            self.bind(_only_game(tag))
        assert self.game is not None and self._cache is not None
        if tag != TAG_PREFIX + self.game.tag:
            whose = (tag or "no game").removeprefix(TAG_PREFIX)
            raise NetworkError(f"this network evaluates positions of {self.game!r}, not of {whose}")
        return self.game, self._cache

    # --- the model ---

    def _evaluate(self, game: Game, states: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The model's priors and values for these states, none of which is in the cache."""
        priors = np.zeros((len(states), math.prod(game.policy_shape)), np.float32)
        values = np.zeros((len(states), game.value_width()))
        if self._is_function:
            _take_over(self._timed(self.model, len(states), readable(states)), priors, values)
            return priors, values
        logits, raw = self._look(encode(game, states), keys)
        raw = raw.reshape(len(raw), len(states), -1)
        low, high = game.value_range
        returns = Returns((low + high) / 2, (high - low) / 2)
        if isinstance(game, SimultaneousGame):
            bad = read_both(states, logits, raw, returns, priors, values)
        else:
            bad = read_outputs(states, logits, raw, returns, np.zeros(game.actions, np.int64), priors, values)
        if bad != ALL_WELL:
            raise NetworkError(_what_is_bad(self._load().name, raw[:, bad]))
        return priors, values

    def _look(self, planes: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The model's outputs, (looks, n, ...), one look per symmetry, with logits mapped back."""
        if self.symmetry == "none":
            logits, raw = self._timed(self._load(), len(planes), planes)
            return logits[None], raw[None]
        assert self.game is not None
        ways = self.game.symmetries()
        back = np.argsort(ways.actions)
        flat = planes.reshape(*planes.shape[:2], -1)
        looks = []
        for sides in self._sides(keys, len(ways)):
            seen = np.take_along_axis(flat, ways.points[sides][:, None, :], axis=2).reshape(planes.shape)
            logits, raw = self._timed(self._load(), len(planes), seen)
            looks.append((np.take_along_axis(logits, back[sides], axis=1), raw))
        return np.stack([logits for logits, _ in looks]), np.stack([raw for _, raw in looks])

    def _sides(self, keys: np.ndarray, count: int) -> Iterator[np.ndarray]:
        """Numbers of symmetries, one for each position: all, or one drawn by key and seed, independent of earlier calls."""
        if self.symmetry == "all":
            yield from (np.full(len(keys), side) for side in range(count))
        else:
            with np.errstate(over="ignore"):
                drawn = mix(keys[:, 0] ^ mix(keys[:, 1] ^ mix(np.full(1, self.seed & (2**64 - 1), np.uint64))))
            yield (drawn % np.uint64(count)).astype(np.int64)

    def _timed(self, model: Any, count: int, given: Any) -> Any:
        """Call the model, and update the statistics."""
        began = time.perf_counter()
        answer = model(given)
        seconds = time.perf_counter() - began
        with self._lock:
            done = self._stats
            self._stats = NetworkStats(done.evaluations + count, done.calls + 1, done.hits, done.seconds + seconds)
        return answer

    def _ask_objects(self, positions: Any) -> Any:
        """Evaluate positions that are Python objects, which have no records to encode or to cache."""
        if not self._is_function:
            raise NetworkError("positions that are Python objects have no planes; give a function of positions as the model")
        return self._timed(self.model, len(positions), positions)

    # --- copies ---

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._prepare()
        if self.game is not None:
            self.bind(self.game)

    def __repr__(self) -> str:
        name = str(self.model) if isinstance(self.model, Path) else getattr(self.model, "__name__", type(self.model).__name__)
        return f"Network({name}, batch={self.batch})"


def _cache_size(cache: Any) -> dict[str, int]:
    """The size of the cache, as an argument of `Cache`."""
    if isinstance(cache, str):
        return {"room": parse_memory(cache)}
    if isinstance(cache, bool) or not isinstance(cache, (int, np.integer)) or cache < 0:
        raise OptionError(f'cache={cache!r}: give a number of positions, memory such as "64MB", or 0')
    return {"entries": int(cache)}


def _only_game(tag: str | None) -> Game:
    """The game of a record's tag, if its class has only one instance: no sizes or other parameters."""
    kinds = [Game]
    for kind in kinds:
        kinds.extend(kind.__subclasses__())
        if tag is not None and tag == TAG_PREFIX + getattr(kind, "tag", ""):
            if kind.__init__ is Game.__init__:
                return kind()
            raise NetworkError(f"there are many games of {kind.__name__}; name the network's: Network(..., game=...)")
    raise NetworkError("these states are of an unknown game; name it: Network(..., game=...)")


def _take_over(answer: Any, priors: np.ndarray, values: np.ndarray) -> None:
    """Copy the answer of a function of states into arrays of the right shapes."""
    try:
        given_priors, given_values = answer
        priors[:] = 1.0 if given_priors is None else np.asarray(given_priors).reshape(priors.shape)
        values[:] = np.asarray(given_values).reshape(values.shape)
    except (TypeError, ValueError):
        raise NetworkError(
            f"a function of {len(priors)} states gives (priors, values) of the shapes {priors.shape} and "
            f"{values.shape if values.shape[1] > 1 else values.shape[:1]}; this one gave something else"
        ) from None


def _what_is_bad(name: str, values: np.ndarray) -> str:
    if not np.isfinite(values).all():
        return f"{name} gave NaN or infinity for a value; check its input and its weights"
    if (abs(values) > 1.0).any():
        return f"{name} gave a value of {values.flat[abs(values).argmax()]:.3g}; end its value head with a tanh"
    return f"{name} gave logits that are NaN or infinity for a legal action; check its input and its weights"
