"""What is seen of moves, and what was learnt of it."""

import json

import numpy as np
import pytest
from benchmarks import shapes_go
from hypothesis import given
from hypothesis import strategies as st
from tests.games.test_go_sense import ATTACK, EYE, SAVE, SELF_ATARI

from anabranch.evaluate import advise
from anabranch.games.go import Go, Shapes, shapes
from anabranch.games.go.layout import cell_of
from anabranch.games.go.patterns import AROUND, CODES, SHAPE_NUMBERS, SHAPES
from anabranch.games.go.shapes import FEATURES, WEIGHTS, features_of, liking_of
from anabranch.games.symmetry import dihedral
from anabranch.jit import kernel
from anabranch.jit.records import readable

SIZE = 9
EMPTY = "\n".join([" ".join("." * 9)] * 9)


def state_of(position):
    """A record of a position to work on."""
    return readable(position.record())[0]


def position_of(drawing, to_play=0, moves=()):
    lines = drawing.strip().splitlines()
    position = Go((len(lines[0].split()), len(lines))).drawn(drawing.strip(), to_play)
    for name in moves:
        position = position.play(name)
    return position


def seen(position, move):
    """The features of a move."""
    state = state_of(position)
    count = features_of(state, cell_of(state, position.game.action(move)), np.int64(state.turn) + 1)
    return [int(feature) for feature in state.queue[:count]]


CAPTURE_TWO = """
. . . . .
. . X X .
. X O O .
. . X X .
. . . . ."""
RESCUE = """
. . . . .
. . O . .
. O X . .
. X O . .
. . X . ."""
RUN = ". O .\nO X O\n. . O"
TRAP = """
. . . . .
. . . . .
. . . . .
O X . . .
. . . . ."""


@pytest.mark.parametrize(
    ("drawing", "move", "features"),
    [
        (CAPTURE_TWO, "E3", [shapes.CAPTURE + 1]),
        (RESCUE, "D2", [shapes.RESCUE]),
        (RESCUE, "D3", [shapes.SAVE]),
        (SAVE, "D3", [shapes.SAVE]),
        (RUN, "B1", [shapes.TRAP + 1, shapes.RUN, shapes.SELF_ATARI + 1]),
        (ATTACK, "C4", [shapes.ATTACK]),
        (TRAP, "A3", [shapes.TRAP]),  # it runs along the edge into a corner
        (TRAP, "A1", [shapes.ATTACK, shapes.SELF_ATARI]),
        (SELF_ATARI, "A5", [shapes.SELF_ATARI]),
        (EYE, "A5", [shapes.EYE]),
        (EYE, "E1", []),
        (ATTACK, "A5", []),
    ],
)
def test_what_a_stone_does_to_the_chains_beside_it(drawing, move, features):
    assert [number for number in seen(position_of(drawing), move) if number >= shapes.CAPTURE] == features


def test_where_a_move_is():
    moves = ("A1", "B1", "A2", "B2", "C3", "E5")
    assert [seen(position_of(EMPTY), move)[3] - shapes.SPOT - shapes.SPOTS for move in moves] == [0, 1, 1, 2, 5, 14]
    lines = [seen(position_of(EMPTY), move)[shapes.LINE_PLACE] - shapes.LINE for move in ("A5", "B5", "C5", "D5", "E5")]
    assert lines == [0, 5, 10, 15, 20]
    late = position_of(EYE.replace(". . . . .", "X . X . X"))
    assert seen(late, "B1")[shapes.LINE_PLACE] - shapes.LINE == 11 * 8 // 25 + 0


def test_how_far_the_last_moves_are():
    position = position_of(EMPTY, moves=["E5", "C3"])
    for move, last, second_last in (("C4", 2, 5), ("D4", 3, 3), ("E4", 5, 2), ("A9", 14, 12)):
        features = seen(position, move)
        assert features[1:3] == [shapes.LAST + last, shapes.SECOND_LAST + second_last]
        assert any(shapes.ANSWER <= number < shapes.LAST for number in features) == (last <= 3)
    nowhere = seen(position_of(EMPTY), "E5")
    assert nowhere[1:3] == [shapes.LAST + shapes.STEPS - 1, shapes.SECOND_LAST + shapes.STEPS - 1]


