"""Figures that a browser turns into images; tests/cli/test_pages.py does so where there is one."""

import pytest

from kmaps.bench.report.browser import png_of_svg
from kmaps.errors import DataError


@pytest.mark.parametrize("text", ["<svg", "<svg/>", '<svg viewBox="a b c d"/>'])
def test_what_is_no_figure_is_refused_before_a_browser_is_looked_for(tmp_path, text):
    path = tmp_path / "figure.svg"
    path.write_text(text)
    with pytest.raises(DataError, match=r"figure\.svg"):
        png_of_svg(path)
