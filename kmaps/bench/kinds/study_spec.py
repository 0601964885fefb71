"""The studies: experiments on maps by themselves, and on what they cost."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, PositiveInt
from pydantic import model_validator as validator

from kmaps.bench.spec.fields import (
    AdditiveName,
    Claim,
    Dataset,
    Features,
    Interval,
    KernelName,
    MeasureName,
    Model,
    Name,
    Positive,
    Unique,
    known_name,
)
from kmaps.bench.work.spans import Span, parse_range
from kmaps.data.annotations import VOC_CLASSES
from kmaps.kernels import KERNELS, STATIONARY


def _range(value: str) -> str:
    parse_range(value)
    return value


ScalarName = Annotated[str, known_name("kernel", lambda: [*KERNELS, *STATIONARY])]
RangeText = Annotated[str, AfterValidator(_range)]


class Printed(Model):
    """What the paper prints of some rows (:mod:`kmaps.bench.records.printed`)."""

    rows: dict[str, Any]
    kernel: str
    values: Annotated[dict[MeasureName, float], Field(min_length=1)]


class Study(Model):
    """What every study has."""

    experiment: Name
    about: str = ""
    maps: Annotated[list[dict[str, Any]], Field(min_length=1)]
    claims: list[Claim] = []
    printed: list[Printed] = []

    @property
    def subject(self) -> str:
        """What is measured, in a word."""
        return self.kind


class Approximation(Study):
    """A study of how near the inner products of maps are to a kernel; no dataset, no learner."""

    kind: Literal["approximation"]
    kernels: Annotated[list[ScalarName], Field(min_length=1), Unique]
    ranges: Annotated[list[RangeText], Field(min_length=1), Unique]
    fit_range: Interval | None = None
    integers: bool = False
    inputs: Literal[1, 2, 3] = 1
    sigma: Positive = 1.0
    relative: bool = False
    figures: Annotated[
        list[Literal["errors", "sections", "surfaces", "signatures", "gaps", "quadrants"]], Unique
    ] = []

    @validator(mode="after")
    def _of_one_kind(self) -> "Approximation":
        for text in self.ranges:
            span = parse_range(text)
            known = STATIONARY if isinstance(span, Span) and span.of == "differences" else KERNELS
            odd = [kernel for kernel in self.kernels if kernel not in known]
            if odd:
                kind = "stationary" if known is STATIONARY else "homogeneous"
                raise ValueError(
                    f"range {text!r} is one of {kind} kernels ({', '.join(known)}), "
                    f"which {odd[0]!r} is not"
                )
        return self


class Toy(Study):
    """A study of the functions that maps can learn: the points of a disc against those around it.

    The points are a square grid of ``side`` × ``side`` on [-1, 1]²; positive are those within
    ``radius`` of the centre. C is LIBLINEAR's, with squared hinge loss.
    """

    kind: Literal["toy"]
    kernels: Annotated[list[AdditiveName], Unique] = []
    side: Annotated[int, Field(ge=4)] = 40
    radius: Annotated[float, Field(gt=0, lt=1)] = 0.75
    C: Positive = 1.0


class RandomFeatures(Study):
    """A study of how the error of maps of random projections falls with their number.

    Each map is compared with its kernel on all pairs of a test and a training sample, drawn
    ``draws`` times with other projections.
    """

    kind: Literal["random-features"]
    dataset: Dataset
    features: Features = Features()
    kernels: Annotated[list[KernelName], Unique] = []
    draws: PositiveInt = 5


class TradeOffLearner(Model):
    """A learner of a trade-off: its values of C and, for two of them, how many projections stay."""

    name: Literal[
        "dense", "sparse-svm", "sparse-lr", "group", "group-hinge", "strongest", "resampled"
    ]
    C: Annotated[list[Positive], Field(min_length=1), Unique]
    keep: Annotated[list[PositiveInt], Unique] = []

    @validator(mode="after")
    def _keeps(self) -> "TradeOffLearner":
        if (self.name in ("strongest", "resampled")) != bool(self.keep):
            raise ValueError(
                "strongest and resampled need keep, how many projections stay; the others refuse it"
            )
        return self


class ExactKernel(Model):
    """An exact kernel of a trade-off, trained by LIBSVM, and its values of C."""

    kernel: KernelName
    C: Annotated[list[Positive], Field(min_length=1), Unique]


class TradeOff(Study):
    """A study of accuracy against the time of a test, of random maps that learners thin out.

    With ``classes`` it is of detectors, one for each of them, and of their mean average precision.
    """

    kind: Literal["trade-off"]
    dataset: Dataset
    features: Features = Features()
    kernels: Annotated[list[KernelName], Unique] = []
    exact: list[ExactKernel] = []
    learners: Annotated[list[TradeOffLearner], Field(min_length=1)]
    classes: Annotated[list[str], Unique] = []
    draws: PositiveInt = 5
    figures: Annotated[list[Literal["trade-off", "sparsity"]], Unique] = ["trade-off"]


class Devkit(Model):
    """VOC 2007: how many pictures, the first ones, and the grid of candidate windows.

    ``beside`` windows without objects are drawn from a picture to train on; a first stage keeps the
    best ``candidates`` of a test picture.
    """

    name: Literal["voc2007"]
    train: PositiveInt | None = None
    test: PositiveInt | None = None
    beside: PositiveInt = 20
    candidates: PositiveInt = 100
    ratios: Annotated[list[Positive], Field(min_length=1), Unique] = [0.5, 1.0, 2.0]
    smallest: PositiveInt = 32
    growth: Annotated[float, Field(gt=1, allow_inf_nan=False)] = 1.4
    stride: Positive = 0.2

    @property
    def protocol(self) -> dict[str, Any]:
        """What the samples are."""
        return self.model_dump(exclude={"name"}, exclude_none=True)


class Phogs(Features):
    """Edge pyramids, the features of windows."""

    name: Literal["phog"]


class Detection(TradeOff):
    """A trade-off of detectors in pictures, as in genrbf, Sect. 4."""

    kind: Literal["detection"]
    dataset: Devkit
    features: Phogs
    classes: Annotated[list[Literal[VOC_CLASSES]], Field(min_length=1), Unique]
