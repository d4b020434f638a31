"""What can be set for a run of training: dataclasses, one per section, which are written to and read from `run.toml`.

    Settings().but(self_play_visits=64)            defaults for everything else
    read(path), write(path, settings)              every field with its explanation; unknown ones are refused

Defaults follow the published systems that each field names; they have not been compared with each other yet.
"""

import difflib
import json
import math
import tomllib
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, get_type_hints

from anabranch.errors import TrainingError
from anabranch.games.encoding import REMEDY
from anabranch.games.game import Game

TOP = ("game", "rules", "version")  # what `run.toml` says before its sections
LARGEST_SEED = 2**63 - 1


def about(default: Any, explanation: str, least: float | None = None, most: float | None = None, among: tuple = ()) -> Any:
    """A field with its default, what it means, and which values it may have."""
    return field(default=default, metadata={"about": explanation, "least": least, "most": most, "among": among})


@dataclass(frozen=True)
class NetworkSettings:
    """The network that is trained."""

    size: str = about(
        "auto",
        "tiny, small, medium, large: residual networks; flat: fully connected, for planes that are no board; "
        "auto: small, or flat for a game without planes",
        among=("auto", "tiny", "small", "medium", "large", "flat"),
    )
    seed: int = about(0, "of the first weights", 0, LARGEST_SEED)

    def size_for(self, game: Game) -> str:
        """The size of a network for this game. Raises if it has no board and the network wants one."""
        if game.planes is not None:
            return "small" if self.size == "auto" else self.size
        if self.size not in ("auto", "flat"):
            raise TrainingError(
                f"network.size = {self.size!r}: {game!r} has no `planes`, so there is no board for a residual network; "
                f'leave it at "auto", or give the game {REMEDY}'
            )
        return "flat"


@dataclass(frozen=True)
class SelfPlaySettings:
    """Games of the search with itself."""

    processes: int = about(0, "processes that play; 0: one a core", 0)
    games: int = about(128, "games that a process plays at once; their positions share the calls of the network", 1)
    select: str = about(
        "auto",
        "gumbel, puct, or for simultaneous moves decoupled, regret; auto: gumbel or decoupled",
        among=("auto", "gumbel", "puct", "decoupled", "regret"),
    )
    visits: int = about(32, "simulations for a move that is learnt from", 1)
    fast_visits: int = about(8, "simulations for the other moves (playout-cap randomisation)", 1)
    fast_share: float = about(0.0, "share of moves that are played fast and not learnt from; KataGo: 0.75", 0.0, 0.99)
    considered: int = about(16, "gumbel: actions tried at the root", 1)
    c: float = about(1.5, "puct, decoupled: exploration", 0.0)
    noise_alpha: float = about(10.0, "puct, decoupled: total concentration of the Dirichlet noise", 0.0)
    noise_weight: float = about(0.25, "puct, decoupled: share of the noise in the root's priors; 0: none", 0.0, 1.0)
    root_temperature: float = about(1.0, "puct: the root's priors to the power of 1 / this, before noise; KataGo: 1.1", 0.1)
    forced: float = about(0.0, "puct, decoupled: forced playouts at the root, taken out of the target again; KataGo: 2", 0.0)
    temperature: float = about(1.0, "puct, decoupled: moves are drawn by visits to the power of 1 / this at first", 0.0)
    temperature_end: float = about(0.2, "and by this much later on", 0.0)
    temperature_plies: float = about(10.0, "plies after which half of the way is gone", 0.1)
    opening_plies: int = about(4, "a game begins with 0 to this many random moves, so that games differ", 0)
    opening_share: float = about(0.5, "share of games that begin so; the others begin at the start", 0.0, 1.0)
    openings: str = about("", "a file of openings to begin from instead, one a line, as moves")
    boards: str = about(
        "random",
        "random: each game has a board of its own, where a game draws its boards (PyRat); given: all games have the run's",
        among=("random", "given"),
    )
    graph: bool = about(False, "search on graphs: transpositions share a node")
    prove: bool = about(False, "prove wins, losses and draws in the search; proven positions have exact targets")
    symmetry: str = about("random", "under which symmetry positions are evaluated: none, random", among=("none", "random"))
    resign: float = about(0.0, "a player whose value is below minus this, twice in a row, resigns; 0: nobody does", 0.0, 1.0)
    resign_checked: float = about(0.1, "share of games in which nobody resigns, to count wrong resignations", 0.0, 1.0)
    longest: int = about(1000, "plies after which a game is a draw", 1)
    cache: str = about("64MB", "memory for evaluations that are used again, in each process")
    memory: str = about("512MB", "memory for the trees of all games of a process")


