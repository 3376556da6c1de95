"""Files of an inline extension: the texts that were given, with the includes and bindings that torch adds."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from fictl.errors import WrongType
from fictl.jit import write_if_different
from fictl.jit.cache.inventory import TEXT
from fictl.jit.spec import checked_name
from fictl.jit.store.stores import writable_store
from fictl.jit.store.writing import writing

PROJECT = "cpp_extension"


def cpp_text(
    sources: str | Sequence[str],
    functions: str | Sequence[str] | Mapping[str, str] | None,
    handles_errors: bool,
    has_headers: bool,
) -> str:
    """Return main.cpp: the sources, and a module with these functions if any are named."""
    headers = ["#include <torch/extension.h>"] if has_headers else []
    return "\n".join([*headers, *_texts(sources), *_module(functions, handles_errors)]) + "\n"


def cuda_text(sources: str | Sequence[str], has_headers: bool) -> str:
    """Return cuda.cu."""
    headers = ("torch/types.h", "cuda.h", "cuda_runtime.h") if has_headers else ()
    return "\n".join([*(f"#include <{header}>" for header in headers), *_texts(sources)]) + "\n"


def written(name: str, cpp: str, cuda: str) -> list[Path]:
    """Write the files to the cache, where compilers and debuggers name their lines."""
    store = writable_store()
    store.ensure_private(PROJECT, checked_name(name), TEXT)
    digest = hashlib.sha256(f"{cpp}\0{cuda}".encode()).hexdigest()
    folder = store.module_dir(PROJECT, name) / TEXT / digest[:16]
    files = {folder / "main.cpp": cpp, **({folder / "cuda.cu": cuda} if cuda else {})}
    with writing(folder):
        for path, text in files.items():
            write_if_different(path, text)
    return [*files]


def _texts(sources: str | Sequence[str]) -> list[str]:
    return [sources] if isinstance(sources, str) else [*sources]


def _module(
    functions: str | Sequence[str] | Mapping[str, str] | None, handles_errors: bool
) -> list[str]:
    if functions is None:
        return []
    if isinstance(functions, str):
        functions = [functions]
    if not isinstance(functions, Mapping | list | tuple):
        raise WrongType(
            f"functions is a {type(functions).__name__}", "a list of names, or {name: docstring}"
        )
    named = functions if isinstance(functions, Mapping) else {name: name for name in functions}
    lines = [_definition(name, doc, handles_errors) for name, doc in named.items()]
    return ["PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {", *lines, "}"]


def _definition(name: str, doc: str, handles_errors: bool) -> str:
    function = f"torch::wrap_pybind_function({name})" if handles_errors else name
    escaped = doc.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'm.def("{name}", {function}, "{escaped}");'
