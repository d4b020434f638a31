"""Layers of KataGo's networks as nodes of an ONNX graph.

Two things keep the graph fast. A normalisation that follows a convolution is folded into it, so that ONNX Runtime runs it and
its activation as one; others are one `BatchNormalization`. And Mish is written with one exponential, which takes a seventh of
the time of ONNX Runtime's own.

Points off the board: a batch may hold boards of several sizes, each somewhere in its planes; the first plane says where. What
is computed for other points is set to zero before it can be seen from the board: after every normalisation and its activation.
If all boards fill their planes (`masked=False`) none of that is needed.
"""

from typing import Any

import numpy as np

from anabranch.nets.katago.layers import GLOBALS, METADATA, PLANES, Activation, Convolution, Dense, Norm, RmsNorm
from anabranch.nets.katago.nodes import Nodes

ON_BOARD = 0  # the plane that is 1 on all points of the board
USUAL_WIDTH, STEP = 14.0, 0.1  # of boards, in pooling: the same mean weighs otherwise on larger ones
QUADRATIC_OFFSET = 0.1  # so that the third number of the value head is near 0 for boards of the usual sizes
LOWEST_MAXIMUM = -1.0  # of points off the board; no activation but the identity goes below
LARGEST_EXPONENT = 20.0  # Mish(x) is x from here on in single precision
POINTS = (2, 3)  # axes


class Layers(Nodes):
    """Nodes that know the board."""

    def __init__(self, masked: bool) -> None:
        super().__init__()
        on_board = self.node("Slice", "planes", self.whole(ON_BOARD), self.whole(ON_BOARD + 1), self.whole(1))
        self.mask = on_board if masked else None  # (n, 1, height, width)
        area = self.node("ReduceSum", on_board, self.whole(*POINTS), keepdims=1)  # (n, 1, 1, 1), as the next two
        width = self.node("Sub", self.node("Sqrt", area), self.floats(USUAL_WIDTH))
        self.linear = self.node("Mul", width, self.floats(STEP))
        square = self.node("Mul", self.linear, self.linear)
        self.quadratic = self.node("Sub", square, self.floats(QUADRATIC_OFFSET))
        self.size = self.node("Slice", self.node("Shape", "planes"), self.whole(2), self.whole(4))  # height, width
        points = self.node("Cast", self.node("ReduceProd", self.size), to=self._onnx.TensorProto.FLOAT)
        self.share = self.node("Div", points, area)  # (n, 1, 1, 1): points of the planes for each on the board

    # --- one layer ---

    def convolve(self, x: str, conv: Convolution, then: Norm | None = None) -> str:
        """A convolution, and the normalisation after it."""
        factor, shift = then.factor_and_shift if then else (np.ones(1), None)
        tail = [] if shift is None else [self.floats(shift)]
        size = conv.weights.shape[2:]
        edges = [dilation * (length // 2) for dilation, length in zip(conv.dilation, size, strict=True)]
        weights = self.floats(conv.weights * factor[:, None, None, None])
        options: dict[str, Any] = {"kernel_shape": list(size), "pads": edges * 2, "dilations": list(conv.dilation)}
        return self.node("Conv", x, weights, *tail, **options)

    def normalise(self, x: str, norm: Norm) -> str:
        """A normalisation that could not be folded into anything."""
        factor, shift = norm.factor_and_shift
        none, one = self.floats(np.zeros(len(factor))), self.floats(np.ones(len(factor)))
        return self.node("BatchNormalization", x, self.floats(factor), self.floats(shift), none, one, epsilon=0.0)

    def activate(self, x: str, activation: Activation) -> str:
        """An activation."""
        match activation:
            case Activation.RELU:
                return self.node("Relu", x)
            case Activation.SILU:
                return self.node("Mul", x, self.node("Sigmoid", x))
            case Activation.MISH:
                return self._mish(x)
        return x

    def _mish(self, x: str) -> str:
        """x tanh(ln(1 + e)) with e = exp(x), which is x m / (m + 2) with m = e (e + 2)."""
        two = self.floats(2.0)
        e = self.node("Exp", self.node("Min", x, self.floats(LARGEST_EXPONENT)))
        m = self.node("Mul", e, self.node("Add", e, two))
        return self.node("Mul", x, self.node("Div", m, self.node("Add", m, two)))

    def activate_on_board(self, x: str, activation: Activation) -> str:
        """An activation, with zeros off the board."""
        active = self.activate(x, activation)
        return self.node("Mul", active, self.mask) if self.mask else active

    def dense(self, x: str, dense: Dense, then: Norm | None = None, output: str = "") -> str:
        """A matrix and its bias, of one row a position. Of the normalisation after it only the factor is applied."""
        weights = dense.weights if then is None else dense.weights * then.factor_and_shift[0]
        tail = [] if dense.bias is None else [self.floats(dense.bias)]
        return self.node("Gemm", x, self.floats(weights), *tail, output=output)

    def to_points(self, x: str) -> str:
        """(n, channels), to be added to every point."""
        return self.node("Unsqueeze", x, self.whole(*POINTS))

    # --- pooling ---

    def pool(self, x: str, activation: Activation) -> str:
        """Mean, mean by width of the board, and maximum of each channel: (n, 3 channels). Off the board x is 0."""
        mean = self._mean(x)
        seen = x
        if self.mask and activation is not Activation.RELU:  # that never makes less than the 0 off the board
            seen = self.node("Add", x, self.node("Sub", self.mask, self.floats(-LOWEST_MAXIMUM)))
        most = self.node("GlobalMaxPool", seen)
        if activation is Activation.IDENTITY:
            most = self.node("Max", most, self.floats(LOWEST_MAXIMUM))
        return self._together(mean, self.node("Mul", mean, self.linear), most)

    def pool_for_value(self, x: str) -> str:
        """Mean, mean by width, and mean by width squared."""
        mean = self._mean(x)
        return self._together(mean, self.node("Mul", mean, self.linear), self.node("Mul", mean, self.quadratic))

    def _mean(self, x: str) -> str:
        mean = self.node("GlobalAveragePool", x)
        return self.node("Mul", mean, self.share) if self.mask else mean

    def _together(self, *parts: str) -> str:
        return self.node("Flatten", self.node("Concat", *parts, axis=1))

    # --- transformers ---

    def normalise_rms(self, x: str, norm: RmsNorm, channels: int = -1) -> str:
        """By the root of the mean square. `channels` is the axis where they are."""
        over, squares = [channels], x
        if norm.whole_board:
            over = [1, *POINTS]
            squares = self.node("Mul", x, self.mask) if self.mask else x
        mean = self.node("ReduceMean", self.node("Pow", squares, self.floats(2.0)), axes=over, keepdims=1)
        if norm.whole_board and self.mask:
            mean = self.node("Mul", mean, self.share)
        root = self.node("Sqrt", self.node("Add", mean, self.floats(norm.epsilon)))
        shape = (-1, *[1] * (-1 - channels if channels < 0 else 3 - channels))
        scaled = self.node("Mul", self.node("Div", x, root), self.floats(norm.scale.reshape(shape)))
        return scaled if norm.bias is None else self.node("Add", scaled, self.floats(norm.bias.reshape(shape)))

    def multiply(self, x: str, weights: np.ndarray) -> str:
        """A matrix, of one row a point."""
        return self.node("MatMul", x, self.floats(weights))


INPUTS = {"planes": ["positions", PLANES, "height", "width"], "globals": ["positions", GLOBALS]}
METADATA_INPUT = {"metadata": ["positions", METADATA]}
