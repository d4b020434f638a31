"""Networks in matches and in the program."""

import json
import subprocess
import sys

import pytest

import anabranch as ab
from anabranch.arena.match import Match
from anabranch.arena.notation import parse
from anabranch.arena.series import play
from anabranch.games import ConnectFour, TicTacToe


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
