"""TorchBuilder: C++ and CUDA with bindings for torch, built by torch's own extension loader."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

from fictl import settings
from fictl.arch import ArchRule
from fictl.errors import FictlError, SetupError
from fictl.jit.recipe import digest
from fictl.runnable.alone import alone
from fictl.runnable.builder import Builder
from fictl.runnable.compile_options import Options, checked_options
from fictl.runnable.cuda_libraries import Needed, needed
from fictl.runnable.entry import entry_function
from fictl.runnable.error import BuildError, machine_error
from fictl.runnable.extension import Extension, Request
from fictl.runnable.metadata import RunnableMetadata
from fictl.runnable.package_folder import ensure_private, publish
from fictl.runnable.runnable import Runnable
from fictl.toolchain import Nvcc, find_cxx, nvcc_flags, require_nvcc, select_targets
from fictl.trace import Definition, Solution, SupportedBindings, SupportedLanguages

_COMPILED = (".cu", ".cpp", ".cc", ".cxx", ".c")
_ANY = ArchRule.parse(">=7.5")
_FALLBACK_ARCHS = "9.0a"


class TorchBuilder(Builder):
    """Builder that also works without a GPU; without nvcc it builds only sources other than .cu."""

    needs: ClassVar[str] = "it takes torch and a C++ compiler: pip install torch; apt install g++"
    is_process_safe: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__("torch_", "torch")

    @staticmethod
    def is_available() -> bool:
        """Tell whether torch and a C++ compiler are here; no GPU is needed, unlike upstream."""
        try:
            return find_spec("torch") is not None and bool(find_cxx())
        except SetupError:
            return False

    def can_build(self, solution: Solution) -> bool:
        """Accept C++ and CUDA with the torch binding."""
        spec = solution.spec
        return spec.language in (SupportedLanguages.CUDA, SupportedLanguages.CPP) and (
            spec.binding is SupportedBindings.TORCH
        )

    def build(self, definition: Definition, solution: Solution) -> Runnable:
        """Compile the extension. BuildError if its entry is not C++ or CUDA, it does not compile,
        or the symbol is missing.
        """
        if not str(solution.get_entry_path()).endswith(_COMPILED):
            raise BuildError(
                f"{solution.name}: the entry file {solution.get_entry_path()} is not compiled",
                f"entry files end in {' '.join(_COMPILED)}",
            )
        try:
            module, binary = self._module(solution)
        except BuildError:
            raise
        except (FictlError, OSError) as error:
            raised = error if isinstance(error, FictlError) else FictlError(str(error))
            raise BuildError.of(solution.name, raised) from error
        metadata = RunnableMetadata(
            build_type="torch",
            definition_name=definition.name,
            solution_name=solution.name,
            destination_passing_style=solution.spec.destination_passing_style,
            definition=definition,
            misc={"entry_symbol": solution.get_entry_symbol(), "binary": str(binary)},
        )
        return Runnable(entry_function(solution, module), metadata)

    def _module(self, solution: Solution) -> tuple[Any, Path]:
        folder = self.build_path(solution)
        ensure_private(folder.parent)
        publish(folder / "src", {source.path: source.content for source in solution.sources})
        options = checked_options(solution)
        require = needed(solution, options.libraries)
        request = _request(solution, folder / "src", options, require)
        # Without the folder's path, so that the folder can be moved.
        identity = json.dumps(asdict(request)).replace(str(folder), "")
        key = digest([_identity(request), identity])
        extension = Extension(solution.name, folder / key, request)
        require.preload()
        if not extension.is_built():
            _require_compiling(solution)
            with alone(f"{folder.name}-{key}"):
                if not extension.is_built():
                    extension.build()
        return extension.load(), extension.binary


def _require_compiling(solution: Solution) -> None:
    if settings.DISABLE_JIT.get():
        name = settings.DISABLE_JIT.name
        raise machine_error(
            f"{solution.name} is not built, and {name} forbids to compile it", f"unset {name}"
        )


def _request(solution: Solution, folder: Path, options: Options, require: Needed) -> Request:
    paths = [source.path for source in solution.sources if source.path.endswith(_COMPILED)]
    nvcc = _nvcc(solution) if any(path.endswith(".cu") for path in paths) else None
    cuda: tuple[str, ...] = ()
    link = (*options.link, *require.link)
    if nvcc:
        # Why set: without a GPU torch cannot detect the architecture, and fails.
        targets = select_targets(
            solution.name, _ANY, nvcc, fallback=_FALLBACK_ARCHS, explicit=options.archs or None
        )
        cuda = ("-O3", *options.cuda, *nvcc_flags(targets.archs))
        link = (*link, f"-L{nvcc.home}/lib64", f"-L{nvcc.home}/lib")
    includes = (folder, *(folder / include for include in options.includes), *require.includes)
    return Request(
        name=folder.parent.name,
        sources=tuple(str(folder / path) for path in paths),
        cflags=("-O3", *options.cxx),
        cuda_cflags=cuda,
        ldflags=link,
        includes=tuple(map(str, includes)),
        cxx=find_cxx().ccbin,
        cuda_home=str(nvcc.home) if nvcc else "",
    )


def _nvcc(solution: Solution) -> Nvcc:
    import torch

    if settings.DEVICE.get() == "emu":
        raise machine_error(
            f"{solution.name} binds CUDA to torch, which the emulated device cannot run",
            f"unset {settings.DEVICE.name}, or bind it with TVM-FFI",
        )
    if torch.version.cuda is None:
        raise machine_error(
            f"{solution.name} has CUDA code, this torch {torch.__version__} is built without CUDA",
            "install a torch with CUDA, or bind it with TVM-FFI",
        )
    return require_nvcc()


def _identity(request: Request) -> list[str]:
    """Identity of the build beside its request: compilers, torch, Python."""
    import torch

    nvcc = require_nvcc().identity if request.cuda_home else ""
    python = f"{sys.implementation.cache_tag} {sys.platform}"
    return [torch.__version__, str(torch.version.cuda), python, find_cxx().identity, nvcc]
