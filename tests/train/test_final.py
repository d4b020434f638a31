"""What the end of a game adds to its rows: who owned each point, and by how much the game was won."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from anabranch.errors import TrainingError
from anabranch.games.go import Go
from anabranch.games.nim import Nim
from anabranch.games.othello import Othello
from anabranch.games.symmetry import Symmetries
from anabranch.games.tictactoe import TicTacToe
from anabranch.nets.model import export
from anabranch.nets.network import Network
from anabranch.train.final import Offered, learnt_rows, learnt_type, offered
from anabranch.train.game_file import PlayedGame, read_games, row_type
from anabranch.train.learner import Learner
from anabranch.train.model import Trained
from anabranch.train.self_play import SelfPlay
from anabranch.train.settings import NetworkSettings, TargetSettings
from anabranch.train.targets import POINTS, encoded
from anabranch.train.window import Window
from tests.train.conftest import new_run
from tests.train.games import SeenGoofspiel
from tests.train.test_learner import copied, digest
from tests.train.test_targets import Side

BOARD = """
    . X O .
    X X O O
    . X O .
    X . O O
"""


def ended(drawing, **options):
    """A game of Go that ends with two passes in this position."""
    rows = drawing.split("\n")[1:-1]
    game = Go(len(rows), **options)
    return game, game.drawn(drawing).play("pass").play("pass")


def drawn(owners, side):
    """Owners as text, the top row first; rows of Go are counted from the bottom."""
    rows = np.asarray(owners).reshape(-1, side)[::-1]
    return ["".join(".XO"[int(owner)] for owner in row) for row in rows]


def a_game(position, plies, ending="over"):
    """A game that ended in this position, with a row for each of these plies."""
    game = position.game
    rows = np.zeros(len(plies), row_type(game))
    for i, ply in enumerate(plies):
        rows["state"][i] = game.position(position.moves[:ply]).data
        rows["policy"][i] = rows["prior"][i] = 1 / game.actions
        rows["ply"][i] = ply
    returns = position.returns
    return PlayedGame(0, 0, "", list(position.moves), 0, returns, ending, rows, final=position.data)


# --- what games say ---


def test_go_says_whose_area_each_point_is():
    game, position = ended(BOARD, komi=0.5)
    assert drawn(game.final_ownership(position), 4) == ["XXOO", "XXOO", "XXOO", "X.OO"], "the point between both is neutral"
    assert game.final_score(position) == game.lead(position) == 7 - 8 - 0.5


def test_dead_stones_are_taken_off_where_the_rules_know_them():
    board = """
        . X . X O
        X X X X .
        . . X . .
        X X X X X
        . X . X .
    """
    for rules, owner in (("japanese", "X"), ("tromp-taylor", "O")):
        game, position = ended(board, rules=rules, komi=0)
        owners = drawn(game.final_ownership(position), 5)
        assert owners[0][4] == owner, rules
        assert game.final_score(position) == game.lead(position)


def test_othello_counts_discs():
    game = Othello()
    random, position = np.random.default_rng(5), game.start()
    while not position.is_over:
        position = position.play(int(random.choice(position.legal_actions)))
    owners, score = game.final_ownership(position), game.final_score(position)
    assert owners.sum() == score and np.sign(score) == position.returns[0]
    text = [row[2:].replace(" ", "") for row in str(position).splitlines() if row[:1].isdigit()]
    assert ["".join(".XO"[owner] for owner in row) for row in owners.reshape(8, 8)] == [row.upper() for row in text]


def test_only_some_games_offer_it_and_settings_may_refuse():
    usual = TargetSettings()
    assert offered(Go(5), usual) == offered(Othello(), usual) == Offered(ownership=True, score=True)
    assert offered(TicTacToe(), usual) == offered(Nim(), usual) == Offered(ownership=False, score=False)
    assert offered(Go(5), TargetSettings(ownership=0.0)) == Offered(ownership=False, score=True)
    for game in (TicTacToe(), Nim()):
        assert learnt_type(game, usual) == row_type(game)
    assert learnt_type(Go(5), TargetSettings(ownership=0.0, score=0.0)) == row_type(Go(5))


# --- rows ---


def test_rows_have_it_in_the_view_of_who_moves():
    game = Go(3, komi=1.5, rules="tromp-taylor")
    position = game.position(["b1", "c3", "b2", "c2", "b3", "pass", "pass"])
    rows = learnt_rows(game, a_game(position, [0, 1, 6]), learnt_type(game, TargetSettings()))
    owners = game.final_ownership(position)
    assert drawn(owners, 3) == ["XXO", "XXO", "XX."]
    assert rows["settled"].all()
    assert rows["ownership"].tolist() == [owners.tolist(), (-owners).tolist(), owners.tolist()]
    assert rows["score"].tolist() == [6 - 2 - 1.5, -(6 - 2 - 1.5), 6 - 2 - 1.5]


def test_a_game_that_was_not_played_to_its_end_has_none():
    game, dtype = Go(3), learnt_type(Go(3), TargetSettings())
    position = game.position(["b1", "c3", "pass", "pass"])
    whole = a_game(position, [0, 1])
    assert learnt_rows(game, whole, dtype)["settled"].all()
    unfinished = a_game(game.position(["b1", "c3"]), [0, 1])
    for played in (replace(whole, ending="resigned"), replace(whole, ending="cap"), unfinished, replace(whole, final=b"")):
        rows = learnt_rows(game, played, dtype)
        assert len(rows) == 2 and not rows["settled"].any() and not rows["ownership"].any() and not rows["score"].any()


def test_owners_of_other_points_than_the_planes_have_are_refused(monkeypatch):
    monkeypatch.setattr(Go, "final_ownership", lambda self, position: np.zeros(8))
    game = Go(3)
    played = a_game(game.position(["pass", "pass"]), [0])
    with pytest.raises(TrainingError, match=r"final_ownership of Go.* gives an array of the shape \(8,\); it must be \(9,\)"):
        learnt_rows(game, played, learnt_type(game, TargetSettings()))


@pytest.mark.parametrize("game", [Go(4), Go((4, 3)), Othello()], ids=repr)
def test_ownership_turns_with_the_planes(game):
    rows = np.zeros(1, learnt_type(game, TargetSettings()))
    points, random = rows["ownership"].shape[1], np.random.default_rng(0)
    rows["state"] = game.position(game.start().legal_actions[:1]).data
    rows["settled"], rows["score"], rows["ownership"] = True, -7.0, random.integers(-1, 2, points)
    ways = game.symmetries()
    for side in range(len(ways)):
        batch = encoded(game, rows, TargetSettings(), Side(side))
        assert batch.ownership.dtype == np.float32 and batch.ownership.shape == (1, points)
        assert all(batch.ownership[0, p] == rows["ownership"][0, ways.points[side, p]] for p in range(points))
        assert batch.settled.tolist() == [True] and np.allclose(batch.score, np.arcsinh(-7.0 / POINTS))


class Exchanged(SeenGoofspiel):
    """A game of which somebody says that the players may change places, and that each owns the cards of a colour."""

    def symmetries(self):
        return Symmetries(np.tile(np.arange(4), (2, 1)), np.tile(np.arange(3), (2, 1)), players=np.array([[0, 1], [1, 0]]))

    def final_ownership(self, position):
        return np.array([1, 0, 0, -1])

    def final_score(self, position):
        return 7.0


def test_ownership_and_score_change_sign_where_players_change_places():
    game = Exchanged()
    rows = np.zeros(1, learnt_type(game, TargetSettings()))
    rows["state"] = game.start().data
    rows["settled"], rows["score"], rows["ownership"] = True, 7.0, [1, 0, 0, -1]
    plain, turned = (encoded(game, rows, TargetSettings(), Side(side)) for side in range(2))
    assert plain.ownership.tolist() == [[1.0, 0.0, 0.0, -1.0]] and turned.ownership.tolist() == [[-1.0, 0.0, 0.0, 1.0]]
    assert np.allclose(plain.score, np.arcsinh(7.0 / POINTS)) and np.allclose(turned.score, -plain.score)


def test_games_that_offer_nothing_have_the_batches_they_had():
    rows = np.zeros(2, row_type(TicTacToe()))
    rows["state"] = TicTacToe().start().data
    batch = encoded(TicTacToe(), rows, TargetSettings(), np.random.default_rng(0))
    assert batch.settled is None and batch.ownership is None and batch.score is None


# --- learning ---


@pytest.fixture(scope="module")
def go(tmp_path_factory):
    """A run of Go on 4x4 with forty games, which may be long: some end by the limit."""
    run = new_run(
        tmp_path_factory.mktemp("runs") / "go", "go:size=4,komi=0.5", self_play_longest=40, learner_warm_up=5,
        learner_learning_rate=5e-3,
    )  # fmt: skip
    SelfPlay(run).play(games=40)
    return run


def test_the_window_adds_it_to_games_from_files(go):
    window = Window(go)
    window.read()
    games = [game for path in go.game_files for game, _ in read_games(path, row_type(go.game))]
    assert {"over"} <= {game.ending for game in games} <= {"over", "cap"}
    first = 0
    for game in games:
        rows = window.rows[first : first + len(game.rows)]
        first += len(game.rows)
        assert (rows["settled"] == (game.ending == "over")).all()
        if game.ending == "over":
            position = go.game.position(game.moves)
            expected = [go.game.lead(position) * (1 if ply % 2 == 0 else -1) for ply in game.rows["ply"]]
            assert rows["score"].tolist() == expected
    again = Window(go)
    again.restore(**window.state())
    assert again.rows[: again.end].tobytes() == window.rows[: window.end].tobytes()


def test_losses_of_ownership_and_score_fall(go, tmp_path):
    learner = Learner(copied(go, tmp_path / "run"))
    learner.window.read()
    rows = learner.window.draw(64, np.random.default_rng(0))
    learner.window.draw = lambda count, random: rows
    batch = encoded(go.game, rows, go.settings.targets, np.random.default_rng(0))

    def losses():
        learner.model.eval()
        with torch.inference_mode():
            found = learner.losses(learner.model(torch.from_numpy(batch.planes)), batch)
        return {name: float(value) for name, value in found.items()}

    before = losses()
    weights = go.settings.targets
    parts = {"policy": 1.0, "value": weights.value, "reply": weights.reply, "left": weights.moves_left}
    parts |= {"ownership": weights.ownership, "score": weights.score}
    assert np.isclose(before["loss"], sum(weight * before[name] for name, weight in parts.items()), rtol=1e-5)
    assert 0.5 < before["ownership"] < 1.0, "about log 2 before anything is learnt"
    for _ in range(60):
        learner.step()
    after = losses()
    assert after["ownership"] < 0.8 * before["ownership"] and after["score"] < before["score"]


def test_positions_without_an_end_are_left_out_of_these_losses(go, tmp_path):
    learner = Learner(copied(go, tmp_path / "run"))
    learner.window.read()
    rows = learner.window.rows[: learner.window.end]
    known = rows[rows["settled"]][:8]
    unknown = known.copy()
    unknown["settled"], unknown["ownership"], unknown["score"] = False, 0, 0.0
    learner.model.eval()
    found = []
    for some in (known, np.concatenate([known, unknown]), unknown):
        batch = encoded(go.game, some, go.settings.targets, Side(0))
        with torch.inference_mode():
            found.append(learner.losses(learner.model(torch.from_numpy(batch.planes)), batch))
    for name in ("ownership", "score"):
        assert torch.isclose(found[0][name], found[1][name]) and name not in found[2]


@pytest.mark.parametrize("size", ["flat", "tiny"])
def test_what_is_exported_does_not_have_these_heads(tmp_path, size):
    game = Go(4)
    network, none = NetworkSettings(size=size), TargetSettings(ownership=0.0, score=0.0)
    with_all, without = (Trained(game, network, targets) for targets in (TargetSettings(), none))
    assert without.ownership is None and without.score is None
    outputs = with_all.eval()(torch.zeros(2, *game.planes))
    assert outputs.ownership.shape == (2, 16) and outputs.score.shape == (2,)
    export(with_all.net, game, tmp_path / "with.onnx")
    export(without.net, game, tmp_path / "without.onnx")
    states = game.position(["b2"]).record()
    first, second = (Network(tmp_path / name, game=game)(states) for name in ("with.onnx", "without.onnx"))
    assert np.array_equal(first[0], second[0]) and np.array_equal(first[1], second[1])


def test_heads_are_kept_in_checkpoints(go, tmp_path):
    learner = Learner(copied(go, tmp_path / "run"))
    learner.learn(steps=4)
    learner.save()
    assert digest(Learner(learner.run)) == digest(learner)
    with pytest.raises(TrainingError, match="or which of `reply`, `moves_left`, `ownership` and `score` in"):
        Learner(copied(learner.run, tmp_path / "other", targets_ownership=0.0))