@dataclass(frozen=True)
class TargetSettings:
    """What the network should say of a position."""

    policy: str = about(
        "search",
        "search: visits without forced ones, or what Gumbel improved; regularized: the exact policy (Grill et al. 2020)",
        among=("search", "regularized"),
    )
    outcome: float = about(0.75, "share of the game's outcome in the value; the rest is the search's value", 0.0, 1.0)
    surprise: float = about(0.5, "share of a game's weight that goes to positions that surprised the network", 0.0, 1.0)
    value: float = about(1.0, "weight of the value, beside the policy", 0.0)
    reply: float = about(0.15, "weight of the opponent's reply, a policy that only learning uses; 0: none", 0.0)
    moves_left: float = about(0.02, "weight of how long the game still takes, likewise; 0: none", 0.0)
    ownership: float = about(
        1.5, "weight of who owns each point at the end, likewise, if the game says so (KataGo: 1.5); 0: none", 0.0
    )
    score: float = about(0.25, "weight of the points by which the game is won, likewise, if it counts them; 0: none", 0.0)


@dataclass(frozen=True)
class LearnerSettings:
    """Learning."""

    batch: int = about(256, "positions of one step", 1)
    learning_rate: float = about(2e-3, "of AdamW, after the warm-up", 0.0)
    warm_up: int = about(200, "steps in which it rises from 0", 0)
    half_life: int = about(40_000, "steps after which it is half as large", 1)
    least_rate: float = about(1e-4, "it does not fall below this", 0.0)
    weight_decay: float = about(1e-3, "of AdamW", 0.0)
    clip: float = about(1.0, "largest norm of a gradient", 0.0)
    averaging: float = about(0.999, "networks are averages over steps: what is kept at each; 0: no averaging", 0.0, 0.99999)
    reuse: float = about(4.0, "how often a position is learnt from, on average, at most", 0.1)
    window_least: int = about(25_000, "positions that are learnt from when the window begins to grow (KataGo: 250,000)", 1)
    window_power: float = about(0.75, "how it grows with all positions so far: KataGo's exponent", 0.0, 1.0)
    window_scale: float = about(0.4, "and its factor", 0.0, 1.0)
    window_most: int = about(500_000, "positions that it has at most: bounds memory", 1)
    first: int = about(4_000, "positions before learning begins", 1)
    export_every: int = about(12_000, "new positions until the next network", 1)
    threads: int = about(1, "threads of PyTorch", 1)
    device: str = about("auto", "cpu, cuda, or auto: a GPU if there is one")
    precision: str = about(
        "auto",
        "of the computation, not of the weights: float32, bfloat16, or auto: the latter where the device has it",
        among=("auto", "float32", "bfloat16"),
    )
    seed: int = about(0, "of the order in which positions are learnt", 0, LARGEST_SEED)


@dataclass(frozen=True)
class GateSettings:
    """New networks against old ones, and ratings."""

    games: int = about(100, "games against the network in use, at most; 0: every network is used at once, and none is rated", 0)
    visits: int = about(32, "simulations a move in these games", 1)
    refuse: float = about(-40.0, "Elo: a network that much weaker is refused", None, 0.0)
    together: int = about(16, "games at once", 1)
    rate_every: int = about(4, "networks until one plays the anchors (random, UCT) for the curve; 0: never", 0)
    rate_games: int = about(20, "games against each anchor", 2)
    anchors: str = about("random; uct visits=100; uct visits=1000", "players with a fixed place on the curve")


@dataclass(frozen=True)
class RunSettings:
    """The run as a whole."""

    seed: int = about(0, "games follow from it", 0, LARGEST_SEED)
    disk: str = about("2GB", "old games, checkpoints and networks are deleted beyond this")
    keep_checkpoints: int = about(3, "checkpoints that are kept", 1)


@dataclass(frozen=True)
class Settings:
    """All sections."""

    network: NetworkSettings = NetworkSettings()
    self_play: SelfPlaySettings = SelfPlaySettings()
    targets: TargetSettings = TargetSettings()
    learner: LearnerSettings = LearnerSettings()
    gate: GateSettings = GateSettings()
    run: RunSettings = RunSettings()

    def but(self, **changes: Any) -> "Settings":
        """The same with other fields: `but(self_play_visits=64)`, or, as text, `but(**{"self_play.visits": 64})`."""
        sections: dict[str, dict[str, Any]] = {}
        for name, value in changes.items():
            section, key = _split(name)
            sections.setdefault(section, {})[key] = value
        made = {name: _section(name, values, getattr(self, name), "") for name, values in sections.items()}
        return replace(self, **made)


