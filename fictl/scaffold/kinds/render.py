"""Rendering a template tree: the names of its files are templates, too, and both are strict."""

from __future__ import annotations

import os
import re
import traceback
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fictl import private_folder
from fictl.errors import SetupError, UsageError
from fictl.paths import cache_root
from fictl.scaffold.kinds import wrap
from fictl.user_file import read_text

if TYPE_CHECKING:
    from jinja2 import BytecodeCache, Environment

_WORD = re.compile(r"\{\{\s*(\w+)\s*\}\}")


def render(files: Mapping[str, Path], context: Mapping[str, Any]) -> dict[str, str]:
    """Render templates to texts by path. A file whose name comes out empty in a part, as by an `if`, is left out."""
    environment = _environment({_root(name, path): None for name, path in files.items()})
    rendered: dict[str, str] = {}
    for name, path in files.items():
        with _located(path):
            where = _named(name, environment, context)
            if all(where.split("/")):
                rendered[where] = environment.get_template(str(path)).render(context)
    return rendered


def _environment(roots: Iterable[Path]) -> Environment:
    """Templates are found by their full path, what they include in their tree and beside it."""
    from jinja2 import ChoiceLoader, Environment, FileSystemLoader, FunctionLoader, StrictUndefined

    folders = [*roots]
    beside = FileSystemLoader([*folders, *(folder.parent for folder in folders)])
    environment = Environment(
        loader=ChoiceLoader([FunctionLoader(_read), beside]),
        bytecode_cache=_compiled(),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    functions = (
        wrap.py,
        wrap.py_literal,
        wrap.py_value,
        wrap.cpp,
        wrap.cpp_value,
        wrap.cpp_function,
        wrap.cpp_dispatch,
    )
    environment.globals.update({function.__name__: function for function in functions})
    return environment


def _named(name: str, environment: Environment, context: Mapping[str, Any]) -> str:
    """A file's name. Most have plain words in braces, which need no compiling."""
    plain = _WORD.sub(lambda word: str(context.get(word[1], word[0])), name)
    return environment.from_string(name).render(context) if "{" in plain else plain


def _read(name: str) -> str | None:
    """Read the template of a full path."""
    return read_text(Path(name)) if os.path.isabs(name) else None


def _compiled() -> BytecodeCache | None:
    """Compiling our templates takes longer than all else; none where nothing can be kept."""
    from fictl.scaffold.kinds.bytecode import CheckedBytecode

    with suppress(OSError, SetupError):
        folder = private_folder.make(cache_root(), "scaffold", "templates")
        return CheckedBytecode(str(folder)) if os.access(folder, os.W_OK) else None
    return None


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
