"""Games of the search with itself: hundreds at once in one `Fleet`, whose positions share the calls of the network.

    SelfPlay(run).play(games=100)      plays, and appends each finished game to a file of the run

After every move all games take one more, so calls of the network are always full. A game that ends is written and another
one begins in its place. The network is the one that the run uses at the moment; it is looked for again now and then.
Each game has a number, from which all its random choices follow. Next: `game_file.py`; `window.py` reads what is written here.
"""

import contextlib
import math
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from anabranch.errors import IllegalMove, TrainingError
from anabranch.games.game import Game
from anabranch.games.position import Position
from anabranch.games.rules import CHANCE, EVERYONE
from anabranch.games.simultaneous import SimultaneousGame
from anabranch.nets.network import Network
from anabranch.search.fleet import Fleet
from anabranch.search.results.final import Dirichlet, RootTemperature
from anabranch.search.results.result import Result
from anabranch.search.select.forced import Forced
from anabranch.search.select.gumbel import Gumbel
from anabranch.search.select.puct import PUCT
from anabranch.search.simultaneous.decoupled import Decoupled
from anabranch.search.simultaneous.strategies import RegretMatching
from anabranch.train.game_file import ENDING, GameWriter, PlayedGame, read_games, row_type
from anabranch.train.run import GAMES, Run
from anabranch.train.settings import SelfPlaySettings

FILE_SIZE = 1 << 24  # bytes after which another file is begun, so that old games can be deleted
LOOK_AGAIN = 2.0  # seconds between two looks for a newer network
TELL_EVERY = 15.0  # seconds between two lines in the log
MOST_PLIES = (1 << 16) - 1  # that a row can count
FIRST_MOVES = 6  # plies that are counted as an opening
WAIT = 0.2


class Plan(NamedTuple):
    """How one move is searched."""

    visits: int
    is_learnt: bool


class Summary:
    """What was played since the last line in the log."""

    def __init__(self) -> None:
        self.began = time.perf_counter()
        self.cpu = time.process_time()
        self.games = self.moves = self.rows = self.simulations = 0
        self.entropy = self.surprise = 0.0
        self.scores: Counter[str] = Counter()
        self.resigned: Counter[str] = Counter()
        self.openings: set[tuple[Any, ...]] = set()

    def facts(self) -> dict[str, Any]:
        """As the log has it."""
        rows = max(self.rows, 1)
        return {
            "seconds": time.perf_counter() - self.began,
            "cpu": time.process_time() - self.cpu,
            "games": self.games,
            "moves": self.moves,
            "rows": self.rows,
            "simulations": self.simulations,
            "entropy": self.entropy / rows,
            "surprise": self.surprise / rows,
            "openings": len(self.openings),
            "scores": dict(self.scores),
            "resigned": dict(self.resigned),
        }


class Player:
    """The evaluator of the fleet: the network that is in use at the moment."""

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

    def bind(self, game: Game) -> None:
        """Called by searches; the game is always the run's."""

    def __call__(self, states: Any) -> Any:
        """Priors and values."""
        assert self.network is not None
        return self.network(states)


class GoingOn:
    """A game that is being played."""

    def __init__(self, game: Game, number: int, seed: int, settings: SelfPlaySettings, openings: list[tuple[str, ...]]) -> None:
        self.number = number
        self.random = np.random.default_rng(seed)
        self.settings = settings
        self.rows: list[Any] = []
        self.row_positions: list[tuple[Position, int]] = []  # of each row: its position, and how many edges came before
        self.edges: list[int] = []  # that were followed after the opening
        self.low = [0] * game.players  # own moves in a row after which a player might resign
        self.may_resign = settings.resign > 0.0 and self.random.random() >= settings.resign_checked
        self.would_resign = -1
        self.resigned = -1
        self.position = self._opening(game, openings)
        self.opening = len(self.position.moves)

    def _opening(self, game: Game, openings: list[tuple[str, ...]]) -> Position:
        """A given opening, or a few random moves, never to the end of the game."""
        if openings:
            given = self.after_chance(game.position(openings[self.random.integers(len(openings))]))
            if not given.is_over:  # chance may end the game
                return given
        position = self.after_chance(game.start())
        if self.random.random() >= self.settings.opening_share:
            return position
        for _ in range(int(self.random.integers(self.settings.opening_plies + 1))):
            edges = position.edges
            following = self.after_chance(position.after(int(edges[self.random.integers(len(edges))])))
            if following.is_over or following.repeats:
                break
            position = following
        return position

    def after_chance(self, position: Position) -> Position:
        """The position once all chance events that come now have happened."""
        while not position.is_over and position.to_play == CHANCE:
            position = position.after(int(self.random.choice(len(position.probabilities), p=position.probabilities)))
        return position

    def plan(self) -> Plan:
        """How the next move is searched."""
        fast = self.settings.fast_share > 0.0 and self.random.random() < self.settings.fast_share
        return Plan(self.settings.fast_visits, False) if fast else Plan(self.settings.visits, True)

    @property
    def ply(self) -> int:
        """Moves so far."""
        return len(self.position.moves)


