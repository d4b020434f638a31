"""Conformance of what networks see, a part of `check.py`: planes, and the symmetries of a game.

A symmetry is checked by playing: alongside each random game its image is played, with the actions mapped by the symmetry, and
both must correspond under it throughout. That requires a start that is invariant too; symmetries under which it is not
(mirrors in Othello, whose colours are placed crosswise) are counted in the report as not followed.
"""

from typing import TYPE_CHECKING

import numpy as np

from anabranch.games import rules
from anabranch.games.encoding import encode
from anabranch.games.game import Game
from anabranch.games.position import Position
from anabranch.games.rules import CHANCE
from anabranch.games.simultaneous import SimultaneousGame
from anabranch.jit import kernel, readable
from anabranch.jit.random import generator

if TYPE_CHECKING:
    from anabranch.games.check import Report


@kernel
def play_each(states, actions, rewards):
    """Play one action in each state."""
    for i in range(len(states)):
        rules.play(states[i], actions[i], rewards)


@kernel
def observe_each(states, scratch, legal, over, returns, random):
    """For every state: which actions are legal, or that the game is over and what it pays."""
    for i in range(len(states)):
        over[i] = rules.is_over(states[i])
        if over[i]:
            rules.returns(states[i], returns[i], random)
        elif rules.to_play(states[i]) != CHANCE:
            for j in range(rules.legal_actions(states[i], scratch)):
                legal[i, scratch[j]] = True


def is_sound(game: Game, report: "Report") -> bool:
    """Whether planes and symmetries have the right shapes; if not, nothing else about them is checked."""
    assert game.planes is not None
    if len(game.planes) != 3 or not all(isinstance(size, (int, np.integer)) and size > 0 for size in game.planes):
        report.note(f"`planes` must be (channels, height, width), three whole numbers above 0, not {game.planes!r}")
        return False
    channels, height, width = game.planes
    found = game.symmetries()
    tables = [("points", found.points, height * width), ("actions", found.actions, game.actions)]
    tables += [("channels", found.channels, channels)] if found.channels is not None else []
    tables += [("players", found.players, game.players)] if found.players is not None else []
    for name, permutations, size in tables:
        if np.shape(permutations) != (len(found), size) or (np.sort(permutations) != np.arange(size)).any():
            report.note(f"`symmetries`: each row of {name} must be a permutation of 0 to {size - 1}")
            return False
        if (permutations[0] != np.arange(size)).any():
            report.note("`symmetries`: the first one must be the identity")
            return False
    return True


class Sides:
    """A random game and its images under each symmetry that leaves the start unchanged."""

    def __init__(self, game: Game, report: "Report", seen: dict[tuple[int, int], np.ndarray]) -> None:
        self.game, self.report = game, report
        self.seen = seen  # planes by key
        ways = game.symmetries()
        starts = np.repeat(encode(game, game.start().record()), len(ways), axis=0)
        same = (ways.of_planes(starts, np.arange(len(ways))) == starts).all(axis=(1, 2, 3))
        self.ways, self.kept = ways, np.flatnonzero(same)
        self.actions = ways.actions[self.kept]
        self.players = (
            np.tile(np.arange(game.players), (len(self.kept), 1)) if ways.players is None else ways.players[self.kept]
        )
        if isinstance(game, SimultaneousGame):  # pairs of actions
            rows, columns = self.actions[:, :, None], self.actions[:, None, :]
            swapped = (self.players[:, 0] == 1)[:, None, None]
            pairs = np.where(swapped, columns * game.actions + rows, rows * game.actions + columns)
            self.actions = pairs.reshape(len(self.kept), -1)
        self.renamed = np.argsort(self.actions)  # [s, action]: the image of an action of the game under s
        self.states = np.repeat(game.start().record(), len(self.kept))
        report.symmetries, report.followed = len(ways), len(self.kept)

    def play(self, action: int, is_event: bool) -> None:
        """Play an action of the game in all of its images; a chance event is the same in all."""
        actions = np.full(len(self.states), action) if is_event else self.renamed[:, action].copy()
        play_each(self.states, actions, np.zeros(self.game.players))

    def look(self, position: Position) -> None:
        """Compare a position with its images, and its planes: compiled with plain ones, with those of the same key, and with
        those of its images."""
        game, count = self.game, len(self.states)
        size = self.actions.shape[1]
        legal, over = np.zeros((count, size), bool), np.zeros(count, bool)
        returns, random = np.zeros((count, game.players)), generator(0)
        observe_each(self.states, np.zeros(size, np.int64), legal, over, returns, random)
        same = over == over[0]
        if over[0]:
            differs = random[0] != generator(0)[0]  # random returns may differ
            same &= (returns == returns[0][self.players]).all(axis=1) | differs
            self._look_at_end()
        else:
            same &= (legal == legal[0][self.actions]).all(axis=1)
            self._look_at_planes(position)
        if not same.all():
            self._refuse(int(np.argmin(same)), "the game ends otherwise, or other actions are legal")

    def _look_at_planes(self, position: Position) -> None:
        before = self.states.copy()
        planes = encode(self.game, self.states)
        plain = self.plain(position)
        if self.states.tobytes() != before.tobytes():
            self.report.note("rule `encode` changes the state; it may only read it")
            self.states[:] = before
        if not np.array_equal(planes[0], plain, equal_nan=True):
            channel = np.flatnonzero((planes[0] != plain).any(axis=(1, 2)))[0]
            self.report.note(f"rule `encode` differs between plain and compiled, in channel {channel}")
        elif not np.isfinite(plain).all():
            self.report.note("rule `encode` writes NaN or infinity")
        elif not np.array_equal(self.seen.setdefault(position.key, plain), plain):
            self.report.note("rule `encode` shows what rule `key` does not tell: positions with the same key look different")
        else:
            expected = self.ways.of_planes(np.repeat(planes[:1], len(planes), axis=0), self.kept)
            if not (planes == expected).all():
                self._refuse(int(np.argmin((planes == expected).all(axis=(1, 2, 3)))), "the planes differ")

    def _look_at_end(self) -> None:
        """Compare what is said of the end with what is said of one of its images."""
        game, image = self.game, len(self.states) - 1
        ends = [game.position_class(game, self.states[i : i + 1].copy()) for i in (0, image)]
        owners, others = (game.final_ownership(end) for end in ends)
        if owners is not None and others is not None:
            points = self.ways.points.shape[1]
            if np.shape(owners) != (points,) or not np.isin(owners, (-1, 0, 1)).all():
                self.report.note(f"`final_ownership` must give 1, -1 or 0 for each of {points} points")
            elif not np.array_equal(owners[self.ways.points[self.kept[image]]], others):
                self._refuse(image, "other points are owned")
        score, other = (game.final_score(end) for end in ends)
        if score is not None and not np.isfinite(score):
            self.report.note(f"`final_score` must give a number, not {score!r}")
        elif score != other:
            self._refuse(image, "the score differs")

    def plain(self, position: Position) -> np.ndarray:
        """The planes that the plain rule writes."""
        assert self.game.planes is not None
        planes = np.zeros(self.game.planes, np.float32)
        self.game.ask("encode", readable(position.record())[0], planes)
        return planes

    def _refuse(self, image: int, why: str) -> None:
        number = int(self.kept[image])
        self.report.note(f"`symmetries`: number {number} is not a symmetry; after the same moves seen through it {why}")
