"""Searches in files: `Search.save` writes what was found, `Search.load` continues as if it had never stopped.

A file is an archive (`archive.py`): `header`, JSON in bytes, says what it is; the other arrays are the used part of a tree's
or a graph's memory, as it is, and the random generator. The file is untrusted: the header is checked field by field, the root's
position is replayed, slots are read into memory of the search's own size, and nothing of a search is changed before all of it
was found to be sound (`check_saved.py`).
"""

import json
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from anabranch._version import __version__
from anabranch.errors import SearchError
from anabranch.games.game import Game
from anabranch.games.objects import ObjectGame
from anabranch.games.position import Key, Position
from anabranch.jit.dispatch import TAG_PREFIX
from anabranch.search.drivers.base import FIRST_PATH, Driver, OnGraph
from anabranch.search.memory.columns import COLUMNS, NAMES, Column
from anabranch.search.memory.graph import FIRST_TABLE, Graph, Needs
from anabranch.search.memory.layout import LIMIT, MOST_ACTIONS, POSITION_COST, POSITIONS, REFUSED, ROOM, SLOT_COST, SLOTS, TABLE
from anabranch.search.memory.repetition import History
from anabranch.search.memory.tree import Tree
from anabranch.search.results.archive import Alien, Archive, Damaged, reading, telling_damage, write
from anabranch.search.results.check_saved import check, check_counters, room_left

NAME = "anabranch search"
FORMAT = 4
MOST_HEADER = 2**21  # bytes
MOST_MOVES = 20_000  # of the game so far, which are replayed when a file is read
MOST_BEFORE = 1_000  # positions before the root's from which a graph is walked
LONGEST_PATH = 2**20  # of the path buffer
LONGEST_TEXT = 200  # of text from a file that is quoted in an error


@dataclass(frozen=True)
class Terms:
    """What a saved search and the one that loads it must have in common."""

    game: Game
    needs: Needs
    in_python: bool  # whether the evaluator is a Python callable

    def facts(self) -> dict[str, Any]:
        """What the rules determine about positions and values; it may change while the game keeps its name."""
        fields = (self.game.record.fields or {}).items()
        return {
            "record": [[name, str(field[0]), field[1]] for name, field in fields if not name.startswith(TAG_PREFIX)],
            "start": self.game.start().data.hex(),
            "actions": [self.game.actions, self.game.events],
            "width": self.game.value_width(),
            "rewards": "rewards" in self.needs.columns,
            "repetition": [self.game.repetition, self.game.repetition_count],
        }

    def options(self) -> dict[str, str]:
        """Those that decide what is in memory, as written in code."""
        return {
            "graph": f"with graph={self.needs.merge}",
            **{column.name: self._says(column) for column in COLUMNS if column.asked_for},
            "evaluate": "with an evaluator in Python" if self.in_python else "with an evaluator such as Rollout()",
        }

    def _says(self, column: Column) -> str:
        return f"{'with' if column.name in self.needs.columns else 'without'} {column.asked_for}"


def terms(game: Game | ObjectGame, needs: Needs, in_python: bool) -> Terms:
    """The terms of a search; a game of Python objects cannot be saved."""
    if isinstance(game, ObjectGame):
        raise SearchError(
            f"a search of {game!r} cannot be kept: positions that are Python objects are not saved; write it as a Game"
        )
    return Terms(game, needs, in_python)


# --- saving ----------------------------------------------------------------------------------------------------------------


def save(path: Path, terms: Terms, driver: Driver, position: Position, history: History, settings: dict[str, Any]) -> None:
    """Write a search. An existing file is replaced only when the new one is complete."""
    if len(position.moves) > MOST_MOVES:
        raise SearchError(
            f"a game of {len(position.moves):,} moves is not saved; at most {MOST_MOVES:,} are played anew by load()"
        )
    header = {
        "format": NAME,
        "version": FORMAT,
        "anabranch": __version__,
        "game": repr(terms.game),
        "facts": terms.facts(),
        "options": terms.options(),
        "slots": _slot_layout(driver.graph),
        "settings": settings,
        "position": {"record": position.data.hex(), "moves": list(position.moves)},
        "history": [list(key) for key in history.keys],
        "root": int(driver.root),
        "memory": driver.setting.memory,
        "path": min(len(driver.work.path_edges), LONGEST_PATH),
        "waste": driver.waste if isinstance(driver, OnGraph) else False,
        "refused": driver.refused if isinstance(driver, OnGraph) else 0,
    }
    arrays = {
        "header": np.frombuffer(json.dumps(header).encode(), np.uint8),
        "random": driver.work.random,
        "used": driver.graph.used,
        **dict(_parts(driver.graph, driver.graph.used)),
    }
    write(path, arrays)


