"""TVMFFIBuilder: builds C++ and CUDA that export functions with TVM-FFI, stored by fictl.jit."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

from fictl import settings
from fictl.errors import FictlError, SetupError
from fictl.jit import BuildFailed, JitSpec, MissingBuild
from fictl.jit.diagnose import diagnose
from fictl.jit.gate.refused import ANY
from fictl.jit.store.entry import Entry
from fictl.runnable.builder import Builder
from fictl.runnable.compile_options import checked_options
from fictl.runnable.cuda_libraries import Needed, needed
from fictl.runnable.error import BuildError, machine_error
from fictl.runnable.exported import exported_functions
from fictl.runnable.metadata import RunnableMetadata
from fictl.runnable.package_folder import publish
from fictl.runnable.runnable import Runnable
from fictl.trace import Definition, Solution, SupportedBindings, SupportedLanguages

PROJECT = "solutions"
_COMPILED = (".cu", ".cpp", ".cc", ".cxx")
# Architecture to compile for without a GPU: most code targets it or an earlier one.
_FALLBACK_ARCHS = "9.0a"
_DRIVER_MISSING = re.compile(r"undefined reference to `(cu[A-Z]\w+)'")


class TVMFFIBuilder(Builder):
    """Builds once for all processes, keyed by sources, flags, architecture and compilers.

    With FICTL_DEVICE=emu, the same sources are compiled for the emulated device.
    """

    needs: ClassVar[str] = "TVM-FFI is not installed: pip install 'apache-tvm-ffi>=0.1,<0.2'"
    is_process_safe: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__("tvm_ffi_", "tvm_ffi")

    @staticmethod
    def is_available() -> bool:
        return find_spec("tvm_ffi") is not None

    def can_build(self, solution: Solution) -> bool:
        """Accept C++ and CUDA, unless they ask for another binding."""
        spec = solution.spec
        return spec.language in (SupportedLanguages.CUDA, SupportedLanguages.CPP) and (
            spec.binding in (None, SupportedBindings.TVM_FFI)
        )

    def build(self, definition: Definition, solution: Solution) -> Runnable:
        """Compile the solution. BuildError if a compiler refuses, a library is missing or the entry
        is not exported.
        """
        folder = self.build_path(solution)
        try:
            publish(folder, {source.path: source.content for source in solution.sources})
            more = checked_options(solution).libraries
            require = needed(solution, more, emulated=settings.DEVICE.get() == "emu")
            spec = self.spec(solution, folder, require)
            require.preload()
            module, binary = _loaded(spec)
        except BuildFailed as error:
            raise _failed(solution, folder, error) from None
        except MissingBuild as error:
            refusal = machine_error(
                f"{solution.name}: {error.message}", f"unset {settings.DISABLE_JIT.name}"
            )
            raise refusal from None
        except BuildError:
            raise
        except (FictlError, OSError) as error:
            raised = error if isinstance(error, FictlError) else FictlError(str(error))
            raise BuildError.of(solution.name, raised) from error
        function = _function(solution, spec, module, binary)
        metadata = RunnableMetadata(
            build_type="tvm_ffi",
            definition_name=definition.name,
            solution_name=solution.name,
            destination_passing_style=solution.spec.destination_passing_style,
            definition=definition,
            misc={"entry_symbol": solution.get_entry_symbol(), "binary": str(binary)},
        )
        return Runnable(function, metadata)

    def spec(self, solution: Solution, folder: Path, require: Needed) -> JitSpec:
        """Specification for fictl.jit; its name has no hash, so that an edit reuses older objects."""
        options = checked_options(solution)
        sources = [source.path for source in solution.sources]
        compiled = tuple(folder / path for path in sources if path.endswith(_COMPILED))
        if not str(solution.get_entry_path()).endswith(_COMPILED):
            raise BuildError(
                f"{solution.name}: the entry file {solution.get_entry_path()} is not compiled",
                f"entry files end in {' '.join(_COMPILED)}",
            )
        system = tuple(word for path in require.includes for word in ("-isystem", str(path)))
        plain = self.package_name(solution).rpartition("_")[0]
        return JitSpec(
            name=plain,
            sources=compiled,
            extra_cuda_cflags=(*options.cuda, *system),
            extra_cflags=(*_optimised(sources), *options.cxx, *system),
            extra_ldflags=(*options.link, *require.link),
            include_dirs=(folder, *(folder / include for include in options.includes)),
            exact_archs=options.archs,
            fallback_archs=_FALLBACK_ARCHS,
            project=PROJECT,
            base=folder,
            # A slow solution is measured, not refused.
            allowed_remarks=(ANY,),
        )


def _optimised(sources: list[str]) -> tuple[str, ...]:
    """Optimise host code of a solution without kernels: it is then more than a binding."""
    return () if any(path.endswith(".cu") for path in sources) else ("-O3",)


def _function(solution: Solution, spec: JitSpec, module: Any, binary: Path) -> Callable[..., Any]:
    symbol = solution.get_entry_symbol()
    try:
        function: Callable[..., Any] = module[symbol]
    except (AttributeError, KeyError, RuntimeError, ValueError):
        names = exported_functions(binary)
        raise BuildError(
            f"{solution.name} exports no {symbol}; it exports {', '.join(names) or 'nothing'}",
            f"TVM_FFI_DLL_EXPORT_TYPED_FUNC({symbol}, …) in {solution.get_entry_path()} does",
        ) from None
    if spec.runs_on == "emu":
        from fictl.op.ffi.emulated import Emulated

        function = Emulated(symbol, function)
    return function if solution.spec.destination_passing_style else _with_tuples(function)


def _with_tuples(function: Callable[..., Any]) -> Callable[..., Any]:
    """Convert TVM-FFI's array of several results into a tuple."""
    from tvm_ffi import Array

    def call(*arguments: Any) -> Any:
        result = function(*arguments)
        return (*result,) if isinstance(result, Array) else result

    return call


def _loaded(spec: JitSpec) -> tuple[Any, Path]:
    """Load the module and return it with its file; compile it if no store has it."""
    from fictl.jit.build import ensure_runs
    from fictl.jit.load import load_found, used

    libraries: list[Path] = []

    def find() -> Entry:
        entry = used(spec, ensure_runs(spec))
        libraries.append(entry.module)
        return entry

    module = load_found(find)
    return module, libraries[-1]


def _failed(solution: Solution, folder: Path, error: BuildFailed) -> BuildError:
    """BuildError with the log, in which paths are those of the solution."""
    try:
        log = (error.folder / "build.log").read_text(encoding="utf-8", errors="replace")
    except OSError:
        log = error.message
    log = log.replace(f"{folder}/", "")
    first = diagnose(log).first
    missing = _DRIVER_MISSING.search(log)
    hint = (
        f"{missing[1]} is a function of the driver, whose libcuda.so.1 is missing"
        if missing
        else error.hint
    )
    failure = BuildError(
        f"{solution.name} does not build: {first}", hint, log=log, first_error=first
    )
    failure.exit_code = SetupError.exit_code if missing else error.exit_code
    return failure
