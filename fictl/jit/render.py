"""Rendering a module's config template, strict about names that it does not know."""

from __future__ import annotations

import traceback
from pathlib import Path

from fictl.errors import UsageError
from fictl.jit.module_spec import Template
from fictl.user_file import read_text


def render(template: Template, folder: Path) -> None:
    """Write the rendered text to `folder/<output>`."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(undefined=StrictUndefined, keep_trailing_newline=True)
    try:
        text = environment.from_string(read_text(template.path)).render(**template.parameters)
    except Exception as error:  # What an expression in a template raises can be anything.
        line = getattr(error, "lineno", None) or _line(error)
        where = f"{template.path}:{line}" if line else str(template.path)
        given = ", ".join(sorted(template.parameters)) or "none"
        raise UsageError(f"{where}: {error}", f"parameters given: {given}") from error
    folder.mkdir(parents=True, exist_ok=True)
    (folder / template.output).write_text(text, encoding="utf-8")


def _line(error: Exception) -> int | None:
    """The template's line: Jinja puts it into the traceback, under a file name of its own."""
    frames = traceback.extract_tb(error.__traceback__)
    return next((frame.lineno for frame in frames if frame.filename == "<template>"), None)
