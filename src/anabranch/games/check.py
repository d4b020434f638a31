"""Conformance: does a game keep its contract? `check(game)` plays random games to find out.

Every position is examined twice, by the plain rules and by the compiled ones, and both must agree on everything; besides,
what the rules return must be consistent, in range, and printable. It works on any game and does not stop at the first
problem. Next: `rules.py` for the contract itself.
"""

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from xml.etree import ElementTree

import numpy as np

from anabranch.errors import AnabranchError, GameError
from anabranch.games import rules
from anabranch.games.check_planes import Sides, is_sound
from anabranch.games.check_report import MOST_PROBLEMS, WHY_DIFFERENT, Report, brief, moves_of, side_by_side
from anabranch.games.game import Game
from anabranch.games.position import Position
from anabranch.games.refuse import drawn_elsewhere
from anabranch.games.rules import CHANCE, EVERYONE
from anabranch.games.simultaneous import JointPosition, SimultaneousGame
from anabranch.jit import kernel
from anabranch.jit.random import generator

TOLERANCE = 1e-9
MOST_PLIES = 5_000  # of one random game
ENOUGH_GAMES = 10  # to conclude that a player never moves


@kernel
def observe(states, actions, probabilities, returns, random):
    """What the compiled rules return for states[0]: player, over, number of legal actions, key, a random action."""
    state = states[0]
    low, high = rules.key(state)
    if rules.is_over(state):
        rules.returns(state, returns, random)
        return 0, True, 0, low, high, -1
    player = rules.to_play(state)
    if player == CHANCE:
        rules.chance(state, probabilities)
        return player, False, 0, low, high, -1
    count = rules.legal_actions(state, actions)
    return player, False, count, low, high, rules.random_action(state, random)


@kernel
def play_compiled(states, action, rewards):
    """Play on states[0]."""
    rules.play(states[0], action, rewards)


def check(game: Game, games: int = 30, seed: int = 0) -> Report:
    """Play random games and report everything that breaks the contract."""
    if not isinstance(game, Game):
        raise GameError(f"check() wants a game such as Nim(), not {game!r}")
    report = Report(repr(game))
    if not _compiles(game, report):
        return report
    _check_names(game, report)
    with _noting(report, "the game does not pickle", plainly=True):
        if pickle.loads(pickle.dumps(game)) != game:
            report.note("the game is another one after pickling: pass instance data to Game.__init__ as fields")
    sees = False
    if game.planes is not None:
        with _noting(report, "symmetries fail"):
            sees = is_sound(game, report)
    for problem in drawn_elsewhere(game):
        report.note(problem)
    moved: set[int] = set()
    seen: dict[tuple[int, int], Position] = {}
    planes: dict[tuple[int, int], np.ndarray] = {}
    random = np.random.default_rng(seed)
    for _ in range(games):
        if len(report.problems) >= MOST_PROBLEMS:
            break
        _RandomGame(game, report, random, seen, planes if sees else None, moved).play()
        report.games += 1
    _judge_movers(game, report, moved)
    return report


def _judge_movers(game: Game, report: Report, moved: set[int]) -> None:
    """Check that every player had a turn, unless there were too few games to tell."""
    if not report.ok or report.games < ENOUGH_GAMES or isinstance(game, SimultaneousGame):
        return
    for player in range(game.players):
        if player not in moved:
            report.note(
                f"player {player} never moved in {report.games} games: does rule `play` hand over the turn, "
                "and does `to_play` tell whose it is?",
                game.start(),
            )


def _compiles(game: Game, report: Report) -> bool:
    """Whether the game has a start and its rules compile; if not, nothing else is checked."""
    with _noting(report, "the game cannot start"):
        states = game.start().record()
        actions, probabilities = np.zeros(game.edge_actions, np.int64), np.zeros(game.events)
        numbers = np.zeros(game.players)
        play_compiled.compile(states, 0, numbers)
        observe.compile(states, actions, probabilities, numbers, generator(0))
    return report.ok


@contextmanager
def _noting(report: Report, what: str, plainly: bool = False, at: "_RandomGame | None" = None) -> Iterator[None]:
    """Turn anything raised inside into a problem."""
    try:
        yield
    except AnabranchError as error:
        report.note(str(error) if not plainly else f"{what}: {error}", at.position if at else None)
    except Exception as error:
        report.note(f"{what}: {type(error).__name__}: {error}", at.position if at else None)


