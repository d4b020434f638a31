"""A run of training is a folder. Everything that is known of it is in here, so any process can be killed at any moment.

    run.toml        the game and all settings                     games/        finished games, `game_file.py`
    networks/       what was learnt, as ONNX; `in_use` names one  checkpoints/  the learner's state
    matches.db      games of the gate                             log.jsonl     what happened, `log.py`
    report.html     curves and games, made anew now and then      logs/         what the processes print

Files appear whole or not at all: they are written under another name and renamed (`replace_file`), or only ever appended to.
A process holds a lock while it works on its part (`locked`); a lock ends with its process.
"""

import contextlib
import fcntl
import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from anabranch._version import __version__
from anabranch.errors import SearchError, TrainingError
from anabranch.games.encoding import planes_of
from anabranch.games.fingerprint import rules_fingerprint
from anabranch.games.game import Game
from anabranch.games.registry import load
from anabranch.search.checks import parse_memory
from anabranch.train.log import Log
from anabranch.train.settings import Settings, parse, read, text_of

SETTINGS, IN_USE = "run.toml", "in_use"
KEPT_NETWORKS = 8  # the latest, whatever space they take
FOLDERS = GAMES, NETWORKS, CHECKPOINTS, LOGS = "games", "networks", "checkpoints", "logs"
NUMBERED = re.compile(r"(\d+)\.(onnx|pt)")
GAME_FILE = re.compile(r"(\d+)-(\d+)\.games")  # worker and number


class Run:
    """The folder of a run, and what is in it."""

    def __init__(self, path: str | Path) -> None:
        """Open an existing run. See `create`."""
        self.path = Path(path)
        if not (self.path / SETTINGS).is_file():
            raise TrainingError(f"{self.path} is not a run of training: it has no {SETTINGS}")
        top, self.settings = read(self.path / SETTINGS)
        _check_sizes(self.settings, f"{self.path / SETTINGS}: ")
        try:
            self.game_name, fingerprint = str(top["game"]), str(top["rules"])
        except KeyError as missing:
            raise TrainingError(f"{self.path / SETTINGS}: there is no line {missing.args[0]} = ...") from None
        self.game: Game = trainable(load(self.game_name))
        self.settings.network.size_for(self.game)  # raises if that is not possible
        if rules_fingerprint(self.game) != fingerprint:
            raise TrainingError(
                f"the rules of {self.game_name} have changed since {self.path} began: its games and networks are for other "
                "ones. Begin another run, or take the change back"
            )
        self.log = Log(self.path / "log.jsonl")

    @classmethod
    def create(cls, path: str | Path, game: str, settings: Settings = Settings()) -> "Run":  # noqa: B008  (frozen)
        """Make the folder of a new run. The game is named as the registry has it: "connectfour", "mygame.py:Nim"."""
        path, loaded = Path(path), trainable(load(game))
        if (path / SETTINGS).exists():
            raise TrainingError(f"{path} has a run already; continue it, or name another folder")
        top = {"game": _absolute(game), "rules": rules_fingerprint(loaded), "version": __version__}
        text = text_of(settings, top)
        checked = parse(text)[1]
        _check_sizes(checked, "")
        checked.network.size_for(loaded)
        try:
            for folder in FOLDERS:
                (path / folder).mkdir(parents=True, exist_ok=True)
                if any((path / folder).iterdir()):
                    raise TrainingError(f"{path / folder} has files of an earlier run; delete them, or name another folder")
            replace_file(path / SETTINGS, lambda partial: partial.write_text(text, encoding="utf-8"))
        except OSError as error:
            raise TrainingError(f"{path} cannot be written: {error.strerror}") from None
        return cls(path)

    # --- what is there ---

    @property
    def networks(self) -> list[Path]:
        """The networks, oldest first."""
        return _numbered(self.path / NETWORKS, ".onnx")

    @property
    def checkpoints(self) -> list[Path]:
        """The learner's checkpoints, oldest first."""
        return _numbered(self.path / CHECKPOINTS, ".pt")

    @property
    def game_files(self) -> list[Path]:
        """The files of games, by worker and number."""
        return sorted(path for path in (self.path / GAMES).glob("*.games") if GAME_FILE.fullmatch(path.name))

    @property
    def network_in_use(self) -> Path | None:
        """The network that plays: the last one that was accepted."""
        try:
            name = (self.path / NETWORKS / IN_USE).read_text().strip()
        except FileNotFoundError:
            return None
        path = self.path / NETWORKS / name
        return path if path.is_file() else None

    def use(self, network: Path) -> None:
        """Let this network play from now on."""
        path = self.path / NETWORKS / IN_USE
        try:
            replace_file(path, lambda partial: partial.write_text(network.name + "\n"))
        except OSError as error:
            raise TrainingError(f"{path} cannot be written: {error.strerror}") from None

    # --- one process at a time ---

    @contextlib.contextmanager
    def locked(self, part: str) -> Iterator[None]:
        """While one process works on a part of the run. Raises if another one does."""
        path = self.path / f".{part}.lock"
        try:
            file = open(path, "w")  # noqa: SIM115  (closed below, whatever happens)
        except OSError as error:
            raise TrainingError(f"{path} cannot be written: {error.strerror}") from None
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise TrainingError(f"another process works on {self.path} ({part}); end it first") from None
            yield

    # --- disk ---

    def tidy(self, left: Iterable[str] = ()) -> None:
        """Delete the oldest checkpoints and, beyond the limit of disk space, the oldest of these files of games, which are not
        learnt from any more, and networks that are neither in use nor among the latest. The latest file of each worker stays:
        the worker may be writing to it, and its games tell it how to number the next ones."""
        for path in self.checkpoints[: -self.settings.run.keep_checkpoints]:
            path.unlink(missing_ok=True)
        for partial in [*self.path.glob(".*.part"), *self.path.glob("*/.*.part")]:
            if not _is_fresh(partial):
                partial.unlink(missing_ok=True)
        limit = parse_memory(self.settings.run.disk)
        games, networks = self.game_files, self.networks
        used = sum(_size_of(path) for path in [*games, *networks, *self.checkpoints])
        latest = {path.name.partition("-")[0]: path for path in games}.values()
        old = [path for path in oldest_first(games) if path.name in set(left) and path not in latest]
        for path in [*old, *(each for each in networks[:-KEPT_NETWORKS] if each != self.network_in_use)]:
            if used <= limit:
                return
            used -= _size_of(path)
            path.unlink(missing_ok=True)


