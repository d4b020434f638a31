"""Self-play: games that follow from their numbers, and rows that say what happened in them."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

import anabranch as ab
from anabranch.errors import TrainingError
from anabranch.games.registry import load
from anabranch.games.rules import EVERYONE
from anabranch.games.tictactoe import TicTacToe
from anabranch.nets.network import Network
from anabranch.search.select.forced import Forced
from anabranch.train import network_in_use, self_play
from anabranch.train.choices import drawn, selection_of
from anabranch.train.game_file import read_games, read_header, row_type
from anabranch.train.openings import read_openings
from anabranch.train.rows import MOST_PLIES, entropies, surprises
from anabranch.train.run import Run
from anabranch.train.self_play import SelfPlay
from anabranch.train.settings import SelfPlaySettings, Settings
from tests.conftest import when_plain
from tests.reference import training
from tests.train.conftest import new_run

TOLLS, GOOFSPIEL = "tests.train.games:Tolls", "tests.train.games:SeenGoofspiel"


def games_of(run):
    """All games of a run by worker and number."""
    dtype = row_type(run.game)
    found = [game for path in run.game_files for game, _ in read_games(path, dtype)]
    return sorted(found, key=lambda game: (game.worker, game.number))


def facts(games):
    return [(game.facts(), game.rows.tobytes()) for game in games]


def play(path, game="tictactoe", games=8, **settings):
    """The games of a new run, each of them checked."""
    run = new_run(path, game, **settings)
    SelfPlay(run).play(games=games)
    found = games_of(run)
    assert len(found) >= games
    for each in found:
        check(run.game, each)
    return found


def check(game, played):
    """Compare a game and its rows with what follows from its moves alone."""
    position = game.start_on(played.board)
    for move in played.moves:  # all of them are legal
        position = position.play(tuple(move) if isinstance(move, list) else move)
    assert position.data == played.final
    known = {each.ply: each for each in training.decisions(game, played)}
    start = training.decisions(game, replace(played, opening=0))[0]
    assert start.ply == 0 and np.allclose(played.returns, start.outcome, atol=1e-6)
    assert [row["ply"] for row in played.rows] == sorted({int(row["ply"]) for row in played.rows})
    for row in played.rows:
        decision = known[int(row["ply"])]
        assert row["state"].tobytes() == decision.position.data
        assert (row["left"], row["reply"]) == (decision.left, decision.reply)
        assert np.allclose(row["outcome"], training.seen(game, decision), atol=1e-5)
        check_policies(game, row, decision.position)


def check_policies(game, row, position):
    legal = position.legal_actions if position.to_play == EVERYONE else [position.legal_actions]
    for name in ("policy", "prior", *(["regularized"] if row["regularized"].any() else [])):
        for policy, actions in zip(row[name].reshape(-1, game.actions).astype(float), legal, strict=True):
            assert math.isclose(policy.sum(), 1.0, abs_tol=5e-3), name
            assert policy.min() >= 0.0 and set(np.flatnonzero(policy)) <= set(actions)


# --- games and rows ---


def test_rows_agree_with_the_moves(tictactoe):
    games = games_of(tictactoe)
    for game in games:
        check(tictactoe.game, game)
        assert len(game.rows) == len(game.moves) - game.opening
        assert game.ending == "over" and game.network == "000000.onnx"
    assert {game.opening for game in games} == {0, 1, 2, 3, 4}


def test_regularized_policies_are_kept_where_they_are_targets(tmp_path, tictactoe):
    assert not any(game.rows["regularized"].any() for game in games_of(tictactoe))
    for game in play(tmp_path / "run", targets_policy="regularized", self_play_prove=True):
        assert game.rows["regularized"].any(axis=1).all()


def test_one_seed_plays_the_same_games(tmp_path, tictactoe):
    again, other = new_run(tmp_path / "again"), new_run(tmp_path / "other", run_seed=1)
    for run in (again, other):
        SelfPlay(run).play(games=10)
    first, second, third = facts(games_of(tictactoe)), facts(games_of(again)), facts(games_of(other))
    known = {fact["number"]: (fact, rows) for fact, rows in first}
    assert all(known[fact["number"]] == (fact, rows) for fact, rows in second)
    assert [fact["moves"] for fact, _ in second] != [fact["moves"] for fact, _ in third]


def test_workers_play_different_games(tictactoe, tmp_path):
    run = new_run(tmp_path / "run")
    SelfPlay(run, worker=1).play(games=8)
    assert [path.name for path in run.game_files] == ["01-000000.games"]
    mine, theirs = ({game.number: game.moves for game in games_of(each)} for each in (run, tictactoe))
    assert any(mine[number] != theirs[number] for number in set(mine) & set(theirs))


def test_numbers_go_on_after_a_restart_and_games_into_another_file(tmp_path):
    run = new_run(tmp_path / "run")
    seen = set()
    for files in range(1, 4):
        SelfPlay(run).play(games=5)
        games = games_of(run)
        numbers = [game.number for game in games]
        assert len(set(numbers)) == len(numbers) and len(run.game_files) == files
        assert min(set(numbers) - seen) > max(seen, default=-1)
        seen = set(numbers)
    assert len({tuple(game.moves) + (game.opening,) for game in games}) > len(games) / 2


def test_a_long_file_is_followed_by_another(tmp_path, monkeypatch):
    monkeypatch.setattr(self_play, "FILE_SIZE", 1)
    run = new_run(tmp_path / "run")
    SelfPlay(run).play(games=5)
    assert len(run.game_files) == len(games_of(run)) >= 5
    assert read_header(run.game_files[0]) == {"game": "tictactoe", "row": row_type(run.game).itemsize}


def test_a_new_network_plays_once_it_is_in_use(tmp_path, monkeypatch):
    monkeypatch.setattr(network_in_use, "LOOK_AGAIN", 0.0)
    run = new_run(tmp_path / "run")
    play = SelfPlay(run)
    play.play(games=4)
    newer = run.path / "networks" / "000001.onnx"
    newer.write_bytes(run.networks[0].read_bytes())
    run.use(newer)
    play.play(games=8)
    assert {game.network for game in games_of(run)} == {"000000.onnx", "000001.onnx"}


def test_without_a_network_nothing_is_played(tmp_path):
    run = Run.create(tmp_path / "run", "tictactoe")
    assert SelfPlay(run).play(seconds=0.01) == 0 and run.game_files == []


def test_the_log_tells_what_was_played(tictactoe):
    lines = list(tictactoe.log.read("self-play"))  # one, or on a slow machine several
    games = games_of(tictactoe)
    assert sum(line["games"] for line in lines) == len(games) == sum(sum(line["scores"].values()) for line in lines)
    assert sum(line["rows"] for line in lines) == sum(line["moves"] for line in lines)
    assert sum(line["rows"] for line in lines) >= sum(len(game.rows) for game in games)
    for line in lines:
        assert line["network"] == "000000.onnx" and line["of_network"]["evaluations"] > 0
        assert json.dumps(line, allow_nan=False)


# --- settings of games ---


def test_priors_are_the_networks_before_noise_and_forced_playouts(tmp_path):
    games = play(
        tmp_path / "run", self_play_select="puct", self_play_forced=2.0, self_play_symmetry="none",
        self_play_root_temperature=1.25, self_play_noise_weight=0.5,
    )  # fmt: skip
    network = Network(tmp_path / "run" / "networks" / "000000.onnx", game=TicTacToe())
    rows = np.concatenate([game.rows for game in games])
    states = np.frombuffer(bytearray(rows["state"].tobytes()), TicTacToe.record)
    priors, _ = network(states)
    assert np.allclose(rows["prior"], priors, atol=1e-3)
    assert not np.allclose(rows["policy"], rows["prior"], atol=0.1)


def test_fast_moves_are_not_learnt_from(tmp_path):
    games = play(tmp_path / "run", games=20, self_play_fast_share=0.75, self_play_fast_visits=2)
    decided = sum(len(game.moves) - game.opening for game in games)
    assert 0.1 < sum(len(game.rows) for game in games) / decided < 0.4


def test_a_single_visit_is_enough(tmp_path):
    play(tmp_path / "run", self_play_select="puct", self_play_visits=1)
    play(tmp_path / "gumbel", self_play_visits=1)


def test_a_game_that_is_too_long_is_a_draw(tmp_path):
    games = play(tmp_path / "run", self_play_longest=4, self_play_opening_plies=3)
    assert {game.ending for game in games} == {"cap"}
    assert all(len(game.moves) == 4 and game.returns == [0.0, 0.0] and (game.rows["outcome"] == 0).all() for game in games)


def test_a_player_who_has_lost_resigns(tmp_path):
    games = play(tmp_path / "run", games=20, self_play_resign=0.02, self_play_resign_checked=0.0)
    resigned = [game for game in games if game.ending == "resigned"]
    assert resigned
    for game in resigned:
        assert game.returns[game.would_resign] == -1 and sum(game.returns) == 0
        low = [-row["search"][0] for row in game.rows if row["ply"] % 2 == game.would_resign][-2:]
        assert min(low) > 0.02, "the last two values of the loser"


def test_nobody_resigns_in_a_checked_game(tmp_path):
    games = play(tmp_path / "run", games=20, self_play_resign=0.02, self_play_resign_checked=1.0)
    assert {game.ending for game in games} == {"over"}
    assert any(game.would_resign >= 0 for game in games)
    line = Run(tmp_path / "run").log.read("self-play")[-1]
    counted = line["resigned"]
    assert counted.get("resigned", 0) == 0 and sum(counted.values()) == sum(game.would_resign >= 0 for game in games)


def test_games_begin_with_the_openings_of_a_file(tmp_path):
    path = tmp_path / "openings.txt"
    path.write_text("# corners\na1 c3\n\n  # and the middle\nb2, a1, c1\n")
    games = play(tmp_path / "run", games=12, self_play_openings=str(path))
    first = [tuple(TicTacToe().action(name) for name in names) for names in (("a1", "c3"), ("b2", "a1", "c1"))]
    assert {tuple(game.moves[: game.opening]) for game in games} == set(first)


def test_openings_are_random_in_their_share_of_games(tmp_path):
    games = play(tmp_path / "run", games=40, self_play_opening_share=0.25, self_play_opening_plies=1)
    assert {game.opening for game in games} == {0, 1}
    assert sum(game.opening for game in games) < len(games) / 2
    assert all(game.opening == 0 for game in play(tmp_path / "none", self_play_opening_share=0.0))


def test_random_openings_never_end_a_game(tmp_path):
    games = play(tmp_path / "run", games=30, self_play_opening_share=1.0, self_play_opening_plies=9)
    assert max(game.opening for game in games) >= 7
    assert all(len(game.rows) >= 1 for game in games)


# --- proofs ---


@pytest.mark.parametrize("graph", [False, pytest.param(True, marks=when_plain)])
@pytest.mark.parametrize("select", ["gumbel", pytest.param("puct", marks=when_plain)])
def test_proven_rows_have_exact_values(tmp_path, select, graph):
    games = play(
        tmp_path / "run", games=12, self_play_select=select, self_play_prove=True, self_play_graph=graph, self_play_visits=40
    )
    proven = [(game, row) for game in games for row in game.rows if row["proven"]]
    assert len(proven) > 12
    for game, row in proven:
        ply = int(row["ply"])
        value = training.solved(training.board(game.moves[:ply]), "xo"[ply % 2])
        assert row["search"][0] == value
        if select == "gumbel":
            following = training.solved(training.board(game.moves[: ply + 1]), "ox"[ply % 2])
            assert -following == value, "and the best move is played"


# --- other games ---


def test_chance_rewards_discount_and_a_lopsided_range(tmp_path):
    games = play(tmp_path / "run", TOLLS, games=12, self_play_opening_share=0.5)
    assert all(game.ending == "over" and game.returns[0] == -game.returns[1] for game in games)
    assert all(-1.0 <= game.returns[0] <= 3.0 for game in games)


@pytest.mark.parametrize("ending", [{"self_play_longest": 6}, {"self_play_resign": 0.01, "self_play_resign_checked": 0.0}])
def test_ends_that_the_rules_do_not_know_keep_to_a_lopsided_range(tmp_path, ending):
    games = play(tmp_path / "run", TOLLS, games=16, **ending)
    assert {game.ending for game in games} - {"over"}


@pytest.mark.parametrize("select", ["auto", pytest.param("regret", marks=when_plain)])
def test_simultaneous_moves(tmp_path, select):
    games = play(tmp_path / "run", GOOFSPIEL, games=8, self_play_select=select, self_play_opening_plies=1)
    assert all(game.ending == "over" and all(len(pair) == 2 for pair in game.moves) for game in games)
    assert len({json.dumps(game.moves) for game in games}) > 4


def test_every_game_has_a_board_of_its_own_unless_the_board_is_given(tmp_path):
    pyrat, settings = "pyrat:width=3,height=3,cheese=2,walls=0.5,mud=0.3,max_turns=6", {"self_play.visits": 2}
    boards = {game.board for game in play(tmp_path / "random", pyrat, **settings)}
    assert len(boards) >= 8 and None not in boards
    assert {game.board for game in play(tmp_path / "given", pyrat, **settings, **{"self_play.boards": "given"})} == {None}
    assert {game.board for game in play(tmp_path / "other", **settings)} == {None}  # tic-tac-toe has one board


def test_forced_playouts_of_simultaneous_moves_are_taken_out_again(tmp_path):
    play(tmp_path / "run", GOOFSPIEL, games=4, self_play_forced=2.0, self_play_visits=12)


# --- parts ---


def test_no_move_leads_back_to_a_position_that_may_not_occur_again(tmp_path):
    run = new_run(tmp_path / "run", "go:size=2", self_play_select="puct", self_play_temperature_plies=1e3, self_play_longest=60)
    SelfPlay(run).play(games=12)
    assert max(len(run.game.position(game.moves).moves) for game in games_of(run)) > 8  # superko had something to forbid


@pytest.mark.parametrize(
    ("game", "select", "rule"),
    [
        ("tictactoe", "auto", ab.select.Gumbel),
        ("tictactoe", "gumbel", ab.select.Gumbel),
        ("tictactoe", "puct", ab.PUCT),
        (GOOFSPIEL, "auto", ab.Decoupled),
        (GOOFSPIEL, "decoupled", ab.Decoupled),
    ],
)
def test_the_selection_rule_fits_the_game(game, select, rule):
    assert isinstance(selection_of(load(game), SelfPlaySettings(select=select)), rule)


def test_forced_playouts_are_around_the_rule():
    assert isinstance(selection_of(TicTacToe(), SelfPlaySettings(select="puct", forced=2.0)), Forced)


@pytest.mark.parametrize(("game", "select"), [("tictactoe", "decoupled"), ("tictactoe", "regret"), (GOOFSPIEL, "gumbel")])
def test_a_selection_rule_for_other_games_is_refused(game, select):
    with pytest.raises(TrainingError, match=rf"self_play\.select = '{select}' is not for .*; choose from"):
        selection_of(load(game), SelfPlaySettings(select=select))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a1\na1 a1", r"openings\.txt, line 2: move 2: a1 is not legal here"),
        ("\nz9", r"openings\.txt, line 2: move 1: 'z9' is not a move"),
        ("a1 a2 b1 b2 c1", "line 1: the game is over after a1 a2 b1 b2 c1"),
        ("# nothing\n\n", "has none; write one a line"),
        (b"\xff\xfe", "cannot be read"),
    ],
)
def test_openings_that_cannot_be_played(tmp_path, text, complaint):
    path = tmp_path / "openings.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(TrainingError, match=complaint):
        read_openings(str(path), TicTacToe())


def test_openings_that_are_not_there(tmp_path):
    assert read_openings("", TicTacToe()) == []
    with pytest.raises(TrainingError, match="cannot be read: No such file"):
        read_openings(str(tmp_path / "none.txt"), TicTacToe())


def test_moves_are_drawn_by_their_probability_to_a_power():
    policy, random = np.array([0.1, 0.0, 0.6, 0.3]), np.random.default_rng(0)
    for temperature in (0.0, 0.5, 1.0, 3.0):
        actions = drawn(np.tile(policy, (4000, 1)), np.full(4000, temperature), random.random(4000))
        counts = np.bincount(actions, minlength=4)
        expected = np.eye(4)[2] if temperature == 0.0 else policy ** (1 / temperature) / (policy ** (1 / temperature)).sum()
        assert counts[1] == 0 and np.allclose(counts / 4000, expected, atol=0.04)


def test_each_game_has_its_own_temperature():
    policies, uniform = np.array([[0.6, 0.4], [0.6, 0.4], [0.4, 0.6]]), np.array([0.7, 0.7, 0.0])
    assert drawn(policies, np.array([1.0, 0.1, 0.0]), uniform).tolist() == [1, 0, 1]


def test_surprise_is_the_divergence_from_the_prior():
    targets, priors = np.array([[0.5, 0.5, 0.0], [0.25, 0.0, 0.75]]), np.array([[0.25, 0.0, 0.75]] * 2)
    expected = [training.divergence(target, prior) for target, prior in zip(targets, priors, strict=True)]
    assert np.allclose(surprises(targets, priors), expected) and surprises(targets, priors)[1] == 0.0


def test_a_policy_of_few_actions_has_little_entropy():
    assert np.allclose(
        entropies(np.array([[0.25] * 4, [0.5, 0.5, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]])), [np.log(4), np.log(2), 0.0]
    )


def test_rows_count_plies_as_far_as_they_can(tictactoe):
    row = np.zeros(1, row_type(tictactoe.game))
    row["ply"], row["left"] = MOST_PLIES, MOST_PLIES
    with pytest.raises(OverflowError):
        row["ply"] = MOST_PLIES + 1


def test_defaults_play(tmp_path):
    run = Run.create(tmp_path / "run", "tictactoe", Settings())
    assert selection_of(run.game, run.settings.self_play) == ab.select.Gumbel(considered=16)
