"""Dead stones: which playouts name, what they are worth, and which GNU Go names."""

import subprocess

import numpy as np
import pytest
from tests.conftest import needs, program, when_compiled
from tests.games.shapes import DEAD_STONE, contents, drawn, midgame, pattern
from tests.reference.go import WHITE

from anabranch.errors import GameError
from anabranch.games.go import Go, MoGo, RuleSet
from anabranch.games.go.dead import CLEAR, dead_stones, judge, ownership, sum_owners
from anabranch.games.go.life import unconditional
from anabranch.jit import COMPILED
from anabranch.jit.random import generator

PLAYOUTS = 200 if COMPILED else 60


# --- dead stones --------------------------------------------------------------------------------------------------------------


def names(position, actions):
    return " ".join(position.game.name_of(int(action)) for action in sorted(actions))


def dead(text, playouts=PLAYOUTS, policy=None, **options):
    position = drawn(text, **options)
    return names(position, dead_stones(position, playouts, policy))


def test_stones_without_hope_are_dead_and_those_around_them_are_not():
    assert dead("""
        . . X O . . .
        O . X O . O .
        . . X O O . .
        X X X O . . .
        . . X O . X .
        . X X O . . .
        . . X O . . .
    """) == "F3 A6"  # fmt: skip


def test_what_lives_unconditionally_is_not_dead_and_what_stands_in_its_territory_is():
    alive = drawn(DEAD_STONE)
    against = np.array([-unconditional(alive)] * 2)  # as wrong as playouts can be
    assert names(alive, judge(alive, against, unconditional(alive))) == "E5"


def test_seki_is_left_alone():
    assert dead("""
        . X O . O X .
        X X O X O X X
        . X O X O X .
        X X O X O X X
        X X O X O X X
        . X O . O X .
        X X O O O X X
    """, policy=MoGo()) == ""  # fmt: skip


def test_bent_four_in_the_corner_is_dead_as_far_as_playouts_can_tell():
    """They play the ko that black may begin, and need not; black wins it more often than not."""
    assert dead("""
        . X . X . X .
        X X X X X X X
        X X X X X X X
        X X X X X X X
        O O O X X X X
        . . O O X X .
        X X X O X . X
    """) == "D1 C2 D2 A3 B3 C3"  # fmt: skip


def test_a_chain_is_judged_as_a_whole_and_whoever_begins():
    position = drawn("""
        . X . X .
        X X X X X
        . O O . .
    """)  # fmt: skip
    nobody, chain = np.zeros(15), [position.game.action(name) for name in ("B1", "C1")]
    for owned, expected in (
        (((1, 1), (1, 1)), "B1 C1"),
        (((1, 1), (-1, -1)), ""),  # lost only by the one who begins
        (((1, -0.5), (1, -0.5)), "B1 C1"),  # on average
        (((-1, 0.5), (1, 1)), ""),
    ):
        halves = np.zeros((2, 15))
        halves[:, chain] = owned
        assert names(position, judge(position, halves, nobody)) == expected


TOGETHER = """
    . X . X .
    X X X X X
    . . O O .
    O . . . .
    X X X X X
    . X . X .
"""
CUT_OFF = """
    . X . X .
    X X X X X
    . X O O .
    O X . . .
    X X X X X
    . X . X .
"""


@pytest.mark.parametrize(
    ("board", "first", "second", "dead"),
    [
        (TOGETHER, 2 * CLEAR, CLEAR / 2, "A3 C4 D4"),  # one is clearly black's, the other a little
        (TOGETHER, -CLEAR, CLEAR / 2, ""),  # one lives, and the other with it
        (TOGETHER, CLEAR / 2, CLEAR / 2, ""),  # nothing is clear: all live
        (CUT_OFF, 2 * CLEAR, CLEAR / 2, "C4 D4"),
    ],
)
def test_an_unclear_chain_follows_dead_ones_that_nothing_alive_cuts_it_off_from(board, first, second, dead):
    position = drawn(board)
    owned = np.array([contents(position) == 1] * 2, float)
    for owner, stones in ((first, ("C4", "D4")), (second, ("A3",))):
        owned[:, [position.game.action(name) for name in stones]] = owner
    assert names(position, judge(position, owned, np.zeros(30))) == dead


@pytest.mark.when_compiled
def test_ownership_goes_from_black_to_white_and_has_a_seed():
    position = drawn(DEAD_STONE)
    owned = ownership(position, PLAYOUTS, seed=5)
    assert owned.shape == (25,)
    assert pattern(position, np.round(owned)) == "\n".join(["X X O O O"] * 5)
    opening = Go(5).start()
    assert (ownership(opening, 10, seed=5) == ownership(opening, 10, seed=5)).all()
    assert (ownership(opening, 10, seed=5) != ownership(opening, 10, seed=6)).any()
    assert np.abs(ownership(opening, PLAYOUTS)).max() < 0.8  # nobody's, whoever begins
    with pytest.raises(GameError, match="give 1 or more"):
        ownership(opening, playouts=0)


