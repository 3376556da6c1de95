"""One extension of torch: its spec in the JIT's words, its build, and the module that Python imports."""

from __future__ import annotations

import os
import sys
import sysconfig
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from fictl.compat.cpp_extension.inline_text import PROJECT
from fictl.errors import FictlError, UsageError
from fictl.jit import JitSpec, gen_jit_spec
from fictl.jit.build import ensure_runs
from fictl.jit.load import bring_runtime, used
from fictl.jit.store.entry import Entry
from fictl.jit.store.use import keep, unless_removed
from fictl.log import logger
from fictl.paths import data_root

# What torch's headers expect of a compile by nvcc.
_NVCC = (
    "-D__CUDA_NO_HALF_OPERATORS__",
    "-D__CUDA_NO_HALF_CONVERSIONS__",
    "-D__CUDA_NO_BFLOAT16_CONVERSIONS__",
    "-D__CUDA_NO_HALF2_OPERATORS__",
)
_STANDARD = "-std=c++20"
# Libraries come before the objects that use them. Python is in the process, and its names are undefined.
_BEFORE, _AFTER = "-Wl,--no-as-needed", ("-Wl,--as-needed", "-Wl,-z,undefs")
_FALLBACK_ARCHS = "9.0"

_modules: dict[Path, ModuleType] = {}
_importing = threading.Lock()


@dataclass(frozen=True)
class Extension:
    """Sources and flags, as torch's `load` takes them."""

    name: str
    sources: tuple[Path, ...]
    cflags: tuple[str, ...] = ()
    cuda_cflags: tuple[str, ...] = ()
    ldflags: tuple[str, ...] = ()
    include_paths: tuple[str, ...] = ()
    with_cuda: bool | None = None

    def load(self, is_python_module: bool, verbose: bool) -> ModuleType | None:
        """Build it if needed. A library that is not a Python module registers its ops in torch."""
        return unless_removed(lambda: self._loaded(is_python_module, verbose))

    def spec(self) -> JitSpec:
        """Return what the JIT builds: on a machine without a GPU, for a common one."""
        if not self.name.isidentifier():
            raise UsageError(
                f"{self.name!r} cannot name an extension", "it is a Python module's name"
            )
        own = gen_jit_spec(
            self.name,
            self.sources,
            (*_common(self.name), *_standard(self.cflags), *self.cflags),
            (*_common(self.name), *_NVCC, *_standard(self.cuda_cflags), *self.cuda_cflags),
            (_BEFORE, *self._libraries(), *self.ldflags, *_AFTER),
            self.include_paths,
        )
        shipped = data_root("kernels")
        dirs = tuple(p for p in own.include_dirs if p not in (shipped, shipped / "include"))
        return replace(
            own,
            project=PROJECT,
            include_dirs=dirs,
            device="cuda",
            fallback_archs=_FALLBACK_ARCHS,
        )

    def _libraries(self) -> Sequence[str]:
        folder = _torch() / "lib"
        has_cuda = self.with_cuda
        if has_cuda is None:
            has_cuda = any(path.suffix == ".cu" for path in self.sources)
        names = ["c10", "torch_cpu", "torch", "torch_python"]
        names += ["c10_cuda", "torch_cuda"] if has_cuda else []
        there = [name for name in names if os.path.isfile(folder / f"lib{name}.so")]
        return [f"-L{folder}", *(f"-l{name}" for name in there)]

    def _loaded(self, is_python_module: bool, verbose: bool) -> ModuleType | None:
        spec = self.spec()
        entry = used(spec, ensure_runs(spec))
        if verbose:
            _tell(entry)
        keep(entry)
        bring_runtime(entry)
        if not is_python_module:
            import torch

            torch.ops.load_library(str(entry.module))  # type: ignore[no-untyped-call]
            return None
        with _importing:
            if entry.path not in _modules:
                _modules[entry.path] = _imported(self.name, entry)
            return _modules[entry.path]


def _torch() -> Path:
    import torch

    return Path(torch.__file__).parent


def _common(name: str) -> tuple[str, ...]:
    """Return flags of both compilers: torch's headers, and what decides whether a build fits a process."""
    import torch

    include = _torch() / "include"
    folders = (include, include / "torch/csrc/api/include", sysconfig.get_path("include"))
    return (
        f"-DTORCH_EXTENSION_NAME={name}",
        "-DTORCH_API_INCLUDE_EXTENSION_H",
        f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}",
        # Only for the key: these headers are known by their versions.
        f"-DFICTL_OF_TORCH={torch.__version__}",
        f"-DFICTL_OF_PYTHON={sys.implementation.cache_tag}",
        *(word for folder in folders for word in ("-isystem", str(folder))),
    )


def _standard(given: Sequence[str]) -> tuple[str, ...]:
    return () if any(flag.startswith(("-std", "--std")) for flag in given) else (_STANDARD,)


def _imported(name: str, entry: Entry) -> ModuleType:
    import torch  # noqa: F401 the extension uses its libraries

    loader = ExtensionFileLoader(name, str(entry.module))
    module_spec = spec_from_file_location(name, entry.module, loader=loader)
    assert module_spec is not None
    try:
        module = module_from_spec(module_spec)
        loader.exec_module(module)
    except ImportError as error:
        raise FictlError(
            f"{name} cannot be imported: {error}",
            "it needs PYBIND11_MODULE(TORCH_EXTENSION_NAME, m), or is_python_module=False",
        ) from error
    return module


def _tell(entry: Entry) -> None:
    """Log what the compilers said."""
    log = entry.path / "build.log"
    if os.path.isfile(log):
        for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
            logger().info("%s", line)
    logger().info("%s is in %s", entry.manifest.module, entry.path)
