"""Unconditional life, ladders, dead stones, and the scores that depend on them.

Boards are drawn, X black and O white. What is fast has a slow twin here, on the board of `tests/reference/go.py`.
"""

import subprocess
from copy import deepcopy
from itertools import product
from textwrap import dedent

import numpy as np
import pytest
from tests.conftest import needs, program, when_compiled
from tests.reference.go import BLACK, WHITE, Board

from anabranch.errors import GameError
from anabranch.games import rules
from anabranch.games.go import Go, MoGo, RuleSet
from anabranch.games.go.dead import CLEAR, dead_stones, judge, ownership, sum_owners
from anabranch.games.go.ladder import SPARE, is_captured, read_ladder
from anabranch.games.go.layout import cell_of
from anabranch.games.go.life import unconditional
from anabranch.games.go.score import half_points
from anabranch.games.playout import begin, pick
from anabranch.jit import COMPILED, kernel, readable
from anabranch.jit.random import generator

PLAYOUTS = 200 if COMPILED else 60
MARKS = {0: ".", 1: "X", -1: "O"}


# --- boards -------------------------------------------------------------------------------------------------------------------


def rows(text):
    return dedent(text).strip()


def drawn(text, to_play=BLACK, komi=0, rules=None, **points):
    """The position of a drawn board; all stones live and nothing is taxed, unless these points say otherwise."""
    lines = rows(text).splitlines()
    rules = rules or RuleSet(**{"ko": "simple", "dead": "none", **points})
    return Go((len(lines[0].split()), len(lines)), komi=komi, rules=rules).drawn(text, to_play)


def over(position):
    return position.play("pass").play("pass")


def names(position, actions):
    return " ".join(position.game.name_of(int(action)) for action in sorted(actions))


def pattern(position, numbers):
    """Numbers of points, drawn: 1 is X, -1 is O."""
    marks = [MARKS[int(number)] for number in numbers]
    width = position.game.width
    return "\n".join(reversed([" ".join(marks[start : start + width]) for start in range(0, len(marks), width)]))


def life(text, **points):
    position = drawn(text, **points)
    return pattern(position, unconditional(position))


def contents(position):
    """1 for each point with a black stone, -1 for each with a white one."""
    state = position.state
    colours = [int(state.colour[cell_of(state, action)]) for action in range(position.game.actions - 1)]
    return np.array([(0, 1, -1)[colour] for colour in colours])


def random_board(random, width, height, black, white):
    """Stones at random, where all chains have liberties; such shares of the points are black and white."""
    while True:
        board = Board(width, height)
        chosen = random.choice([None, BLACK, WHITE], size=len(board.points), p=[1 - black - white, black, white])
        board.stones = {point: stone for point, stone in zip(board.points, chosen, strict=True) if stone is not None}
        if all(board.liberties(board.stones, board.connected(board.stones, point)) for point in board.stones):
            return board


def position_of(board, **points):
    game = Go((board.width, board.height), komi=0, rules=RuleSet(**{"ko": "simple", "dead": "none", **points}), returns="score")
    black, white = ([x + y * board.width for (x, y), stone in board.stones.items() if stone == c] for c in (BLACK, WHITE))
    return game.arranged(black, white)


@kernel
def play_on(states, policy, plies, random, rewards, actions):
    """Moves of a default policy, written down."""
    begin(policy, states[0])
    for ply in range(plies):
        actions[ply] = pick(policy, states[0], random)
        rules.play(states[0], actions[ply], rewards)


def midgame(game, plies, seed):
    """The position after so many moves of a playout."""
    actions = np.zeros(plies, np.int64)
    play_on(game.start().record(), MoGo(), plies, generator(seed), np.zeros(2), actions)
    position = game.start()
    for action in actions:
        position = position.after(int(action))
    return position


# --- unconditional life -------------------------------------------------------------------------------------------------------


