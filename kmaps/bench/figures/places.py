"""The figure ``places``: images with the centres of their patches (annfm Figure 3)."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from kmaps.bench.figures import style
from kmaps.bench.records.arrays import Arrays
from kmaps.bench.records.columns import Record
from kmaps.errors import NothingMeasured

_ALONG = "#e69f00"
_WITHIN = "#009e73"


def draw_places(records: Sequence[Record], arrays: Mapping[str, Arrays], path: Path) -> None:
    """Draw a row for each sampling and a column for each image: ``image0``, ``along0``, …."""
    drawings = [(record["method"], arrays[record["key"]]) for record in records]
    drawings = [(method, drawing) for method, drawing in drawings if "image0" in drawing]
    if not drawings:
        raise NothingMeasured(style.NOTHING)
    _, first_drawing = drawings[0]
    n_images = sum(name.startswith("image") for name in first_drawing)
    size = (2.6 * n_images, 2.3 * len(drawings) + 0.4)
    figure = Figure(figsize=size, layout="constrained")
    table = figure.subplots(len(drawings), n_images, squeeze=False)
    for axes, (method, drawing) in zip(table, drawings, strict=True):
        for i, ax in enumerate(axes):
            ax.imshow(drawing[f"image{i}"], cmap="gray", vmin=0, vmax=1, interpolation="nearest")
            for name, color in (("within", _WITHIN), ("along", _ALONG)):
                down, right = drawing[f"{name}{i}"].T
                ax.scatter(right, down, s=1.5, color=color, linewidths=0, rasterized=True)
            ax.set_axis_off()
        style.title(axes[0], method)
    handles = [
        Line2D([], [], color=color, marker="o", linestyle="none", markersize=4)
        for color in (_ALONG, _WITHIN)
    ]
    labels = ["along the boundary of important regions", "elsewhere"]
    style.legend_of(figure, handles, labels)
    style.save(figure, path)
