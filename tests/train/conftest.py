"""Runs that tests share, and how tests make one."""

import pytest

from anabranch.train.run import Run
from anabranch.train.self_play import SelfPlay
from anabranch.train.settings import Settings
from tests.conftest import needs

needs("torch", "onnxruntime", "onnx")

SMALL = {
    "network_size": "tiny",
    "self_play_games": 4,
    "self_play_visits": 6,
    "self_play_memory": "40MB",
    "self_play_cache": "1MB",
    "gate_games": 0,
    "learner_batch": 32,
    "learner_first": 32,
    "learner_reuse": 1000.0,
    "learner_window_least": 100,
    "learner_export_every": 10**9,
}


def new_run(path, game="tictactoe", **settings):
    """A run with a first network."""
    from anabranch.train.learner import Learner

    run = Run.create(path, game, Settings().but(**{**SMALL, **settings}))
    Learner(run)
    return run


@pytest.fixture(scope="session")
def tictactoe(tmp_path_factory):
    """A run of tic-tac-toe with a network and forty games; tests copy it before they change it."""
    run = new_run(tmp_path_factory.mktemp("runs") / "tictactoe")
    SelfPlay(run).play(games=40)
    return run