def trainable(game: Any) -> Game:
    """The game, if networks can learn it."""
    if not isinstance(game, Game):
        raise TrainingError(f"{game!r} consists of Python objects; training needs a compiled `Game` (docs/training.md)")
    planes_of(game)  # raises if networks cannot see it
    return game


def replace_file(path: Path, write: Callable[[Path], Any]) -> None:
    """Write a file under another name, and give it its own once it is whole and on disk."""
    partial = path.parent / f".{path.name}.{os.getpid()}.part"
    try:
        write(partial)
        with open(partial, "rb") as file:
            os.fsync(file.fileno())
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def _absolute(game: str) -> str:
    """A game's name, with the whole path if it is in a file: the folder of the run may be opened from elsewhere."""
    file, found, rest = game.partition(".py")
    return f"{Path(file + '.py').resolve()}{rest}" if found and Path(file + ".py").is_file() else game


def _numbered(folder: Path, ending: str) -> list[Path]:
    found = [path for path in folder.glob(f"*{ending}") if NUMBERED.fullmatch(path.name)]
    return sorted(found, key=lambda path: int(path.stem))


def oldest_first(paths: Iterable[Path]) -> list[Path]:
    """These files, by the time when they were written to last."""
    return sorted((path for path in paths if path.exists()), key=lambda path: (path.stat().st_mtime_ns, path.name))


def _size_of(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _check_sizes(settings: Settings, where: str) -> None:
    """Raise if a setting that is an amount of memory is not one."""
    cache, memory = settings.self_play.cache, settings.self_play.memory
    for name, text in {"run.disk": settings.run.disk, "self_play.cache": cache, "self_play.memory": memory}.items():
        try:
            parse_memory(text)
        except SearchError:
            raise TrainingError(f'{where}{name} = {text!r}: must be an amount of memory, such as "512MB"') from None


def _is_fresh(partial: Path) -> bool:
    """Whether a file that is being written may still be: its process is alive."""
    try:
        os.kill(int(partial.name.split(".")[-2]), 0)
    except (ValueError, IndexError, OverflowError, ProcessLookupError):
        return False
    except PermissionError:  # it is somebody else's
        return True
    return True
