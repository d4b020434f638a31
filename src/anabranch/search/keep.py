"""Searches in files: `Search.save` writes what was found, `Search.load` goes on as if it had never stopped.

A file is a compressed NumPy archive without pickles: `header`, JSON in bytes, says what it is; the other arrays are the used
part of a tree's or a graph's memory, as it lies there, and the generator. Nothing of a search is changed before everything in
the file has been read and found to fit. Numbers of slots are trusted, as kernels trust them: load what you saved.
"""

import json
import os
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from anabranch._version import __version__
from anabranch.errors import SearchError
from anabranch.games.game import Game
from anabranch.games.objects import ObjectGame
from anabranch.games.position import Position
from anabranch.jit.dispatch import TAG_PREFIX
from anabranch.search.drive import Driver, OnGraph
from anabranch.search.graph import FIRST_TABLE, Graph, Needs
from anabranch.search.history import History
from anabranch.search.layout import LIMIT, ROOM, SLOT_COST, SLOTS, TABLE
from anabranch.search.tree import Tree

NAME = "anabranch search"
FORMAT = 2
MAGIC = b"PK\x03\x04"  # how archives begin
# A graph's arrays with one row a slot.
BESIDE = ("rewards", "cuts", "links", "heads", "bounds", "places", "lore", "hints", "squares", "weights", "strategies")
BROKEN = (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile, zlib.error)  # what reading damage raises


@dataclass(frozen=True)
class Terms:
    """What a saved search and the one that loads it must have in common."""

    game: Game
    needs: Needs
    in_python: bool  # whether the evaluator is a Python callable

    def facts(self) -> dict[str, Any]:
        """What the rules make of positions and values; they may change while the game keeps its name."""
        fields = (self.game.record.fields or {}).items()
        return {
            "record": [[name, str(field[0]), field[1]] for name, field in fields if not name.startswith(TAG_PREFIX)],
            "start": self.game.start().data.hex(),
            "actions": [self.game.actions, self.game.events],
            "width": self.game.value_width(),
            "rewards": self.needs.rewards,
            "repetition": [self.game.repetition, self.game.repetition_count],
        }

    def options(self) -> dict[str, str]:
        """Those that decide what is in memory, as people write them."""
        return {
            "graph": f"graph={self.needs.merge}",
            "prove": f"prove={self.needs.prove}",
            "stale": "stale=Parents() or Ancestors()" if self.needs.links else "stale=PathOnly() or Sweeping()",
            "lore": "select=Rave() or a heuristic" if self.needs.lore else "neither Rave() nor a heuristic",
            "hints": "a heuristic" if self.needs.hints else "no heuristic",
            "squares": "KataGoPUCT() or ByLowerBound()" if self.needs.squares else "neither KataGoPUCT() nor ByLowerBound()",
            "strategies": "a rule that keeps strategies" if self.needs.strategies else "a rule without strategies",
            "weights": "backup=ByCertainty()" if self.needs.weights else "a backup other than ByCertainty()",
            "evaluate": "an evaluator in Python" if self.in_python else "an evaluator such as Rollout()",
        }


def terms(game: Game | ObjectGame, needs: Needs, in_python: bool) -> Terms:
    """The terms of a search; a game of Python objects has none."""
    if isinstance(game, ObjectGame):
        raise SearchError(
            f"a search of {game!r} cannot be kept: positions that are Python objects are not saved; write it as a Game"
        )
    return Terms(game, needs, in_python)


# --- saving ----------------------------------------------------------------------------------------------------------------


def save(path: Path, terms: Terms, driver: Driver, position: Position, history: History, settings: dict[str, Any]) -> None:
    """Write a search. A file that is there already is replaced only when the new one is complete."""
    header = {
        "format": NAME,
        "version": FORMAT,
        "anabranch": __version__,
        "game": repr(terms.game),
        "facts": terms.facts(),
        "options": terms.options(),
        "slots": _slot_layout(driver.graph),
        "settings": settings,
        "position": {
            "record": position.data.hex(),
            "moves": list(position.moves),
            "rewards": list(position.rewards),
            "before": position.before,
        },
        "history": [list(key) for key in history.keys],
        "root": int(driver.root),
        "memory": driver.setting.memory,
        "path": len(driver.work.path_edges),
        "waste": driver.waste if isinstance(driver, OnGraph) else False,
        "refused": driver.refused if isinstance(driver, OnGraph) else 0,
    }
    arrays = {
        "header": np.frombuffer(json.dumps(header).encode(), np.uint8),
        "random": driver.work.random,
        "used": driver.graph.used,
        **dict(_parts(driver.graph, driver.graph.used)),
    }
    partial = path.with_name(path.name + ".part")
    try:
        with open(partial, "wb") as stream:
            np.savez_compressed(stream, **arrays)
        os.replace(partial, path)
    except OSError as error:
        raise SearchError(f"{path} cannot be written: {error.strerror or error}") from None
    finally:
        partial.unlink(missing_ok=True)


