"""The JSON schema of experiment files; `make generated` writes it."""

import re
from pathlib import Path
from typing import Any

from kmaps.bench.kinds import KINDS

ROOT = Path(__file__).resolve().parents[2]
_AUTO = {"const": "auto"}
_RULE = {"enum": ["auto", "plateau"]}


def schema() -> dict[str, Any]:
    """Return one schema for all kinds of experiments; the key ``kind`` says which part holds."""
    said, definitions = _meanings(), {}
    cases = []
    for name in KINDS:
        made = KINDS[name].model.model_json_schema(ref_template="#/$defs/{model}")
        definitions |= made.pop("$defs", {})  # the same for all kinds, where the name is
        made["properties"]["presets"] = {"type": "object"}
        made.pop("description", None)
        definitions[name] = made
        has_kind = [] if name == "classification" else ["kind"]
        when = {"properties": {"kind": {"const": name}}, "required": has_kind}
        cases.append({"if": when, "then": {"$ref": f"#/$defs/{name}"}})
    _completed(definitions, said)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "An experiment of kmaps",
        "type": "object",
        "properties": {"kind": {"enum": list(KINDS), "default": "classification"}},
        "allOf": cases,
        "$defs": definitions,
    }


def _completed(node: Any, said: dict[str, str]) -> None:
    """Add the meanings of keys, and the short forms that the models take before they check."""
    if isinstance(node, list):
        for one in node:
            _completed(one, said)
    if not isinstance(node, dict):
        return
    for key, of in node.get("properties", {}).items():
        if key in said and "description" not in of:
            of["description"] = said[key]
        if key == "grid" or (key == "C" and of.get("type") == "array"):
            rule = _RULE if key == "grid" else _AUTO
            short = [{"type": "array", "items": of.pop("items"), "minItems": 1}, rule]
            node["properties"][key] = {**_without_type(of), "anyOf": short}
        elif key == "C" and "$ref" in of:
            short = [{"$ref": of.pop("$ref")}, {"type": "number", "exclusiveMinimum": 0}, _RULE]
            node["properties"][key] = {**of, "anyOf": short}
    for one in node.values():
        _completed(one, said)


def _without_type(of: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in of.items() if key not in ("type", "minItems")}


def _meanings() -> dict[str, str]:
    """Return what experiments/README.md says of each key, the first time."""
    found: dict[str, str] = {}
    text = (ROOT / "experiments" / "README.md").read_text("utf-8")
    for names, meaning in re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| (.+?) \|", text, re.MULTILINE):
        keys = re.findall(r"\w+", names)
        for key, of in zip(keys, _parts(meaning, len(keys)), strict=True):
            found.setdefault(key, re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", of).strip())
    return found


def _parts(meaning: str, n: int) -> list[str]:
    """Return the meanings of several keys in one row, which semicolons part."""
    parts = meaning.split(";")
    return parts if len(parts) == n else [meaning] * n
