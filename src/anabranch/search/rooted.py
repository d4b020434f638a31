"""What a search keeps between calls: a tree or graph, the position at its root, and the game's history up to it.

`Search` and `Fleet` use this. Every method either succeeds or changes nothing; if it fails halfway (memory may run out), the
tree or graph is discarded, and the root has not moved. Below: a driver (`drivers/base.py`), which does the work.
"""

import contextlib
import zlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from anabranch.errors import KernelError, SearchError
from anabranch.games.game import Game
from anabranch.games.objects import ObjectGame
from anabranch.games.position import Position
from anabranch.games.rules import CHANCE
from anabranch.search.drivers import make
from anabranch.search.drivers.base import Driver, OnGraph, Setting
from anabranch.search.drivers.python import ObjectDriver
from anabranch.search.memory.graph import Graph, Needs, bare
from anabranch.search.memory.layout import NO_NODE
from anabranch.search.memory.repetition import History
from anabranch.search.memory.table import look_up
from anabranch.search.memory.tree import Tree
from anabranch.search.results.read import edge_records, reader_of
from anabranch.search.results.result import Result
from anabranch.search.run.progress import Progress
from anabranch.search.run.restrict import UNRESTRICTED, Restriction, among
from anabranch.search.run.scope import priors_seen

KEEPS = STATISTICS, EVALUATIONS, NOTHING = "statistics", "evaluations", "nothing"  # what `advance` keeps


