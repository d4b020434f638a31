"""`KataGoNet`: a KataGo network as an evaluator of Go positions.

    net = ab.KataGoNet("b6c96.bin.gz")  # a human-like network: profile="rank_5k"
    search = ab.Search(Go(19), select=ab.select.KataGoPUCT(), evaluate=net, graph=True)

A search gets priors and values: what the game is expected to pay (`Go(returns=...)`: the win, points, or both). Everything else
that the network says, such as the lead and ownership, stays in the cache, by position; `averages.py` reads it from there for
whole searches. Boards are in the order of actions here, bottom row first; the model has the top row first, as KataGo does.
"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from anabranch.errors import NetworkError, OptionError
from anabranch.games.game import Game
from anabranch.games.go import Go
from anabranch.games.position import Position
from anabranch.nets.evaluator import NetworkEvaluator
from anabranch.nets.katago.columns import COLUMNS
from anabranch.nets.katago.inputs import encode_leaves, encode_position
from anabranch.nets.katago.layers import LARGEST_BOARD
from anabranch.nets.katago.model import KataGoModel
from anabranch.nets.katago.outputs import KNOWS_ERRORS, Evaluations, RawOutputs, as_evaluations, read_numbers, read_policy
from anabranch.nets.katago.profiles import metadata_of, parse_profile
from anabranch.nets.katago.symmetry import SYMMETRIES, look_from
from anabranch.nets.katago.utility import expected_utility
from anabranch.nets.outputs import LEAST_PRIOR
from anabranch.search.evaluate.python import Checked, CheckedWithErrors

ROOT_OPTIMISM = 0.2  # KataGo's


class Opinion(NamedTuple):
    """What the network says of one position: f4 (actions,), and `Evaluations` with one row."""

    priors: np.ndarray  # 0 for illegal actions
    evaluation: Evaluations  # ownership has the shape (1, height, width), bottom row first
    legal: np.ndarray  # bool (actions,)


class KataGoNet(NetworkEvaluator):
    """A KataGo network as an evaluator. Searches that share the object share its cache."""

    def __init__(
        self,
        path: str | Path,
        batch: int = 8,
        cache: int | str = "128MB",
        symmetry: str = "random",
        optimism: float = 1.0,
        threads: int = 1,
        providers: list[Any] | None = None,
        game: Game | None = None,
        seed: int = 0,
        profile: str | None = None,
        root_optimism: float | None = None,
    ) -> None:
        """path       a file of KataGo's: .bin.gz, .txt.gz, .bin or .txt, of model version 8 to 17
        batch      how many leaves a search may collect for one call
        cache      positions to remember: a number of them, or memory such as "128MB"; 0: none
        symmetry   a position is evaluated under a random symmetry ("random"), as it is ("none"), or under all 8 ("all")
        optimism   how much of the optimistic policy is mixed in, 0 to 1, if the network has one; none of a human-like network's
        threads    of ONNX Runtime
        providers  of ONNX Runtime; by default the CPU
        game       the game it evaluates; `Search` sets it too
        seed       of the random symmetries
        profile    whose moves a human-like network predicts: "rank_5k", "proyear_1990"; see `profiles.py`
        root_optimism   the optimism at the root of a search; by default 0.2, as in KataGo, or `optimism` if that is less
        """
        root_optimism = min(optimism, ROOT_OPTIMISM) if root_optimism is None else root_optimism
        for name, number in (("optimism", optimism), ("root_optimism", root_optimism)):
            if not 0.0 <= number <= 1.0:
                raise OptionError(f"{name}={number!r}: give a number from 0 to 1")
        self.path, self.optimism, self.root_optimism = Path(path), float(optimism), float(root_optimism)
        self.profile = profile
        super().__init__(batch, cache, symmetry, threads, providers, seed)
        self._check_profile()
        if game is not None:
            self.bind(game)

    def _prepare(self) -> None:
        super()._prepare()
        self._model: KataGoModel | None = None
        self._last_root: tuple[Position, float, np.ndarray] | None = None  # its optimism and priors

    def model(self) -> KataGoModel:
        """The model; a copy in another process loads it when first called."""
        if self._model is None:
            self._model = KataGoModel(self.path, self.threads, self.providers)
        return self._model

    def _check_profile(self) -> None:
        """Raise unless a human-like network, and no other, has a profile; like KataGo, take no optimism from it."""
        is_human = self.model().header.has_metadata
        if is_human and self.profile is None:
            raise OptionError(f'{self.path} is a human-like network; say whose moves it predicts, as in profile="rank_5k"')
        if self.profile is not None:
            parse_profile(self.profile)
            if not is_human:
                raise OptionError(f"profile={self.profile!r}: {self.path} is not a human-like network; leave the profile out")
        if is_human:
            self.optimism = self.root_optimism = 0.0

    def for_game(self, game: Game) -> "KataGoNet":
        """The same network for another game, with a cache of its own; this one if it serves the game already."""
        if self.game is not None and self.serves(game):
            return self
        other = KataGoNet.__new__(KataGoNet)
        other.__setstate__({**self.__getstate__(), "game": None})
        other._model = self.model()
        other.bind(game)
        return other

    def for_profile(self, profile: str) -> "KataGoNet":
        """The same human-like network for other players, with a cache of its own."""
        other = KataGoNet.__new__(KataGoNet)
        other.__setstate__({**self.__getstate__(), "profile": profile})
        other._model = self.model()
        other._check_profile()
        return other

    def _check(self, game: Game) -> None:
        if not isinstance(game, Go):
            raise NetworkError(f"{self.path} is a network for Go, not for {game!r}")
        if max(game.width, game.height) > LARGEST_BOARD:
            raise NetworkError(f"{self.path} plays on boards of up to {LARGEST_BOARD} lines, not on {game!r}")

    def serves(self, game: Game) -> bool:
        """Whether what is cached is true of this game: whatever it is played for, if the rest is the same."""
        return isinstance(game, Go) and isinstance(self.game, Go) and game.paying("win") == self.game.paying("win")

    def _widths(self, game: Game) -> tuple[int, int]:
        return game.actions + game.actions - 1, len(COLUMNS)

    def __call__(self, states: Any) -> Checked | CheckedWithErrors:
        """Priors, f4 (n, actions), values, f8 (n,), for the player to move, and their errors, if the network knows them."""
        if not isinstance(states, np.ndarray):
            raise NetworkError(f"{self.path} evaluates positions of `Go`, not Python objects")
        game, found = self._find(states)
        priors = np.ascontiguousarray(found.priors[:, : game.actions])
        values, errors = expected_utility(states, found.values)
        knows_errors = self.model().header.version >= KNOWS_ERRORS
        return CheckedWithErrors(priors, values, errors) if knows_errors else Checked(priors, values)

    def numbers(self, position: Position) -> np.ndarray:
        """What is kept of a position, f8 (COLUMNS,), for the player to move; like an evaluation by a search, and cached."""
        return self._find(position.record())[1].values[0]

    def opinion(self, position: Position, symmetry: int | None = None, optimism: float | None = None) -> Opinion:
        """What the network says of a position seen under one symmetry, KataGo's number; by default averaged over all.
        Superko and the game's past are taken into account; nothing is cached. `optimism`: instead of the evaluator's; there is
        none with a human-like network."""
        game = position.game
        self._check(game)
        assert isinstance(game, Go)
        planes, of_globals, legal = encode_position(position, self.model().header.pass_alive_with_suicide)
        who = self._metadata(game, position.record())
        sides = range(SYMMETRIES) if symmetry is None else [symmetry]
        mixed = self.optimism if optimism is None or self.profile is not None else optimism
        looks = [self._timed(self._run, 1, planes, of_globals, who, side) for side in sides]
        priors, numbers, ownership = _mean([self._read(game, look, legal, mixed) for look in looks])
        evaluation = as_evaluations(numbers, ownership, self.model().header)
        return Opinion(priors[0], evaluation, _from_bottom(legal[:, :-1], legal[:, -1:], game)[0])

    def root_priors(self, position: Position) -> np.ndarray | None:
        """The priors of a search's root, f4 (actions,), if its optimism makes them others than in the tree."""
        if self.root_optimism == self.optimism or self.model().network.policy.channels == 1:
            return None
        last = self._last_root
        if last is None or last[0] is not position or last[1] != self.root_optimism:  # a root is often searched again
            priors = self.opinion(position, self._side_of(position), self.root_optimism).priors
            last = self._last_root = position, self.root_optimism, np.maximum(priors, LEAST_PRIOR)
        return last[2]

    def _side_of(self, position: Position) -> int | None:
        """The symmetry under which a search has this position evaluated; None for all."""
        if self.symmetry == "random":
            return int(self._draw(np.array([position.key], np.uint64), SYMMETRIES)[0])
        return None if self.symmetry == "all" else 0

    def recall(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What is cached for these keys of positions, u8 (n, 2): whether it is, bool (n,); numbers, f8 (n, COLUMNS); and
        ownership, f4 (n, points); the last two in the view of the player to move."""
        assert self._cache is not None and self.game is not None
        found = self._cache.look_up(np.ascontiguousarray(keys))
        is_known = np.ones(len(keys), bool)
        is_known[found.place != -1] = False
        return is_known, found.values, found.priors[:, self.game.actions :]

    # --- the model ---

    def _metadata(self, game: Go, states: np.ndarray) -> np.ndarray | None:
        """What a human-like network is told of the players, f4 (n, 192)."""
        return None if self.profile is None else metadata_of(self.profile, game.width * game.height)[states["turn"]]

    def _run(
        self, planes: np.ndarray, of_globals: np.ndarray, who: np.ndarray | None, symmetry: int | np.ndarray
    ) -> RawOutputs:
        return self.model()(look_from(planes, symmetry), of_globals, who).turned_back(symmetry)

    def _read(self, game: Go, raw: RawOutputs, legal: np.ndarray, optimism: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Priors in the order of actions, numbers, and ownership, bottom row first; `legal` has the top row first."""
        priors = read_policy(raw, legal, optimism)
        may_end_without_result = game.rules.ko == "simple" or game.rules.scoring == "territory"
        numbers, ownership = read_numbers(raw, self.model().header, may_end_without_result)
        return _from_bottom(priors[:, :-1], priors[:, -1:], game), numbers, ownership[:, ::-1]

    def _evaluate(self, game: Game, states: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        assert isinstance(game, Go)
        planes, of_globals, legal = encode_leaves(game, states, self.model().header.pass_alive_with_suicide)
        who = self._metadata(game, states)
        if self.symmetry == "all":
            sides: list[Any] = list(range(SYMMETRIES))
        else:
            sides = [0 if self.symmetry == "none" else self._draw(keys, SYMMETRIES)]
        looks = [self._timed(self._run, len(states), planes, of_globals, who, side) for side in sides]
        priors, numbers, ownership = _mean([self._read(game, look, legal, self.optimism) for look in looks])
        priors = np.where(_from_bottom(legal[:, :-1], legal[:, -1:], game), np.maximum(priors, LEAST_PRIOR), 0.0)
        return np.concatenate([priors, ownership.reshape(len(states), -1)], axis=1, dtype=np.float32), numbers

    def __repr__(self) -> str:
        profile = "" if self.profile is None else f", profile={self.profile!r}"
        return f"KataGoNet({str(self.path)!r}, batch={self.batch}{profile})"


def _from_bottom(points: np.ndarray, passing: np.ndarray, game: Go) -> np.ndarray:
    """A number for each point, (n, points), with the rows in the opposite order, and that of a pass."""
    turned = points.reshape(len(points), game.height, game.width)[:, ::-1].reshape(len(points), -1)
    return np.concatenate([turned, passing], axis=1)


def _mean(looks: list[tuple[np.ndarray, ...]]) -> tuple[np.ndarray, ...]:
    """The mean of each part over looks at the same positions."""
    return looks[0] if len(looks) == 1 else tuple(np.mean(part, axis=0) for part in zip(*looks, strict=True))
