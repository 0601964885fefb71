"""Commands run in a folder that each test has for itself."""

import numpy as np
import pytest
from commands import write_records


@pytest.fixture(autouse=True)
def _in_a_folder(request, tmp_path, monkeypatch):
    """Go into a new folder, with the arrays and the records that a module has in its FILES."""
    monkeypatch.chdir(tmp_path)
    for name, content in getattr(request.module, "FILES", {}).items():
        if name.endswith(".npy"):
            np.save(name, content)
        else:
            write_records(content, name)