def _parts(graph: Tree | Graph, used: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """The arrays of a tree or graph, as much of them as these counters say is used; views."""
    slots = int(used[SLOTS])
    yield "slots", graph.nodes[:slots].view(np.uint8)
    if isinstance(graph, Graph):
        yield "table", graph.table[: int(used[TABLE]) if graph.merge else 0]
        yield "learnt", graph.learnt
        for name in BESIDE:
            yield name, getattr(graph, name)[:slots]


def _slot_layout(graph: Tree | Graph) -> list[str]:
    """How nodes and edges lie in memory."""
    return [type(graph).__name__, str(graph.nodes.dtype), str(graph.edges.dtype), str(len(graph.used))]


# --- loading ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Saved:
    """A saved search that has been read."""

    path: Path
    header: dict[str, Any]
    arrays: dict[str, np.ndarray]
    position: Position
    history: History

    def fill(self, driver: Driver) -> None:
        """Put everything into the memory of a driver that has not searched yet."""
        graph, memory = driver.graph, driver.setting.memory
        if self.header["slots"] != _slot_layout(graph):
            raise SearchError(
                f"{self.path} was saved by anabranch {self.header['anabranch']}, which keeps nodes otherwise: search anew"
            )
        needed = self._bytes(graph)
        if needed > memory:
            raise SearchError(f"{self.path} needs {needed:,} bytes, this search may take {memory:,}: give Search(memory=) more")
        for name, part in _parts(graph, self.arrays["used"]):
            if self.arrays[name].shape != part.shape or self.arrays[name].dtype != part.dtype:
                raise damaged(self.path)
            part[:] = self.arrays[name]
        graph.used[:] = self.arrays["used"]
        graph.used[LIMIT] = len(graph.nodes)
        driver.root = self.header["root"]
        driver.work.random[:] = self.arrays["random"]
        while len(driver.work.path_edges) < self.header["path"]:
            driver.lengthen_path()
        if isinstance(driver, OnGraph):
            graph.used[ROOM] += memory - self.header["memory"]
            driver.waste, driver.refused = self.header["waste"], self.header["refused"]
            driver.plant()  # there is nothing to plant, but kernels are compiled
        else:
            driver.run(0, 0)  # likewise

    def _bytes(self, graph: Tree | Graph) -> int:
        """The least memory that holds this."""
        used = self.arrays["used"]
        if not isinstance(graph, Graph):
            return int(used[SLOTS]) * graph.nodes.itemsize
        taken = self.header["memory"] - int(used[ROOM])
        if not graph.merge or used[TABLE] == FIRST_TABLE:
            return taken
        return max(taken, int(used[SLOT_COST]) * (3 * int(used[TABLE]) // 4 + 1))  # less has a smaller table: see `allocate`


def _moves(saved: list[Any]) -> tuple[Any, ...]:
    """Actions and events, or pairs of actions, as positions have them."""
    return tuple(tuple(move) if isinstance(move, list) else move for move in saved)


def load(path: Path, terms: Terms) -> Saved:
    """Read a file and compare it with the terms of the search that wants it."""
    header, arrays = _read(path)
    if header.get("version") != FORMAT:
        raise SearchError(
            f"{path} has format {header.get('version')}, and anabranch {__version__} reads format {FORMAT}: "
            f"load it with anabranch {header.get('anabranch')}, or search anew"
        )
    try:
        _compare(path, header, terms)
        place = header["position"]
        record = np.frombuffer(bytearray.fromhex(place["record"]), terms.game.record)
        past = tuple((low, high) for low, high in header["history"])
        position = terms.game.position_class(
            terms.game, record, _moves(place["moves"]), tuple(place["rewards"]), past, place["before"]
        )
        history = History(terms.game, position)
    except SearchError:
        raise
    except BROKEN:
        raise damaged(path) from None
    return Saved(path, header, arrays, position, history)


def _read(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The header and the other arrays of a file that is a saved search."""
    try:
        with open(path, "rb") as stream:
            begins = stream.read(len(MAGIC))
    except OSError as error:
        raise SearchError(f"{path} cannot be read: {error.strerror or error}") from None
    if not MAGIC.startswith(begins):
        raise _no_search(path)
    try:
        with np.load(path, allow_pickle=False) as archive:
            if "header" not in archive:
                raise _no_search(path)
            header = json.loads(archive["header"].tobytes())
            if header["format"] != NAME:
                raise _no_search(path)
            return header, {name: archive[name] for name in archive.files}
    except SearchError:
        raise
    except BROKEN:
        raise damaged(path) from None


def _compare(path: Path, header: dict[str, Any], terms: Terms) -> None:
    game = repr(terms.game)
    if header["game"] != game:
        raise SearchError(
            f"{path} is a search of {header['game']}, and this one is of {game}: load it with Search({header['game']})"
        )
    if header["facts"] != json.loads(json.dumps(terms.facts())):
        raise SearchError(f"{path} is a search of {game} whose rules or data were not the same: search anew")
    theirs, ours = header["options"], terms.options()
    differing = [name for name in ours if theirs[name] != ours[name]]
    if differing:
        saved, here = (", ".join(options[name] for name in differing) for options in (theirs, ours))
        raise SearchError(f"{path} was saved with {saved}, and this search has {here}: make it with the same options")


def _no_search(path: Path) -> SearchError:
    return SearchError(f"{path} is not a saved search: those are written by Search.save")


def damaged(path: Path) -> SearchError:
    """The error for a file that is not whole."""
    return SearchError(f"{path} is cut short or damaged: save the search again")
