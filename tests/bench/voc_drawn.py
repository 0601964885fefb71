"""A small dataset in the layout of PASCAL VOC 2007, drawn on the spot."""

from pathlib import Path

import numpy as np
from PIL import Image

_OBJECT = """  <object>
    <name>{name}</name><pose>Left</pose><truncated>0</truncated><difficult>{difficult}</difficult>
    <bndbox><xmin>{0}</xmin><ymin>{1}</ymin><xmax>{2}</xmax><ymax>{3}</ymax></bndbox>
  </object>
"""


def draw_voc(folder: Path, sizes: dict[str, int]) -> Path:
    """Draw image sets of some sizes and return the folder VOC2007.

    A car is a box of bright vertical stripes, a bus a disc; every scene has one or two of each.
    """
    root = folder / "VOCdevkit" / "VOC2007"
    for part in ("JPEGImages", "Annotations", "ImageSets/Main"):
        (root / part).mkdir(parents=True)
    number = 0
    for part, size in sizes.items():
        names = [f"{number + i:06}" for i in range(size)]
        number += size
        (root / "ImageSets" / "Main" / f"{part}.txt").write_text("\n".join(names) + "\n")
        for name in names:
            _draw_scene(root, name)
    return root


def _draw_scene(root: Path, name: str) -> None:
    rng = np.random.default_rng(int(name))
    image = np.clip(rng.normal(110, 6, (120, 160)), 0, 255)
    y, x = np.mgrid[:120, :160]
    objects = []
    # One object in each quarter at most, so that none hides another.
    for corner, kind in zip(
        rng.permutation(4)[:3], ("car", "bus", rng.choice(["car", "bus"])), strict=True
    ):
        height = int(rng.integers(26, 44))
        width = int(1.5 * height)
        top = 60 * (corner // 2) + int(rng.integers(4, 58 - height))
        left = 80 * (corner % 2) + int(rng.integers(4, 78 - width))
        inside = (y >= top) & (y < top + height) & (x >= left) & (x < left + width)
        if kind == "car":
            image[inside] = np.where((x - left) // 6 % 2, 40, 220)[inside]
        else:
            middle = top + height / 2, left + width / 2
            image[np.hypot(y - middle[0], (x - middle[1]) / 1.5) < height / 2] = 215
        # The files count from 1 and include the ends.
        objects.append((kind, (left + 1, top + 1, left + width, top + height)))
    Image.fromarray(image.astype(np.uint8)).save(root / "JPEGImages" / f"{name}.jpg", quality=95)
    body = "".join(_OBJECT.format(*box, name=kind, difficult=0) for kind, box in objects)
    (root / "Annotations" / f"{name}.xml").write_text(f"<annotation>\n{body}</annotation>\n")
