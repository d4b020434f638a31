"""The networks that come with the package: each is found, belongs to its game, and is what plays the game best."""

import json

import numpy as np
import pytest

from anabranch.arena.notation import SearchSpec, parse
from anabranch.errors import AnabranchError
from anabranch.games.connectfour import ConnectFour
from anabranch.games.registry import load
from anabranch.games.tictactoe import TicTacToe
from anabranch.nets import trained
from anabranch.nets.network import Network
from anabranch.nets.trained import FILES, FOLDER, trained_file
from anabranch.presets import best_options
from anabranch.search.evaluate.rollout import Rollout
from anabranch.search.searcher import Search
from anabranch.train.settings import read
from tests.conftest import needs, when_compiled

needs("onnxruntime", "onnx")

MEGABYTE = 1 << 20


def test_every_file_is_in_the_table():
    assert {path.name for path in FOLDER.glob("*.onnx")} == set(FILES.values())
    assert {path.stem for path in FOLDER.glob("*.toml")} == {path.stem for path in FOLDER.glob("*.onnx")}


@pytest.mark.parametrize("name", FILES)
def test_a_network_belongs_to_its_game_and_has_the_settings_of_its_run(name):
    game = load(name)
    file = trained_file(game)
    assert file.stat().st_size <= MEGABYTE
    net = best_options(game)["evaluate"]
    assert isinstance(net, Network) and net.model == file
    priors, values = net(np.concatenate([game.start().record()] * 2))
    assert np.isfinite(values).all() and priors.shape == (2, *game.policy_shape)
    top, settings = read(file.with_suffix(".toml"))
    assert repr(load(top["game"])) == repr(game) and settings.network.size in ("tiny", "small", "medium")


class Turned(ConnectFour):
    """Somebody's own game, made of one of the package."""


def test_other_games_have_none():
    assert trained_file(TicTacToe()) is None and trained_file(Turned()) is None and best_options(Turned()) == {}


def test_without_the_runtime_games_are_searched_as_before(monkeypatch):
    monkeypatch.setattr(trained, "RUNTIME", "nothing_of_this_name")
    assert trained_file(ConnectFour()) is None and best_options(ConnectFour()) == {}


def test_it_sees_what_is_won_at_once():
    game = ConnectFour()
    net = best_options(game)["evaluate"]
    position = game.position("dcdcd")  # whoever began wins with d, unless it is stopped
    priors, values = net(position.record())
    assert int(np.argmax(priors[0])) == 3 and values[0] < 0.0


@when_compiled
def test_the_program_searches_with_it(program):
    code, out, err = program("search", "connectfour", "--moves", "dcdcd", "--visits", "50", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert found["best"] == 3 and "Network" in str(found["settings"]["evaluate"])
    code, out, err = program("search", "connectfour", "--moves", "dcdcd", "--visits", "50", "--json", "--select", "uct")
    assert code == 0 and "Network" not in str(json.loads(out)["settings"]["evaluate"]), err


def test_people_are_told_that_it_evaluates(program):
    for command in (["search", "connectfour", "--visits", "10"], ["play", "connectfour", "--visits", "10"]):
        assert "connectfour.onnx, a network of the package, evaluates; --select uct" in program(*command, answers=["quit"])[1]
        assert "network" not in program(*command, "--select", "uct", answers=["quit"])[1]


def test_the_player_best_has_it_unless_told_otherwise():
    game = ConnectFour()
    best, batched = parse("best visits=10", game), parse("best visits=10 batch=4", game)
    assert isinstance(best, SearchSpec) and best.label == best.text == "best visits=10"
    assert best.options["evaluate"].model == trained_file(game) and batched.options["evaluate"].batch == 4
    told = parse("best visits=10 evaluate=Rollout()", game)
    assert told.options["evaluate"] == Rollout()
    Search(game, **told.options)
    with pytest.raises(AnabranchError, match="leave one of them out"):
        parse("best visits=10 net=a.onnx evaluate=Rollout()", game)
