"""Compiling modules on first use: the names that op authors and users import."""

from typing import TYPE_CHECKING

from fictl.lazy import lazy

if TYPE_CHECKING:
    from fictl.jit.batch import build_jit_specs
    from fictl.jit.build import MissingBuild
    from fictl.jit.context import CompilationContext, current_compilation_context
    from fictl.jit.diagnose import BuildFailed
    from fictl.jit.spec import JitSpec, Template, gen_jit_spec, write_if_different

__all__ = [
    "BuildFailed",
    "CompilationContext",
    "JitSpec",
    "MissingBuild",
    "Template",
    "build_jit_specs",
    "current_compilation_context",
    "gen_jit_spec",
    "write_if_different",
]

__getattr__ = lazy(
    __name__,
    {
        "BuildFailed": "diagnose",
        "CompilationContext": "context",
        "JitSpec": "spec",
        "MissingBuild": "build",
        "Template": "spec",
        "build_jit_specs": "batch",
        "current_compilation_context": "context",
        "gen_jit_spec": "spec",
        "write_if_different": "spec",
    },
)
