"""The rules of Go before GnuGo: the same legal moves, stones, prisoners, scores and handicaps."""

import os
import random
import subprocess
from collections import Counter
from itertools import product

import numpy as np
import pytest
from tests.conftest import needs, program
from tests.games.boards import more_prisoners, named, names_of
from tests.reference.go import BLACK, WHITE

from anabranch.errors import GameError
from anabranch.games import rules
from anabranch.games.go import RULE_SETS, Go
from anabranch.games.go.layout import EMPTY, cell_of, pass_of
from anabranch.games.go.stones import is_eye
from anabranch.jit import COMPILED, kernel

GAMES = int(os.environ.get("ANABRANCH_RULE_GAMES", "1000"))  # as in test_openspiel.py
KO_OPTION = {"simple": "--simple-ko", "positional": "--positional-superko", "situational": "--situational-superko"}
GNUGO_GAMES = max(1, GAMES // 100)  # of each size and rule set
GNUGO_SIZES = (5, 7, 9, 13) if COMPILED else (5,)
MANY_GNUGO_GAMES = 10 * GNUGO_GAMES  # on 3x3, where superko is not rare
COLOURS = ("black", "white")


class GnuGo:
    """A GnuGo process that plays by these rules."""

    def __init__(self, chosen):
        needs("gnugo")
        self.options = [
            KO_OPTION[chosen.ko],
            "--allow-suicide" if chosen.suicide else "--forbid-suicide",  # never of a single stone
            "--chinese-rules" if chosen.scoring == "area" else "--japanese-rules",
        ]

    def __enter__(self):
        command = [program("gnugo"), "--mode", "gtp", *self.options]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *error):
        self.process.communicate("quit\n", timeout=10)

    def ask(self, commands):
        """The answers to many commands, as lists of words; they are sent together, as many as surely fit into a pipe."""
        answers = []
        for start in range(0, len(commands), 1000):
            batch = commands[start : start + 1000]
            self.process.stdin.write("".join(f"{command}\n" for command in batch))
            self.process.stdin.flush()
            answers += [self.answer(command) for command in batch]
        return answers

    def try_to(self, command):
        """The answer, or None if GnuGo refuses."""
        self.process.stdin.write(f"{command}\n")
        self.process.stdin.flush()
        return self.read()

    def answer(self, command):
        answer = self.read()
        assert answer is not None, f"GnuGo refuses to {command}"
        return answer

    def read(self):
        lines = []
        while not lines or lines[-1].strip():
            lines.append(self.process.stdout.readline())
            assert lines[-1], "GnuGo has gone"
        return "".join(lines)[1:].split() if lines[0].startswith("=") else None


ILLEGAL, LEGAL, SELF_TAKEN = range(3)


@kernel
def look(states, keys, ply, forbids, points, eyes):
    """What the compiled rules say of the points at states[0], repetitions looked at, and which are own eyes; how many are not
    legal for a repetition alone. If that is a suicide the point is SELF_TAKEN: GnuGo does not look for repetitions there.
    states[1] is scratch; keys, u8 (plies, 2), are those of the game so far.
    """
    state = states[0]
    repetitions = 0
    keys[ply, 0], keys[ply, 1] = rules.repetition_key(state)
    for point in range(pass_of(state)):
        cell = cell_of(state, point)
        points[point] = LEGAL if rules.is_legal(state, point) else ILLEGAL
        eyes[point] = is_eye(state, cell, rules.to_play(state) + 1)
        if points[point] == LEGAL and forbids:
            states[1] = state
            rules.play(states[1], point, eyes)
            low, high = rules.repetition_key(states[1])
            for earlier in range(ply + 1):
                if keys[earlier, 0] == low and keys[earlier, 1] == high:
                    points[point] = SELF_TAKEN if states[1].colour[cell] == EMPTY else ILLEGAL
                    repetitions += 1
                    break
    return repetitions


@kernel
def advance(states, action, returns):
    """Play; whether the game is over."""
    rules.play(states[0], action, returns)
    if rules.is_over(states[0]):
        rules.returns(states[0], returns, returns)
    return rules.is_over(states[0])