def test_what_company_a_stone_has():
    drawing = """
. . . . . . .
. . O . . . .
. . . . . . .
. X . . . X .
. . . . . . .
. . . O X . .
. . . . . . ."""
    features = seen(position_of(drawing), "D4")
    assert features[5] == shapes.JUMPS + shapes.COMPANY + 2 * 4 + 1  # two of its own, one of the enemy, and nothing around
    assert features[6] == shapes.KNIGHTS + shapes.COMPANY + 1 * 4 + 1
    assert seen(position_of(drawing), "D3")[5] == shapes.JUMPS + 0  # something stands around it


def after(choices, turned, swap):
    """A game by choices, turned; with a pass first, colours are exchanged."""
    plain = Go(SIZE).start()
    position = plain.play("pass") if swap else plain
    for choice in choices:
        legal = [action for action in plain.legal_actions if action < SIZE * SIZE]
        if not legal:
            break
        action = legal[choice % len(legal)]
        plain = plain.play(action)
        position = position.play(int(turned[action]))
    return plain, position


@given(st.lists(st.integers(0, 200), max_size=70), st.integers(0, 7), st.booleans())
def test_a_board_may_be_turned_and_its_colours_exchanged(choices, turn, swap):
    turned = dihedral(SIZE, SIZE)[turn]
    plain, other = after(choices, turned, swap)
    for action in plain.legal_actions[:-1:5]:
        one = seen(plain, plain.game.name_of(action))
        two = seen(other, other.game.name_of(int(turned[action])))
        assert sorted(one) == sorted(two)
        assert len(set(one)) >= 7 and max(one) < FEATURES


def test_shapes_are_the_same_in_all_symmetries_and_differ_otherwise():
    assert SHAPES == 1 + 954 + 135 + 18  # in the middle, at the side, in the corner; 0 is what cannot be
    random = np.random.default_rng(3)
    for code in random.integers(0, CODES, 300):
        content = {point: int(code) >> 2 * i & 3 for i, point in enumerate(AROUND)}
        turned = sum(content[y, -x] << 2 * i for i, (x, y) in enumerate(AROUND))
        flipped = sum(content[-x, y] << 2 * i for i, (x, y) in enumerate(AROUND))
        assert SHAPE_NUMBERS[code] == SHAPE_NUMBERS[turned] == SHAPE_NUMBERS[flipped]


def test_what_was_learnt_makes_sense():
    assert WEIGHTS.shape == (FEATURES,) and np.isfinite(WEIGHTS).all() and np.abs(WEIGHTS).max() < 10
    saves = WEIGHTS[shapes.SAVE : shapes.SAVE + 3]
    assert (saves > 0).all() and (WEIGHTS[shapes.SELF_ATARI : shapes.SELF_ATARI + 3] < 0).all() and WEIGHTS[shapes.EYE] < 0
    assert WEIGHTS[shapes.LAST + 2] > WEIGHTS[shapes.LAST + 6] > WEIGHTS[shapes.LAST + 14]
    game, state = Go(SIZE), state_of(Go(SIZE).start())
    middle, opening, corner, edge = (liking_of(state, cell_of(state, game.action(move))) for move in ("E5", "C4", "B2", "A1"))
    assert min(middle, opening) > max(corner, edge)


