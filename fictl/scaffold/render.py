"""Rendering a template tree: the names of its files are templates, too, and both are strict."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fictl.errors import UsageError
from fictl.scaffold import wrap


def render(files: Mapping[str, Path], context: Mapping[str, Any]) -> dict[str, str]:
    """Where -> text. A file whose name comes out empty in a part, as by an `if`, is left out."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    roots = {_root(name, path): None for name, path in files.items()}
    environment = Environment(
        loader=FileSystemLoader([*roots, *(root.parent for root in roots)]),
        undefined=StrictUndefined, keep_trailing_newline=True, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    functions = (
        wrap.py, wrap.py_literal, wrap.py_value,
        wrap.cpp, wrap.cpp_value, wrap.cpp_function, wrap.cpp_dispatch,
    )  # fmt: skip
    environment.globals.update({function.__name__: function for function in functions})
    rendered: dict[str, str] = {}
    for name, path in files.items():
        with _located(path):
            where = environment.from_string(name).render(context)
        if all(where.split("/")):
            with _located(path):
                rendered[where] = environment.from_string(path.read_text(encoding="utf-8")).render(
                    context
                )
    return rendered


def _root(name: str, path: Path) -> Path:
    """The tree that a template is of."""
    return path.parents[name.count("/")]


@contextmanager
def _located(path: Path) -> Iterator[None]:
    """Around a template: what is wrong with it is its author's, with file and line."""
    try:
        yield
    except UsageError:
        raise
    except Exception as error:  # What an expression in a template raises can be anything.
        name, line = _innermost(error)
        where = str(path) if name in {"", "<template>", "<unknown>"} else name
        place = f"{where}:{line}" if line else where
        raise UsageError(f"{place}: {error}", "the template is wrong; see it there") from error


def _innermost(error: Exception) -> tuple[str, int]:
    """The template that Jinja puts last into the traceback: what is included has its own name."""
    frames = [
        (frame.f_code.co_filename, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if "__jinja_exception__" in frame.f_globals
    ]
    return frames[-1] if frames else ("", 0)