class RootedGraph:
    """A tree or graph with a root, and what is needed to move the root and to search from it."""

    def __init__(self, setting: Setting, needs: Needs, seed: int) -> None:
        self.game = setting.game
        self.setting = setting
        self.needs = needs
        self.seed = seed
        self.reserved: Tree | Graph | None = None  # memory, once it is allocated
        self.driver: Driver | None = None  # None: nothing was found yet from this root
        self._last: Driver | None = None  # that was made, whether or not it is still in use
        self.position: Any = None
        self.history: History | None = None
        self.before: list[tuple[Any, History]] = []  # positions that `advance` left, the latest at the end

    @property
    def root(self) -> int:
        """The root's node, or NO_NODE."""
        return NO_NODE if self.driver is None else self.driver.root

    @property
    def graph(self) -> Any:
        """The nodes and edges, or None."""
        return None if self.driver is None else self.driver.graph

    # --- the driver ---

    def allocate(self) -> Tree | Graph:
        """Reserve memory."""
        return make.allocate(self.setting, self.needs, self.setting.memory)

    def new_driver(self) -> Driver:
        """A driver for an empty tree or graph, which has no root yet."""
        assert self.history is not None
        if self.reserved is None:
            self.reserved = self.allocate()
        make.clear(self.reserved, self.setting.memory)
        last, self._last = self._last, None
        if last is None or last.setting is not self.setting or last.graph is not self.reserved or not self._restart(last):
            last = make.driver_at(self.setting, self.reserved, self.position, self.history, self.seed)
        self._last = last
        return last

    def _restart(self, driver: Driver) -> bool:
        """Let a driver begin again at the root, if it can."""
        if not isinstance(self.position, Position) or self.history is None:
            return False
        return driver.restart(self.position.record(), self.history.exhausted(), self.seed)

    def ready(self) -> Driver:
        """The driver, ready to run simulations from its root. If an evaluator raises meanwhile, nothing has changed."""
        if self.driver is None or not self.driver.prepare():
            self.driver = None
            driver = self.new_driver()
            driver.prepare()
            self.driver = driver
        return self.driver

    def searched(self) -> Driver:
        """The driver, if there was a search."""
        if self.driver is None:
            raise SearchError("nothing was searched from here yet: call run() first")
        return self.ready()

    def start_anew(self, setting: Setting) -> None:
        """An empty graph for another setting."""
        assert self.history is not None
        reserved = make.allocate(setting, self.needs, setting.memory)
        driver = make.driver_at(setting, reserved, self.position, self.history, self.seed)
        self.setting, self.reserved, self.driver = setting, reserved, driver

    def replace(self, driver: Driver, position: Any, history: History) -> None:
        """Take over a loaded search."""
        self.driver, self.reserved = driver, driver.graph
        self.position, self.history, self.before = position, history, []

    def random(self, *numbers: int) -> np.random.Generator:
        """Random numbers for noise and choice at the root: different in each position, reproducible from the seed."""
        position = zlib.crc32(self.position.data) if isinstance(self.position, Position) else 0
        return np.random.default_rng([self.seed & (2**63 - 1), position, *numbers])

    def result(self, progress: Progress, final: Any, settings: dict[str, Any], lines: bool) -> Result:
        """What was found at the root, with or without principal variations."""
        driver = progress.driver
        random = self.random(progress.kept + progress.done)
        graph: Any = driver.with_bounds_of_actions()
        found = graph, driver.root, self.setting.rules, final, random, self.setting.limits, priors_seen(driver)
        facts: dict[str, Any] = {
            "lines": lines,
            "stopped_by": progress.stopped_by,
            "memory_full": progress.memory_full,
            "settings": settings,
        }
        read = reader_of(self.game, self.position)
        result: Result = read(self.game, *found, self._is_forbidden, cost=progress.cost(), allowed=progress.to.allowed, **facts)
        return result

    def _is_forbidden(self, action: int) -> bool:
        """Whether an action at the root repeats a position that may not occur again."""
        if not isinstance(self.game, ObjectGame):
            return bool(self.game.would_repeat(self.position, action))
        assert self.history is not None
        following = self.game.play(self.position, action)
        return self.history.after(self.position).keys.count(self.game.key(following)) >= self.game.repetition_count - 1

    # --- the root ---

    def checked(self, position: Any) -> Any:
        """The position to search: the given one, if it can be searched, or the root's."""
        if position is None:
            position = self.position if self.position is not None else self.game.start()
        if isinstance(self.game, Game):
            if not isinstance(position, Position):
                raise SearchError(
                    f"run() wants a position of {self.game!r}, such as game.start(), not {type(position).__name__}"
                )
            if position.game != self.game:
                raise SearchError(f"this search is for {self.game!r}; the position is one of {position.game!r}")
        if isinstance(self.game, ObjectGame):
            self.game.verify(position)
        if self._is_over(position):
            raise SearchError("the game is over in this position: there is nothing to search")
        return position

    def restriction(self, position: Any, action: Any, actions: Iterable[int | str] | None) -> Restriction:
        """What a run may do at its root."""
        if action is not None and actions is not None:
            raise SearchError("action= gives one action all simulations, actions= lets the search choose among some: give one")
        if action is not None:
            return Restriction(only=self._number(position, action))
        return UNRESTRICTED if actions is None else among(self.game, position, actions)

    def set_root(self, position: Any) -> None:
        """Search from this position; what the graph already has of it is kept."""
        position = self.checked(position)
        if position is self.position and self.history is not None:
            return
        history = History(self.game, position)
        if position == self.position and self.history is not None and history.keys == self.history.keys:
            if isinstance(position, Position) and position.moves != self.position.moves:  # `back` would go elsewhere
                self.position, self.history, self.before = position, history, []
            return
        found, exhausted = self._find(position), history.exhausted()
        with self._moving(self.driver if found != NO_NODE else None):
            if self.driver is not None:
                self.driver.advance(found, position, exhausted)
        self.position, self.history, self.before = position, history, []

    def advance(self, action: Any, keep: str) -> None:
        """Play an action at the root, and keep of what was found below it what `keep` says."""
        if self.position is None or self.history is None:
            raise SearchError("there is no root yet: give run() a position first")
        following, number = self.play(action)
        history = self.history.after(self.position)
        child, driver = self._child(number), self.driver if keep != NOTHING else None
        on_graph = isinstance(driver, OnGraph) and self.needs.merge
        if child == NO_NODE and on_graph:
            child = self._find(following)  # another path may have reached it
        # On a tree, nodes are marked as exhausted for their own path; with threefold repetition such a mark may be wrong now.
        marked = history.matters and not on_graph and self.game.repetition_count > 2
        if self._is_over(following) or marked or (child == NO_NODE and not on_graph):
            driver = None
        exhausted = history.exhausted()
        with self._moving(driver):
            if driver is not None:
                driver.advance(child, following, exhausted)
            if keep == EVALUATIONS and isinstance(driver, OnGraph):
                driver.forget_statistics()
        self.before.append((self.position, self.history))
        self.position, self.history = following, history

    def back(self) -> None:
        """Take the last `advance` back."""
        if not self.before:
            raise SearchError("there is nothing to take back: the root is where the search began")
        position, history = self.before[-1]
        marked = history.matters and not self.needs.merge  # as exhausted, each for its own path
        driver = self.driver if isinstance(self.driver, OnGraph) and not marked else None
        exhausted = history.exhausted()
        with self._moving(driver):
            if driver is not None and not driver.step_back(position, exhausted):
                self.driver = None
        self.before.pop()
        self.position, self.history = position, history

    @contextlib.contextmanager
    def working(self) -> Iterator[None]:
        """While kernels run. If a rule raises in one, a simulation is left half done, so the tree or graph is discarded."""
        try:
            yield
        except KernelError:
            self.driver = self._last = None
            raise

    @contextlib.contextmanager
    def _moving(self, driver: Driver | None) -> Iterator[None]:
        """While the root of this driver moves; without a driver, or if this fails halfway, the tree or graph is discarded."""
        try:
            self.driver = driver
            yield
        except BaseException:
            self.driver = None
            raise

    def _find(self, position: Any) -> int:
        """The node of a position that is already in the graph, or NO_NODE."""
        if not isinstance(self.driver, OnGraph) or not self.needs.merge:
            return NO_NODE
        low, high = self.game.key(position) if isinstance(self.game, ObjectGame) else position.key
        return int(look_up(bare(self.driver.graph), np.uint64(low), np.uint64(high)))

    def play(self, action: int | str) -> tuple[Any, int]:
        """The position after this action at the root, and the number of its edge."""
        if isinstance(self.game, ObjectGame):
            number = self._number(self.position, action)
            return self._known_object(number) or self.game.play(self.position, number), number
        following = self.position.play(action)
        return following, self.position.edge_of(following.moves[-1])

    def _number(self, position: Any, action: int | str) -> int:
        """The number of the edge of a legal action, or of a possible event."""
        if not isinstance(self.game, ObjectGame):
            return int(position.edge_of(position.play(action).moves[-1]))
        if self.game.to_play(position) == CHANCE:
            possible = np.flatnonzero(self.game.probabilities(position)).tolist()
        else:
            possible = self.game.legal_actions(position)
        if int(action) not in possible:
            raise SearchError(f"action {action} is not legal here")
        return int(action)

    def _known_object(self, action: int) -> Any:
        """The object of a child, except on graphs: there it may have been reached by another path, and remember that."""
        if not isinstance(self.driver, ObjectDriver) or self.needs.merge:
            return None
        return self.driver.objects.get(self._child(action))

    def _child(self, action: int) -> int:
        if self.root == NO_NODE:
            return NO_NODE
        edges = edge_records(self.graph, self.root)  # none, if the root has moved and was not searched since
        found = edges["child"][edges["action"] == action]
        return int(found[0]) if len(found) else NO_NODE

    def _is_over(self, position: Any) -> bool:
        return bool(self.game.is_over(position) if isinstance(self.game, ObjectGame) else position.is_over)