class Told:
    """A random game by our compiled rules, as commands to GnuGo and the answers that we expect.

    At first anything is played, then light moves, which fill no own eye, until there are none. Then nothing is dead and nothing
    is in seki, and `final_score`, which takes dead stones off the board, counts what we count. (But on 3x3 superko may forbid
    to take what is dead.)
    """

    def __init__(self, game, seed, happened):
        self.game, self.happened, self.random = game, happened, random.Random(seed)
        start = game.start()
        self.states = np.concatenate([start.record()] * 2)
        self.names = np.array([game.name_of(action) for action in range(game.actions)])
        self.cells = [int(cell_of(start.state, action)) for action in range(game.actions - 1)]
        self.plays = [0, 0]
        self.commands, self.answers = [], []
        for command in (f"boardsize {game.width}", "clear_board", f"komi {game.komi}"):
            self.tell(command)
        self.play(anything=game.actions if game.width > 3 else 60, light=2 * game.actions)

    def tell(self, command, answer=()):
        self.commands.append(command)
        self.answers.append(sorted(answer))

    def play(self, anything, light):
        keys, returns = np.zeros((anything + light, 2), np.uint64), np.zeros(2)
        points, eyes = np.zeros((2, self.game.actions - 1), np.int64)
        forbids, passed = self.game.repetition == "forbidden", True
        for ply in range(anything + light):
            self.happened["repetitions"] += look(self.states, keys, ply, forbids, points, eyes)
            self.happened["self-taken"] += (points == SELF_TAKEN).sum()
            self.tell(f"all_legal {COLOURS[ply % 2]}", self.names[:-1][points != ILLEGAL])
            self.tell_board()
            wanted = np.flatnonzero((points == LEGAL) if ply < anything else (points == LEGAL) & (eyes == 0))
            passed = len(wanted) == 0 or (ply < anything and not passed and self.random.random() < 0.03)
            action = self.game.actions - 1 if passed else int(self.random.choice(wanted))
            self.tell(f"play {COLOURS[ply % 2]} {self.names[action]}")
            self.plays[ply % 2] += not passed
            if advance(self.states, action, returns):
                if ply > anything and self.game.width > 3 and abs(returns[0]) < self.game.value_range[1]:
                    self.tell("final_score", [f"{'WB'[int(returns[0] > 0)]}+{abs(returns[0])}"])
                    self.happened["scores"] += 1
                break

    def tell_board(self):
        colours = self.states["colour"][0][self.cells]
        stones = [self.names[:-1][colours == player + 1] for player in (BLACK, WHITE)]
        prisoners = [self.plays[player] - len(stones[player]) for player in (WHITE, BLACK)]
        assert prisoners[BLACK] - prisoners[WHITE] == more_prisoners(self.states[0])
        for player, colour in enumerate(COLOURS):
            self.tell(f"list_stones {colour}", stones[player])
            self.tell(f"captures {colour}", [str(prisoners[player])])


@pytest.mark.parametrize("name", sorted(RULE_SETS))
def test_gnugo_sees_the_same_legal_moves_stones_prisoners_and_score(name):
    happened = Counter()
    with GnuGo(RULE_SETS[name]) as gnugo:
        for size, number in [*product(GNUGO_SIZES, range(GNUGO_GAMES)), *product([3], range(MANY_GNUGO_GAMES))]:
            told = Told(Go(size, komi=6.5, rules=named[name], returns="score"), f"{name} {size} {number}", happened)
            for command, expected, answer in zip(told.commands, told.answers, gnugo.ask(told.commands), strict=True):
                assert sorted(answer) == expected, (command, told.commands)
    if COMPILED and GNUGO_GAMES >= 10:  # enough to be sure of these
        assert happened["scores"] > 0.5 * GNUGO_GAMES * len(GNUGO_SIZES), happened  # others ended before, or paid all there is
        assert (happened["repetitions"] > 10) == (RULE_SETS[name].ko != "simple"), happened


def test_handicap_stones_stand_where_gnugo_puts_them():
    with GnuGo(RULE_SETS["chinese"]) as gnugo:
        for size in {*range(2, 20)} - {12}:  # there GnuGo takes the fourth line, others the third
            for stones in range(2, 10):
                try:
                    ours = Go(size, handicap=stones).start()
                except GameError:
                    ours = None
                gnugo.ask([f"boardsize {size}", "clear_board"])
                theirs = gnugo.try_to(f"fixed_handicap {stones}")
                assert (ours is None) == (theirs is None), (size, stones)
                if ours is not None:
                    assert sorted(theirs) == sorted(names_of(ours, "X")) and len(theirs) == stones
                    assert ours.to_play == WHITE and names_of(ours, "O") == []
