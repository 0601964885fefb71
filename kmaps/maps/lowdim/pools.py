r"""Where frequencies of two or three variables are looked for (ldefm Sect. 6.2, 7.3)."""

from itertools import product

import numpy as np
from numpy.typing import NDArray

from kmaps.maps.lowdim.cosines import CosineSum, atom_dims
from kmaps.maps.lowdim.selection import largest_within
from kmaps.maps.lowdim.target import Target

POLAR_RADIUS = 0.5
"""Spacing of the polar pool's radii, in half waves."""

_POLAR_DIRECTIONS = {2: 24, 3: 60}  # in a half space, by the number of inputs
_NOISE = 0.2  # of the logarithm of a weight, in the order by which a start's atoms are chosen
_SHIFTED_AXES = 0.3  # how often a start shifts an axis
_SHIFTED_LINES = (0.0, 0.5, 1.0)  # and what part of the lines along the first


def product_pool(axes: list[NDArray], form: str) -> NDArray:
    r"""Return the products of each axis' frequencies, Ω_⊗ (ldefm eq. 21), as rows (P, n).

    For a projection every combination of signs belongs to it, up to a common one.

    Examples
    --------
    >>> product_pool([np.array([0.0, 1.0]), np.array([0.0, 2.0])], "projection").tolist()
    [[0.0, 0.0], [0.0, 2.0], [1.0, -2.0], [1.0, 0.0], [1.0, 2.0]]
    """
    rows = np.array(list(product(*axes)))
    return rows if form == "modulation" else with_signs(rows)


def with_signs(rows: NDArray) -> NDArray:
    """Return atoms (P, n) with every combination of signs, up to a common one."""
    n = rows.shape[1]
    signs = np.array(list(product((1, -1), repeat=n)))
    signed = (rows[:, None] * signs).reshape(-1, n) + 0.0
    # Of a frequency and its opposite, the one whose first non-zero component is positive.
    first = np.argmax(signed != 0, axis=1)
    leading = signed[np.arange(len(signed)), first]
    return np.unique(signed[leading >= 0], axis=0)


def polar_pool(target: Target) -> NDArray:
    """Return a grid of directions and sizes in the half space (ldefm Sect. 7.3), as rows (P, n)."""
    n = len(target.high)
    count = _POLAR_DIRECTIONS[n]
    if n == 3:  # a spiral of equal areas on half the sphere
        height = (np.arange(count) + 0.5) / count
        angle = np.pi * (1 + np.sqrt(5)) * np.arange(count)
        flat = np.sqrt(1 - height**2)
        directions = np.stack([flat * np.cos(angle), flat * np.sin(angle), height], axis=1)
    else:
        angle = np.pi * np.arange(count) / count
        directions = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    sizes = np.arange(POLAR_RADIUS, target.band, POLAR_RADIUS)
    rows = (sizes[:, None, None] * directions * target.step).reshape(-1, n)
    return np.vstack([np.zeros(n), rows])


def largest_products(axes: list[CosineSum], dim: int) -> CosineSum:
    """Return the atoms with the largest products of the axes' weights (ldefm "⊗ no LP")."""
    rows = np.array(list(product(*(axis.frequencies[:, 0] for axis in axes))))
    weights = np.array([np.prod(row) for row in product(*(axis.weights for axis in axes))])
    heaviest = CosineSum(rows, weights, "modulation").heaviest_first()
    kept = largest_within(atom_dims(heaviest.frequencies, "modulation"), dim)
    return CosineSum(heaviest.frequencies[kept], heaviest.weights[kept], "modulation")


def product_starts(
    choices: list[list[CosineSum]], form: str, dim: int, count: int
) -> list[NDArray]:
    """Draw sets of frequencies of at most ``dim`` outputs from products of the axes' maps.

    A program over one product pool finds one set of its atoms, and moving frequencies ends in the
    local optimum next to it. Which set is best depends on a few atoms of small weight and on
    where the lattice lies: shifted by half a step along an axis it keeps its period and loses the
    constant there, and lines of it may be shifted alone. A draw shifts some, and takes the atoms
    with the largest products of weights an output, up to some noise.

    Each choice has a map for each axis. Equal draws of the ``count`` are returned once.
    """
    rng = np.random.default_rng(0)
    found: dict[bytes, NDArray] = {}
    for _ in range(count):
        rows, density = _lattice(choices[rng.integers(len(choices))], rng)
        if form == "projection":
            signed = with_signs(rows)
            unsigned = {tuple(row): value for row, value in zip(rows, density, strict=True)}
            rows, density = signed, np.array([unsigned[tuple(row)] for row in np.abs(signed)])
        order = np.argsort(-density * np.exp(_NOISE * rng.normal(size=len(rows))), kind="stable")
        kept = order[largest_within(atom_dims(rows[order], form), dim)]
        frequencies = rows[np.sort(kept)]
        found[frequencies.tobytes()] = frequencies
    return list(found.values())


def _lattice(axes: list[CosineSum], rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """Return frequencies (P, n) with shifts drawn, and the products of weights an output (P,)."""
    combs = [(_comb(axis), _comb(axis, shifted=True)) for axis in axes]
    others = [pair[int(rng.random() < _SHIFTED_AXES)] for pair in combs[1:]]
    share = rng.choice(_SHIFTED_LINES)
    rows, density = [], []
    for line in product(*(zip(*comb, strict=True) for comb in others)):
        along = combs[0][int(rng.random() < share)]
        for omega, value in zip(*along, strict=True):
            rows.append([omega, *(frequency for frequency, _ in line)])
            density.append(value * np.prod([weight for _, weight in line]))
    return np.array(rows), np.array(density)


def _comb(axis: CosineSum, shifted: bool = False) -> tuple[NDArray, NDArray]:
    """Return a map's frequencies and weights an output, or those half way between."""
    frequencies, weights = axis.ascending()
    density = np.where(frequencies == 0, weights, weights / 2)
    if not shifted or len(frequencies) < 2:
        return frequencies, density
    return (frequencies[1:] + frequencies[:-1]) / 2, (density[1:] + density[:-1]) / 2
