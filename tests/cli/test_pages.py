"""A page in all its forms: nothing in it becomes markup, and nothing of it is left out unsaid."""

import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest
from commands import kmaps, refused, write_records
from PIL import Image

from kmaps.bench.report import browser, document
from kmaps.bench.report.document import Code, Folded, Page, Picture, Section, Table, Text
from kmaps.bench.report.forms import Markdown
from tests.bench.report.test_forms import NAMES
from tests.bench.sample_records import record

BROWSER = any(map(shutil.which, browser._BROWSERS))
NAMES = [*NAMES, "{{ 7 * 7 }}{% raw %}", "a\x1b[31m\u202eb", '" onload="x', "$x$ \\input{y}"]


class Read(HTMLParser):
    """What a browser sees of a page: its elements, their attributes, its texts."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.given, self.texts = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.given += attrs

    def handle_data(self, data):
        self.texts.append(data)


def page_with(name, path=Path("no.png")):
    parts = [Text(name), Code([name]), Picture(path, name), Text(Markdown(f"*a* `b` {name}"))]
    table = Table([name, "n"], [[name, name]], title=name)
    return Page(name, [Section(name, [*parts, Folded(name, [table])])])


@pytest.mark.parametrize("name", NAMES)
def test_nothing_in_a_page_is_markup(name):
    read, plain = (Read(document.as_html(page_with(one))) for one in (name, "plain"))
    # Markdown that users write may have its own elements; none is one that HTML brings.
    assert {*read.tags} - {*plain.tags} <= {"strong", "em", "del", "ul", "li", "hr", "blockquote"}
    assert {key for key, _ in read.given} == {key for key, _ in plain.given}
    places = [value for key, value in read.given if key in ("src", "href")]
    assert all(value.startswith(("#", "http://example.org")) for value in places)
    assert "script" not in read.tags
    shown = " ".join(name.replace("\x1b", r"\x1b").replace("\u202e", r"\u202e").split())
    assert sum(" ".join(text.split()) == shown for text in read.texts) >= 7
    assert json.loads(document.as_json(page_with(name)))["title"] == name


@pytest.fixture
def _run(_in_a_folder):
    failed = {"status": "failed", "accuracy": None, "error": "<b>no</b> memory"}
    cells = [record("homogeneous", i, params={"order": 1}) for i in (0, 1)]
    write_records([*cells, record("exact", 0) | failed])


@pytest.mark.usefixtures("_run")
def test_a_pdf_is_printed_by_a_browser(monkeypatch):
    with monkeypatch.context() as without:
        without.setattr(shutil, "which", lambda name: None)
        assert "chromium" in refused("report", ".", "-o", "p.pdf")
    if BROWSER:
        kmaps("report", ".", "-o", "p.pdf")
        assert Path("p.pdf").read_bytes().startswith(b"%PDF-")


@pytest.mark.skipif(not BROWSER, reason="no browser is installed")
def test_the_png_of_a_figure_without_its_arrays_is_made_of_its_svg(tmp_path):
    published = Path(__file__).parents[2] / "results" / "hkm-figure2-universal"
    png = tmp_path / "errors.png"
    kmaps("plot", str(published), "--figure", "errors", "-o", str(png))
    svg = (published / "errors.svg").read_text()
    _, _, width, height = map(float, re.search(r'viewBox="([^"]+)"', svg)[1].split())
    with Image.open(png) as image:
        assert image.size == (2 * round(width), 2 * round(height))
        assert len(image.convert("RGB").getcolors(1 << 24)) > 50
