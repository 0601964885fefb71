"""Sequential minimal optimisation of a binary problem of a kernel SVM, on a Gram matrix.

Fan, Chen and Lin, Working Set Selection Using Second Order Information for Training Support Vector
Machines, JMLR 2005 (WSS 2). With the signs y of the classes and β_i = y_i α_i the dual is

    max over β:  Σ y_i β_i - βᵀKβ / 2,   lower_i <= β_i <= upper_i,   Σ β_i = 0.

A step makes one variable larger by what it takes from another: where the gradient y - Kβ is larger.
Gradients are float64, kernels float32.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kmaps._loops.compiling import inner, loop
from kmaps._loops.vectors import larger

# Maxima are vectorised only if LLVM may ignore NaN (there is none) and the sign of zero.
COMPILED = {"error_model": "numpy", "fastmath": {"nnan", "nsz", "contract"}}

_LEAST = np.finfo(np.float64).min  # with -inf, LLVM sees no maximum
_CURVATURE = 1e-12  # replaces a curvature that is not positive, as in LIBSVM


class Variables(NamedTuple):
    """The variables that descend."""

    places: NDArray[np.uint32]  # the row of the Gram matrix of each
    diagonal: NDArray[np.float64]  # K(x, x)
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    dual: NDArray[np.float64]  # β
    gradient: NDArray[np.float64]
    rises: NDArray[np.bool_]  # whether β is below its upper bound
    falls: NDArray[np.bool_]  # whether β is above its lower bound


class Packed(NamedTuple):
    """The last rows of the Gram matrix in use, with the columns of the variables alone.

    Without room for any, the variables are all rows of the Gram matrix, in order.
    """

    rows: NDArray[np.float32]  # (room, n)
    slots: NDArray[np.int64]  # (n,): the place of each variable's row; -1: none
    owners: NDArray[np.int64]  # (room,): the variable of each row; -1: none
    newest: NDArray[np.int64]  # (1,): the row that was filled last


@loop(**COMPILED)
def descend(kernel, variables, packed, tol, budget):
    """Take steps until no two gradients call for one by more than ``tol``, or the budget is spent.

    Returns the number of steps, the largest gradient of a variable that can rise, and the least of
    one that can fall.
    """
    gains = np.empty(len(variables.dual))
    row = kernel[variables.places[0]]  # any row will do
    high, low = _move(variables.gradient, row, row, 0.0, variables.rises, variables.falls)
    for steps in range(budget):
        if not high - low > tol:
            return steps, high, low
        i = _first(variables.gradient, variables.rises, high)
        row = _row(kernel, variables, packed, i, -1)
        best = _fill_gains(variables, row, high, variables.diagonal[i], gains)
        j = _first(gains, variables.falls, best)
        other = _row(kernel, variables, packed, j, i)
        curved = variables.diagonal[i] + variables.diagonal[j] - 2 * row[j]
        step = _exchange(variables, i, j, curved if curved > 0 else _CURVATURE)
        high, low = _move(variables.gradient, row, other, step, variables.rises, variables.falls)
    return budget, high, low


@loop(**COMPILED)
def subtract_products(kernel, subtracted, dual, places, out):
    """Subtract ``K[places][:, subtracted] @ dual`` from ``out``."""
    for k in range(len(subtracted)):
        row = kernel[subtracted[k]]
        factor = dual[k]
        for i in range(len(places)):
            out[i] -= factor * np.float64(row[places[i]])


@inner(**COMPILED)
def _row(kernel, variables, packed, k, protected):
    """Return the kernel of a variable with all; the row of the variable ``protected`` stays."""
    room = packed.rows.shape[0]
    if room == 0:
        return kernel[variables.places[k]]
    slot = packed.slots[k]
    if slot < 0:
        slot = (packed.newest[0] + 1) % room
        if protected >= 0 and packed.slots[protected] == slot:
            slot = (slot + 1) % room
        if packed.owners[slot] >= 0:
            packed.slots[packed.owners[slot]] = -1
        packed.newest[0] = slot
        packed.owners[slot] = k
        packed.slots[k] = slot
        source = kernel[variables.places[k]]
        target = packed.rows[slot]
        for i in range(len(target)):
            target[i] = source[variables.places[i]]
    return packed.rows[slot]


@inner(**COMPILED)
def _first(values, allowed, wanted):
    """Return the first place of a value among those allowed."""
    for k in range(len(values)):
        if values[k] == wanted and allowed[k]:
            return k
    return 0


@inner(**COMPILED)
def _fill_gains(variables, row, high, own, gains):
    """Write twice the gain of a step to each variable that can fall; return the largest."""
    gradient = variables.gradient
    falls = variables.falls
    diagonal = variables.diagonal
    best = 0.0
    for k in range(len(gains)):
        lead = high - gradient[k] if falls[k] else 0.0
        lead = lead if lead > 0 else 0.0
        curvature = own + diagonal[k] - 2 * np.float64(row[k])
        curvature = curvature if curvature > 0 else _CURVATURE
        gain = lead * lead / curvature
        gains[k] = gain
        best = larger(best, gain)
    return best


@inner(**COMPILED)
def _exchange(variables, i, j, curvature):
    """Raise a variable and lower another one equally, as far as both may go; return the step."""
    rise = variables.upper[i] - variables.dual[i]
    fall = variables.dual[j] - variables.lower[j]
    step = min((variables.gradient[i] - variables.gradient[j]) / curvature, rise, fall)
    variables.dual[i] = variables.upper[i] if step == rise else variables.dual[i] + step
    variables.dual[j] = variables.lower[j] if step == fall else variables.dual[j] - step
    for k in (i, j):
        variables.rises[k] = variables.dual[k] < variables.upper[k]
        variables.falls[k] = variables.dual[k] > variables.lower[k]
    return step


@inner(**COMPILED)
def _move(gradient, row, other, step, rises, falls):
    """Change the gradients by a step; return the extremes that `descend` returns."""
    high = _LEAST
    low = _LEAST
    for k in range(len(gradient)):
        value = gradient[k] - step * (np.float64(row[k]) - np.float64(other[k]))
        gradient[k] = value
        high = larger(high, value if rises[k] else _LEAST)
        low = larger(low, -value if falls[k] else _LEAST)
    return high, -low
