"""Pages in HTML, without any other file: Jinja2 templates, which escape all given texts."""

from pathlib import Path
from typing import Any


def render(template: str, **given: Any) -> str:
    """Return the page that a template of this folder makes of the names that it is given."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return made.get_template(template).render(given)
