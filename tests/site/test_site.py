"""The documentation site, and pages that commands write, in Chromium: `make docs test-site`.

The site is served from this computer, and the browser refuses every other host.
"""

import shutil
import threading
from functools import cache, partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import numpy as np
import pytest
from commands import kmaps_in, write_records
from sklearn.datasets import load_digits

from kmaps import CodedSVC
from tests.bench.sample_records import record
from tests.site.test_hostile_names import NAMES

pytestmark = pytest.mark.site

DOCS = Path(__file__).resolve().parents[2] / "docs"
SITE = DOCS / "_build" / "html"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
TEMPLATES = {  # a page of each, the longest and the shortest of the atlas among them
    "home": "index.html",
    "text": "start.html",
    "table": "choose.html",
    "formulas": "understand.html",
    "gallery": "examples/index.html",
    "example": "examples/plot_04_optimal_map.html",
    "class": "reference/api/kmaps.CodedSVC.html",
    "options": "reference/commands.html",
    "keys": "reference/yaml.html",
    "results": "results/index.html",
    "paper": "results/papers/lac.html",
    "dataset": "results/datasets/daimler.html",
    "method": "results/methods/homogeneous.html",
    "long run": "results/runs/lac-table2-daimler.html",
    "short run": "results/runs/annfm-figure3-salient.html",
}
PLOTTED = "results/runs/comparison-mnist.html"
PHONE = {"width": 360, "height": 740}


class Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.links, self.ids = [], set()

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.ids |= {given[name] for name in ("id", "name") if given.get(name)}
        self.links += [given[name] for name in ("href", "src") if given.get(name)]


@cache
def parsed(path):
    found = Links()
    found.feed(path.read_text("utf-8"))
    return found


def pages():
    found = (path.relative_to(SITE) for path in SITE.rglob("*.html"))
    return sorted(path.as_posix() for path in found if path.parts[0] != "_static")


@pytest.fixture(scope="module")
def address():
    assert (SITE / "index.html").is_file(), "no site: `make docs` builds it"

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(SITE)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    assert found, f"no browser: none of {', '.join(BROWSERS)}; Debian: apt-get install chromium"
    quiet = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
    quiet += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=found, args=quiet)


class Visit:
    """A tab, and what went wrong in it."""

    def __init__(self, browser, address, **settings):
        self.address, self.page = address, ""
        self.wrong = []
        self.tab = browser.new_context(**settings).new_page()
        self.tab.on("console", self._said)
        self.tab.on("pageerror", lambda error: self.wrong.append(f"{self.page}: {error}"))
        self.tab.route("**/*", self._asked)

    def _said(self, message):
        if message.type == "error":
            self.wrong.append(f"{self.page}: {message.text}")

    def _asked(self, route):
        if route.request.url.startswith((self.address, "data:", "blob:")):
            return route.continue_()
        self.wrong.append(f"{self.page}: asked {route.request.url}")
        return route.abort()

    def __call__(self, page):
        self.page = page
        self.tab.goto(self.address + page, wait_until="load")
        return self.tab


@pytest.fixture
def visit(browser, address):
    made = Visit(browser, address)
    yield made
    made.tab.context.close()


def test_every_link_leads_somewhere():
    dead = []
    for page in pages():
        for link in parsed(SITE / page).links:
            whole, anchor = urldefrag(urljoin(f"http://site/{page}", link))
            parts = urlsplit(whole)
            if parts.netloc != "site" or parts.scheme != "http":
                continue
            target = SITE / unquote(parts.path).lstrip("/")
            if target.is_dir():
                target /= "index.html"
            if not target.is_file() or (
                anchor and target.suffix == ".html" and unquote(anchor) not in parsed(target).ids
            ):
                dead.append(f"{page}: {link}")
    assert not dead, dead[:20]


def test_the_site_is_small_and_asks_no_other_host():
    size = sum(path.stat().st_size for path in SITE.rglob("*") if path.is_file())
    assert size <= 40e6, size
    foreign = [
        (page, link)
        for page in pages()
        for link in parsed(SITE / page).links
        if link.startswith(("http:", "//")) and "doi.org" not in link
    ]
    assert not foreign, foreign[:5]


def test_no_page_has_an_error_or_asks_another_host(visit):
    for page in pages():
        visit(page)
    assert not visit.wrong, visit.wrong[:10]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("page", TEMPLATES.values(), ids=TEMPLATES)
