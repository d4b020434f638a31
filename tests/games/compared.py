"""Random games on our board and on the slow one of `tests/reference/go.py`, compared at every move."""

import random
from textwrap import dedent

import numpy as np
import pytest
from tests.games.boards import board, drawn, more_prisoners
from tests.reference.go import BLACK, WHITE, Board

from anabranch.errors import IllegalMove
from anabranch.games.go import Go
from anabranch.games.go.layout import NO_CELL, action_of

TOLD = {"occupied": "there is a stone", "suicide": "suicide", "ko": "ko", "superko": "repeats an earlier position"}
NEAR = 2  # columns and rows between a move and the one before it, so that there are fights on large boards too


class Compared:
    """One random game, played by our plain positions and by the slow board side by side."""

    def __init__(self, size, chosen, komi, seed, happened, start=None):
        self.game = Go(size, komi=komi, rules=chosen, returns="score")
        self.ours = drawn(self.game, start) if start else self.game.start()
        points = {"ko": chosen.ko, "scoring": chosen.scoring, "suicide": chosen.suicide}
        self.slow = Board(self.game.width, self.game.height, komi, **points)
        if start:
            self.slow.arrange(dedent(start).split())
        self.random = random.Random(seed)
        self.happened = happened
        self.last = None  # the point of the last play

    def run(self, plies, every):
        """Compare the board at each ply; what takes longer at every so manyth, and where there may be a ko."""
        may_be_ko = False
        for ply in range(plies):
            self.compare()
            if ply % every == 0 or may_be_ko:
                self.compare_moves()
            if self.slow.is_over:
                return
            before = sum(self.slow.prisoners)
            self.step()
            may_be_ko = sum(self.slow.prisoners) == before + 1
        self.compare_score()

    def step(self):
        action = self.choose()
        self.ours = self.ours.play(action)
        self.slow.play(action)

    def choose(self):
        """A legal action near the last one: rather one that takes stones, loses them, or puts itself into atari."""
        slow = self.slow
        weights = {slow.pass_action: 0.1}
        for action in filter(self.is_near, range(slow.pass_action)):
            if not slow.why_illegal(action):
                stones, taken, lost = slow.after(slow.point(action))
                chain = slow.connected(stones, slow.point(action))
                weights[action] = 20 if taken or lost else 3 if len(slow.liberties(stones, chain)) == 1 else 1
        chosen = self.random.choices(list(weights), list(weights.values()))[0]
        if chosen != slow.pass_action:
            self.last = slow.point(chosen)
            _, taken, lost = slow.after(self.last)
            self.happened["captures"] += len(taken) > 0
            self.happened["suicides"] += len(lost) > 1
        return chosen

    def is_near(self, action):
        column, row = self.slow.point(action)
        return self.last is None or max(abs(column - self.last[0]), abs(row - self.last[1])) <= NEAR

    def compare(self):
        ours, slow = self.ours, self.slow
        assert board(ours) == slow.rows()
        assert more_prisoners(ours.state) == slow.prisoners[BLACK] - slow.prisoners[WHITE]
        assert ours.is_over == slow.is_over
        assert ours.repeats == slow.is_draw
        assert ours.to_play == slow.to_play
        assert ours.returns == (self.paid() if slow.is_over else [0.0, 0.0])
        self.happened["draws by repetition"] += slow.is_draw
        self.happened["ends by passes"] += slow.passes == 2

    def compare_moves(self):
        ours, slow = self.ours, self.slow
        assert ours.legal_actions == slow.legal_actions()
        if slow.is_over:
            return
        why = {action: slow.why_illegal(action) for action in range(slow.pass_action)}
        self.happened.update(why.values())
        state = ours.state
        ko = [action for action, reason in why.items() if reason == "ko"]
        assert ko == ([] if state.ko_cell == NO_CELL else [action_of(state, np.uint64(state.ko_cell))])
        illegal = [action for action, reason in why.items() if reason and (reason != "occupied" or action % 8 == 0)]
        if illegal and self.random.random() < 0.3:
            action = self.random.choice(illegal)
            with pytest.raises(IllegalMove, match=TOLD[why[action]]):
                ours.play(action)

    def compare_score(self):
        while not self.slow.is_over:
            self.ours = self.ours.play("pass")
            self.slow.play(self.slow.pass_action)
        self.compare()

    def paid(self):
        """The score, no more than the declared range allows: under territory scoring prisoners can exceed it."""
        low, high = self.game.value_range
        black = min(max(self.slow.score(), low), high)
        return [black, -black]