def _parts(graph: Tree | Graph, used: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """The arrays of a tree or graph, as views of the part that these counters say is used. The table is left out, since it
    follows from the nodes."""
    slots = int(used[SLOTS])
    yield "slots", graph.nodes[:slots].view(np.uint8)
    if isinstance(graph, Graph):
        yield "learnt", graph.learnt
        for name in NAMES:
            yield name, getattr(graph, name)[:slots]


def _slot_layout(graph: Tree | Graph) -> list[str]:
    """The memory layout of nodes and edges."""
    return [type(graph).__name__, str(graph.nodes.dtype), str(graph.edges.dtype), str(len(graph.used))]


# --- loading ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Saved:
    """An open saved search, whose header was read and found to match."""

    path: Path
    header: dict[str, Any]
    archive: Archive
    position: Position
    history: History
    before: list[Position]  # earlier positions of the game, as far as they are needed, the last one first

    def fill(self, driver: Driver) -> None:
        """Read everything into the memory of a driver that has not searched yet."""
        graph, memory = driver.graph, driver.setting.memory
        if self.header["slots"] != _slot_layout(graph):
            version = _words(self.header["anabranch"])
            raise SearchError(f"{self.path} was saved by anabranch {version}, which keeps nodes otherwise: search anew")
        used = np.empty_like(graph.used)
        self.archive.read_into("used", used)
        needed = self._bytes(graph, used)
        if needed > memory:
            raise SearchError(f"{self.path} needs {needed:,} bytes, this search may take {memory:,}: give Search(memory=) more")
        check_counters(graph, used)
        parts = dict(_parts(graph, used))
        if self.archive.names != {"header", "random", "used", *parts}:
            raise Damaged("other arrays")
        for name, part in parts.items():
            self.archive.read_into(name, part)
        used[LIMIT] = len(graph.nodes)
        graph.used[:] = used
        driver.root = check(graph, _whole(self.header["root"], 0, len(graph.nodes)), driver.work, self.before)
        self._set_out(driver)

    def _set_out(self, driver: Driver) -> None:
        """Restore what a driver has besides memory."""
        random = np.empty_like(driver.work.random)
        self.archive.read_into("random", random)
        path = _whole(self.header["path"], FIRST_PATH, LONGEST_PATH)
        while len(driver.work.path_edges) < path:
            driver.lengthen_path()
        driver.work.random[:] = random
        if isinstance(driver, OnGraph):
            driver.graph.used[ROOM] = room_left(driver.graph, driver.setting.memory)
            driver.refused = _whole(self.header["refused"], 0, int(driver.graph.used[REFUSED]))
            driver.waste = self.header["waste"] is True
            driver.make_root()  # there is nothing to plant, but kernels are compiled
        else:
            driver.run(0, 0)  # likewise

    def _bytes(self, graph: Tree | Graph, used: np.ndarray) -> int:
        """The least memory, in bytes, that holds this."""
        slots, table, positions, cost = (int(used[i]) for i in (SLOTS, TABLE, POSITIONS, SLOT_COST))
        if not isinstance(graph, Graph):
            return slots * graph.nodes.itemsize
        taken = slots * cost + positions * int(used[POSITION_COST]) + 8 * FIRST_TABLE * graph.merge
        taken = max(min(taken, self.header["memory"]), slots * cost)  # threads may use slightly more slots than they should
        if not graph.merge or table == FIRST_TABLE:
            return taken
        return max(taken, cost * (3 * table // 4 + 1))  # with less memory the table would be smaller: see `allocate`


@contextmanager
def opened(path: Path, terms: Terms, position: Position | None) -> Iterator[Saved]:
    """An open file, checked against the terms of the search that loads it. `position` is the root's, where it was not played
    from the start. Errors while it is open name the file."""
    try:
        with reading(path) as archive:
            header = _read_header(archive)
            if header["version"] != FORMAT:
                theirs, version = _words(header["version"]), _words(header.get("anabranch"))
                raise SearchError(
                    f"{path} has format {theirs}, and anabranch {__version__} reads format {FORMAT}: "
                    f"load it with anabranch {version}, or search anew"
                )
            with telling_damage():
                _check_fields(header)
            _compare(path, header, terms)
            root, before = _find_position(path, header, terms.game, position)
            yield Saved(path, header, archive, root, History(terms.game, root), before)
    except Alien:
        raise SearchError(f"{path} is not a saved search: those are written by Search.save") from None
    except Damaged:
        raise SearchError(f"{path} is cut short or damaged: save the search again") from None


def _read_header(archive: Archive) -> dict[str, Any]:
    """The header of a saved search."""
    if "header" not in archive.names:
        raise Alien
    content = archive.read_bytes("header", MOST_HEADER)
    with telling_damage():
        header = json.loads(content, parse_constant=_refuse)
        name, _ = header["format"], header["version"]
    if name != NAME:
        raise Alien
    return dict(header)


def _check_fields(header: dict[str, Any]) -> None:
    """Raise, with any exception, unless all fields that are read later are of the right kind."""
    for name, kind in (("game", str), ("facts", dict), ("options", dict), ("slots", list), ("waste", bool), ("anabranch", str)):
        if type(header[name]) is not kind:
            raise Damaged(name)
    bytes.fromhex(header["position"]["record"])
    moves, keys = header["position"]["moves"], header["history"]
    if type(moves) is not list or type(keys) is not list or len(moves) > MOST_MOVES:
        raise Damaged("moves")
    for move in moves:
        for number in move if type(move) is list else [move]:
            _whole(number, 0, MOST_ACTIONS)
    for low, high in keys:
        _whole(low, 0, 2**64 - 1)
        _whole(high, 0, 2**64 - 1)
    for name in ("root", "memory", "path", "refused"):
        _whole(header[name], 0, 2**62)


def _refuse(constant: str) -> Any:
    raise Damaged(constant)


def _whole(number: Any, low: int, high: int) -> int:
    """A whole number within these limits."""
    if type(number) is not int or not low <= number <= high:
        raise Damaged("not such a number")
    return number


def _words(text: Any) -> str:
    """Text from a file, made printable and short enough for one line."""
    words = str(text)
    return "".join(c if c.isprintable() else "?" for c in words[:LONGEST_TEXT]) + "..." * (len(words) > LONGEST_TEXT)


def _compare(path: Path, header: dict[str, Any], terms: Terms) -> None:
    theirs, game = _words(header["game"]), repr(terms.game)
    if header["game"] != game:
        raise SearchError(f"{path} is a search of {theirs}, and this one is of {game}: load it with Search({theirs})")
    if header["facts"] != json.loads(json.dumps(terms.facts())):
        raise SearchError(f"{path} is a search of {game} whose rules or data were not the same: search anew")
    saved, own = header["options"], terms.options()
    differing = [name for name in own if saved.get(name) != own[name]]
    if differing:
        theirs, ours = (", ".join(_words(options.get(name)) for name in differing) for options in (saved, own))
        raise SearchError(f"{path} was saved {theirs}, and this search is {ours}: make it with the same options")


# --- the root's position -----------------------------------------------------------------------------------------------------


def _find_position(path: Path, header: dict[str, Any], game: Game, given: Position | None) -> tuple[Position, list[Position]]:
    """The root's position and those before it, the last one first. A record is never read from a file, since rules trust it:
    it is that of the given position, or the result of replaying the moves of the game."""
    record, keys = bytes.fromhex(header["position"]["record"]), tuple((low, high) for low, high in header["history"])
    if given is not None:
        is_one = isinstance(given, Position) and given.game == game
        if not is_one or given.data != record or (game.repetition != "nothing" and given.past != keys):
            raise SearchError(f"{path} is a search of another position, or of another past, than the one that load() was given")
        return given, []
    with telling_damage():
        position, past, before = _played(game, [_move(move) for move in header["position"]["moves"]])
    if position.data != record or keys != past[len(past) - len(keys) :]:
        raise SearchError(
            f"{path} is a search of a position that its moves do not lead to: if it was set up, give it, load(path, position)"
        )
    root = game.position_class(game, position.record(), position.moves, position.rewards, keys, position.before)
    if root.is_over:
        raise Damaged("the game is over")
    return root, before


def _move(saved: Any) -> Any:
    """An action or event, or a pair of actions, as positions store it."""
    return tuple(saved) if isinstance(saved, list) else saved


def _played(game: Game, moves: list[Any]) -> tuple[Position, tuple[Key, ...], list[Position]]:
    """The position after these moves, regardless of repetitions; the repetition keys of the earlier positions, if repetitions
    matter; and the most recent earlier positions, the last one first."""
    position, keys = game.start(), []
    before: deque[Position] = deque(maxlen=MOST_BEFORE)
    for move in moves:
        before.appendleft(position)
        if game.repetition != "nothing":
            keys.append(position.repetition_key)
        position = position.without_past().play(move)
    return position, tuple(keys), list(before)