class SelfPlay:
    """What one process plays."""

    def __init__(self, run: Run, worker: int = 0) -> None:
        self.run, self.worker, self.settings = run, worker, run.settings.self_play
        self.game = run.game
        self.dtype = row_type(self.game)
        self.player = Player(run, self._seed(0))
        self.select = selection_of(self.game, self.settings)
        self.fleet: Fleet | None = None
        self.going: list[GoingOn] = []
        self.openings = read_openings(self.settings.openings, self.game)
        self.next_number, self.file_number = self._numbers()
        self.writer: GameWriter | None = None
        self.summary = Summary()
        self._told = time.monotonic()

    # --- playing ---

    def play(self, games: int | None = None, seconds: float | None = None, stop: Callable[[], bool] = lambda: False) -> int:
        """Play until so many games have ended, or for so long, or until `stop` says so; returns how many have. Waits for the
        first network."""
        began, ended = time.monotonic(), 0
        while (games is None or ended < games) and (seconds is None or time.monotonic() - began < seconds) and not stop():
            if self.player.look():
                ended += self.step()
            else:
                time.sleep(WAIT)
        if games is not None:
            self.tell()
        return ended

    def step(self) -> int:
        """One move in every game; returns how many games have ended."""
        fleet = self._ready()
        plans = [going.plan() for going in self.going]
        for search, plan in zip(fleet.searches, plans, strict=True):
            search.noise = self._noise(plan)
        results = fleet.run([going.position for going in self.going], visits=[plan.visits for plan in plans], lines=False)
        ended = 0
        for s, (going, plan, result) in enumerate(zip(self.going, plans, results, strict=True)):
            assert result is not None
            self._move(going, plan, result)
            ending = self._ending(going)
            if ending:
                self._finish(going, ending)
                self.going[s] = self._begin(s)
                ended += 1
        if time.monotonic() - self._told > TELL_EVERY:
            self.tell()
        return ended

    def _ready(self) -> Fleet:
        if self.fleet is None:
            options: dict[str, Any] = {"graph": self.settings.graph, "prove": self.settings.prove}
            size = self.settings.games
            self.fleet = Fleet(
                self.game, size, evaluate=self.player, select=self.select, memory=self.settings.memory, **options
            )
            self.going = [self._begin(s) for s in range(size)]
        return self.fleet

    def _begin(self, search: int) -> GoingOn:
        """The next game, in this search of the fleet."""
        assert self.fleet is not None
        seed, number = self._seed(self.next_number), self.next_number
        self.next_number += 1
        self.fleet.searches[search].reseed(seed)
        return GoingOn(self.game, number, seed, self.settings, self.openings)

    def _move(self, going: GoingOn, plan: Plan, result: Result) -> None:
        """Write down what the search said, and play."""
        position = going.position
        self.summary.moves += 1
        self.summary.simulations += result.stats.simulations
        if plan.is_learnt:
            going.rows.append(self._row(position, result))
            going.row_positions.append((position, len(going.edges)))
            self._count(going.rows[-1])
        self._note_resignation(going, result)
        move = self._chosen(going, result)
        going.edges.append(position.edge_of(move))
        going.position = going.after_chance(position.play(move))

    def _row(self, position: Position, result: Result) -> Any:
        row = np.zeros((), self.dtype)
        row["state"] = position.data
        is_exact = result.proven and isinstance(result.moves, list)
        row["policy"] = exact_policy(self.game, result) if is_exact else np.ravel(result.target)
        if self.run.settings.targets.policy == "regularized":
            row["regularized"] = row["policy"] if is_exact else np.ravel(result.regularized)
        row["prior"] = priors_of(self.game, result)
        row["search"] = np.ravel(result.value)[: self.game.value_width()]  # where both move at once, the result has both values
        row["ply"] = min(len(position.moves), MOST_PLIES)
        row["proven"] = result.proven
        return row[()]

    def _count(self, row: Any) -> None:
        target, prior = row["policy"].astype(float), row["prior"].astype(float)
        some = target > 0.0
        self.summary.rows += 1
        self.summary.entropy -= float((target[some] * np.log(target[some])).sum())
        self.summary.surprise += surprise(target, prior)

    def _chosen(self, going: GoingOn, result: Result) -> Any:
        """The move to play: Gumbel's own choice, or one drawn by visits."""
        if isinstance(self.select, Gumbel):
            return result.best
        settings = self.settings
        left = 0.5 ** ((going.ply - going.opening) / settings.temperature_plies)
        temperature = settings.temperature_end + (settings.temperature - settings.temperature_end) * left
        if isinstance(self.game, SimultaneousGame):
            return tuple(drawn(policy, temperature, going.random) for policy in result.policy)
        return drawn(result.policy, temperature, going.random)

    def _noise(self, plan: Plan) -> Any:
        """Noise on the root's priors: not where Gumbel explores by itself, nor in fast searches."""
        settings = self.settings
        if isinstance(self.select, Gumbel) or not plan.is_learnt:
            return None
        noise = None
        if settings.noise_weight > 0.0 and settings.noise_alpha > 0.0:
            noise = Dirichlet(max(settings.noise_alpha / self.game.actions, 1e-3), settings.noise_weight)
        return noise if settings.root_temperature == 1.0 else RootTemperature(settings.root_temperature, noise)

    # --- the end of a game ---

    def _note_resignation(self, going: GoingOn, result: Result) -> None:
        player = going.position.to_play
        if self.settings.resign <= 0.0 or player == EVERYONE or self.game.value_width() != 1 or self.game.players != 2:
            return
        low, high = range_of(self.game, player)
        value = (float(np.ravel(result.value)[0]) - (low + high) / 2) / ((high - low) / 2)
        going.low[player] = going.low[player] + 1 if value < -self.settings.resign else 0
        if going.low[player] >= 2 and going.would_resign < 0:
            going.would_resign = player
            if going.may_resign:
                going.resigned = player

    def _ending(self, going: GoingOn) -> str:
        if going.resigned >= 0:
            return "resigned"
        if going.position.is_over:
            return "over"
        return "cap" if going.ply >= self.settings.longest else ""

    def _finish(self, going: GoingOn, ending: str) -> None:
        """Write the game."""
        end, fading = going.position, self.game.discount
        ranges = [range_of(self.game, player) for player in range(self.game.players)]
        if ending == "resigned":
            final = np.array([low if player == going.resigned else high for player, (low, high) in enumerate(ranges)])
        elif ending == "cap":
            final = np.array([(low + high) / 2 for low, high in ranges])
        else:
            final = np.array(end.returns)
        returns = final * fading ** len(end.moves) + np.array(end.rewards)
        rows = np.array(going.rows, self.dtype) if going.rows else np.zeros(0, self.dtype)
        for i, (position, edge) in enumerate(going.row_positions):
            to_come = (returns - np.array(position.rewards)) / fading ** len(position.moves)
            rows["outcome"][i] = as_seen(self.game, to_come, position.to_play)
            rows["left"][i] = min(len(end.moves) - len(position.moves), MOST_PLIES)
            rows["reply"][i] = going.edges[edge + 1] if edge + 1 < len(going.edges) else -1
        played = PlayedGame(
            worker=self.worker,
            number=going.number,
            network=self.player.path.name if self.player.path else "",
            moves=list(end.moves),
            opening=going.opening,
            returns=[float(number) for number in returns],
            ending=ending,
            rows=rows,
            would_resign=going.would_resign,
            final=end.data,
        )
        self._write(played)
        self._note(going, played)

    def _write(self, played: PlayedGame) -> None:
        if self.writer is None or self.writer.size > FILE_SIZE:
            if self.writer is not None:
                self.writer.close()
            path = self.run.path / GAMES / f"{self.worker:02}-{self.file_number:06}{ENDING}"
            self.writer = GameWriter(path, {"game": self.run.game_name, "row": self.dtype.itemsize})
            self.file_number += 1
        self.writer.write(played)

    def _note(self, going: GoingOn, played: PlayedGame) -> None:
        summary = self.summary
        summary.games += 1
        first = played.returns[0] if self.game.players == 2 and self.game.zero_sum else None
        if first is not None:
            summary.scores["first" if first > 0 else "second" if first < 0 else "draw"] += 1
        summary.openings.add(tuple(map(str, played.moves[:FIRST_MOVES])))
        if going.would_resign >= 0:
            if going.resigned >= 0:
                summary.resigned["resigned"] += 1
            else:
                wrong = played.returns[going.would_resign] >= 0
                summary.resigned["checked, wrong" if wrong else "checked, right"] += 1

    def tell(self) -> None:
        """Write a line into the log."""
        self._told = time.monotonic()
        if self.summary.moves:
            stats = self.player.network.stats._asdict() if self.player.network else {}
            network = self.player.path.name if self.player.path else ""
            self.run.log.add("self-play", worker=self.worker, network=network, **self.summary.facts(), of_network=stats)
        self.summary = Summary()

    # --- numbers ---

    def _numbers(self) -> tuple[int, int]:
        """The numbers of this worker's next game and next file."""
        number, file = 0, 0
        own = [path for path in self.run.game_files if path.name.startswith(f"{self.worker:02}-")]
        for path in own:
            file = max(file, int(path.stem.partition("-")[2]) + 1)
        for path in own:
            number = max([number, *(game.number + 1 for game, _ in read_games(path, self.dtype))])
        return number, file

    def _seed(self, number: int) -> int:
        state = np.random.SeedSequence([self.run.settings.run.seed, self.worker, number]).generate_state(1, np.uint64)
        return int(state[0] >> np.uint64(1))


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