def test_two_eyes_live_and_are_territory():
    assert life("""
        . X . X .
        X X X X .
        . . . . .
        . . . . .
    """) == rows("""
        X X X X .
        X X X X .
        . . . . .
        . . . . .
    """)  # fmt: skip


def test_one_eye_does_not_live_and_an_empty_board_is_nobodys():
    assert set(life("""
        . . X X .
        X X X X .
        . . . . .
    """)) == {".", " ", "\n"}  # fmt: skip
    assert not unconditional(Go(5).start()).any()


def test_chains_that_share_two_eyes_live_together():
    assert life("""
        . . . .
        X X . .
        X . X .
        . X X .
    """) == rows("""
        . . . .
        X X . .
        X X X .
        X X X .
    """)  # fmt: skip


def test_an_eye_that_hangs_on_a_chain_without_life_is_none():
    assert set(life("""
        . X . X .
        X X X . .
        . . . . .
    """)) == {".", " ", "\n"}  # fmt: skip


def test_life_and_death_of_both_colours_are_told_apart():
    assert life("""
        . X . O X
        X X X X X
        O O O O O
        . O . O .
        O O O O O
    """) == rows("""
        X X X X X
        X X X X X
        O O O O O
        O O O O O
        O O O O O
    """)  # fmt: skip


ENEMY_INSIDE = """
    . X X X X
    X X X X X
    X . . . X
    X . O . X
    X . . . X
    X X X X X
"""


def test_an_eye_with_an_enemy_in_its_middle_counts_unless_he_can_take_himself_off():
    assert set(life(ENEMY_INSIDE)) == {"X", " ", "\n"}
    assert set(life(ENEMY_INSIDE, suicide=True)) == {".", " ", "\n"}


def test_territory_has_no_room_for_two_eyes():
    assert life("""
        . X . X X
        X X X X X
        X . . . X
        X . . . X
        X . . . X
        X . . . X
        X X X X X
    """) == rows("""
        X X X X X
        X X X X X
        X . . . X
        X . . . X
        X . . . X
        X . . . X
        X X X X X
    """)  # fmt: skip


def taken_by_a_lone_attacker(board, owner):
    """The stones of a player that the other one can take if he alone plays: all that he can bring about is tried."""
    board.to_play = 1 - owner
    own = {point for point, stone in board.stones.items() if stone == owner}
    seen, to_do, taken = set(), [board.stones], set()
    while to_do:
        board.stones = to_do.pop()
        for point in board.points:
            if point not in board.stones:
                stones, _, lost = board.after(point)
                if len(lost) != 1 and not (lost and not board.suicide) and frozenset(stones.items()) not in seen:
                    seen.add(frozenset(stones.items()))
                    to_do.append(stones)
                    taken |= own - stones.keys()
    return taken


@pytest.mark.parametrize("suicide", [False, True])
def test_what_lives_is_exactly_what_a_lone_attacker_cannot_take(suicide):
    random = np.random.default_rng(1)
    lived = died = 0
    while min(lived, died) < (15 if COMPILED else 10):
        board = random_board(random, *random.choice([(3, 3), (4, 3), (5, 2)]), black=0.6, white=0.1)
        if list(board.stones.values()).count(BLACK) < len(board.points) - 5:
            continue  # too much that an attacker can try
        board.suicide = suicide
        alive = unconditional(position_of(board, suicide=suicide)) == 1
        own = {point for point, stone in board.stones.items() if stone == BLACK}
        drawing = board.rows()
        living = {point for point in own if alive[point[0] + point[1] * board.width]}
        assert living == own - taken_by_a_lone_attacker(board, BLACK), drawing
        lived, died = lived + bool(living), died + (living != own)


