"""Pages as PDF and figures as PNG: an installed browser draws them."""

import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

import psutil

from kmaps.errors import DataError, InputError

_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome", "msedge")
_SECONDS = 120  # the limit for drawing
_PIXELS_PER_UNIT = 2  # of a figure, for screens with fine pixels


def browser() -> str:
    """Return the path of a browser that can draw pages.

    Raises
    ------
    InputError
        When none is installed.
    """
    for name in _BROWSERS:
        path = shutil.which(name)
        if path is not None:
            return path
    raise InputError(
        f"a browser draws this form ({', '.join(_BROWSERS)}), and none is on the path; "
        "install one, or write .html or .svg and convert it"
    )


def pdf_of_html(html: str) -> bytes:
    """Return a page in HTML as a browser prints it, in PDF.

    Raises
    ------
    InputError
        When no browser is installed, or it prints nothing.
    """
    return _draw(html, "page.pdf", "--print-to-pdf", "--no-pdf-header-footer")


def png_of_svg(path: Path) -> bytes:
    """Return a figure in an SVG file as a PNG image of twice its size in pixels, on white.

    Raises
    ------
    DataError
        When the file is no SVG with a size.
    InputError
        When no browser is installed, or it draws nothing.
    """
    try:
        figure = ElementTree.parse(path).getroot()
        _, _, width, height = map(float, figure.get("viewBox", "").split())
    except (ElementTree.ParseError, ValueError) as error:
        raise DataError(f"{path}: is no SVG file with a viewBox") from error
    address = path.resolve().as_uri()
    html = (
        "<!doctype html><style>body {margin: 0; background: white}</style>"
        f'<img src="{address}" width="{width:.0f}" height="{height:.0f}">'
    )
    return _draw(
        html,
        "figure.png",
        "--screenshot",
        "--hide-scrollbars",
        f"--force-device-scale-factor={_PIXELS_PER_UNIT}",
        f"--window-size={width:.0f},{height:.0f}",
    )


def _draw(html: str, file_name: str, form_option: str, *options: str) -> bytes:
    """Return the file that a browser writes for a page; ``form_option`` takes its path."""
    program = browser()
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        source = Path(folder, "page.html")
        out = Path(folder, file_name)
        source.write_text(html, "utf-8")
        command = [program, "--headless", "--disable-gpu", f"--user-data-dir={folder}/profile"]
        if psutil.Process().username() == "root":  # for whom Chromium refuses its sandbox
            command.append("--no-sandbox")
        command += [*options, f"{form_option}={out}", source.as_uri()]
        process = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False)
        if not out.is_file():
            messages = process.stderr.decode(errors="replace").strip().splitlines()
            cause = messages[-1] if messages else f"exit code {process.returncode}"
            raise InputError(f"{program} drew nothing: {cause}")
        return out.read_bytes()