def _check_names(game: Game, report: Report) -> None:
    with _noting(report, "name_of or action fails"):
        names = [game.name_of(action) for action in range(game.actions)]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            report.note(f"two actions have the same name, {twice!r}")
            return
        for action, name in enumerate(names):
            if game.action(name) != action:
                report.note(f"name_of({action}) is {name!r}, but action({name!r}) is {game.action(name)}")
                return


class _RandomGame:
    """One random game, each position examined by plain and compiled rules."""

    def __init__(
        self,
        game: Game,
        report: Report,
        random: np.random.Generator,
        seen: dict[Any, Any],
        planes: dict[Any, np.ndarray] | None,
        moved: set[int],
    ) -> None:
        self.game, self.report, self.random, self.seen = game, report, random, seen
        self.planes = planes  # by key, if the game has an encoding
        self.moved = moved  # the players who had a turn, in all games
        self.paid = np.zeros(game.players)
        self.position = game.start()

    def play(self) -> None:
        position = self.position
        compiled = position.record()
        with _noting(self.report, "the rules fail", at=self):
            sides = None if self.planes is None else Sides(self.game, self.report, self.planes)
            for ply in range(MOST_PLIES):
                self.report.positions += 1
                self.position = position
                if not self._look(position, compiled):
                    return
                if sides:
                    sides.look(position)
                edges = position.edges
                if not edges:
                    return
                self.moved.add(position.to_play)
                with _noting(self.report, f"rule `play` fails at ply {ply + 1}", at=self):
                    action = int(self.random.choice(edges))
                    following = position.play(position.move_of(action))
                    self._compare_play(position, following, compiled, action)
                    if sides:
                        sides.play(action, is_event=position.to_play == CHANCE)
                    position = following
                    continue
                return
            if self.game.repetition == "nothing":
                self._note(f"a random game did not end within {MOST_PLIES} plies")

    def _note(self, problem: str) -> None:
        """Add a problem with the current position."""
        self.report.note(problem, self.position)

    def _edge(self, position: Position, number: int) -> str:
        return moves_of(type(position)(self.game, position.record(), (*position.moves, position.move_of(number))))[-1]

    def _compare_play(self, before: Position, after: Position, compiled: np.ndarray, action: int) -> None:
        rewards = np.zeros(self.game.players)
        play_compiled(compiled, action, rewards)
        if compiled.tobytes() != after.data:
            plain = after.record()
            fields = [name for name in self.game.state.names or () if (compiled[name] != plain[name]).any()]
            values = "; ".join(
                f"`{name}` is {brief(compiled[name][0])} compiled and {brief(plain[name][0])} plain" for name in fields
            )
            self._note(
                f"rule `play` differs between plain and compiled after {self._edge(before, action)}: {values}{WHY_DIFFERENT}"
            )
            compiled[:] = plain
        weight = self.game.discount ** len(before.moves)
        self.paid += weight * rewards
        if not np.allclose(self.paid, after.rewards, atol=TOLERANCE):
            paid = [(now - was) / weight for now, was in zip(after.rewards, before.rewards, strict=True)]
            self._note(f"rule `play` pays {list(map(float, rewards))} compiled, and {paid} in plain Python{WHY_DIFFERENT}")
        if self.game.zero_sum and abs(rewards.sum()) > TOLERANCE:
            self._note(f"rewards {list(rewards)} do not sum to 0, but the game is declared zero-sum")

    def _look(self, position: Position, compiled: np.ndarray) -> bool:
        """Compare and check one position, as the rules see it (without its past); False if going on makes no sense."""
        game, report = self.game, self.report
        position = position.without_past()
        size = game.edge_actions
        actions, probabilities, returns = np.zeros(size, np.int64), np.zeros(game.events), np.zeros(game.players)
        seen = len(report.problems)
        with _noting(report, "the compiled rules fail", at=self):
            random = generator(0 if position.is_over else int(self.random.integers(2**60)))
            player, over, count, low, high, drawn = observe(compiled, actions, probabilities, returns, random)
            with _noting(report, "the plain rules fail", at=self):
                self._compare("is_over", bool(over), position.is_over)
                self._compare("key", (int(low), int(high)), position.key)
                if over:
                    self._compare("returns", [float(number) for number in returns], position.returns)
                    self._judge_returns(position)
                else:
                    self._compare("to_play", int(player), position.to_play)
                    self._judge_turn(position, [int(a) for a in actions[:count]], probabilities, int(drawn))
                self._judge_key(position)
                self._judge_looks(position)
        return len(report.problems) == seen

    def _compare(self, rule: str, compiled: Any, plain: Any) -> None:
        if compiled != plain:
            self._note(f"rule `{rule}` says {compiled} compiled, and {plain} in plain Python{WHY_DIFFERENT}")

    def _judge_turn(self, position: Position, legal: list[int], probabilities: np.ndarray, drawn: int) -> None:
        game, player = self.game, position.to_play
        if player == CHANCE:
            if not game.events:
                self._note("`to_play` says CHANCE, but the game has no `events`")
                return
            self._compare("chance", [float(p) for p in probabilities], position.probabilities)
            if probabilities.min() < 0 or abs(probabilities.sum() - 1.0) > TOLERANCE:
                self._note(f"the probabilities of rule `chance` sum to {probabilities.sum()}, not 1")
            return
        if isinstance(position, JointPosition):
            self._judge_pairs(position, legal, drawn)
            return
        if not 0 <= player < game.players:
            self._note(f"`to_play` says {player}; players are 0 to {game.players - 1}")
        self._compare("legal_actions", legal, position.legal_actions)
        single = [action for action in range(game.actions) if game.ask("is_legal", position.state, action)]
        if single != legal:
            self._note(f"rule `legal_actions` lists {legal}, but `is_legal` allows {single}")
        if not legal:
            self._note("no action is legal, but the game is not over")
        elif drawn not in legal:
            self._note(f"rule `random_action` gives {drawn}, which is not legal")

    def _judge_pairs(self, position: JointPosition, legal: list[int], drawn: int) -> None:
        """Where both move at once: each has a legal action, and actions of one outcome have the same effect."""
        game = self.game
        if position.to_play != EVERYONE:
            self._note(f"`to_play` says {position.to_play}; where both move at once it is EVERYONE, or CHANCE")
            return
        each = position.legal_actions  # says which player has none
        self._compare("legal_actions", legal, position.edges)
        if not all(action in actions for action, actions in zip(divmod(drawn, game.actions), each, strict=True)):
            self._note(f"rule `random_action` gives {divmod(drawn, game.actions)}, which is not legal")
        others = [actions[int(self.random.integers(len(actions)))] for actions in reversed(each)]
        for player in range(len(each)):
            for outcome, same in position.outcomes(player).items():
                if outcome not in same:
                    self._note(f"rule `outcome` says {outcome} of player {player}'s actions {same}; it must be one of them")
                found = {self._effect(position, player, action, others[player]) for action in same}
                if len(found) > 1:
                    self._note(f"rule `outcome` takes player {player}'s actions {same} for the same, but they are not")

    @staticmethod
    def _effect(position: JointPosition, player: int, action: int, other: int) -> Any:
        """The effect of a player's action, if the other plays `other`."""
        after = position.play((other, action) if player else (action, other))
        return after.data, after.rewards

    def _judge_returns(self, position: Position) -> None:
        game = self.game
        total = np.array(position.returns) * game.discount ** len(position.moves) + np.array(position.rewards)
        low, high = game.value_range
        if not np.isfinite(total).all():
            self._note(f"returns are not finite: {position.returns}")
        if game.zero_sum and abs(sum(position.returns)) > TOLERANCE:
            self._note(f"returns {position.returns} do not sum to 0, but the game is declared zero-sum")
        judged = total[: game.value_width()]
        if judged.min() < low - TOLERANCE or judged.max() > high + TOLERANCE:
            self._note(f"returns {[float(x) for x in total]} leave the declared `value_range` {game.value_range}")

    def _judge_key(self, position: Position) -> None:
        """One key, one position: positions with the same key must look the same, now and one action later."""
        known = self.seen.setdefault(position.key, position)
        if known.data == position.data:
            return
        if _face(known) != _face(position) or _following(known) != _following(position):
            boards = side_by_side(str(known), str(position))
            self._note(f"rule `key` is too weak: two different positions have the same key\n{boards}")

    def _judge_looks(self, position: Position) -> None:
        if self.report.positions > 200:  # drawing is slow and depends little on the position
            return
        with _noting(self.report, "text fails"):
            if not str(position).strip():
                self._note("the text of a position is empty")
        with _noting(self.report, "svg is not well-formed"):
            ElementTree.fromstring(position.svg())
        with _noting(self.report, "a position does not pickle", plainly=True):
            if pickle.loads(pickle.dumps(position)) != position:
                self._note("a position is another one after pickling")


def _face(position: Position) -> tuple[Any, ...]:
    """The observable properties of a position."""
    over = position.is_over
    player = None if over else position.to_play
    return over, player, tuple(position.edges), tuple(position.returns), str(position)


def _following(position: Position) -> list[tuple[int, int]]:
    """The keys of the positions after each action."""
    return [position.play(position.move_of(edge)).key for edge in position.edges]
