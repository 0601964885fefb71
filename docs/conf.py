"""Sphinx builds the site with this: `make docs`. What it generates is written by `_ext`."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext")]

import generate  # noqa: E402
import shrink  # noqa: E402

from kmaps import __version__  # noqa: E402

project = "kmaps"
author = "The kmaps maintainers"
copyright = author
version = release = __version__
extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_click",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_templates", "node_modules", "gallery"]
templates_path = ["_templates"]
nitpicky = False

myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
smartquotes = False  # they make one dash of the two of an option

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# Formulas are set in the reader's browser, by KaTeX from this site: Sphinx's extension for MathJax
# loads it on the pages that have some, and _static/math.js calls it.
mathjax_path = "vendor/katex/katex.min.js"

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "examples",
    "filename_pattern": r"plot_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "capture_repr": ("_repr_html_",),
    "write_computation_times": False,  # their page loads scripts from other hosts
    "min_reported_time": 10**6,  # a busy computer's seconds say nothing
    "plot_gallery": "True",
    "abort_on_example_error": True,
    "image_scrapers": ("matplotlib",),
    "image_srcset": ["2x"],
    "reset_modules": ("gallery_style.reset",),
    "thumbnail_size": (400, 280),
    "backreferences_dir": "examples/backreferences",
    "doc_module": ("kmaps",),
    "reference_url": {"kmaps": None},
}

default_role = "py:obj"  # `name` is a link where it is the name of an object, else code
toc_object_entries_show_parents = "hide"
html_theme = "pydata_sphinx_theme"
html_title = "kmaps"
html_static_path = ["_static", "_build/static"]
html_css_files = ["vendor/katex/katex.min.css", "site.css"]
html_js_files = ["math.js", "tables.js"]
html_favicon = "_static/icon.svg"
html_context = {"default_mode": "auto"}
# Pages without others below them need no list of those.
html_sidebars = {name: [] for name in ("start", "choose", "understand", "results/**")}
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "kmaps"},
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "header_links_before_dropdown": 6,
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


def skip_member(app, what, name, member, skip, options):
    """Leave out what scikit-learn documents itself."""
    return skip or str(getattr(member, "__module__", "")).startswith("sklearn") or None


def add_scripts(app, pagename, templatename, context, doctree):
    """Let the pages of the atlas load what draws and filters."""
    if pagename.startswith("results/"):
        vega = [f"vendor/vega/{name}.min.js" for name in ("vega", "vega-lite", "vega-embed")]
        plotted = doctree is not None and 'class="plot"' in context.get("body", "")
        for name in [*(vega if plotted else []), *(["plot.js"] if plotted else []), "filter.js"]:
            app.add_js_file(name)


def finish(app, exception):
    """Make the site smaller once it is built."""
    if exception is None and app.builder.name == "html":
        shrink.everything(Path(app.outdir))


def setup(app):
    app.connect("html-page-context", add_scripts)
    app.connect("autodoc-skip-member", skip_member)
    app.connect("build-finished", finish)
    generate.everything(HERE)
    app.connect("source-read", generate.relink_source)
