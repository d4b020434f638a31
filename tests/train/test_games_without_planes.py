"""Games that have only rules are learnt from the fields of their records."""

import numpy as np
import pytest

import anabranch as ab
from anabranch.games.encoding import planes_of
from anabranch.games.nim import Nim
from anabranch.games.registry import load
from anabranch.nets.network import Network
from anabranch.train.findings import findings
from anabranch.train.learner import Learner
from anabranch.train.model import FlatNet
from anabranch.train.run import Run
from anabranch.train.self_play import SelfPlay
from anabranch.train.settings import Settings
from tests.conftest import in_soak, when_plain
from tests.train.conftest import SMALL, new_run

PLAIN = {"network_size": "auto"}


def points(network, game, games=60):
    """The share of games that a network's most likely moves win against random ones, as either player."""
    random, won = np.random.default_rng(0), 0
    for number in range(games):
        position = game.start()
        while not position.is_over:
            if position.to_play == number % 2:
                move = int(np.argmax(network(position.record())[0][0]))
            else:
                move = int(random.choice(position.legal_actions))
            position = position.play(move)
        won += position.returns[number % 2] > 0
    return won / games


@pytest.mark.when_compiled
def test_a_network_learns_nim_from_its_record(tmp_path):
    run = new_run(tmp_path / "run", "nim", **PLAIN, self_play_games=32, self_play_visits=16, learner_learning_rate=1e-2,
                  learner_warm_up=20)  # fmt: skip
    learner = Learner(run)
    assert isinstance(learner.model.net, FlatNet)
    for _ in range(3):
        SelfPlay(run).play(games=100)
        learner.window.read()
        for _ in range(80):
            learner.step()
        learner.save()
    network = Network(run.network_in_use, game=Nim())
    assert points(network, Nim()) >= 0.9
    _, values = network(np.concatenate([Nim().position(moves).record() for moves in ([0], [2, 2, 2, 2, 2])]))
    assert values[0] < -0.3 and values[1] > 0.3, "who faces 20 stones loses, who faces 6 wins"


@pytest.mark.parametrize("policy", ["search", pytest.param("regularized", marks=when_plain)])
@pytest.mark.parametrize(
    "game",
    [
        "pig",
        "goofspiel:cards=3",
        *(pytest.param(name, marks=in_soak) for name in ("matrix", "trinim:stones=6", "treasure:steps=4")),
    ],
)
def test_games_of_all_kinds_can_be_learnt(tmp_path, game, policy):
    run = new_run(tmp_path / "run", game, **PLAIN, targets_policy=policy)
    assert SelfPlay(run).play(games=8) >= 8
    learner = Learner(run)
    learner.window.read()
    before = learner.window.total
    assert before > 0
    for _ in range(3):
        learner.step()
    network = Network(learner.save(), game=run.game)
    priors, _ = network(run.game.start().record())
    assert priors.shape == (1, *run.game.policy_shape) and np.allclose(priors.sum(-1), 1.0, atol=1e-5)


def test_its_networks_are_used_like_any_other(tmp_path):
    run = new_run(tmp_path / "run", "nim", **PLAIN)
    network = Network(run.network_in_use, symmetry="random")
    result = ab.Search(Nim(), select=ab.PUCT(), evaluate=network).run(visits=30)
    assert result.visits.sum() == 30
    with pytest.raises(ab.errors.NetworkError, match=r"takes planes of the shape|is a network for Nim"):
        Network(run.network_in_use, game=load("trinim"))


def test_a_run_says_that_networks_see_the_record(tmp_path):
    (found,) = findings(Run.create(tmp_path / "run", "nim", Settings().but(**{**SMALL, **PLAIN})))
    assert found.name == "networks see the record"
    assert f"Nim() has no `planes`, so networks see the fields of its record as {planes_of(Nim())[0]} numbers" in found.text
    assert "docs/nets.md#network-inputs-for-your-game" in found.text
