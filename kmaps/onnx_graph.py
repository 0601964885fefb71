"""Models as ONNX graphs: codes are a search, tables a gather, scores a sum.

A curve is made of pieces: a value finds its piece, by a product where the pieces are equally wide,
else by a search among their edges; the coefficients of the piece are gathered; and a polynomial of
the place inside the piece is evaluated. The pieces of a step function, such as a function on codes,
are constants; the pieces of isotonic probabilities are straight lines.

Each class adds itself to a `Graph`; :func:`export` turns one, or a chain of them, into a model.
"""

import json
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import DTypeLike, NDArray
from sklearn.utils.validation import check_is_fitted

from kmaps.checks import check_choice, present
from kmaps.errors import ConfigError, InputError
from kmaps.io import atomic_file

DTYPES = ("float32", "float64", "uint8")
# The versions of ONNX 1.12, which runtimes since 2022 read.
_OPSET = 17
_IR_VERSION = 8
_MOST_BYTES = 2_000_000_000  # a file in protobuf's format cannot be larger


class Tensor(NamedTuple):
    """The name and the type of an array in a graph; its first axis are the rows."""

    name: str
    dtype: np.dtype


@runtime_checkable
class Exportable(Protocol):
    """An object with an ONNX graph once it is fitted; ``n_features_in_`` is its rows' width."""

    def add_to_graph(self, graph: "Graph", x: Tensor) -> Tensor | None:
        """Add the computation on rows (n, d); return outputs (n, r), or add a model's outputs."""


def add_step(step: Any, graph: "Graph", x: Tensor) -> Tensor | None:
    """Add a step to a graph, or raise ConfigError."""
    if not isinstance(step, Exportable):
        raise ConfigError(
            f"{type(step).__name__} has no ONNX graph: maps have one, Quantizer, models of kmaps "
            "but for KernelSVC, scikit-learn's LinearSVC and LogisticRegression, and pipelines of "
            "them"
        )
    normalization = vars(step).get("normalization_")
    if normalization is not None:
        raise ConfigError(
            f"{type(step).__name__} normalises its rows ({normalization.name}), which has no ONNX "
            "graph here: train it on rows that are normalised beforehand"
        )
    return step.add_to_graph(graph, x)


def export(
    steps: Sequence[Any],
    path: str | Path | None,
    *,
    dtype: str,
    force: bool,
    add: Callable[[Any, "Graph", Tensor], Tensor | None] = add_step,
) -> Any:
    """Return the ONNX model of fitted steps, of which each takes the outputs of the one before."""
    check_choice("dtype", dtype, DTYPES)
    for step in steps:
        check_is_fitted(step)
    graph = Graph(np.dtype(dtype), steps[0].n_features_in_)
    graph.facts["model"] = ", ".join(type(step).__name__ for step in steps)
    names = vars(steps[0]).get("feature_names_in_")
    if names is not None:
        graph.facts["feature_names"] = json.dumps([str(name) for name in names])
    x = graph.input
    for step in steps[:-1]:
        x = present(add(step, graph, x), "the outputs of a step")
    outputs = add(steps[-1], graph, x)
    if outputs is not None:  # the step is a map
        graph.add_output("transform", outputs, 2)
    model = graph.model()
    if path is not None:
        with atomic_file(path, force=force) as file:
            file.write(model.SerializeToString())
    return model


