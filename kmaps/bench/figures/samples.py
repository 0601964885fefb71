"""The figure ``features``: images next to drawings of their features."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.sparse import issparse

from kmaps.bench.figures.style import as_text, save
from kmaps.data import Dataset
from kmaps.features import Extractor, Feature, image_of, sift
from kmaps.features.bow import DenseSiftBow
from kmaps.features.gradients import Cells, partition
from kmaps.features.hog import HogPyramid
from kmaps.features.images import GreyImage
from kmaps.features.phog import Phog

Panel = tuple[str, Callable[[Axes], object]]

_SIDE_INCHES = 2.4


def draw(
    dataset: Dataset, feature: Feature, extractor: Extractor, rows: list[int], paths: list[Path]
) -> None:
    """Draw a row for each image into files: the image, its features drawn on it, and its vector.

    Gradients are strokes across them, the stronger the more energy the cell has in that
    orientation. Words are coloured dots at the centres of the smallest and the largest patches.
    """
    X, _ = extractor.vectors(rows)
    vectors = X.toarray() if issparse(X) else X
    table = []
    for row, vector in zip(rows, vectors, strict=True):
        image = image_of(dataset, row, feature.longest)[0]
        title = f"{row}: {dataset.class_names[dataset.y[row]]}"
        table.append(_panels(feature, title, image, vector, extractor.learned))
    size = (_SIDE_INCHES * len(table[0]), _SIDE_INCHES * len(table))
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(len(table), len(table[0]), squeeze=False)
    for axes, panels in zip(grid, table, strict=True):
        for ax, (title, draw) in zip(axes, panels, strict=True):
            draw(ax)
            ax.set_title(as_text(title), fontsize="small")
    for path in paths:
        save(figure, path, has_photographs=True)


def _panels(
    feature: Feature,
    title: str,
    image: GreyImage,
    vector: NDArray[np.float32],
    learned: NDArray | None,
) -> list[Panel]:
    panels: list[Panel] = [(title, lambda ax: _show(ax, image))]
    if isinstance(feature, HogPyramid | Phog):
        panels += _gradient_panels(feature, image, vector)
    elif isinstance(feature, DenseSiftBow):
        panels += _word_panels(feature, image, vector, learned)
    return [*panels, (f"{len(vector):,} values", lambda ax: _profile(ax, vector))]


def _show(ax: Axes, image: GreyImage, strength: float = 1.0) -> None:
    ax.imshow(image, cmap="gray", vmin=0, vmax=1, alpha=strength, interpolation="nearest")
    ax.set_axis_off()


def _profile(ax: Axes, vector: NDArray[np.float32]) -> None:
    ax.plot(vector, linewidth=0.4, color="black")
    ax.margins(x=0)
    ax.locator_params(axis="x", nbins=5)
    ax.tick_params(labelsize="xx-small")


# ---- gradients


def _gradient_panels(
    feature: HogPyramid | Phog, image: GreyImage, vector: NDArray[np.float32]
) -> list[Panel]:
    panels: list[Panel] = []
    if isinstance(feature, HogPyramid):
        cells, levels = feature.pyramid(image.shape)
    else:
        edges = feature.edge_map(image)
        panels.append(("edges", lambda ax: _show(ax, 1 - edges.astype(np.float32))))
        cells, levels = partition(image.shape, feature.divisions)
    energies = vector.reshape(len(cells), feature.orientations)
    for level in range(levels.max() + 1):
        in_level = levels == level
        side = np.ptp(cells[in_level][0, :2])
        title = f"cells: {in_level.sum()}, {side} pixels high"
        draw = partial(
            _strokes,
            image=image,
            cells=cells[in_level],
            energies=energies[in_level],
            signed=feature.signed,
        )
        panels.append((title, draw))
    return panels


def _strokes(
    ax: Axes, image: GreyImage, cells: Cells, energies: NDArray[np.float32], signed: bool
) -> None:
    """Draw a star in each cell; of signed orientations half a stroke, on the brighter side."""
    _show(ax, image, 0.35)
    bins = energies.shape[1]
    angles = np.arange(bins) / bins * np.pi * (2 if signed else 1)
    across = np.column_stack([-np.sin(angles), np.cos(angles)])
    towards = np.column_stack([np.cos(angles), np.sin(angles)])
    strength = energies / max(energies.max(), 1e-30)
    centres = np.column_stack([cells[:, 2:].mean(axis=1), cells[:, :2].mean(axis=1)]) - 0.5
    reach = 0.45 * np.minimum(np.ptp(cells[:, :2], axis=1), np.ptp(cells[:, 2:], axis=1))
    half = across * reach[:, None, None]
    offset = 0.3 * towards * reach[:, None, None] if signed else 0
    middle = centres[:, None] + offset
    lines = np.stack([middle - half, middle + half], axis=2).reshape(-1, 2, 2)
    colors = np.zeros((len(lines), 4))
    colors[:, 0] = 0.8
    colors[:, 3] = strength.ravel()
    visible = colors[:, 3] > 1 / 255
    # Thousands of strokes are smaller as one image than as lines of an SVG.
    strokes = LineCollection(
        lines[visible], colors=colors[visible], linewidths=1.2, rasterized=True
    )
    ax.add_collection(strokes)


# ---- words


def _word_panels(
    feature: DenseSiftBow, image: GreyImage, vector: NDArray[np.float32], learned: NDArray
) -> list[Panel]:
    described = feature.describe([image])
    words = feature.words_of(described["descriptors"], learned)
    is_flat = ~described["descriptors"].any(axis=1)
    dots = described["places"][:, ::-1] * image.shape[::-1] - 0.5
    height, width = (feature.enlarge * side for side in image.shape)
    counts = [len(sift.grid((height, width), side, feature.step)[0]) for side in feature.patches]
    sides = np.repeat(feature.patches, counts)
    finest = feature.divisions[-1]
    panels: list[Panel] = []
    for patch in sorted({min(feature.patches), max(feature.patches)}):
        has_size = sides == patch
        title = f"{patch} × {patch} patches: {has_size.sum()}, flat {is_flat[has_size].sum()}"
        visible = has_size & ~is_flat
        draw = partial(
            _dots, image=image, dots=dots[visible], words=words[visible], divisions=finest
        )
        panels.append((title, draw))
    counts_by_cell = vector[-feature.words * finest**2 :].reshape(-1, feature.words)
    panels.append(("different words in each cell", lambda ax: _numbers(ax, counts_by_cell, finest)))
    return panels


def _dots(ax: Axes, image: GreyImage, dots: NDArray, words: NDArray, divisions: int) -> None:
    _show(ax, image, 0.35)
    # Words with neighbouring numbers are unrelated: spread them over the colours.
    x, y = dots.T
    ax.scatter(
        x, y, s=5, c=words * 37 % 256, cmap="hsv", vmin=0, vmax=255, linewidths=0, rasterized=True
    )
    height, width = image.shape
    for division in range(1, divisions):
        ax.axhline(division * height / divisions - 0.5, color="black", linewidth=0.5)
        ax.axvline(division * width / divisions - 0.5, color="black", linewidth=0.5)


def _numbers(ax: Axes, counts: NDArray[np.float32], divisions: int) -> None:
    """Draw how many words occur in each cell."""
    numbers = (counts > 0).sum(axis=1).reshape(divisions, divisions)
    ax.imshow(numbers, cmap="Blues", vmin=0)
    for (row, column), number in np.ndenumerate(numbers):
        color = "white" if number > 0.6 * numbers.max() else "black"
        ax.text(column, row, str(number), ha="center", va="center", color=color, fontsize="small")
    ax.set_axis_off()
