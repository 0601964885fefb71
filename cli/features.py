"""``kmaps features``: turn the images of a dataset into histograms."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kmaps.cli import array_files
from kmaps.cli.array_files import compiling, noting
from kmaps.cli.completing import datasets, names
from kmaps.cli.flags import FILE, GroupedCommand, Number, say, say_note
from kmaps.cli.progress import stage_bars
from kmaps.errors import ConfigError, InputError

if TYPE_CHECKING:
    from kmaps.data import Dataset, UserFiles

_BLOCK_ROWS = 2048
_NUMBERED = ("svm", "libsvm")  # formats whose labels are numbers


def _features() -> Iterable[str]:
    from kmaps.features import FEATURES

    return FEATURES


@click.command(
    cls=GroupedCommand,
    groups={
        "Images": "label_column image_column white background skip_bad",
        "Features": "kind settings normalize protocol split",
        "Output": "out output_format show force",
    },
    epilog="""\b
Examples:
  kmaps features daimler --features hog-pyramid --show 6
  kmaps features caltech101 --features dense-sift-bow --set words=300 --out words.npz
  kmaps features photos --features hog-pyramid --out photos.npz
  kmaps features list.csv --image-column file --label-column kind --features phog --out a.svm""",
)
@click.argument("source", metavar="DATASET", shell_complete=names(datasets, or_files=True))
@click.option(
    "--features",
    "kind",
    required=True,
    metavar="NAME",
    shell_complete=names(_features),
    help="Features to extract (`kmaps list features`).",
)
@click.option("--label-column", metavar="NAME", help="Column of the labels in a list of images.")
@click.option("--image-column", metavar="NAME", help="Column of the paths in a list of images.")
@click.option(
    "--white",
    type=Number(0, min_open=True),
    metavar="LEVEL",
    help="White in images of more than 8 bits. [default: what the file states, or its type's "
    "largest level]",
)
@click.option(
    "--background",
    type=click.Choice(["white", "black"]),
    default="white",
    help="Colour behind transparent images.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Set a parameter of the features; the value is JSON: words=300, cells=[18,9,3].",
)
@click.option(
    "--normalize",
    default="none",
    help="Norm by which each row is divided: none, l1, l2 or gamma=NUMBER.",
)
@click.option(
    "--protocol",
    metavar="JSON",
    help="How training images are drawn, as in an experiment, for features that learn from them. "
    "[default: the dataset's protocol; all images of the user's files]",
)
@click.option(
    "--split",
    type=click.IntRange(min=0),
    default=0,
    help="Number of the split that gives the training images, from 0.",
)
@click.option(
    "--out",
    type=FILE,
    help="The file to write: .npz, .csv, .parquet or .arrow with the names of the classes as "
    "labels, .svm with the classes' numbers, or .npy without labels; - for standard output. "
    "[default: DATASET-FEATURES.npz]",
)
@click.option(
    "--output-format",
    metavar="FORMAT",
    help="Format of --out. [default: by its name; svm on standard output]",
)
@click.option(
    "--show",
    type=click.IntRange(1, 50),
    metavar="K",
    help="Draw K images with their features, as PNG and SVG next to the file.",
)
@click.option("--skip-bad", is_flag=True, help="Leave out images that cannot be used.")
@array_files.threads
@click.option("--force", is_flag=True, help="Replace the files when they exist.")
@click.option("--quiet", "-q", is_flag=True, help="Show no progress and no notes.")
def command(
    source: str,
    kind: str,
    label_column: str | None,
    image_column: str | None,
    white: float | None,
    background: str,
    settings: tuple[str, ...],
    normalize: str,
    protocol: str | None,
    split: int,
    out: Path | None,
    output_format: str | None,
    show: int | None,
    skip_bad: bool,
    force: bool,
    quiet: bool,
) -> None:
    """Extract features of the images of DATASET, one row per image in the dataset's order.

    DATASET is a known dataset (`kmaps list datasets`), a folder with a folder of images per class,
    or a .csv that lists paths, relative to its folder, and labels. The labels are written with the
    features, and `kmaps train` reads the file directly.

    Features are kept in the cache: the same command again is fast, and a stopped one continues.
    """
    from kmaps.data import TableDataset, load_dataset
    from kmaps.features import get_normalization, make_feature

    feature = make_feature(kind, _parameters(settings))
    normalized = get_normalization(normalize)
    name_or_files = _name_or_files(source, label_column, image_column, white, background)
    name = name_or_files if isinstance(name_or_files, str) else name_or_files.name
    out = out or Path(f"{name}-{kind}.npz")
    form, drawings = _targets(out, output_format, show, force)
    with noting(quiet):
        dataset = load_dataset(name_or_files, skip_bad=skip_bad)
    if isinstance(dataset, TableDataset):
        raise ConfigError(f"{name}: is a table, whose columns are the features; expected images")
    from kmaps.bench.work.samples import features_cache
    from kmaps.features import Extractor  # takes a second to import

    train = None
    if feature.learns:
        train = _training_images(dataset, name_or_files, protocol, split)
    with compiling(quiet), stage_bars(quiet=quiet) as report:
        extractor = Extractor(
            dataset,
            feature,
            train=train,
            cache=features_cache(),
            progress=report,
            skip_bad=skip_bad,
        )
        extractor.fill_cache()
        shape, bad = _write(extractor, normalized, dataset, out, form, force)
    if not quiet:
        for row, reason in bad:
            say(f"note: left out {dataset.images[row]}: {reason}", err=True)
        for note in extractor.notes():
            say_note(note)
        if form in _NUMBERED:
            _say_classes(dataset)
    say(f"{name}: {kind}, {shape[0]:,} × {shape[1]:,}, {out}", err=str(out) == "-")
    if drawings:
        from kmaps.bench.figures import samples

        rows = _spread_rows(dataset, show, {row for row, _ in bad})
        samples.draw(dataset, feature, extractor, rows, drawings)
        say(f"{name}: {len(rows)} images with their features, {drawings[0]}")


def _targets(
    out: Path, output_format: str | None, show: int | None, force: bool
) -> tuple[str, list[Path]]:
    """Return the format to write and the figure's files; refuse files that may not be written."""
    from kmaps.io import check_target
    from kmaps.io import output_format as format_of

    to_stdout = str(out) == "-"
    form = format_of(out, output_format or ("svm" if to_stdout else None))
    if to_stdout and show:
        raise ConfigError("--show: the figure is written next to the file; name a file with --out")
    drawings = [out.with_suffix(suffix) for suffix in (".png", ".svg")] if show else []
    if not to_stdout:
        for target in (out, *drawings):
            check_target(target, force=force)
    return form, drawings


