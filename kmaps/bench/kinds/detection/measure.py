"""Detection: a trade-off of detectors in the images of VOC 2007, as in genrbf, Sect. 4."""

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import Field, PositiveInt

from kmaps.bench.kinds.detection.show import SHOWN
from kmaps.bench.kinds.kind import Cell
from kmaps.bench.kinds.trade_off.measure import TradeOff, TradeOffKind
from kmaps.bench.spec.fields import Data, Features, Positive, Unique
from kmaps.data.annotations import VOC_CLASSES
from kmaps.features import Report


class Devkit(Data):
    """How many images of VOC 2007 to take, from the first, and how many candidate windows.

    ``beside`` windows without objects are drawn from an image to train on; a first stage keeps the
    best ``candidates`` of a test image, all of them or those that a ``linear`` stage leaves it.
    """

    name: Literal["voc2007"]
    train: PositiveInt | None = None
    test: PositiveInt | None = None
    beside: PositiveInt = 20
    candidates: PositiveInt = 100
    linear: PositiveInt | None = None
    ratios: Annotated[list[Positive], Field(min_length=1), Unique] = [0.5, 1.0, 2.0]
    smallest: PositiveInt = 32
    growth: Annotated[float, Field(gt=1, allow_inf_nan=False)] = 1.4
    stride: Positive = 0.2

    @property
    def title(self) -> str:
        """The name of the dataset on pages."""
        return self.name

    @property
    def protocol(self) -> dict[str, Any]:
        """How images and windows are taken, as the columns of a record say it."""
        return self.model_dump(exclude={"name"}, exclude_none=True)


class WindowFeatures(Features):
    """Edge pyramids or visual words, the features of windows."""

    name: Literal["phog", "phow", "dense-sift-bow"]


class Detection(TradeOff):
    """A trade-off of detectors in images."""

    kind: Literal["detection"]
    splits: Literal[1] = 1
    dataset: Devkit
    features: WindowFeatures
    # pydantic takes a tuple of words as a type, type checkers do not.
    classes: Annotated[list[Literal[VOC_CLASSES]], Field(min_length=1), Unique]  # type: ignore[valid-type]


class DetectionKind(TradeOffKind):
    """A trade-off whose samples are candidate windows."""

    model = Detection
    shown = SHOWN
    has_images = False  # no image may be left out: an unreadable one stops the run

    def solvers(self, cells: Iterable[Cell]) -> set[str]:
        """Return which of liblinear and libsvm some cells train with."""
        return super().solvers(cells) | {"liblinear"}  # for the first stages

    def digest(self, cell: Cell) -> str:
        """Return nothing: the images may come from the user's own devkit, which nobody verifies."""
        return ""

    def draw_splits(self, cells: Iterable[Cell]) -> None:
        """Draw every split of some cells, to see whether there are so many samples."""
        from kmaps.bench.work.windows import devkit_folder

        devkit_folder()

    def prepare(
        self, cells: Iterable[Cell], *, skip_bad: bool = False, progress: Report | None = None
    ) -> None:
        """Check and make, once for all cells, what each would otherwise fail on or make again."""
        self.draw_splits(cells)

    def set_up(self, cell: Cell, *, skip_bad: bool = False) -> Any:
        """Return what the cells of one batch share."""
        from kmaps.bench.work.trials import Trials
        from kmaps.bench.work.windows import load_windows

        classes = cell.options["classes"]
        return Trials(load_windows(cell.protocol, cell.feature, cell.normalize, classes))


KIND = DetectionKind()
