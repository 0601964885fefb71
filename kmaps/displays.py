"""Displays, in scikit-learn's sense: functions of models and errors of maps, drawn into axes."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray


def _axes(ax: Any) -> Any:
    from matplotlib import pyplot

    return pyplot.subplots(layout="constrained")[1] if ax is None else ax


class FunctionDisplay:
    """The values that a feature adds to a coded model's scores: one line per column of scores.

    Use it for reading what a `CodedSVC`, `CodedSVR` or `CodedRidge` has learnt of a feature.

    Parameters
    ----------
    name : str
        The name of the feature.
    levels : ndarray, shape (L,)
        The levels of the feature, ascending.
    values : ndarray, shape (L, P)
        What each level adds to each of the P columns of scores.
    columns : sequence of str, optional
        The names of the columns of scores, for a legend of two or more.
    samples : ndarray, shape (n,), optional
        Values of the feature: the function is drawn where they lie, above their density.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes that `plot` has drawn into.

    See Also
    --------
    explanation : A page with the functions of all features.

    Examples
    --------
    >>> from kmaps import CodedSVR, FunctionDisplay
    >>> X = np.random.default_rng(0).random((50, 2))
    >>> shown = FunctionDisplay.from_estimator(CodedSVR("chi2").fit(X, X[:, 0]), 0)
    >>> shown.ax_.get_xlabel()
    'x0'
    """

    def __init__(
        self,
        name: str,
        levels: NDArray,
        values: NDArray,
        columns: Sequence[str] | None = None,
        samples: NDArray | None = None,
    ) -> None:
        self.name = name
        self.levels = levels
        self.values = values
        self.columns = columns
        self.samples = samples

    @classmethod
    def from_estimator(
        cls, model: Any, feature: int | str, *, X: Any = None, ax: Any = None
    ) -> Self:
        """Draw the function of a feature of a fitted model.

        Parameters
        ----------
        model : CodedSVC, CodedSVR or CodedRidge
            A fitted model with ``function(feature)``.
        feature : int or str
            The number of the feature or its name.
        X : array-like or sparse matrix, shape (n, d), optional
            Samples: the function is drawn where their values lie, above their density. By default
            it is drawn on all levels, which other features may share.
        ax : matplotlib.axes.Axes, optional
            The axes to draw into; by default new ones.

        Returns
        -------
        FunctionDisplay
            The display, drawn.
        """
        samples = None if X is None else model.feature_values(X, feature)
        name, levels, values = model.function(feature)
        return cls(name, levels, values, model.score_names, samples).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the function.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            The axes to draw into; by default new ones.

        Returns
        -------
        FunctionDisplay
            The display itself, with the axes as ``ax_``.
        """
        self.ax_ = _axes(ax)
        levels, values = self.levels, self.values
        if self.samples is not None:
            inside = (levels >= self.samples.min()) & (levels <= self.samples.max())
            nearest = np.abs(levels[:, None] - [self.samples.min(), self.samples.max()])
            inside[nearest.argmin(axis=0)] = True
            levels = levels[inside]
            values = values[inside]
            density = self.ax_.twinx()
            density.hist(self.samples, 40, color="0.85", zorder=-1)
            density.set_yticks([])
            self.ax_.set_zorder(density.get_zorder() + 1)
            self.ax_.patch.set_visible(False)
        lines = self.ax_.plot(levels, values, drawstyle="steps-mid")
        if self.columns is not None and len(lines) > 1:
            texts = [text.replace("$", r"\$") for text in self.columns]
            self.ax_.legend(lines, texts, fontsize="small")
        self.ax_.axhline(0, color="0.6", linewidth=0.8, zorder=0)
        self.ax_.set(xlabel=self.name.replace("$", r"\$"), ylabel="part of the score")
        return self


class KernelErrorDisplay:
    """The error of an additive map of one feature on all pairs of values, and its maximum.

    Use it for choosing the size of a map, and for seeing where it is far from its kernel.

    Parameters
    ----------
    values : ndarray, shape (n,)
        The values of the feature, ascending.
    error : ndarray, shape (n, n)
        The approximation minus the kernel, of each pair of values.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes that `plot` has drawn into.

    See Also
    --------
    FunctionDisplay : The functions that a model has learnt.

    Examples
    --------
    >>> from kmaps import HomogeneousMap, KernelErrorDisplay
    >>> shown = KernelErrorDisplay.from_estimator(HomogeneousMap("chi2", order=3), "chi2")
    >>> round(float(abs(shown.error).max()), 4)
    0.0006
    """

    def __init__(self, values: NDArray, error: NDArray) -> None:
        self.values = values
        self.error = error

    @classmethod
    def from_estimator(
        cls, made: Any, kernel: str, values: ArrayLike | None = None, *, ax: Any = None
    ) -> Self:
        """Fit a map on values of one feature, and draw its error against a kernel.

        Parameters
        ----------
        made : map
            The map, which is fitted to the values.
        kernel : {"chi2", "intersection", "js", "hellinger"}
            The kernel that the map approximates.
        values : array-like, shape (n,), optional
            Ascending; by default 201 from 0 to 1.
        ax : matplotlib.axes.Axes, optional
            The axes to draw into; by default new ones.

        Returns
        -------
        KernelErrorDisplay
            The display, drawn.
        """
        from kmaps.kernels import get_kernel

        x = np.linspace(0, 1, 201) if values is None else np.asarray(values, np.float64)
        outputs = np.asarray(made.fit(x[:, None]).transform(x[:, None]), np.float64)
        return cls(x, outputs @ outputs.T - get_kernel(kernel)(x[:, None], x)).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the error.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            The axes to draw into; by default new ones.

        Returns
        -------
        KernelErrorDisplay
            The display itself, with the axes as ``ax_``.
        """
        self.ax_ = _axes(ax)
        largest = float(np.abs(self.error).max())
        mesh = self.ax_.pcolormesh(
            self.values,
            self.values,
            self.error,
            rasterized=True,
            cmap="RdBu_r",
            vmin=-largest,
            vmax=largest,
            shading="nearest",
        )
        self.ax_.figure.colorbar(mesh, ax=self.ax_, label="approximation - kernel")
        self.ax_.set(xlabel="x", ylabel="y", aspect="equal", title=f"largest error {largest:.3g}")
        return self
