"""The JSON schema that ships with the experiments says what the models do."""

import json
from pathlib import Path

import pytest
import yaml

jsonschema = pytest.importorskip("jsonschema")

ROOT = Path(__file__).resolve().parent.parent
FILES = sorted((ROOT / "experiments").glob("*.yaml"))


@pytest.fixture(scope="module")
def check():
    schema = json.loads((ROOT / "experiments" / "schema.json").read_text("utf-8"))
    return jsonschema.Draft202012Validator(schema)


def test_every_packaged_file_names_the_schema_and_fits_it(check):
    for path in FILES:
        text = path.read_text("utf-8")
        assert text.startswith("# yaml-language-server: $schema=schema.json\n")
        # 1e-4 is text to PyYAML, not to editors.
        read = yaml.safe_load(text.replace("1e-", "1.0e-"))
        wrong = [f"{list(e.path)}: {e.message}" for e in check.iter_errors(read)]
        assert not wrong, (path.name, wrong[:3])
