"""Images with boxes around objects: PASCAL VOC 2007 and INRIA person in their official layouts.

`kmaps.data.load_scenes` reads downloaded ones; of unpacked archives, give the folder here. Boxes
are (left, top, right, bottom) in pixels counted from 0, and exclude the ends; the files count from
1 and include the ends.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from kmaps.data.yaml_text import read_text
from kmaps.errors import ConfigError, DataError, suggest

VOC_CLASSES = (
    "aeroplane",
    "bicycle",
    "bird",
    "boat",
    "bottle",
    "bus",
    "car",
    "cat",
    "chair",
    "cow",
    "diningtable",
    "dog",
    "horse",
    "motorbike",
    "person",
    "pottedplant",
    "sheep",
    "sofa",
    "train",
    "tvmonitor",
)
INRIA_CLASS = "person"

_INRIA_BOX = re.compile(
    r'^Bounding box for object \d+ "PASperson".*: '
    r"\((\d+), (\d+)\) - \((\d+), (\d+)\)\s*$",
    re.MULTILINE,
)


@dataclass(frozen=True, eq=False)
class Scene:
    """An image file, and the boxes (objects, 4) and the classes of its objects.

    Objects that are ``difficult`` count neither when they are found nor when they are missed.
    """

    name: str
    path: Path
    boxes: NDArray[np.int64]
    classes: tuple[str, ...]
    difficult: NDArray[np.bool_]

    def of_class(self, name: str) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the boxes of a class, and which of its objects are difficult."""
        chosen = np.array([class_name == name for class_name in self.classes], bool)
        return self.boxes[chosen], self.difficult[chosen]


def load_voc(folder: str | Path, image_set: str) -> list[Scene]:
    """Read the scenes of a set of PASCAL VOC 2007: train, val, trainval or test.

    The folder is ``VOCdevkit/VOC2007``, with ``JPEGImages``, ``Annotations`` and
    ``ImageSets/Main``.
    """
    folder = Path(folder)
    listed = folder / "ImageSets" / "Main" / f"{image_set}.txt"
    if not listed.is_file():
        image_sets = ", ".join(sorted(path.stem for path in listed.parent.glob("*.txt"))) or "none"
        raise DataError(
            f"{listed}: no such file (image sets: {image_sets}); give the folder "
            "VOCdevkit/VOC2007 of the unpacked archives"
        )
    names = [line.split()[0] for line in listed.read_text("ascii").splitlines() if line.strip()]
    return [_read_voc(folder, name) for name in names]


def _read_voc(folder: Path, name: str) -> Scene:
    path = folder / "Annotations" / f"{name}.xml"
    boxes = []
    classes = []
    difficult = []
    try:
        for thing in ElementTree.fromstring(read_text(path)).findall("object"):
            corners = (thing.find(f"bndbox/{key}").text for key in ("xmin", "ymin", "xmax", "ymax"))
            boxes.append([float(corner) for corner in corners])
            classes.append(thing.find("name").text.strip())
            difficult.append(thing.findtext("difficult", "0").strip() == "1")
    except (OSError, ElementTree.ParseError, AttributeError, ValueError, TypeError) as error:
        raise DataError(f"{path}: not a VOC annotation: {error}") from error
    return _scene(name, folder / "JPEGImages" / f"{name}.jpg", boxes, classes, difficult)


def load_inria(folder: str | Path, subset: str) -> list[Scene]:
    """Read the scenes of a subset of INRIA person, Train or Test: scenes with people come first.

    The folder is ``INRIAPerson``, where each subset has ``pos``, ``neg`` and ``annotations``.
    """
    if subset not in ("Train", "Test"):
        raise ConfigError(f"unknown subset {subset!r}{suggest(subset, ('Train', 'Test'))} of INRIA")
    root = Path(folder) / subset
    for needed in ("pos", "neg", "annotations"):
        if not (root / needed).is_dir():
            raise DataError(f"{root / needed}: no such folder; give the unpacked INRIAPerson")
    scenes = [_read_inria(root, path) for path in sorted((root / "pos").iterdir())]
    for path in sorted((root / "neg").iterdir()):  # images without people
        scenes.append(_scene(path.stem, path, [], [], []))
    return scenes


def _read_inria(root: Path, image: Path) -> Scene:
    path = root / "annotations" / f"{image.stem}.txt"
    try:
        # The file names its authors in Latin-1.
        text = read_text(path, encoding="latin-1")
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from error
    boxes = [list(map(int, corners)) for corners in _INRIA_BOX.findall(text)]
    if not boxes:
        raise DataError(f"{path}: has no bounding box of a person")
    return _scene(image.stem, image, boxes, [INRIA_CLASS] * len(boxes), [False] * len(boxes))


def _scene(name: str, path: Path, boxes: list, classes: list[str], difficult: list[bool]) -> Scene:
    corners = np.round(np.asarray(boxes, float).reshape(-1, 4)).astype(np.int64)
    corners[:, :2] -= 1
    if (corners[:, 2:] <= corners[:, :2]).any():
        raise DataError(f"{path}: an object's box is empty")
    return Scene(name, path, corners, tuple(classes), np.array(difficult, bool))
