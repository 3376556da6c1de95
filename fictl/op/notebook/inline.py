"""`fictl.load_inline`: a module from text, for notebooks and experiments."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fictl.arch import ArchRule
from fictl.errors import UsageError
from fictl.jit import gen_jit_spec, write_if_different
from fictl.jit.cache.inventory import TEXT
from fictl.jit.recipe import recipe_of
from fictl.jit.spec import checked_name
from fictl.jit.store.stores import writable_store
from fictl.jit.store.writing import writing
from fictl.op.ffi.kernel_module import KernelModule
from fictl.op.notebook.launchers import binding as generated
from fictl.op.notebook.launchers import chosen
from fictl.project.cpp_source import CppSource

PROJECT = "inline"


def load_inline(
    name: str,
    cuda: str = "",
    binding: str = "",
    functions: str | Sequence[str] = (),
    *,
    archs: str = ">=7.5",
    extra_cuda_cflags: Sequence[str] = (),
    extra_cflags: Sequence[str] = (),
    extra_ldflags: Sequence[str] = (),
    extra_include_paths: Sequence[str | Path] = (),
) -> KernelModule:
    """Compile the text of a launcher.cu, and call its functions: `module.scale(out, input, 2.0)`.

    cuda: kernels, and a launcher `void scale(const Launch& launch, View out, View input, double
        factor)` for each function to call; `#include <binding/launch.h>` says what these are.
    binding: the text of a binding.cpp. Left out, one is written that checks only that all tensors
        are on one device.
    functions: the launchers to export, by name, or by signature where `cuda` only includes them;
        all by default.
    archs: architectures, as in '>=8.0' or '9.0a 10.0f'.

    torch.compile assumes that a function writes its `out` and `workspace…`, and nothing else.
    The module is built on return. Equal text, flags and compilers are a cache hit; other text
    makes another module, also in the same process.
    """
    if binding and functions:
        raise UsageError(
            f"{name}: functions= beside a binding=", "the binding says what it exports"
        )
    if not (cuda or binding):
        raise UsageError(f"{name}: neither cuda= nor binding= has any text")
    wanted = (functions,) if isinstance(functions, str) else tuple(functions)
    spec = gen_jit_spec(
        name,
        _written(name, cuda, binding, [function for function in wanted if function]),
        extra_cflags,
        extra_cuda_cflags,
        extra_ldflags,
        extra_include_paths,
    )
    spec = replace(spec, project=PROJECT, archs=ArchRule.parse(archs))
    spec.build_and_load()
    # Why the key: torch.compile knows functions by name, and two texts of one name may coexist.
    return KernelModule(lambda _key: spec, recipe_of(spec).key)


def _written(name: str, cuda: str, binding: str, functions: Sequence[str]) -> list[Path]:
    """Write the given text unchanged to the cache, since compilers and profilers name its lines."""
    store = writable_store()
    store.ensure_private(PROJECT, checked_name(name), TEXT)
    told = hashlib.sha256("\0".join((cuda, binding, *functions)).encode()).hexdigest()
    folder = store.module_dir(PROJECT, checked_name(name)) / TEXT / told[:16]
    kernel, exports = folder / f"{name}.cu", folder / "binding.cpp"
    with writing(folder):
        if cuda:
            write_if_different(kernel, cuda)
        if not binding:
            binding = generated(chosen(CppSource(kernel).code, functions))
        write_if_different(exports, binding)
    return [kernel, exports] if cuda else [exports]
