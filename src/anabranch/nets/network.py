"""`Network`: a network as an evaluator, states -> (priors, values), with batches, a cache and symmetries.

What is not cached (`evaluator.py`) is encoded as planes (`games/encoding.py`) under a symmetry and given to the model
(`runtimes.py`), whose outputs are mapped back and read (`outputs.py`).
"""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from anabranch.errors import NetworkError, OptionError
from anabranch.games.encoding import encode, symmetries_of
from anabranch.games.game import Game
from anabranch.games.simultaneous import SimultaneousGame
from anabranch.games.symmetry import Symmetries
from anabranch.jit import readable
from anabranch.nets.evaluator import NetworkEvaluator
from anabranch.nets.outputs import ALL_WELL, Returns, read_both, read_outputs
from anabranch.nets.runtimes import Model, is_module, load
from anabranch.search.evaluate.python import Checked

OBJECTS = "Python objects, which networks cannot see; give a function of positions as the model"


class Network(NetworkEvaluator):
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
        if not isinstance(model, (str, Path)) and (not callable(model) or isinstance(model, type)):
            raise NetworkError(f"model={model!r}: give the path of an .onnx file, a torch.nn.Module, or a function of states")
        self.model = Path(model) if isinstance(model, str) else model
        super().__init__(batch, cache, symmetry, threads, providers, seed)
        if self._is_function and symmetry != "none":
            raise OptionError(f"symmetry={symmetry!r}: a function sees states, not planes, and those have no sides")
        if not self._is_function:
            self._load()
        if game is not None:
            self.bind(game)

    def _prepare(self) -> None:
        """Create what cannot be copied or sent to another process."""
        super()._prepare()
        self._loaded: Model | None = None
        self._ways: Symmetries | None = None  # of the game, once they are needed
        self._is_function = not isinstance(self.model, (Path, Model)) and not is_module(self.model)

    def _load(self) -> Model:
        """The model; a copy in another process loads it when first called."""
        if self._loaded is None:
            self._loaded = load(self.model, self.threads, self.providers)
        return self._loaded

    def _check(self, game: Game) -> None:
        """Raise if this network cannot evaluate a game."""
        if not self._is_function:
            if not isinstance(game, Game):
                raise NetworkError(f"the positions of {game!r} are {OBJECTS}")
            self._load().check(game)

    def _widths(self, game: Game) -> tuple[int, int]:
        return math.prod(game.policy_shape), game.value_width()

    def __call__(self, states: Any) -> Any:
        """Priors, f4 (n, actions) or (n, 2, actions) where both players move, and values, f8 (n,) in the view of the player to
        move, in units of the game's returns; (n, players) where a value has more than one number."""
        if not isinstance(states, np.ndarray):
            return self._ask_objects(states)
        game, found = self._find(states)
        priors = found.priors.reshape(len(states), *game.policy_shape)
        answer = priors, found.values[:, 0] if found.values.shape[1] == 1 else found.values
        return answer if self._is_function else Checked(*answer)  # `read_outputs` has checked it

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
        if self._ways is None:
            self._ways = symmetries_of(self.game)
        ways = self._ways
        looks: list[tuple[np.ndarray, np.ndarray]] = []
        for sides in self._sides(keys, len(ways)):
            logits, raw = self._timed(self._load(), len(planes), ways.of_planes(planes, sides))
            each = logits.reshape(len(logits), -1, self.game.actions)  # both players' where both move at once
            looks.append(
                (ways.of_policies(each, sides, back=True).reshape(logits.shape), ways.of_values(raw, sides, back=True))
            )
        if len(looks) == 1:
            return looks[0][0][None], looks[0][1][None]
        return np.stack([logits for logits, _ in looks]), np.stack([raw for _, raw in looks])

    def _sides(self, keys: np.ndarray, count: int) -> Iterator[np.ndarray]:
        """Numbers of symmetries, one for each position: all, or a random one."""
        if self.symmetry == "all":
            yield from (np.full(len(keys), side) for side in range(count))
        else:
            yield self._draw(keys, count)

    def _ask_objects(self, positions: Any) -> Any:
        """Evaluate positions that are Python objects, which have no records to encode or to cache."""
        if not self._is_function:
            raise NetworkError(f"these positions are {OBJECTS}")
        return self._timed(self.model, len(positions), positions)

    def __repr__(self) -> str:
        name = str(self.model) if isinstance(self.model, Path) else getattr(self.model, "__name__", type(self.model).__name__)
        return f"Network({name}, batch={self.batch})"


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
