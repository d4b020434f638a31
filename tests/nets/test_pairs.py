"""Networks of games in which both players move at once: two policies, two values."""

import numpy as np
import pytest
import torch

import anabranch as ab
from anabranch.games import PyRat
from anabranch.nets.model import export, make_model
from tests.nets.test_network import Fixed

GAME = PyRat(preset="5x5")
LOGITS = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 4.0, 3.0, 2.0, 1.0, 0.0])  # of up, right, down, left, stay, for each player


def softmax(logits):
    return np.exp(logits) / np.exp(logits).sum()


def test_each_player_has_a_policy_of_its_own_and_actions_of_one_outcome_are_added():
    network = ab.Network(Fixed(LOGITS.tolist(), [0.0, 0.5]), game=GAME)
    priors, values = network(np.concatenate([GAME.start().record()] * 2))
    np.testing.assert_allclose(priors, [[softmax(LOGITS[:5]), softmax(LOGITS[5:])]] * 2, rtol=1e-6)
    np.testing.assert_allclose(values, [[2.5, 3.75]] * 2)  # of 0 to 5 pieces of cheese
    result = ab.Search(GAME, evaluate=network, graph=True).run(visits=1)
    first = {move.name: move.prior for move in result.moves[0]}  # in a corner: down and left are to stay
    wanted = softmax(LOGITS[:5])
    np.testing.assert_allclose([first["up"], first["right"], first["stay"]], [*wanted[:2], wanted[2:].sum()], rtol=1e-5)
    assert len(first) == 3


def test_a_model_for_both_players_is_made_exported_and_searched(tmp_path):
    torch.manual_seed(0)
    module = make_model(GAME, blocks=1, channels=8)
    export(module, GAME, tmp_path / "rat.onnx")
    results = [
        ab.Search(GAME, evaluate=ab.Network(model, batch=4), graph=True).run(visits=30)
        for model in (module, tmp_path / "rat.onnx")
    ]
    assert [visits.sum() for visits in results[0].visits] == [30, 30]
    np.testing.assert_array_equal(results[0].pairs, results[1].pairs)
    np.testing.assert_allclose(results[0].value, results[1].value, atol=1e-5)


def test_many_searches_share_batches_of_both_players_positions():
    one, three = (ab.Network(Fixed(LOGITS.tolist(), [0.0, 0.5]), batch=batch) for batch in (1, 3))
    fleet = ab.Fleet(GAME, 3, evaluate=three, graph=True, memory="30MB")
    alone = ab.Search(GAME, evaluate=one, graph=True, seed=1, memory="10MB").run(visits=20)
    results = fleet.run([GAME.start()] * 3, visits=20)
    np.testing.assert_array_equal(results[1].pairs, alone.pairs)


def test_a_model_of_another_size_is_refused():
    with pytest.raises(ab.errors.NetworkError, match=r"policies of the shape \(5,\); PyRat\(.*\) has 10 actions of 2 players"):
        ab.Network(Fixed([0.0] * 5, [0.0, 0.0]), game=GAME)
    with pytest.raises(ab.errors.NetworkError, match=r"values of the shape \(1,\)"):
        ab.Network(Fixed([0.0] * 10, [0.0]), game=GAME)