def _name_or_files(
    source: str,
    label_column: str | None,
    image_column: str | None,
    white: float | None,
    background: str,
) -> "str | UserFiles":
    """Return the name of a known dataset, or the user's files with the options that are theirs."""
    from kmaps.data import UserFiles, available

    path = Path(source)
    if source not in available() and (path.is_dir() or path.suffix.lower() == ".csv"):
        return UserFiles(
            name=path.resolve().stem,
            rows={"": path},
            images=True,
            label_column=label_column,
            image_column=image_column,
            white=white,
            background=background,
        )
    if white is not None or background != "white":
        option = "--white" if white is not None else "--background"
        raise ConfigError(f"{option}: is for the user's images, not for {source}")
    columns = {"--label-column": label_column, "--image-column": image_column}
    for option, column in columns.items():
        if column is not None:
            raise ConfigError(f"{option}: is for a .csv of images, not for {source}")
    return source


def _parameters(settings: tuple[str, ...]) -> dict[str, Any]:
    values = {}
    for text in settings:
        key, equals, value = text.partition("=")
        if not key or not equals:
            raise ConfigError(f"--set {text}: expected KEY=VALUE")
        try:
            values[key] = json.loads(value)
        except ValueError:
            values[key] = value
    return values


def _training_images(
    dataset: "Dataset", name_or_files: "str | UserFiles", protocol_json: str | None, split: int
) -> Any:
    import numpy as np

    from kmaps.data import draw_split, load_manifest

    if protocol_json is None:
        if not isinstance(name_or_files, str):
            return np.arange(len(dataset.y))
        protocol = load_manifest(dataset.name).protocol
    else:
        try:
            protocol = json.loads(protocol_json)
        except ValueError as error:
            raise ConfigError(f"--protocol: is not JSON: {error}") from None
        if not isinstance(protocol, dict):
            raise ConfigError(f"--protocol: expected a JSON object, got {protocol_json}")
    train, _ = draw_split(dataset, protocol, split)
    return train


def _write(
    extractor: Any, normalized: Callable, dataset: "Dataset", out: Path, form: str, force: bool
) -> tuple[tuple[int, int], list[tuple[int, str]]]:
    """Write the vectors block by block; return their shape and the images left out."""
    import numpy as np

    from kmaps.io import open_writer

    n_images = len(dataset.y)
    labels = dataset.y if form in _NUMBERED else np.array(dataset.class_names)[dataset.y]
    n_rows = 0
    n_columns = 0
    bad: list[tuple[int, str]] = []
    with open_writer(out, form, n_rows=n_images, force=force) as writer:
        for start in range(0, n_images, _BLOCK_ROWS):
            rows = np.arange(start, min(start + _BLOCK_ROWS, n_images))
            X, bad_in_block = extractor.vectors(rows)
            bad += bad_in_block
            is_good = ~np.isin(rows, [row for row, _ in bad_in_block])
            X = normalized(X[is_good])
            writer.write(X, labels[rows[is_good]])
            n_rows += X.shape[0]
            n_columns = X.shape[1]
    if not n_rows:
        raise InputError(f"{dataset.name}: no image can be used")
    return (n_rows, n_columns), bad


def _say_classes(dataset: "Dataset") -> None:
    """Report which classes the numbers stand for that are the labels of svm files."""
    pairs = list(enumerate(dataset.class_names))
    if any(str(number) != name for number, name in pairs):
        classes = ", ".join(f"{number} {name}" for number, name in pairs)
        say(f"note: the classes are {classes}; .npz keeps their names", err=True)


def _spread_rows(dataset: "Dataset", count: int, bad: set[int]) -> list[int]:
    """Return the rows of some images from all over the dataset, ordered by their classes."""
    import numpy as np

    order = np.argsort(dataset.y, kind="stable")
    order = order[~np.isin(order, list(bad))]
    places = np.linspace(0, len(order) - 1, min(count, len(order)))
    return order[places.astype(int)].tolist()
