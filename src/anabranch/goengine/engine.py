"""The player behind GTP: a game with its history, a search that follows it, a clock.

`Engine` handles no text: `protocols/gtp.py` reads commands and calls it. `play`, `undo`, `arrange`, `load` and changes of
komi or rules change the game; `choose` finds a move and `commit` plays it; `analyse` and `ponder` search in the background
until `stop`. The search keeps its tree from move to move, and with a graph (the default) also when moves are undone. Next:
`searches.py` for options and searches, `clock.py` for time, `passing.py` for when to pass.
"""

import sys
import time
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import NamedTuple

from anabranch.errors import AnabranchError, GameError, IllegalMove
from anabranch.games.go import Go, RuleSet
from anabranch.games.go.rulesets import rule_set
from anabranch.games.position import Position
from anabranch.goengine.clock import Clock, TimeSettings, moves_to_come
from anabranch.goengine.endgame import Settlement, settle
from anabranch.goengine.game_tree import GameTree, stones_of
from anabranch.goengine.network_estimate import NetworkEstimate
from anabranch.goengine.passing import FEWEST_OF_NETWORKS, FEWEST_VISITS, SHORTEST, SecondLook, decide, may_be_over
from anabranch.goengine.report import report_of
from anabranch.goengine.searches import Options, new_search, rule_of, warm, without
from anabranch.goengine.turns import check_length, go_of, played, under, with_turn
from anabranch.nets.katago.search import KataGoSearch
from anabranch.search.checks import parse_memory
from anabranch.search.results.result import Result
from anabranch.search.searcher import Search

DEFAULT_SECONDS = 2.0  # for a move, if nothing else says how long
PONDERING = 60.0  # seconds of the opponent's time, at most; as in KataGo's example configuration
PATIENCE = 3  # moves in a row whose win rate is too low, before resigning; KataGo's default
FIRST_LOOK = 0.7  # share of the time for a move; the rest is for a second look at a move that would end the game
LOOK_MEMORY = 64_000_000  # bytes at most, of a search in a second look

Watch = Callable[[Result], bool | None]


class Choice(NamedTuple):
    """A move that was found but not played yet."""

    player: int
    action: int | None  # None: resign
    position: Position  # before it
    result: Result
    began: float


