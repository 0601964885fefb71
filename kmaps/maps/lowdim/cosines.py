r"""Sums of cosines with non-negative weights, the form of every low-dimensional map.

Over one variable both forms are :math:`\hat k(\lambda) = \sum_\omega \alpha_\omega
\cos(\omega\lambda)` (ldefm eq. 2). Over several variables a *projection* is
:math:`\sum_\omega \alpha_\omega \cos(\omega^\top\lambda)` (ldefm eq. 19) and a *modulation*
:math:`\sum_\omega \alpha_\omega \prod_i \cos(\omega_i\lambda_i)` (ldefm eq. 20). An atom is one
cosine of a projection or one product of a modulation.
"""

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kmaps.array_api import like, namespace

if TYPE_CHECKING:
    from kmaps.onnx_graph import Graph, Tensor

FORMS = ("projection", "modulation")


def atom_dims(frequencies: NDArray, form: str) -> NDArray:
    """Return how many outputs each atom needs (ldefm eq. 3, 21), for frequencies (m, n)."""
    if form == "projection":
        return np.where(frequencies.any(axis=1), 2, 1)
    return np.where(frequencies == 0, 1, 2).prod(axis=1)


def atom_values(frequencies: NDArray, lam: NDArray, form: str) -> NDArray:
    """Return each atom (columns) at each ``lam`` (N, n)."""
    if form == "projection":
        return np.cos(lam @ frequencies.T)
    return np.cos(lam[:, None, :] * frequencies).prod(axis=2)


def atom_slopes(frequencies: NDArray, lam: NDArray, form: str) -> NDArray:
    """Return the derivative of each atom by each of its n frequencies: (N, m, n)."""
    if form == "projection":
        return -np.sin(lam @ frequencies.T)[:, :, None] * lam[:, None, :]
    phases = lam[:, None, :] * frequencies
    cosines = np.cos(phases)
    slopes = -np.sin(phases) * lam[:, None, :]
    for i in range(lam.shape[1]):
        others = np.delete(cosines, i, axis=2)
        slopes[:, :, i] *= others.prod(axis=2)
    return slopes


@dataclass(frozen=True, eq=False)
class CosineSum:
    r"""An approximate signature :math:`\hat k` and the feature map it is an inner product of.

    ``frequencies`` (m, n) have a row per atom, in radians per unit of λ; ``weights`` (m,) are α ≥
    0; ``form`` says how an atom is made of its n frequencies, alike for n = 1.
    """

    frequencies: NDArray
    weights: NDArray
    form: str = "projection"

    @property
    def dim(self) -> int:
        """The number of outputs of `features`."""
        return int(atom_dims(self.frequencies, self.form).sum())

    def __call__(self, lam: ArrayLike) -> NDArray:
        """Return k̂(λ): of any shape for n = 1, else with n components on the last axis."""
        lam = np.asarray(lam, float)
        n = self.frequencies.shape[1]
        shape = lam.shape if n == 1 else lam.shape[:-1]
        values = atom_values(self.frequencies, lam.reshape(-1, n), self.form) @ self.weights
        return values.reshape(shape)

    def features(self, x: NDArray) -> NDArray:
        r"""Return the map :math:`\hat\Psi` of points (N, n) as (N, dim), float64.

        An atom of a projection gives a cosine and a sine (ldefm Sect. 2), one of a modulation the
        tensor product of such pairs (ldefm Sect. 6.2). A zero frequency gives no sine.
        """
        xp = namespace(x)
        outputs = []
        for omega, weight in zip(self.frequencies, np.sqrt(self.weights).tolist(), strict=True):
            if self.form == "projection":
                phases = [x @ like(x, omega)]
                varies = [omega.any()]
            else:
                phases = [x[:, i] * omega_i for i, omega_i in enumerate(omega.tolist())]
                varies = omega != 0
            waves = xp.full_like(x[:, :1], weight)
            for phase, phase_varies in zip(phases, varies, strict=True):
                if phase_varies:
                    pair = xp.stack([xp.cos(phase), xp.sin(phase)], axis=1)
                    waves = xp.reshape(waves[:, :, None] * pair[:, None, :], (x.shape[0], -1))
            outputs.append(waves)
        return xp.concat(outputs, axis=1)

    def add_to_graph(self, graph: "Graph", x: "Tensor") -> "Tensor":
        """Return `features` of points (N, n) in an ONNX graph, in the type of ``x``."""
        quarter = np.pi / 2  # a cosine is the sine so much later: some runtimes have no cosine
        atoms = []
        shifts = []
        for atom, omega in enumerate(self.frequencies):
            moves = [omega.any()] if self.form == "projection" else omega != 0
            for shift in product(*((quarter, 0.0) if moving else (quarter,) for moving in moves)):
                atoms.append(atom)
                shifts.append(shift)
        omega = self.frequencies[atoms].T
        if self.form == "projection":
            phases = [graph.node("MatMul", x, omega)]
        else:
            columns = [graph.node("Gather", x, [i], axis=1) for i in range(len(omega))]
            phases = [
                graph.node("Mul", x_i, of_x) for x_i, of_x in zip(columns, omega, strict=True)
            ]
        outputs = graph.constant(np.sqrt(self.weights)[atoms], x.dtype)
        for phase, shift in zip(phases, np.transpose(shifts), strict=True):
            wave = graph.node("Sin", graph.node("Add", phase, shift))
            outputs = graph.node("Mul", outputs, wave)
        return outputs

    def on_grid(self, axes: list[NDArray]) -> NDArray:
        """Return k̂ on the product of ``axes`` (n arrays), by a matrix product of their cosines."""
        last = axes[-1][:, None] * self.frequencies[:, -1]
        if self.form == "modulation":
            head = self.weights * np.cos(axes[0][:, None] * self.frequencies[:, 0])
            for i, axis in enumerate(axes[1:-1], start=1):
                wave = np.cos(axis[:, None] * self.frequencies[:, i])
                head = head[..., None, :] * wave
            return head @ np.cos(last).T if len(axes) > 1 else head.sum(axis=-1)
        phase = np.zeros(len(self.weights))
        for axis, omega in zip(axes[:-1], self.frequencies.T[:-1], strict=True):
            phase = phase[..., None, :] + axis[:, None] * omega
        real = (self.weights * np.cos(phase)) @ np.cos(last).T
        return real - (self.weights * np.sin(phase)) @ np.sin(last).T

    def ascending(self) -> tuple[NDArray, NDArray]:
        """Return the frequencies (m,) of a sum over one variable by size, and their weights."""
        order = np.argsort(self.frequencies[:, 0])
        return self.frequencies[order, 0], self.weights[order]

    def heaviest_first(self) -> "CosineSum":
        """Return the same sum with its atoms by falling weight."""
        order = np.argsort(-self.weights, kind="stable")
        return CosineSum(self.frequencies[order], self.weights[order], self.form)
