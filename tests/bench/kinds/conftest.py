"""Runs without figures and other processes, which have tests of their own."""

import pytest
from cell_workers import in_this_process

from kmaps.bench.run import runner


@pytest.fixture(scope="module", autouse=True)
def _no_figures_and_processes():
    patch = pytest.MonkeyPatch()
    patch.setattr(runner, "draw_figures", lambda *_, **options: None)
    patch.setattr(runner, "run_batches", in_this_process)
    yield
    patch.undo()
