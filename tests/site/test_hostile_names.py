"""Names in records on the pages of the atlas: they are shown, and none is markup there."""

import csv
import json
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path

import pytest
import yaml
from commands import write_records

from tests.bench.report.test_forms import NAMES
from tests.bench.sample_records import record

pytestmark = pytest.mark.site

EXT = Path(__file__).resolve().parents[2] / "docs" / "_ext"
NAMES = [
    *NAMES,
    *("$x^2$", "{math}`y`", "`code` ``", ":::{note}", "% comment", "+++", "(target)=", ": of it"),
    *(r"\begin{align}a\end{align} \input{y}", "{{ 7 * 7 }}", "1. item", "[^1]: note", "</script>"),
    *("<!--<script>", "<img src=x onerror=alert(1)>", "a\x1b[31m\u202eb", "=1+1|cmd"),
]


class Read(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.texts = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.texts.append(data)


def _write_texts(folder):
    """Write a run whose experiment file, figures and notes have the names."""
    cells = [record(method, 0, experiment="texts") for method in ("homogeneous", "exact")]
    write_records(cells, folder / "records.jsonl")
    text = yaml.safe_load((EXT.parents[1] / "experiments" / "quickstart.yaml").read_text())
    rows = {"left": {"method": "homogeneous"}, "right": {"method": "exact"}, "relation": "above"}
    claims = [{"id": f"claim-{i}", "text": name, **rows} for i, name in enumerate(NAMES)]
    text |= {"experiment": "texts", "about": "\n\n".join(NAMES), "claims": claims}
    (folder / "experiment.yaml").write_text(json.dumps(text))
    for name in NAMES:
        if "/" not in name:
            (folder / f"{name}.png").write_bytes(b"\x89PNG\r\n\x1a\n")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The pages of a run whose dataset, features, setting, computer and command are each name."""
    from sphinx.application import Sphinx

    root = tmp_path_factory.mktemp("site")
    (root / "results").mkdir()
    write_records(
        [
            record("homogeneous", 0, experiment="<b>*trial*</b>", versions={name: "1"}, commit=name)
            | dict.fromkeys(("setting", "dataset", "features", "cpu", "command", "python"), name)
            | {"key": f"key {i}", "threads": 1}
            for i, name in enumerate(NAMES)
        ],
        root / "results" / "trial" / "records.jsonl",
    )
    _write_texts(root / "results" / "texts")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(EXT)
        import atlas

        atlas.write_pages(root / "docs", *atlas.read(root / "results"))
    conf = {
        "extensions": ["myst_parser", "sphinx_design"],
        "myst_enable_extensions": ["dollarmath", "amsmath", "colon_fence", "deflist"],
        "root_doc": "results/index",
        "smartquotes": False,
        "html_sidebars": {"**": []},
    }
    places = root / "docs", None, root / "html", root / "trees", "html"
    Sphinx(*(one and str(one) for one in places), conf, None, StringIO()).build()
    return root


@pytest.mark.parametrize("name", NAMES)
def test_names_are_shown_as_they_are(site, name):
    shown = " ".join(name.replace("\x1b", r"\x1b").replace("\u202e", r"\u202e").split())
    for page in ("runs/-b-trial-b-", "runs/texts", "methods/homogeneous", "index"):
        text = (site / "html" / "results" / f"{page}.html").read_text("utf-8")
        assert any(shown in " ".join(one.split()) for one in Read(text).texts), page


def test_nothing_of_them_is_markup(site):
    for path in (site / "html" / "results").rglob("*.html"):
        text = path.read_text("utf-8")
        assert not {"\x1b", "\u202e"} & {*text}
        read = Read(text)
        assert not any(key.startswith("on") for _, given in read.tags for key in given), path
        classes = {one for _, given in read.tags for one in (given.get("class") or "").split()}
        assert "math" not in classes, path
        scripts = [given for tag, given in read.tags if tag == "script"]
        assert all("src" in one or one.get("type") == "application/json" for one in scripts), path
    data = site / "docs" / "_build" / "static" / "results"
    assert json.loads((data / "atlas.json").read_text("utf-8"))["runs"]
    with open(data / "-b-trial-b-" / "points.csv", encoding="utf-8") as file:
        assert not any(cell.startswith("=") for row in csv.reader(file) for cell in row)