@pytest.mark.parametrize("usual", [-3.0, 0.0, 4.0])
def test_a_liking_becomes_simulations(usual):
    position = position_of(SAVE)
    state = state_of(position)
    heuristic = Shapes(even=4, weight=10.0, usual=usual, own=0.5)
    for action in position.legal_actions[:-1]:
        worth = 10.0 * (liking_of(state, cell_of(state, action)) - usual)
        value, visits, amaf_visits = advise(heuristic, state, action)
        assert amaf_visits == int(4 + abs(worth)) and visits == int(0.5 * (4 + abs(worth)))
        assert value == pytest.approx((2 + max(worth, 0.0)) / (4 + abs(worth)))
    assert advise(heuristic, state, position.legal_actions[-1]) == (0.5, 2, 4)
    assert advise(Shapes(even=0), state, position.legal_actions[-1]) == (0.5, 0, 0)


@kernel
def advise_compiled(states, heuristic, actions, out):
    """What a compiled heuristic says of actions."""
    for i in range(len(actions)):
        out[i, 0], out[i, 1], out[i, 2] = advise(heuristic, states[0], actions[i])


@pytest.mark.when_compiled
@pytest.mark.parametrize("size", [2, 5, 9, 13])
def test_compiled_says_the_same_as_plain_python(size):
    random = np.random.default_rng(size)
    position = Go(size).start()
    for _ in range(size * size):
        if position.is_over:
            break
        actions = np.array(position.legal_actions)
        out = np.zeros((len(actions), 3))
        advise_compiled(position.record(), Shapes(), actions, out)
        plain = state_of(position)
        assert out.tolist() == [list(map(float, advise(Shapes(), plain, action))) for action in actions]
        position = position.play(int(random.choice(actions)))


# --- learning -----------------------------------------------------------------------------------------------------------------


def test_weights_are_found_again():
    """Positions whose visits were divided by known weights."""
    random = np.random.default_rng(1)
    truth = np.zeros(FEATURES + 1)
    truth[:30] = np.linspace(-1.0, 1.0, 30)
    positions, moves = 4000, 12
    features = np.full((positions * moves, shapes_go.MOST_FEATURES), FEATURES, np.int16)
    features[:, :3] = random.integers(0, 30, (positions * moves, 3))
    starts = np.arange(0, positions * moves + 1, moves)
    shares = np.exp(shapes_go.log_shares(truth[features].sum(1), starts))
    data = shapes_go.Seen(features, shares, starts, np.arange(positions), np.zeros(positions * moves))
    weights = shapes_go.fit(data, np.arange(positions))
    assert weights[:30] - weights[:30].mean() == pytest.approx(truth[:30], abs=0.05)
    assert not weights[30:].any()
    found = shapes_go.judge(data, weights[features].sum(1), np.arange(100))
    assert found["first"] > 0.9 and found["nats"] < 0.01


@pytest.mark.when_compiled
def test_games_are_played_and_read(tmp_path, monkeypatch):
    monkeypatch.setattr(shapes_go, "MOST_PLIES", 8)
    path = tmp_path / "games.jsonl"
    for games in (1, 3):  # it plays on
        shapes_go.play(path, "rave heuristic=Shapes", games, 30, 0)
    games = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(games) == 3 and len({tuple(game["moves"]) for game in games}) == 3
    data = shapes_go.seen_in(games)
    searched = sum(bool(visits) for game in games for visits in game["visits"])
    assert len(data.games) == searched == len(data.starts) - 1
    assert np.add.reduceat(data.shares, data.starts[:-1]) == pytest.approx(np.ones(searched))
    shapes_go.learn([path], tmp_path / "weights.npy")
    assert np.load(tmp_path / "weights.npy").shape == (FEATURES,)


@pytest.mark.when_compiled
def test_likings_are_logarithms_of_probabilities_on_average():
    sums = []
    random = np.random.default_rng(5)
    for _ in range(20):
        position = Go(SIZE).start()
        for _ in range(random.integers(0, 50)):
            position = position.play(int(random.choice(position.legal_actions[:-1])))
        state = state_of(position)
        sums.append(sum(np.exp(liking_of(state, cell_of(state, action))) for action in position.legal_actions[:-1]))
    assert 0.3 < np.mean(sums) < 3.0
