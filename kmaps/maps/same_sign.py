"""The homogeneous map of values with a sign, whose two sides have nothing in common."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kmaps.kernels import Kernel
from kmaps.maps.homogeneous import HomogeneousMap


class SameSignMap(HomogeneousMap):
    r"""Approximate a homogeneous kernel of values with a sign, which is zero where signs differ.

    .. math::
        \tfrac12(\mathrm{sign}(xy) + 1)\,k(|x|, |y|)

    is the second extension of a kernel to negative values (hkm Lemma 2): positive and negative
    values have outputs of their own, :math:`(\Psi(x), 0)` for x > 0 and :math:`(0, \Psi(-x))` for
    x < 0. With the intersection kernel the metric is then the l1 distance of any two vectors.

    Use it for features with two sides, such as derivatives, whose sides mean different things.

    Parameters
    ----------
    kernel, order, window, period, gamma
        As of `HomogeneousMap`; each feature gets 2(2n+1) outputs, first those of positive values.

    Attributes
    ----------
    period_, spectrum_
        As of `HomogeneousMap`.

    See Also
    --------
    HomogeneousMap : The first extension, sign(xy)·k(|x|, |y|), with half the outputs.

    References
    ----------
    Vedaldi and Zisserman, Efficient Additive Kernels via Explicit Feature Maps, TPAMI 2012,
    Lemma 2.

    Examples
    --------
    >>> import numpy as np
    >>> from kmaps import SameSignMap
    >>> Z = SameSignMap("chi2", order=3).fit_transform(np.array([[1.0], [3.0], [-3.0]]))
    >>> np.round(np.abs(Z @ Z.T), 1)
    array([[1. , 1.5, 0. ],
           [1.5, 3. , 0. ],
           [0. , 0. , 3. ]])
    """

    source = "hkm Lemma 2, eq. 17-19"

    def __init__(
        self,
        kernel: str | Callable | Kernel = "chi2",
        order: int = 1,
        window: str = "rectangular",
        period: float | str | None = None,
        gamma: float = 1.0,
    ):
        super().__init__(kernel, order, window, period, gamma)

    def _curve(self, x: NDArray, feature: NDArray) -> NDArray:
        outputs = super()._curve(np.abs(x), feature)
        positive, negative = (x > 0)[..., None], (x < 0)[..., None]
        return np.concatenate([positive * outputs, negative * outputs], axis=-1)

    def _output_names(self) -> list[str]:
        names = super()._output_names()
        return [f"{side}_{name}" for side in ("positive", "negative") for name in names]