def test_ownership_and_life_are_the_same_compiled_and_plain():
    game = Go(7)
    for seed in range(4):
        position = midgame(game, 40 + 4 * seed, seed)
        both = []
        for run in (sum_owners, sum_owners.plain):
            owned, secure = np.zeros((2, 49)), np.zeros(49, np.int8)
            states = np.concatenate([position.record()] * 2)
            run(states, MoGo(), 2, generator(seed), np.zeros(2), owned, secure)
            assert (secure == unconditional(position)).all()
            assert states[:1].tobytes() == position.data
            both.append(owned)
        assert (both[0] == both[1]).all()


def test_the_score_is_told_with_dead_stones_taken_off():
    board = """
        . X . O X
        X X X X X
        O O O O O
        O . O . O
        O O O O O
    """
    position = drawn(board, komi=0.5)
    game = position.game
    assert game.lead(position) == (8 - 16) - 0.5
    assert game.lead(position, dead=["D5"]) == game.lead(position, dead=[game.action("D5")]) == (10 - 15) - 0.5
    assert game.result(position) == "W+8.5"
    assert game.result(position, dead="playouts") == game.result(position, dead=["D5"]) == "W+5.5"
    assert game.result(position, dead=["A1", "A2"]) == "B+21.5"  # one stone of a chain stands for all
    assert drawn(board, komi=-8).game.result(drawn(board, komi=-8)) == "0"
    assert drawn(board, komi=-9).game.result(drawn(board, komi=-9)) == "B+1"


def test_dead_stones_are_prisoners_under_territory_scoring():
    position = drawn(DEAD_STONE, scoring="territory")
    assert position.game.lead(position, dead=["E5"]) == 3 - (5 + 1)


def test_only_stones_can_be_dead():
    position = drawn(DEAD_STONE)
    for nothing in (["D5"], [3], ["pass"]):
        with pytest.raises(GameError, match="there is no stone at"):
            position.game.lead(position, dead=nothing)
    with pytest.raises(GameError, match="give the dead stones, or 'playouts'"):
        position.game.lead(position, dead="somehow")


def test_a_game_that_ended_by_repetition_is_a_draw_whatever_stands_there():
    position = drawn("""
        . . . .
        . . . .
        X X O O
        . O . O
    """, to_play=WHITE, komi=0.5)  # fmt: skip
    for move in ("A1", "C1", "B1", "pass"):
        position = position.play(move)
        assert position.game.result(position) != "0"
    position = position.play("A1")
    assert position.is_over and position.game.result(position) == "0"


# --- against GNU Go -----------------------------------------------------------------------------------------------------------


class GnuGo:
    """GNU Go behind GTP."""

    def __init__(self):
        command = [program("gnugo"), "--mode", "gtp", "--level", "1", "--chinese-rules", "--never-resign"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        lines = list(iter(self.process.stdout.readline, "\n"))
        assert lines[0].startswith("="), (command, lines)
        return "".join(lines).removeprefix("=").strip()

    def finish(self, position):
        """Play a game to its end from here, both sides."""
        game, moves = position.game, list(position.moves)
        for command in (f"boardsize {game.width}", "clear_board", f"komi {game.komi}"):
            self.ask(command)
        for ply, action in enumerate(moves):
            self.ask(f"play {'bw'[ply % 2]} {game.name_of(action)}")
        while not position.is_over:
            position = position.play(self.ask(f"genmove {'bw'[position.to_play]}"))
        return position


@when_compiled
def test_dead_stones_at_the_end_of_games_are_those_that_gnugo_names():
    needs("gnugo")
    game = Go(9, komi=7.5, rules=RuleSet(ko="simple"))
    gnugo = GnuGo()
    stones = agreed = same_score = was_dead = 0
    for seed in range(15):
        position = gnugo.finish(midgame(game, 45, seed))
        theirs = {game.action(name) for name in gnugo.ask("final_status_list dead").split()}
        ours = set(dead_stones(position))
        stones += np.abs(contents(position)).sum()
        agreed += np.abs(contents(position)).sum() - len(ours ^ theirs)
        was_dead += len(theirs)
        same_score += game.result(position, dead=ours) == gnugo.ask("final_score")
    gnugo.ask("quit")
    gnugo.process.wait(10)
    assert was_dead > 50
    assert agreed >= 0.95 * stones, f"{agreed} of {stones} stones"
    assert same_score >= 12, f"{same_score} of 15 scores"
