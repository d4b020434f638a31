"""An ONNX graph in the making: nodes and constants are added one by one, and named by number."""

from typing import Any

import numpy as np

from anabranch.extras import needed

OPSET, FORMAT = 17, 8  # of the operators, and of the file that goes with them; ONNX Runtime reads both since 1.13


class Nodes:
    """Nodes of a graph. A value is named by a str."""

    def __init__(self) -> None:
        self._onnx = needed("onnx", "net")
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._whole: dict[tuple[int, ...], str] = {}

    def node(self, kind: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        """Add a node; its output."""
        output = output or f"{kind}_{len(self._nodes)}"
        self._nodes.append(self._onnx.helper.make_node(kind, list(inputs), [output], name=output, **attributes))
        return output

    def halves(self, x: str) -> tuple[str, str]:
        """Both halves along the last axis, which is even."""
        name = f"Split_{len(self._nodes)}"
        self._nodes.append(self._onnx.helper.make_node("Split", [x], [f"{name}_0", f"{name}_1"], name=name, axis=-1))
        return f"{name}_0", f"{name}_1"

    def floats(self, values: Any) -> str:
        """A constant, f4."""
        name = f"constant_{len(self._constants)}"
        array = np.ascontiguousarray(values, np.float32)
        self._constants.append(self._onnx.numpy_helper.from_array(array.reshape(np.shape(values)), name))
        return name

    def whole(self, *values: int) -> str:
        """A constant list of integers."""
        if values not in self._whole:
            self._whole[values] = f"constant_{len(self._constants)}"
            self._constants.append(self._onnx.numpy_helper.from_array(np.array(values, np.int64), self._whole[values]))
        return self._whole[values]

    def serialise(self, name: str, inputs: dict[str, list[Any]], outputs: dict[str, list[Any]]) -> bytes:
        """The graph as an ONNX model; inputs and outputs with their shapes, in which a str stands for any size."""
        helper, kind = self._onnx.helper, self._onnx.TensorProto.FLOAT
        ends = [
            [helper.make_tensor_value_info(*end) for end in ((key, kind, shape) for key, shape in side.items())]
            for side in (inputs, outputs)
        ]
        graph = helper.make_graph(self._nodes, name, *ends, self._constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=FORMAT)
        return model.SerializeToString()
