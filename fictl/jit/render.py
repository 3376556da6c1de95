"""Render a module's config template; unknown names are errors."""

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
    except Exception as error:  # An expression in a template can raise anything.
        line = getattr(error, "lineno", None) or _line(error)
        where = f"{template.path}:{line}" if line else str(template.path)
        given = ", ".join(sorted(template.parameters)) or "none"
        raise UsageError(f"{where}: {error}", f"parameters given: {given}") from error
    folder.mkdir(parents=True, exist_ok=True)
    (folder / template.output).write_text(text, encoding="utf-8")


def _line(error: Exception) -> int | None:
    """Return the template's line, which Jinja puts into the traceback under its own file name."""
    frames = traceback.extract_tb(error.__traceback__)
    return next((frame.lineno for frame in frames if frame.filename == "<template>"), None)
