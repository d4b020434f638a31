"""Networks in matches and in the program."""

import json
import subprocess
import sys
from contextlib import closing

import pytest

import anabranch as ab
from anabranch.arena.game_threads import GameThreads
from anabranch.arena.match import Match
from anabranch.arena.notation import parse
from anabranch.arena.series import play
from anabranch.arena.worker_pool import Job
from anabranch.games import ConnectFour, TicTacToe
from anabranch.nets.shared_network import SharedNetwork


def test_a_player_can_have_a_network(connect_four):
    spec = parse(f"puct visits=8 net={connect_four[1]} batch=4", ConnectFour())
    assert isinstance(spec.options["evaluate"], ab.Network)
    assert (spec.options["evaluate"].batch, spec.limits) == (4, {"visits": 8})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("puct visits=8 net=nowhere.onnx", "nowhere.onnx"),
        ("puct visits=8 net", "net=four.onnx"),
        ("puct visits=8 net={file} evaluate=Uniform", "leave one of them out"),
        ("puct visits=8 net={file} batch=0", "batch"),
    ],
)
def test_a_network_that_cannot_be_is_told(connect_four, text, told):
    with pytest.raises(ab.AnabranchError, match=told):
        parse(text.format(file=connect_four[1]), ConnectFour())


def test_a_network_of_another_game_is_told(connect_four):
    with pytest.raises(ab.AnabranchError, match="TicTacToe"):
        parse(f"puct visits=8 net={connect_four[1]}", TicTacToe())


def test_a_match_of_networks(connect_four, tmp_path):
    match = Match(f"puct visits=16 net={connect_four[1]} batch=4", "random", game="connectfour")
    (standing,) = play([match], games=2, db=tmp_path / "matches.db", processes=1)
    assert len(standing.games) == 2


def test_the_program_searches_with_a_network(connect_four):
    command = [sys.executable, "-m", "anabranch", "search", "connectfour", "--visits", "64", "--json"]
    done = subprocess.run(
        [*command, "--net", str(connect_four[1]), "--threads", "2"], capture_output=True, text=True, check=True
    )
    told = json.loads(done.stdout)
    assert sum(told["visits"]) == 64
    assert (told["settings"]["threads"], told["settings"]["evaluate"]) == (2, "Network")


def test_games_that_are_played_together_share_the_calls_of_their_network(connect_four, tmp_path):
    """The same games as one by one, in fewer and larger calls."""
    terms = {"game": "connectfour", "opening_plies": 1}
    match = Match(f"puct visits=12 net={connect_four[1]} batch=4", "random", **terms)
    games = GameThreads(4)
    with closing(games.play([Job(match, number) for number in range(6)], [match])) as results:
        done = {result.played.number: result.played.moves for result in results}
    (shared,) = games._networks.values()
    assert shared.batch == 1 and shared.largest > 1
    alone = Match(f"puct visits=12 net={connect_four[1]} batch=1", "random", **terms)
    (standing,) = play([alone], games=6, db=tmp_path / "alone.db")
    assert done == {game.number: game.moves for game in standing.games}


def test_what_a_shared_network_raises_is_told_to_who_asked():
    def broken(states):
        raise ValueError("no")

    network = ab.Network(broken, game=TicTacToe(), batch=2)
    shared = SharedNetwork(network, 2)
    with pytest.raises(ab.errors.EvaluatorError, match="no"):
        ab.Search(TicTacToe(), evaluate=shared).run(visits=4)


def test_matches_go_on_together_or_in_processes_but_not_both(tmp_path):
    match = Match("uct visits=10", "random", game="tictactoe")
    with pytest.raises(ab.AnabranchError, match="in one process or in several"):
        play([match], games=2, db=tmp_path / "a.db", processes=2, together=2)
    play([match], games=3, db=tmp_path / "a.db", together=2)
    (standing,) = play([match], games=6, db=tmp_path / "a.db", together=3)
    assert [game.number for game in standing.games] == list(range(6))
