"""Matrix games: any payoffs, zero-sum or not."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import needs, when_compiled

import anabranch as ab
from anabranch.errors import GameError, IllegalMove
from anabranch.games import MatrixGame
from anabranch.games.matrix import Bimatrix8, Bimatrix32, MatrixGame32
from anabranch.games.registry import load

KNOWN = {
    "matrix_rps": MatrixGame.rock_paper_scissors(),
    "matrix_brps": MatrixGame.biased_rock_paper_scissors(),
    "matrix_mp": MatrixGame.matching_pennies(),
}
payoffs = st.floats(-100, 100, allow_subnormal=False)


@st.composite
def matrices(draw):
    height, width = draw(st.integers(1, 10)), draw(st.integers(1, 10))
    return [[draw(payoffs) for _ in range(width)] for _ in range(height)]


@given(matrices(), st.booleans())
def test_each_pair_pays_what_the_matrices_say(rows, has_columns):
    columns = (np.array(rows) * 2 + 1).tolist() if has_columns else None
    game = MatrixGame(rows, columns)
    start = game.start()
    assert start.legal_actions == (list(range(len(rows))), list(range(len(rows[0]))))
    assert start.edges == sorted(i * game.actions + j for i in range(len(rows)) for j in range(len(rows[0])))
    for i, row in enumerate(rows):
        for j, pays in enumerate(row):
            end = start.play((i, j))
            assert end.is_over
            assert end.returns == [pays, columns[i][j] if columns else -pays]
            assert game.value_range[0] <= pays <= game.value_range[1]


def test_zero_sum_games_have_one_value_and_others_two():
    assert MatrixGame([[1, -1], [-1, 1]]).value_width() == 1
    assert MatrixGame([[1, -1], [-1, 1]], [[-1, 1], [1, -1]]).value_width() == 2


@pytest.mark.parametrize(("size", "kind", "general"), [(8, MatrixGame, Bimatrix8), (9, MatrixGame32, Bimatrix32)])
def test_a_game_is_of_the_smallest_class_that_holds_it(size, kind, general):
    rows = np.zeros((size, 2))
    assert type(MatrixGame(rows)) is kind and type(MatrixGame(rows, rows)) is general
    for game in (MatrixGame(rows), MatrixGame(rows, rows)):
        assert pickle.loads(pickle.dumps(game)) == game and game.actions == size


def test_the_stake_is_half_of_what_the_payoffs_span():
    game = MatrixGame([[0, 3]], [[7, 1]])
    assert game.value_range == (0.0, 7.0) and game.start()._ask("stake") == 3.5
    same = MatrixGame([[2, 2]])
    assert same.value_range == (1.0, 3.0) and same.start()._ask("stake") == 1.0


def test_an_action_that_a_player_does_not_have_is_refused():
    with pytest.raises(IllegalMove, match="player 0: 2 is not legal here; legal: 0 1"):
        MatrixGame([[1, 2, 3], [4, 5, 6]]).start().play((2, 2))
    with pytest.raises(IllegalMove, match="player 1: action 3 is out of range"):
        MatrixGame([[1, 2, 3], [4, 5, 6]]).start().play((1, 3))


def test_actions_have_names():
    game = MatrixGame.prisoners_dilemma()
    assert game.start().play("defect/cooperate").returns == [5.0, 0.0]
    assert game.start().play("defect/defect").returns == [1.0, 1.0]
    assert str(game.start().play("cooperate/defect")) == "\n".join(
        [
            "           cooperate  defect",
            "cooperate        3/3     0/5",
            "defect           5/0     1/1",
            "played: cooperate/defect",
        ]
    )


def test_a_small_game_prints_as_it_is_written():
    for game in (MatrixGame([[1, -1], [-1, 1]]), MatrixGame([[1, 0.5]], [[0, 2]])):
        assert eval(repr(game), {"MatrixGame": MatrixGame}) == game
    assert repr(MatrixGame(np.ones((4, 9)))) == "<MatrixGame, 4 x 9, zero-sum>"


def test_a_game_is_found_by_name():
    assert load("matrix") == load("MatrixGame") == load("matrix:rows=[[0,-1,1],[1,0,-1],[-1,1,0]]") == MatrixGame()
    assert load("matrix-game:rows=[[3,0],[5,1]],columns=[[3,5],[0,1]]") != MatrixGame.prisoners_dilemma()  # which has names


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"rows": []}, r"rows=\[\]: give a matrix, such as \[\[1, -1\], \[-1, 1\]\]"),
        ({"rows": [1, 2]}, "give a matrix"),
        ({"rows": [[1, 2], [3]]}, "give a matrix"),
        ({"rows": "rock"}, "give a matrix"),
        ({"rows": [[1, float("nan")]]}, "payoffs that are not finite"),
        ({"rows": [[1, float("inf")]]}, "payoffs that are not finite"),
        ({"rows": np.zeros((2, 33))}, "rows is 2 x 33; a player has up to 32 actions"),
        ({"rows": [[1, 2]], "columns": [[1], [2]]}, r"rows is 1 x 2 and columns 2 x 1; both are indexed by \[row\]\[column\]"),
        ({"rows": [[1, 2]], "names": ["one"]}, "give 2 different names, one an action"),
        ({"rows": [[1, 2]], "names": ["one", "one"]}, "give 2 different names, one an action"),
    ],
)
def test_a_game_that_cannot_be_is_refused(options, complaint):
    with pytest.raises(GameError, match=complaint):
        MatrixGame(**options)


def test_the_classes_by_size_refuse_what_they_cannot_hold():
    with pytest.raises(GameError, match=r"Bimatrix8 wants columns too; write MatrixGame\(rows\)"):
        Bimatrix8([[1, 2]])
    with pytest.raises(GameError, match=r"MatrixGame32 does not hold this game; write MatrixGame\(rows, columns\)"):
        MatrixGame32([[1, 2]], [[1, 2]])


@pytest.mark.parametrize("name", KNOWN)
def test_named_games_are_those_of_openspiel(name):
    needs("pyspiel")
    import pyspiel

    theirs = pyspiel.load_matrix_game(name)
    for i in range(theirs.num_rows()):
        for j in range(theirs.num_cols()):
            assert KNOWN[name].start().play((i, j)).returns == [theirs.row_utility(i, j), theirs.col_utility(i, j)]
            assert KNOWN[name].name_of(i) == theirs.row_action_name(i).lower()


def test_the_biased_game_is_even_if_the_signs_come_one_ten_and_five_times_in_sixteen():
    rows = np.array([[KNOWN["matrix_brps"].start().play((i, j)).returns[0] for j in range(3)] for i in range(3)])
    assert np.array([1, 10, 5]) @ rows == pytest.approx(0.0)


@when_compiled
@pytest.mark.parametrize(
    "game",
    [
        MatrixGame(),
        MatrixGame.prisoners_dilemma(),
        MatrixGame([[1, 2, 3]]),
        MatrixGame(np.eye(9)[:, :4]),
        MatrixGame(np.eye(20), np.eye(20)),
    ],
    ids=repr,
)
def test_matrix_games_keep_their_contract(game):
    report = ab.check(game, games=10)
    assert report.ok, report
