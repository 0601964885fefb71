"""Runs without figures, which have tests of their own."""

import pytest

from kmaps.bench.run import runner


@pytest.fixture(scope="module", autouse=True)
def _no_figures():
    patch = pytest.MonkeyPatch()
    patch.setattr(runner, "draw_figures", lambda *_, **options: None)
    yield
    patch.undo()