class Graph:
    """A graph that grows, of rows ``X`` (n, d).

    ``float`` is the type of outputs, and ``facts`` are what the file says of the model.
    """

    def __init__(self, dtype: np.dtype, n_features: int) -> None:
        import kmaps

        try:
            import onnx
        except ImportError:
            raise ConfigError(
                "to_onnx needs onnx, which is not installed: pip install onnx (the extra onnx)"
            ) from None
        self._onnx: Any = onnx
        self.float: np.dtype = np.dtype(np.float64 if dtype == np.float64 else np.float32)
        self.facts: dict[str, str] = {"kmaps": kmaps.__version__}
        self._nodes: list[Any] = []
        self._numbers = count()  # of nodes and of the rows of `for_each`
        self._constants: list[Any] = []
        self._outputs: list[Any] = []
        self.input = Tensor("X", dtype)
        self._inputs = [self._described(self.input, ["n", n_features])]

    def _described(self, x: Tensor, sides: list[Any]) -> Any:
        return self._onnx.helper.make_tensor_value_info(x.name, self._kind(x.dtype), sides)

    def _kind(self, dtype: DTypeLike) -> Any:
        return self._onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))

    def constant(self, values: Any, dtype: DTypeLike | None = None) -> Tensor:
        """Return constant numbers or texts."""
        array = np.asarray(values, dtype)
        name = f"c{len(self._constants)}"
        if array.dtype == object:
            texts = [text.encode() for text in array]
            kind = self._onnx.TensorProto.STRING
            tensor = self._onnx.helper.make_tensor(name, kind, array.shape, texts)
        else:
            tensor = self._onnx.numpy_helper.from_array(np.ascontiguousarray(array), name)
        self._constants.append(tensor)
        return Tensor(name, array.dtype)

    def node(
        self, operator: str, *inputs: Any, dtype: DTypeLike | None = None, **attributes: Any
    ) -> Tensor:
        """Return the output of an operator on its inputs, by default in the type of the first.

        Inputs that are numbers become constants, of the type of the first if that is floating.
        """
        kind = inputs[0].dtype
        names = []
        for value in inputs:
            if not isinstance(value, Tensor):
                is_integer = np.asarray(value).dtype.kind == "i"
                value = self.constant(value, np.int64 if is_integer else kind)
            names.append(value.name)
        name = f"v{next(self._numbers)}"
        node = self._onnx.helper.make_node(operator, names, [name], **attributes)
        self._nodes.append(node)
        return Tensor(name, np.dtype(kind if dtype is None else dtype))

    def cast(self, x: Tensor, dtype: DTypeLike) -> Tensor:
        """Return values in another type."""
        return x if x.dtype == dtype else self.node("Cast", x, dtype=dtype, to=self._kind(dtype))

    def floats(self, x: Tensor) -> Tensor:
        """Return values in floating point: bytes in the type of outputs."""
        return x if x.dtype.kind == "f" else self.cast(x, self.float)

    def clip(self, x: Tensor, low: Any, high: Any) -> Tensor:
        """Return values (n, d) moved into the range of their column."""
        return self.node("Min", self.node("Max", x, low), high)

    def search(self, x: Tensor, edges: NDArray) -> Tensor:
        """Return how many of its column's ascending edges (1 or d, m) each value (n, d) reaches.

        It takes the same steps as `kmaps._loops.codes.nearest_sorted`.
        """
        half = 1 << max(edges.shape[1].bit_length() - 1, 0)
        table = np.full((len(edges), 2 * half), np.inf, x.dtype)
        table[:, : edges.shape[1]] = edges
        flat = self.constant(table.reshape(-1))
        start = self.constant(np.arange(len(table))[None] * 2 * half - 1)  # before the first edge
        place = start
        while half:
            ahead = self.node("Add", place, half)
            edge = self.node("Gather", flat, ahead)
            reached = self.node("LessOrEqual", edge, x, dtype=bool)
            place = self.node("Where", reached, ahead, place, dtype=np.int64)
            half >>= 1
        return self.node("Sub", place, start)

    def divide(
        self, x: Tensor, origin: Any, factors: Sequence[Any], offset: float, last: Any
    ) -> tuple[Tensor, Tensor]:
        """Return the cell, 0 … ``last``, of values (n, d), and the place inside it.

        They are in double precision, step by step as compiled loops compute them: both round alike.
        """
        place = self.node("Sub", self.cast(x, np.float64), origin)
        for factor in factors:
            place = self.node("Mul", place, factor)
        place = self.node("Add", place, offset)
        cell = self.node("Floor", self.clip(place, 0.0, last))
        return self.cast(cell, np.int64), self.node("Sub", place, cell)

    def piecewise(
        self, x: Tensor, edges: NDArray, begin: NDArray, width: NDArray, pieces: NDArray
    ) -> Tensor:
        """Return polynomials of values (n, d) on cells that lie between ``edges``, (n, d, r).

        How far a value is into its cell counts from ``begin`` in units of ``width``, both (1 or d,
        cells). ``pieces`` are as of :meth:`polynomials`.
        """
        cell = self.search(x, edges)
        number = self._numbered(cell, begin.shape)
        start = self.node("Gather", self.constant(begin.reshape(-1), x.dtype), number)
        step = self.node("Gather", self.constant(width.reshape(-1), x.dtype), number)
        place = self.node("Div", self.node("Sub", x, start), step)
        return self.polynomials(cell, place, pieces, x.dtype)

    def polynomials(
        self, cell: Tensor, place: Tensor | None, pieces: NDArray, dtype: DTypeLike | None = None
    ) -> Tensor:
        """Return the polynomials of cells (n, d) at the places inside them, (n, d, r).

        ``pieces`` (1 or d, cells, p + 1, r) are the coefficients of the powers 0 … p; with p = 0
        there is no place. The default ``dtype`` is the type of outputs.
        """
        dtype = self.float if dtype is None else dtype
        cell = self._numbered(cell, pieces.shape)
        flat = pieces.reshape(-1, *pieces.shape[2:])
        *lower, highest = (self.constant(flat[:, q], dtype) for q in range(flat.shape[1]))
        value = self.node("Gather", highest, cell)
        if place is not None:
            place = self.node("Unsqueeze", self.cast(place, dtype), [-1])
            for power in reversed(lower):
                product = self.node("Mul", value, place)
                value = self.node("Add", product, self.node("Gather", power, cell))
        return value

    def _numbered(self, cell: Tensor, shape: tuple[int, ...]) -> Tensor:
        """Return the number of a cell among the cells of all columns, if each has its own."""
        first = np.arange(shape[0])[None] * shape[1]
        return cell if len(first[0]) == 1 else self.node("Add", cell, first)

    def for_each(self, rows: NDArray, make: Callable[[Tensor], Tensor]) -> Tensor:
        """Return the vectors (n,) that ``make`` makes of constant rows (m, d), as columns (n, m).

        The graph makes one after the other, so that it needs little memory.
        """
        row = Tensor(f"v{next(self._numbers)}", rows.dtype)
        nodes_outside = self._nodes
        self._nodes = []
        vector = make(row)
        inputs = [self._described(row, [rows.shape[1]])]
        outputs = [self._described(vector, [None])]
        body = self._onnx.helper.make_graph(self._nodes, "each", inputs, outputs)
        self._nodes = nodes_outside
        vectors = self.node(
            "Scan", self.constant(rows), dtype=vector.dtype, body=body, num_scan_inputs=1
        )
        return self.node("Transpose", vectors)

    def rows(self, values: Tensor, width: int) -> Tensor:
        """Return the outputs (n, d, r) of all columns as rows (n, width)."""
        return self.node("Reshape", values, [0, width])

    def affine(self, x: Tensor, weights: NDArray, shift: NDArray) -> Tensor:
        """Return rows times weights (d, P), and a shift (P,) more; of bytes in float64."""
        x = x if x.dtype.kind == "f" else self.cast(x, np.float64)
        return self.node("Add", self.node("MatMul", x, weights), shift)

    def add_output(self, name: str, x: Tensor, n_sides: int) -> None:
        """Make values an output of the graph, numbers in floating point in its type."""
        x = self.cast(x, self.float) if x.dtype.kind == "f" else x
        self._nodes.append(self._onnx.helper.make_node("Identity", [x.name], [name]))
        self._outputs.append(self._described(x._replace(name=name), ["n", *[None] * (n_sides - 1)]))

    def model(self) -> Any:
        """Return the graph as a checked ONNX model; one too large for a file is refused."""
        n_bytes = sum(constant.ByteSize() for constant in self._constants)
        if n_bytes > _MOST_BYTES:
            raise InputError(
                f"the ONNX graph would take {n_bytes / 1e9:.1f} GB, and a file holds 2 GB: use "
                "fewer levels, features or classes"
            )
        helper = self._onnx.helper
        graph = helper.make_graph(
            self._nodes, "kmaps", self._inputs, self._outputs, self._constants
        )
        opset = [helper.make_opsetid("", _OPSET)]
        model = helper.make_model(graph, opset_imports=opset, ir_version=_IR_VERSION)
        model.producer_name = "kmaps"
        model.producer_version = self.facts["kmaps"]
        helper.set_model_props(model, self.facts)
        self._onnx.checker.check_model(model, full_check=True)
        return model
