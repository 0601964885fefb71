"""Text in documents: whatever a name holds, it is shown, and is no markup there."""

import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from kmaps.bench.paper.glance import glance
from kmaps.bench.paper.page import page
from kmaps.bench.paper.reported import CheckFailure, Item
from kmaps.bench.paper.reported_forms import as_markdown as reported_markdown
from kmaps.bench.records.gate import CellVerdict
from kmaps.bench.report.document import Section, Table, as_markdown
from kmaps.bench.report.forms import bold, latex, link, markdown, markdown_table
from kmaps.bench.report.gate_forms import as_markdown as gate_markdown
from kmaps.bench.report.tables import render
from tests.bench.sample_records import record, times

NAMES = (
    "<script>alert(1)</script>",
    "<!-- a comment",
    "![image](http://example.org/x.png)",
    "[text](http://example.org)",
    "[text][ref]",
    "[ref]: http://example.org",
    "# heading",
    "> quotation",
    "- item",
    "---",
    "===",
    r"a\|b | c \<b>",
    "**bold** _slanted_ ~~struck~~",
    "&lt;b&gt; &#60;",
)
MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
FOLDING = {"<details>", "</details>", "<summary>", "</summary>", "<br>"}
SHOWN = {"inline", "text", "text_special", "softbreak"}


def tokens_of(text):
    """Return what a document consists of, by a parser of Markdown: types and contents."""
    for token in MARKDOWN.parse(text):
        yield token.type, token.content
        for child in token.children or ():
            yield child.type, str(child.attrs.get("href", child.content))


@pytest.mark.parametrize("name", NAMES)
def test_markdown_shows_text_as_it_is(name):
    found = list(tokens_of(markdown(name)))
    assert {kind for kind, _ in found} <= SHOWN | {"paragraph_open", "paragraph_close"}
    assert "".join(text for kind, text in found if kind.startswith("text")) == name
    cells = [*tokens_of(markdown_table(["", "b"], [[name, bold(name)]]))]
    kinds = [kind for kind, _ in cells]
    assert (kinds.count("td_open"), kinds.count("strong_open")) == (2, 1)
    assert "".join(text for kind, text in cells if kind.startswith("text")) == f"b{name}{name}"


def test_what_nobody_sees_is_an_escape_and_lines_are_one():
    shown = r"a b\\x1b[31m\\x00\\u202e\\ud800\\u009b"
    assert markdown("a\n\nb\x1b[31m\x00\u202e\ud800\x9b") == shown
    assert latex("a\n\nb\x1b") == r"a b\textbackslash{}x1b"
    assert link("a b", "a b/c)") == "[a b](a%20b/c%29)"


@pytest.mark.parametrize("name", [*NAMES, "a\n\n# heading\n| a |\n| - |\n<b>", "=1+1\ud800"])
def test_no_name_of_a_record_is_markup_in_a_page(name):
    places = "experiment", "setting", "dataset", "features", "normalize", "kernel", "reduction"
    made = {"command": name, "cpu": name, "started": name, "commit": name, "python": name}
    cell = record(
        "m", params={"p": name}, versions={name: name}, **made, **dict.fromkeys(places, name)
    )
    cell |= {"repeats": times(cell, 1.0, started=name, command=name)}
    claim = {"id": name, "text": name, "left": {}, "right": {}, "relation": "above"}
    claim |= {"measure": "accuracy"}
    parts = {"about": name, "claims": [claim], "figures": [Path(f"{name}.png")]}
    parts["sections"] = [Section(name, [Table([name], [[name]], title=name)])]
    item = Item("claim", name, name, name, "", "", "fails", "fails", of=name)
    documents = [
        as_markdown(page([cell], measures=("accuracy",), **parts)),
        as_markdown(glance([item], {name: [cell]}, [])),
        reported_markdown([item], [CheckFailure(name, name, name)], {name: (1, 1)}),
        gate_markdown([CellVerdict("worse", name, name)], name),
    ]
    for text in documents:
        text.encode()
        found = [*tokens_of(text)]
        html = "".join(content for kind, content in found if kind.startswith("html"))
        assert set(re.findall(r"<[^>]*>?", html + text)) <= FOLDING
        links = {place for kind, place in found if kind == "link_open"}
        assert all(place.endswith("/README.md") for place in links)
        assert [kind for kind, _ in found].count("image") == (text is documents[0])
    assert render([cell], "latex", ["accuracy"]).isascii() or not name.isascii()
