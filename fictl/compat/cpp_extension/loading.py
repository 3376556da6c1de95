"""`load` and `load_inline`, with torch's arguments; what fictl cannot honour is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from fictl.compat.cpp_extension.extension import Extension
from fictl.compat.cpp_extension.inline_text import cpp_text, cuda_text, written
from fictl.errors import UsageError

Texts = str | Sequence[str]
Flags = Sequence[str] | None

_CACHE = "builds are kept by content in fictl's cache, which FICTL_WORKSPACE_BASE moves"


def load(
    name: str,
    sources: str | Path | Sequence[str | Path],
    extra_cflags: Flags = None,
    extra_cuda_cflags: Flags = None,
    extra_sycl_cflags: Flags = None,
    extra_ldflags: Flags = None,
    extra_include_paths: Flags = None,
    build_directory: str | None = None,
    verbose: bool = False,
    with_cuda: bool | None = None,
    with_sycl: bool | None = None,
    is_python_module: bool = True,
    is_standalone: bool = False,
    keep_intermediates: bool = True,
) -> ModuleType | None:
    """Compile an extension of torch from files, unless a build of them is there, and load it.

    Arguments are those of torch.utils.cpp_extension.load. An edited source, or header that a source
    includes, makes another build; so do other flags, another torch, Python or compiler. Objects are
    always kept, in the cache.
    """
    _refuse("SYCL", "fictl compiles C++ and CUDA", extra_sycl_cflags, with_sycl)
    _refuse("build_directory", _CACHE, build_directory)
    _refuse("is_standalone", "fictl builds modules, not programs", is_standalone)
    paths = [sources] if isinstance(sources, str | Path) else [*sources]
    extension = Extension(
        name,
        tuple(map(Path, paths)),
        cflags=_words("extra_cflags", extra_cflags),
        cuda_cflags=_words("extra_cuda_cflags", extra_cuda_cflags),
        ldflags=_words("extra_ldflags", extra_ldflags),
        include_paths=_words("extra_include_paths", extra_include_paths),
        with_cuda=with_cuda,
    )
    return extension.load(is_python_module, verbose)


def load_inline(
    name: str,
    cpp_sources: Texts,
    cuda_sources: Texts | None = None,
    sycl_sources: Texts | None = None,
    functions: str | Sequence[str] | Mapping[str, str] | None = None,
    extra_cflags: Flags = None,
    extra_cuda_cflags: Flags = None,
    extra_sycl_cflags: Flags = None,
    extra_ldflags: Flags = None,
    extra_include_paths: Flags = None,
    build_directory: str | None = None,
    verbose: bool = False,
    with_cuda: bool | None = None,
    with_sycl: bool | None = None,
    is_python_module: bool = True,
    with_pytorch_error_handling: bool = True,
    keep_intermediates: bool = True,
    use_pch: bool = False,
    no_implicit_headers: bool = False,
) -> ModuleType | None:
    """Compile an extension of torch from text, unless a build of it is there, and load it.

    Arguments are those of torch.utils.cpp_extension.load_inline. `use_pch` changes nothing: a module
    that is not compiled again needs no precompiled header.
    """
    _refuse("SYCL", "fictl compiles C++ and CUDA", sycl_sources)
    texts = [
        cpp_text(cpp_sources, functions, with_pytorch_error_handling, not no_implicit_headers),
        cuda_text(cuda_sources, not no_implicit_headers) if cuda_sources else "",
    ]
    return load(
        name,
        written(name, *texts),
        extra_cflags,
        extra_cuda_cflags,
        extra_sycl_cflags,
        extra_ldflags,
        extra_include_paths,
        build_directory,
        verbose,
        with_cuda,
        with_sycl,
        is_python_module,
        keep_intermediates=keep_intermediates,
    )


def _refuse(what: str, why: str, *values: Any) -> None:
    if any(values):
        raise UsageError(f"{what} cannot be honoured: {why}", "leave it out, or call torch's own")


def _words(name: str, flags: Flags) -> tuple[str, ...]:
    """Return a list of flags; a text would be one flag for each of its letters."""
    if isinstance(flags, str | Path):
        raise UsageError(f"{name} is a text, not a list of flags", f"{name}={str(flags).split()!r}")
    return tuple(map(str, flags or ()))