def test_a_lone_attacker_cannot_live_in_unconditional_territory():
    random = np.random.default_rng(2)
    invaded = 0
    while invaded < (30 if COMPILED else 8):
        board = random_board(random, 5, 5, black=0.55, white=0.12)
        territory = (unconditional(position_of(board)) == 1) & (contents(position_of(board)) != 1)
        invaded += territory.sum() > 3
        board.to_play = WHITE
        for _ in range(12 if territory.sum() > 3 else 0):
            points = [point for point in board.points if point not in board.stones and not board.after(point)[2]]
            if not points:
                break
            board.stones, taken, _ = board.after(points[random.integers(len(points))])
            assert not taken & {board.point(action) for action in np.flatnonzero(territory)}
            assert (unconditional(position_of(board))[territory] != -1).all(), board.rows()


# --- scores -------------------------------------------------------------------------------------------------------------------

DEAD_STONE = """
    . X O . X
    X X O O O
    . X O . O
    X X O O O
    . X O . .
"""  # black has three eyes; white has five points around a dead stone


@pytest.mark.parametrize(
    ("scoring", "dead", "lead"),
    [
        ("area", "none", 11 - 13),
        ("area", "agreed", 10 - 15),
        ("territory", "none", 3 - 3),
        ("territory", "agreed", 3 - (5 + 1)),
    ],
)
def test_stones_in_unconditional_territory_are_dead_after_two_passes_where_that_is_agreed(scoring, dead, lead):
    position = drawn(DEAD_STONE, scoring=scoring, dead=dead)
    assert position.game.lead(over(position)) == lead
    without = drawn(DEAD_STONE, scoring=scoring, dead="none")
    assert position.game.lead(position) == without.game.lead(without)  # while the game goes on, all live


def test_playouts_know_no_dead_stones():
    state = readable(over(drawn(DEAD_STONE, dead="agreed")).record())[0]
    assert half_points(state) == 2 * (10 - 15)
    state.quick = 1
    assert half_points(state) == 2 * (11 - 13)


SEKI = """
    . X X . O O .
    . X X . O O O
"""


@pytest.mark.parametrize(
    ("scoring", "tax", "lead"),
    [
        ("area", "none", (4 + 2) - (5 + 1)),
        ("area", "seki", 4 - 5),
        ("area", "all", 4 - 5),
        ("territory", "none", 2 - 1),
        ("territory", "seki", 0),
    ],
)
def test_groups_at_a_neutral_point_are_in_seki_and_have_no_territory_where_that_is_taxed(scoring, tax, lead):
    position = drawn(SEKI, scoring=scoring, tax=tax)
    assert position.game.lead(position) == lead


@pytest.mark.parametrize(("tax", "lead"), [("none", 12 - 9), ("seki", 12 - 9), ("all", (12 - 4) - (9 - 2))])
def test_every_group_pays_for_two_eyes_where_all_are_taxed(tax, lead):
    position = drawn(
        """
        . X O . O X .
        X X O O O X X
        . X O . O X .
        """,
        tax=tax,
    )
    assert position.game.lead(position) == lead


def slow_area(board, dead, tax):
    """Black's area less white's without dead stones, taxes paid."""
    stones = {point: stone for point, stone in board.stones.items() if point not in dead}
    owners = dict(stones)
    for point in set(board.points) - stones.keys():
        region = board.connected(stones, point)
        around = {stones[near] for cell in region for near in board.neighbours(cell) if near in stones}
        owners[point] = around.pop() if len(around) == 1 else None
    points = [0, 0]
    left = {point for point, owner in owners.items() if owner is not None}
    while left:
        point = left.pop()
        group = board.connected(owners, point)
        left -= group
        territory = len(group - stones.keys())
        is_seki = any(owners[near] is None for cell in group for near in board.neighbours(cell))
        paid = territory if is_seki else min(territory, 2) if tax == "all" else 0
        points[owners[point]] += len(group) - (0 if tax == "none" else paid)
    return points[BLACK] - points[WHITE]


@kernel
def compiled_half_points(states):
    """The score as kernels count it."""
    return half_points(states[0])


