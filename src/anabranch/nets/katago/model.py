"""`KataGoModel`: a KataGo file, ready to compute. Planes and globals in, raw outputs out; `outputs.py` reads those.

Two graphs are made of a network: one for batches whose boards fill their planes, which most do, and one for boards of several
sizes, which is made when it is first needed.
"""

import threading
from pathlib import Path
from typing import Any

import numpy as np

from anabranch.errors import NetworkError
from anabranch.nets.katago.file import read_network
from anabranch.nets.katago.graph import OUTPUTS, build_graph
from anabranch.nets.katago.graph_layers import ON_BOARD
from anabranch.nets.katago.layers import LARGEST_BOARD, METADATA, Header
from anabranch.nets.katago.outputs import RawOutputs
from anabranch.nets.runtimes import open_session


class KataGoModel:
    """A network that ONNX Runtime runs. Threads may share it."""

    def __init__(self, path: str | Path, threads: int = 1, providers: list[Any] | None = None) -> None:
        self.name, self.threads, self.providers = str(path), threads, providers
        self.network = read_network(path)
        self._lock = threading.Lock()
        self._masked: Any = None
        self._whole = self._open(masked=False)

    @property
    def header(self) -> Header:
        """What the file says of the whole network."""
        return self.network.header

    def _open(self, masked: bool) -> Any:
        return open_session(build_graph(self.network, masked), self.name, self.threads, self.providers)

    def _session(self, planes: np.ndarray) -> Any:
        """The one that these boards need."""
        if planes[:, ON_BOARD].all():
            return self._whole
        with self._lock:
            if self._masked is None:
                self._masked = self._open(masked=True)
            return self._masked

    def __call__(self, planes: np.ndarray, globals: np.ndarray, metadata: np.ndarray | None = None) -> RawOutputs:
        """Raw outputs of n positions: f4 (n, 22, height, width), (n, 19) and, for human-like networks, (n, 192)."""
        if max(planes.shape[2:]) > LARGEST_BOARD:
            height, width = planes.shape[2:]
            raise NetworkError(f"{self.name} plays on boards of up to {LARGEST_BOARD} lines, not on {width}x{height}")
        inputs = {"planes": planes, "globals": globals}
        if self.header.has_metadata:
            if metadata is None:
                raise NetworkError(f"{self.name} is a human-like network: it has to be told who plays, in {METADATA} numbers")
            inputs["metadata"] = metadata
        return RawOutputs(*self._session(planes).run(OUTPUTS, inputs))