def read_openings(path: str, game: Game) -> list[tuple[str, ...]]:
    """The openings in a file, one a line; all of them are legal."""
    if not path:
        return []
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise TrainingError(f"self_play.openings: {path} cannot be read: {getattr(error, 'strerror', error)}") from None
    openings = []
    for number, line in enumerate(lines, start=1):
        opening = () if line.lstrip().startswith("#") else tuple(line.replace(",", " ").split())
        try:
            is_over = bool(opening) and game.position(opening).is_over
        except IllegalMove as error:
            raise TrainingError(f"self_play.openings: {path}, line {number}: {error}") from None
        if is_over:
            raise TrainingError(f"self_play.openings: {path}, line {number}: the game is over after {' '.join(opening)}")
        if opening:
            openings.append(opening)
    if not openings:
        raise TrainingError(f"self_play.openings: {path} has none; write one a line, as moves")
    return openings


def priors_of(game: Game, result: Result) -> np.ndarray:
    """The network's priors at the root, over all actions; both players' one after the other."""
    tables = result.moves if isinstance(result.moves, tuple) else (result.moves,)
    priors = np.zeros((len(tables), game.actions), np.float32)
    for player, moves in enumerate(tables):
        for move in moves:
            priors[player, move.action] = move.prior
    return priors.ravel()