@pytest.mark.parametrize(("tax", "dead"), list(product(("none", "seki", "all"), ("none", "agreed"))))
def test_scores_on_random_boards_are_those_of_the_slow_board(tax, dead):
    random = np.random.default_rng(3)
    taken_off = 0
    for _ in range(60 if COMPILED else 25):
        board = random_board(random, 6, 5, black=0.5, white=0.2)
        position = over(position_of(board, tax=tax, dead=dead))
        sides = contents(position) * unconditional(position)
        gone = {board.point(action) for action in np.flatnonzero(sides < 0)} if dead == "agreed" else set()
        expected = slow_area(board, gone, tax)
        assert position.game.lead(position) == expected, board.rows()
        assert position.returns == [expected, -expected]
        record = position.record()
        assert compiled_half_points(record) == 2 * expected
        assert record.tobytes() == position.data  # what counts points leaves nothing behind
        taken_off += bool(gone)
    assert taken_off > 3 or dead == "none"


# --- ladders ------------------------------------------------------------------------------------------------------------------

LADDER = """
    . . . . . . . . .
    . . . . . . . . .
    . . . . . . . . .
    . . . . . . . . .
    . . . . . . . . .
    . X . . . . . . .
    . X O . . . . . .
    . . X . . . . . .
    . . . . . . . . .
"""


def test_a_ladder_works_and_its_chain_gets_away_if_it_moves_first():
    assert is_captured(drawn(LADDER), "C3")
    assert not is_captured(drawn(LADDER, to_play=WHITE), "C3")
    assert not is_captured(drawn(LADDER), "C3", to_play=WHITE)


def test_a_stone_on_the_way_breaks_a_ladder_and_one_beside_it_does_not():
    board = drawn(LADDER)
    for white, is_broken in (("F6", True), ("G7", True), ("G6", True), ("H8", True), ("A9", False), ("J1", False)):
        assert is_captured(board.game.arranged(["B3", "B4", "C2"], ["C3", white]), "C3") == (not is_broken), white


def test_a_stone_of_the_attacker_makes_a_ladder():
    game = drawn(LADDER).game
    assert not is_captured(game.arranged(["B3", "C2"], ["C3"]), "C3")
    assert is_captured(game.arranged(["B3", "C2", "D2"], ["C3"]), "C3")
    assert is_captured(game.arranged(["B3", "B4", "C2", "G7"], ["C3", "H8"]), "C3")  # before the breaker


def test_a_chain_that_runs_along_the_edge_is_caught_in_the_corner():
    assert is_captured(drawn("""
        . . . . . . .
        . . X . . . .
        . X O . . . .
    """, to_play=WHITE), "C1")  # fmt: skip
    assert not is_captured(drawn("""
        . . . . . . .
        . . X . O . .
        . X O . . . .
    """, to_play=WHITE), "C1")  # fmt: skip


def test_taking_an_attacker_saves_the_chain():
    board = """
        . . . . .
        . . X O .
        . X O X O
        . X . . .
    """
    assert not is_captured(drawn(board, to_play=WHITE), "C2")
    assert is_captured(drawn(board.replace("X O\n        . X .", "X .\n        . X ."), to_play=WHITE), "C2")  # not in atari


def test_three_liberties_are_no_ladder_and_one_is_the_end():
    board = """
        . . . . .
        . . . . .
        . X O . .
        . . . . .
        . . . . .
    """
    assert not is_captured(drawn(board), "C3")
    assert not is_captured(drawn(board), "B3", to_play=WHITE)
    around = drawn(board).game.arranged(["B3", "C2", "D3"], ["C3"])
    assert is_captured(around, "C3")


def test_a_ko_is_not_taken_back():
    board = drawn(
        """
        . X O . .
        X . X O .
        . X O . .
        . . . . .
        """,
        to_play=WHITE,
    )
    taken = board.play("B3")
    assert not is_captured(taken, "B3")
    assert is_captured(taken.play("pass").play("pass").without_past(), "B3")