def test_pages_are_accessible_and_fit_a_phone(browser, address, page, theme):
    visit = Visit(browser, address, viewport=PHONE)
    visit.tab.add_init_script(f"localStorage.setItem('mode', '{theme}')")
    tab = visit(page)
    assert tab.evaluate("document.documentElement.dataset.theme") == theme
    if tab.query_selector(".plot"):
        tab.wait_for_selector(".plot-canvas svg")
    check(visit)


def check(visit):
    """Refuse a page that is wider than a phone, or that axe finds serious mistakes in."""
    assert visit.tab.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    heights = (
        "[...document.querySelectorAll('svg text')].map(t => t.getBoundingClientRect().height)"
    )
    assert not [height for height in visit.tab.evaluate(heights) if 0 < height < 9]
    visit.tab.add_script_tag(path=DOCS / "node_modules" / "axe-core" / "axe.min.js")
    found = visit.tab.evaluate("axe.run(document, {resultTypes: ['violations']})")
    serious = [
        (one["id"], len(one["nodes"]), one["nodes"][0]["html"][:200])
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
    ]
    visit.tab.context.close()
    assert not serious, serious
    assert not visit.wrong, visit.wrong


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The pages of a long run, of one with hostile names, of an evaluation and of a model."""
    folder = tmp_path_factory.mktemp("pages")
    X, y = load_digits(return_X_y=True)
    np.savez(folder / "rows.npz", X=X, y=np.array(NAMES)[y])
    CodedSVC(probability="temperature").fit(X, np.array(NAMES)[y]).save(folder / "m.npz")
    places = "setting", "dataset", "features", "cpu", "command"
    cells = [record("exact", 0, key=f"{i}") | dict.fromkeys(places, f"{name} {'x' * 200}")
             for i, name in enumerate(NAMES)]  # fmt: skip
    write_records(cells, folder / "hostile" / "records.jsonl")
    kmaps = kmaps_in(folder)
    kmaps("report", "hostile", "-o", "hostile.html")
    kmaps("report", DOCS.parent / "results" / "lac-table2-daimler", "-o", "report.html")
    kmaps("evaluate", "m.npz", "rows.npz", "-o", "evaluation.html")
    kmaps("explain", "m.npz", "--data", "rows.npz", "-o", "explain.html")
    return folder


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("page", ["report", "hostile", "evaluation", "explain"])
def test_pages_of_commands_are_accessible_and_fit_a_phone(browser, written, page, theme):
    visit = Visit(browser, f"{written.as_uri()}/", viewport=PHONE, color_scheme=theme)
    visit(f"{page}.html")
    check(visit)


def test_a_plot_draws_and_answers_a_click(visit):
    tab = visit(PLOTTED)
    point = "[aria-roledescription='point']"
    tab.wait_for_selector(point)
    assert len(tab.query_selector_all(point)) >= 10
    tab.query_selector_all(point)[0].click(force=True)
    said = tab.inner_text(".plot-record")
    assert "kmaps run comparison-mnist" in said
    assert "commit" in said
    before = tab.inner_text(".plot-canvas")
    tab.select_option(".plot-choices label:last-of-type select", "storage")
    tab.wait_for_function(
        "old => document.querySelector('.plot-canvas').innerText != old", arg=before
    )
    assert not visit.wrong


def test_tables_filter_and_the_search_finds(visit):
    tab = visit("results/index.html")
    tab.fill(".filterable input", "daimler table4")
    rows = "[...document.querySelectorAll('.filterable tbody tr:not([hidden])')]"
    shown = tab.evaluate(f"{rows}.map(row => row.innerText.toLowerCase())")
    assert {"daimler" in row for row in shown} == {True}
    tab = visit("results/datasets/daimler.html")
    assert "None" not in tab.inner_text(".plot-choices")
    assert tab.evaluate(f"{rows}.length") == 100
    tab.click(".filter-bar button")
    assert tab.evaluate(f"{rows}.length") > 500
    tab = visit("search.html?q=LowDimMap")
    tab.wait_for_selector("#search-results li a")
    assert not visit.wrong


def test_formulas_are_set(visit):
    tab = visit("understand.html")
    tab.wait_for_selector(".katex")
    assert not tab.query_selector(".katex-error")