def exact_policy(game: Game, result: Result) -> np.ndarray:
    """The policy of a position whose value is proven: any of the actions that are proven to reach it. If that is the worst
    value there is, the search's own: it may still resist longer."""
    exact = np.zeros(game.actions)
    best = max(move.value for move in result.moves if move.proven and move.value is not None)
    for move in result.moves:
        if move.proven and move.value == best:
            exact[move.action] = 1.0
    return exact / exact.sum() if best > game.value_range[0] else result.target


def surprise(target: np.ndarray, prior: np.ndarray) -> float:
    """How far the search's policy is from the network's: the Kullback-Leibler divergence."""
    some = target > 0.0
    return float((target[some] * np.log(target[some] / np.maximum(prior[some], 1e-6))).sum())


def drawn(policy: np.ndarray, temperature: float, random: np.random.Generator) -> int:
    """An action, drawn by its probability to the power of 1 / temperature; at 0 the most probable one."""
    if temperature < 1e-2:
        return int(np.argmax(policy))
    weights = (policy / policy.max()) ** (1.0 / temperature)
    return int(random.choice(len(policy), p=weights / weights.sum()))


def range_of(game: Game, player: int) -> tuple[float, float]:
    """What a player may get in all. The game declares it for player 0; where two share a value, the other gets the opposite."""
    low, high = game.value_range
    return (-high, -low) if player == 1 and game.value_width() == 1 else (low, high)


def as_seen(game: Game, returns: np.ndarray, player: int) -> Any:
    """What players get, as the value of a position: that of the player to move, or one number per player."""
    return returns if game.value_width() > 1 else returns[max(player, 0)]
