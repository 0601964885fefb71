"""Cubic polynomials fitted to a curve, on cells as narrow as it asks for.

They are for ONNX graphs of curves that have no tables in the type of the input, such as float64,
which kmaps itself encodes by the formula.
"""

import numpy as np
from numpy.typing import NDArray

from kmaps.codes.codebook import pad_levels
from kmaps.errors import InputError
from kmaps.maps.grids import Curve
from kmaps.onnx_graph import Graph, Tensor

_RELATIVE = 1e-7  # largest error, relative to the outputs at a value
_SMALLEST = 1e-8  # an error that is always allowed, relative to the largest outputs
_MOST_CELLS = 1 << 14  # per feature
_MOST_HALVINGS = 60  # per cell
_NODES = np.array([0, 0.25, 0.75, 1])  # Chebyshev's extrema, with both ends: pieces meet
_TO_POWERS = np.linalg.inv(np.vander(_NODES, increasing=True))
_BETWEEN = np.array([0.1, 0.5, 0.9])
_OCTAVES = 2.0 ** np.arange(-126, 128)  # all octaves of single precision


class FittedGrid:
    """Pieces of a ``curve`` that begin and end at its ``corners`` (f, m), where it is not smooth.

    ``ends`` (2, f) are its range. None: magnitudes up to 2^127, in cells that begin as octaves.
    """

    def __init__(self, curve: Curve, corners: NDArray, ends: NDArray | None, whom: str) -> None:
        self._curve = curve
        self._whom = whom
        if ends is None:
            octaves = np.concatenate([-_OCTAVES[::-1], [0.0], _OCTAVES])
            knots = np.tile(octaves, (len(corners), 1))
            ends = np.ones((2, len(corners)))
        else:
            low, high = ends[:, :, None]
            knots = np.clip(np.concatenate([low, corners, high], axis=1), low, high)
        size = np.abs(curve(ends, np.arange(ends.shape[1]))).max()
        knots, feature = self._divided(np.sort(knots, axis=1), size)
        self._knots = pad_levels(knots[feature == j] for j in range(len(corners)))

    def _divided(self, knots: NDArray, size: float) -> tuple[NDArray, NDArray]:
        """Return the knots of all features, more of them where cells err, and whose they are."""
        begin = knots[:, :-1].ravel()
        end = knots[:, 1:].ravel()
        feature = np.repeat(np.arange(len(knots)), knots.shape[1] - 1)
        all_knots = [begin, end]
        owners = [feature, feature]
        for _ in range(_MOST_HALVINGS):
            x = begin[:, None] + (end - begin)[:, None] * _BETWEEN
            exact = self._curve(x, np.broadcast_to(feature[:, None], x.shape))
            pieces = self._pieces(begin, end, feature)
            error = np.abs(np.vander(_BETWEEN, 4, increasing=True) @ pieces - exact)
            allowed = _RELATIVE * np.abs(exact).max(axis=(1, 2)) + _SMALLEST * size
            errs = error.max(axis=(1, 2)) > allowed
            if not errs.any():
                return np.concatenate(all_knots), np.concatenate(owners)
            middle = x[errs, 1]
            feature = feature[errs]
            all_knots.append(middle)
            owners.append(feature)
            if sum(map(len, all_knots)) > _MOST_CELLS * len(knots):
                break
            halves_begin = [begin[errs], middle]
            halves_end = [middle, end[errs]]
            begin = np.concatenate(halves_begin)
            end = np.concatenate(halves_end)
            feature = np.concatenate([feature, feature])
        raise InputError(
            f"{self._whom}: its curve has no ONNX graph of this dtype, because it needs more than "
            f"{_MOST_CELLS} cubic pieces per feature; choose another dtype or a smoother curve"
        )

    def _pieces(self, begin: NDArray, end: NDArray, feature: NDArray) -> NDArray:
        """Return the coefficients on cells, each of its ``feature``, (…, 4, r)."""
        x = begin[..., None] + (end - begin)[..., None] * _NODES
        return _TO_POWERS @ self._curve(x, np.broadcast_to(feature[..., None], x.shape))

    def add_to_graph(self, graph: Graph, x: Tensor) -> Tensor:
        """Return the outputs (n, d, r) of values in an ONNX graph."""
        knots = self._knots
        if knots.shape[1] == 1:  # nothing varies
            knots = np.repeat(knots, 2, axis=1)
        begin = knots[:, :-1]
        end = knots[:, 1:]
        # A cell of no width repeats the end of its feature.
        width = np.where(end > begin, end - begin, 1)
        pieces = self._pieces(begin, end, np.arange(len(knots))[:, None])
        inside = graph.clip(x, knots[:, 0], knots[:, -1])
        return graph.piecewise(inside, end[:, :-1], begin, width, pieces)
