"""BuildSpec: how a solution is built and called."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Annotated, Any

from pydantic import Field, StrictBool, field_validator, model_validator

from fictl.trace.documents.part import NonEmpty, Part


class SupportedLanguages(str, Enum):
    """Languages of solutions, by which builders are selected."""

    PYTHON = "python"
    TRITON = "triton"
    CPP = "cpp"
    CUDA = "cuda"
    TILELANG = "tilelang"


class SupportedBindings(str, Enum):
    """Libraries by which compiled code is called from Python."""

    TVM_FFI = "tvm-ffi"
    TORCH = "torch"


# SOL-ExecBench has several, finer languages; its C++ is called through torch.
_PYTHON = {"pytorch", "cute_dsl", "cutile", "cudnn_frontend", "python"}
_LIBRARIES = ("cublas", "cudnn", "cutlass")
_COMPILED = {"cuda_cpp", *_LIBRARIES}


class CompileOptions(Part):
    """Compiler flags of SOL-ExecBench, with its defaults."""

    cflags: tuple[NonEmpty, ...] = ()
    cuda_cflags: tuple[NonEmpty, ...] = ("-O3", "--use_fast_math")
    ld_flags: tuple[NonEmpty, ...] = ("-lcuda",)


class BuildSpec(Part):
    """`entry_point` is `file::symbol`. `languages` and `compile_options` are SOL-ExecBench's."""

    language: SupportedLanguages
    target_hardware: Annotated[tuple[NonEmpty, ...], Field(min_length=1)]
    entry_point: str
    dependencies: tuple[NonEmpty, ...] = ()
    destination_passing_style: StrictBool = True
    binding: SupportedBindings | None = None
    compile_options: CompileOptions | None = None
    languages: tuple[NonEmpty, ...] | None = None

    @model_validator(mode="before")
    @classmethod
    def _translated(cls, document: Any) -> Any:
        """Translate a document of SOL-ExecBench into flashinfer-bench's fields."""
        if not isinstance(document, Mapping) or "language" in document:
            return document
        languages = document.get("languages")
        if not isinstance(languages, list | tuple) or not languages:
            return document
        changes: dict[str, Any] = {"language": _language(languages)}
        if changes["language"] == "cuda":
            needed = [name for name in languages if name in _LIBRARIES]
            given = document.get("dependencies") or ()
            changes["dependencies"] = [*given, *(name for name in needed if name not in given)]
            changes["binding"] = document.get("binding") or "torch"
        return {**document, **changes}

    @field_validator("dependencies", mode="before")
    @classmethod
    def _null_is_none(cls, value: Any) -> Any:
        return () if value is None else value

    @field_validator("entry_point")
    @classmethod
    def _names_a_symbol(cls, value: str) -> str:
        file, _, symbol = value.partition("::")
        if value.count("::") != 1 or not file or not symbol or not symbol.isprintable():
            raise ValueError("expected file::symbol, as in main.py::run")
        return value


def _language(languages: list[Any] | tuple[Any, ...]) -> str:
    names = {str(name) for name in languages}
    if names <= _COMPILED:
        return "cuda"
    if names <= {*_PYTHON, "triton"}:
        return "triton" if "triton" in names else "python"
    if len(names) == 1:
        return names.pop()
    raise ValueError(f"the languages {', '.join(sorted(names))} are not of one kind")