def test_a_chain_with_two_liberties_may_be_caught_even_if_it_moves_first():
    board = """
        . X X . X
        X X X X X
        X . O . X
        X X X X X
    """
    assert is_captured(drawn(board, to_play=WHITE), "C2")
    assert not is_captured(drawn(board.replace(". X X . X", "X X X X X"), to_play=WHITE), "C2")  # black has no other liberty


def test_what_takes_too_long_to_read_counts_as_an_escape():
    assert not is_captured(drawn(LADDER), "C3", most_moves=5)
    position = drawn(LADDER)
    action = position.game.action("C3")
    assert read_ladder(position.record(), np.empty(40, position.game.record), action, 1_000)
    assert not read_ladder(position.record(), np.empty(6, position.game.record), action, 1_000)


def test_a_ladder_runs_across_the_whole_board():
    game = Go(19)
    assert is_captured(game.arranged(["B3", "B4", "C2"], ["C3"]), "C3")
    assert not is_captured(game.arranged(["B3", "B4", "C2"], ["C3", "Q16"]), "C3")


def test_there_must_be_a_stone():
    with pytest.raises(GameError, match="no stone at A1"):
        is_captured(drawn(LADDER), "A1")
    with pytest.raises(GameError, match="no stone at 81"):
        is_captured(drawn(LADDER), 81)


def slow_is_captured(board, stone, left, is_root=True):
    """The same by recursion, with so many moves left: in atari the defender tries everything there is."""
    owner = board.stones.get(stone)
    chain = board.connected(board.stones, stone)
    liberties = board.liberties(board.stones, chain)
    actions = {x + y * board.width for x, y in liberties}
    legal = [action for action in board.legal_actions() if action != board.pass_action]
    if board.to_play != owner:
        if len(liberties) == 1:
            return bool(actions & set(legal))
        if len(liberties) > 2:
            return False
        tries = [action for action in legal if action in actions]
    elif len(liberties) == 1:
        tries = legal
    elif len(liberties) > 2 or not is_root:
        return False
    else:
        beside = {near for point in chain for near in board.neighbours(point)}
        saving = [action for action in legal if board.after(board.point(action))[1] & beside]
        tries = [*(action for action in legal if action in actions), *saving, board.pass_action]
    wants = board.to_play != owner  # the attacker: one move that captures; the defender: one that does not
    if left == 1 and tries:
        return False
    return wants if any(slow_after(board, action, stone, left) == wants for action in tries) else not wants


def slow_after(board, action, stone, left):
    following = deepcopy(board)
    following.play(action)
    following.is_draw = False  # a position that comes again is a matter of the game, not of the ladder
    return slow_is_captured(following, stone, left - 1, is_root=False)


def replayed(position, to_play):
    """The slow board after the same moves; if it is the other player's turn, as after a pass."""
    board = Board(position.game.width, position.game.height, ko="simple")
    for action in position.moves:
        board.play(action)
        board.is_draw = False
    board.past = board.past[-1:] if to_play == board.to_play else []
    board.to_play = to_play
    return board


def test_ladders_on_random_boards_are_those_of_the_slow_reader():
    results = {True: 0, False: 0}
    game = Go(5, rules=RuleSet(ko="simple"))
    for seed, to_play in product(range(25 if COMPILED else 10), (BLACK, WHITE)):
        position = midgame(game, 12 + seed % 9, seed)
        board = replayed(position, to_play)
        for stone in board.stones:
            chain = board.connected(board.stones, stone)
            if stone == min(chain) and len(board.liberties(board.stones, chain)) <= 2:
                action = stone[0] + 5 * stone[1]
                expected = slow_is_captured(deepcopy(board), stone, int(position.state.empty_count) + SPARE)
                assert is_captured(position, action, to_play) == expected, f"{position}\n{game.name_of(action)}, {to_play}"
                results[expected] += 1
    assert min(results.values()) > 10, results


# --- dead stones --------------------------------------------------------------------------------------------------------------


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