class Engine:
    """Plays one game at a time."""

    def __init__(self, options: Options | None = None, now: Callable[[], float] = time.monotonic) -> None:
        self.options = options or Options()
        self.now = now
        self.rules = rule_set(self.options.rules)
        self.komi = float(self.options.komi)
        self.clock = Clock(lag=self.options.lag)
        self.spent = 0.0  # seconds of all moves that were chosen
        self.history: list[Position] = []
        self.moves: list[tuple[int, int]] = []  # players and actions; the position before the first is history[0]
        self._games = 0
        self._running = False  # whether the search is running in the background
        self._search: Search | None = None
        self.size = self.options.size if isinstance(self.options.size, tuple) else (self.options.size, self.options.size)
        self.clear()

    # --- the game ---

    @property
    def position(self) -> Position:
        """The current position of the game."""
        return self.history[-1]

    @property
    def captures(self) -> tuple[int, int]:
        """Stones that black and white have captured."""
        taken = [0, 0]
        for before, after, (player, action) in zip(self.history, self.history[1:], self.moves, strict=False):
            kept, left = stones_of(before), stones_of(after)
            taken[player] += sum(owner == 1 - player and left.get(stone) != owner for stone, owner in kept.items())
            taken[1 - player] += sum(owner == player and left.get(stone) != owner for stone, owner in kept.items())
            taken[1 - player] += action not in left and action != self.game.actions - 1  # a suicide
        return taken[0], taken[1]

    def resize(self, width: int, height: int) -> None:
        """A new game on another board."""
        Go((width, height), self.komi, self.rules)  # raises if there is no such board
        self.size = (width, height)
        self.clear()

    def clear(self) -> None:
        """A new game on an empty board."""
        self.stop()
        self.handicap = 0
        self._begin(self._game())
        self.clock.restart()
        self._low = [0, 0]  # moves in a row with a low win rate
        self._games += 1

    def arrange(self, black: Collection[int], white: Collection[int], to_play: int, handicap: int = 0) -> None:
        """A new game that begins with these stones; white may get compensation for `handicap` of them."""
        start = self._game(handicap).arranged(black, white, to_play)
        self.stop()
        self.handicap = handicap
        self._begin(go_of(start), start)

    def set_komi(self, komi: float) -> None:
        """Another komi; the game goes on."""
        Go(self.size, komi, self.rules)  # raises if there is no such komi
        self.komi = komi
        self._change(self._game(self.handicap))

    def set_rules(self, rules: RuleSet) -> None:
        """Other rules; the game goes on."""
        self.rules = rules
        self._change(self._game(self.handicap))

    def set_seed(self, seed: int) -> None:
        """Use this seed for the next search and the games that follow."""
        self.forget()
        self.options, self._games = replace(self.options, seed=seed), 1

    def play(self, player: int, action: int) -> None:
        """A move by either player."""
        following = played(with_turn(self.position, player), action)
        self.stop()
        self.history.append(following)
        self.moves.append((player, action))

    def undo(self, count: int = 1) -> None:
        """Undo moves."""
        if not 1 <= count <= len(self.moves):
            raise GameError(f"there are {len(self.moves)} moves to take back")
        self.stop()
        del self.history[-count:], self.moves[-count:]

    def load(self, tree: GameTree, count: int | None = None) -> None:
        """A recorded game, or its first `count` moves, with its size, and with its komi and rules where it names them."""
        recorded = tree.game
        handicap = recorded.handicap or tree.free_handicap
        size = (recorded.width, recorded.height)
        rules = recorded.rules if tree.names_rules else self.rules
        komi = tree.komi if tree.names_komi else self.komi
        other = Engine(replace(self.options, size=size, komi=komi, rules=rules), self.now)
        other.handicap = handicap
        other._begin(other._game(handicap))
        tree.game = other.game
        number = 0
        path = tree.playable_path()
        for place, node in enumerate(path):
            is_move = node.action is not None and node.colour is not None
            if is_move and count is not None and number >= count:
                break
            if node.sets_up or node is tree.root:
                other._begin(other.game, tree.arranged(other.position, path, place))
            if node.action is not None and node.colour is not None:
                other.play(node.colour, node.action)
                number += 1
        self.stop()
        self.size, self.komi, self.rules, self.handicap = other.size, other.komi, other.rules, other.handicap
        self._begin(other.game)
        self.history, self.moves = other.history, other.moves

    def record(self) -> GameTree:
        """The game as a record."""
        tree = GameTree(self.game, free_handicap=self.handicap)
        tree.root.stones = dict(stones_of(self.history[0]))
        if tree.root.stones or self.history[0].to_play:
            tree.root.to_play = self.history[0].to_play
        node = tree.root
        for player, action in self.moves:
            node = tree.add(action, after=node, colour=player)
        return tree

    def settle(self) -> Settlement:
        """Which stones are alive or dead, and who is ahead."""
        self.stop()
        self.warm()
        return settle(self.position, self.options.policy, seed=self.options.seed)

    def _game(self, handicap: int = 0) -> Go:
        return Go(self.size, self.komi + self.rules.bonus(handicap), self.rules)

    def _begin(self, game: Go, start: Position | None = None) -> None:
        self.forget()
        self.game = game
        self.history = [game.start() if start is None else start]
        self.moves = []

    def _change(self, game: Go) -> None:
        self.forget()
        self.history = under(game, self.history)
        self.game = game

    # --- moves ---

    def choose(
        self,
        player: int,
        *,
        cleanup: bool = False,
        watch: Watch | None = None,
        began: float | None = None,
        hidden: Collection[int] = (),
        on_clock: bool = True,
    ) -> Choice:
        """Find a move.

        cleanup   take dead stones off before passing
        watch     called with a `Result` about ten times a second; if it returns True, the search stops
        began     when the player's clock began to run, by `now`
        hidden    actions that may not be searched or played
        on_clock  whether the move is on the clock: if not, the clock is ignored, and the engine does not resign
        """
        began = self._compiled(self.now() if began is None else began)
        self.stop()
        position = with_turn(self.position, player)
        check_length(position)
        policy, seed = self.options.policy, self.options.seed
        settled = settle(position, policy, seed=seed) if may_be_over(position, cleanup) else None
        looks_twice = settled is not None and (settled.is_settled or cleanup or position.state.passes == 1)
        result, seconds = self._think(position, began, watch, on_clock, FIRST_LOOK if looks_twice else 1.0, hidden)
        look = self._second_look(began, seconds)
        action = decide(position, result, look, cleanup=cleanup, settled=settled, policy=policy, seed=seed)
        action = self._legal(position, result, action, hidden)
        if on_clock and not cleanup and self._resigns(position, result):
            return Choice(player, None, position, result, began)
        return Choice(player, action, position, result, began)

    def commit(self, choice: Choice) -> None:
        """Play the chosen move and count its time."""
        if choice.action is not None:
            self.history.append(choice.position.play(choice.action))
            self.moves.append((choice.player, choice.action))
        seconds = self.now() - choice.began
        self.spent += seconds
        self.clock.spend(choice.player, seconds)

    def _think(
        self,
        position: Position,
        began: float,
        watch: Watch | None,
        on_clock: bool,
        share: float,
        hidden: Collection[int] = (),
    ) -> tuple[Result, float | None]:
        """Search for this share of the time; returns the result, and how many seconds there are for a move."""
        search = self.searcher()
        actions = without(position, hidden)
        self._follow(search, position)
        budget = self.clock.budget(position.to_play, moves_to_come(position)) if on_clock else None
        limits = [limit for limit in (self.options.seconds, budget and budget.seconds) if limit is not None]
        if not limits and self.options.visits is None:
            limits = [DEFAULT_SECONDS]
        search.on_progress = None
        # The root's kept visits may all belong to hidden actions.
        goal = {"total": self.options.visits} if actions is None else {"visits": self.options.visits}
        if not limits:
            search.on_progress = watch
            return search.run(position, **goal, actions=actions), None
        search.run(position, visits=1, actions=actions)  # moves the root, which takes time as well
        seconds = max(share * min(limits) - (self.now() - began), SHORTEST)

        def on_progress(result: Result) -> bool:
            is_decided = budget is not None and budget.is_kept and _is_decided(result, seconds)
            return bool(watch is not None and watch(result)) or is_decided

        search.on_progress = on_progress
        return search.run(position, **goal, seconds=seconds, actions=actions), min(limits)

    def _second_look(self, began: float, seconds: float | None) -> SecondLook:
        """The search, for a second look in the remaining time."""

        def left() -> float | None:
            return None if seconds is None else seconds - (self.now() - began)

        little = replace(self.options, memory=min(parse_memory(self.options.memory), LOOK_MEMORY))
        fewest = FEWEST_VISITS if self.options.net is None else FEWEST_OF_NETWORKS
        return SecondLook(self.searcher(), lambda game: new_search(game, little, self.options.seed), left, fewest)

    def _legal(self, position: Position, result: Result, action: int, hidden: Collection[int]) -> int:
        """This action, or the best legal one: a search may not have seen yet that superko forbids it."""
        for number in (action, *(move.action for move in result.moves)):
            if number not in hidden:
                try:
                    position.play(number)
                    return number
                except IllegalMove:
                    continue
        return position.game.actions - 1

    def _resigns(self, position: Position, result: Result) -> bool:
        """Whether the win rate has been hopeless for a while, and counting without dead stones agrees."""
        player = position.to_play
        is_low = self._winrate(position, result) < self.options.resign
        self._low[player] = self._low[player] + 1 if is_low else 0
        if self._low[player] < PATIENCE:
            return False
        lead = settle(position, self.options.policy, seed=self.options.seed).lead
        return (lead if player == 0 else -lead) < 0

    def _winrate(self, position: Position, result: Result) -> float:
        """The win rate of the best move."""
        estimate = NetworkEstimate(self._search) if isinstance(self._search, KataGoSearch) else None
        report = report_of(result, position, estimate)
        return next((move.winrate for move in report.moves if move.action == result.best), report.winrate)

    # --- the search ---

    def searcher(self) -> Search:
        """The search for this game, with its kernels compiled."""
        self.stop()
        self.warm()
        if self._search is None:
            self._search = new_search(self.game, self.options, self.options.seed + max(self._games - 1, 0))
        return self._search

    @property
    def search(self) -> Search | None:
        """The search as it is, which may be running; None if there is none yet."""
        return self._search

    def forget(self) -> None:
        """Discard the search and its tree."""
        self.stop()
        self._search = None

    def analyse(self, player: int, watch: Watch, hidden: Collection[int] = ()) -> Position:
        """Search in the background, until `stop`, and pass the results to `watch`; returns the searched position. Hidden
        actions are not searched."""
        search = self.searcher()
        position = with_turn(self.position, player)
        actions = without(position, hidden)
        self._follow(search, position)
        search.on_progress = watch
        search.retune(rule_of(self.game, self.options, self.options.width))
        search.start(position, actions=actions)
        self._running = True
        return position

    def ponder(self) -> None:
        """Search while the opponent thinks."""
        if self.options.ponder and not self.position.is_over:
            search = self.searcher()
            self._follow(search, self.position)
            search.on_progress = None
            search.start(self.position, seconds=PONDERING)
            self._running = True

    def stop(self) -> None:
        """End the search in the background."""
        if self._running and self._search is not None:
            self._running = False
            try:
                self._search.stop()
                self._search.retune(rule_of(self.game, self.options))  # analysis widens the root, play does not
            except Exception as error:  # the tree is lost; the game is not
                self._search = None
                print(f"anabranch: the search in the background failed: {error}", file=sys.stderr)

    def set_time(self, settings: TimeSettings) -> None:
        """Reset both clocks. Kernels are compiled before they run: on a slow machine that takes a minute."""
        if settings.kind != "none":
            self.warm()
        self.clock.set(settings)

    def warm(self) -> None:
        """Compile what this board needs, if that was not done yet."""
        warm(self.game, self.options)

    def _compiled(self, began: float) -> float:
        """When the clock began to run, not counting the time to compile kernels."""
        before = self.now()
        self.warm()
        return began + self.now() - before

    def _follow(self, search: Search, position: Position) -> None:
        """Keep a tree by moving its root step by step; a graph finds any position that it contains."""
        root = search.position
        if self.options.graph or root is None or position.moves[: len(root.moves)] != root.moves:
            return
        for action in position.moves[len(root.moves) :]:
            try:
                search.advance(action)
            except AnabranchError:  # the search cannot follow the game here: it starts over
                return


def _is_decided(result: Result, seconds: float) -> bool:
    """Whether the most visited action cannot be overtaken in the time that is left."""
    visits = sorted(move.visits for move in result.moves)
    gap = visits[-1] - visits[-2] if len(visits) > 1 else visits[-1]
    return gap > result.stats.speed * max(seconds - result.stats.seconds, 0.0)