SECTIONS: dict[str, type] = {each.name: type(each.default) for each in fields(Settings)}


def _split(name: str) -> tuple[str, str]:
    """Section and field of a name such as `self_play.visits`."""
    section, dot, key = name.partition(".")
    if dot:
        if section not in SECTIONS:
            raise TrainingError(f"there is no section `{section}`{_near(section, SECTIONS)}")
        return section, key
    for section in SECTIONS:
        if name.startswith(f"{section}_"):
            return section, name.removeprefix(f"{section}_")
    known = [f"{section}.{each.name}" for section, kind in SECTIONS.items() for each in fields(kind)]
    raise TrainingError(f"there is no setting `{name}`{_near(name, known)}")


def _near(word: str, known: Any) -> str:
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.4)
    return f"; did you mean `{near[0]}`?" if near else f"; there are {', '.join(known)}"


def _section(name: str, values: dict[str, Any], before: Any, where: str) -> Any:
    """A section with these fields changed."""
    known = {each.name: each for each in fields(before)}
    kinds = get_type_hints(type(before))
    checked = {}
    for key, value in values.items():
        if key not in known:
            raise TrainingError(f"{where}[{name}] has no field `{key}`{_near(key, known)}")
        checked[key] = _checked(f"{where}{name}.{key}", kinds[key], known[key], value)
    return replace(before, **checked)


def _checked(name: str, kind: type, described: Field, value: Any) -> Any:
    """A value of the right type and in its range."""
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value) if abs(value) < LARGEST_SEED else math.inf
    if type(value) is not kind or (isinstance(value, float) and not math.isfinite(value)):
        raise TrainingError(f"{name} = {value!r}: must be {_article(kind)}")
    limits = described.metadata
    if limits["among"] and value not in limits["among"]:
        raise TrainingError(f"{name} = {value!r}: must be one of {', '.join(limits['among'])}")
    least, most = limits["least"], limits["most"]
    if not (least is None or value >= least) or not (most is None or value <= most):
        wanted = f"at least {least:g}" if least is not None and most is None else f"at most {most:g}"
        wanted = wanted if least is None or most is None else f"from {least:g} to {most:g}"
        raise TrainingError(f"{name} = {value!r}: must be {wanted}")
    return value


def _article(kind: type) -> str:
    return {int: "a whole number", float: "a number", str: "text", bool: "true or false"}[kind]


def parse(text: str, where: str = "") -> tuple[dict[str, Any], Settings]:
    """The settings in a TOML file, and what it says before its sections."""
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # numbers of thousands of digits, brackets of thousands of levels
        raise TrainingError(f"{where}this is not TOML: {error}") from None
    top = {name: value for name, value in data.items() if not isinstance(value, dict)}
    sections = {name: value for name, value in data.items() if isinstance(value, dict)}
    for name in top:
        if name not in TOP:
            raise TrainingError(f"{where}`{name}` is in no section{_near(name, [*TOP, *(f'[{each}]' for each in SECTIONS)])}")
    for name in sections:
        if name not in SECTIONS:
            raise TrainingError(f"{where}there is no section [{name}]{_near(name, SECTIONS)}")
    base = Settings()
    made = {name: _section(name, values, getattr(base, name), where) for name, values in sections.items()}
    return top, replace(base, **made)


def read(path: Path) -> tuple[dict[str, Any], Settings]:
    """The same from a file."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TrainingError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    return parse(text, f"{path}: ")


def text_of(settings: Settings, top: dict[str, Any]) -> str:
    """All settings as TOML, each field with its explanation."""
    lines = [f"{name} = {_toml(value)}" for name, value in top.items()]
    for name in SECTIONS:
        section = getattr(settings, name)
        lines += ["", f"# {(type(section).__doc__ or '').strip()}", f"[{name}]"]
        for each in fields(section):
            value = _toml(getattr(section, each.name))
            usual = "" if getattr(section, each.name) == each.default else f" (usually {_toml(each.default)})"
            lines.append(f"{each.name} = {value}  # {each.metadata['about']}{usual}")
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return repr(value)
    try:
        value.encode()
    except UnicodeEncodeError:  # such as a file's name in another encoding
        raise TrainingError(f"{value!r} cannot be written as text; rename that file") from None
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


assert all(each.default is not MISSING for kind in SECTIONS.values() for each in fields(kind))
