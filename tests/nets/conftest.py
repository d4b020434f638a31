"""A small network that tests share, made once."""

import pytest

from anabranch.games.connectfour import ConnectFour
from tests.conftest import needs

needs("torch", "onnxruntime", "onnx")


@pytest.fixture(scope="session")
def connect_four(tmp_path_factory):
    """A module for Connect Four, and its file."""
    import torch

    from anabranch.nets.model import export, make_model

    torch.manual_seed(1)
    module, path = make_model(ConnectFour(), blocks=3, channels=8), tmp_path_factory.mktemp("nets") / "net.onnx"
    export(module, ConnectFour(), path)
    return module, path
