"""Compiling modules on first use: the names that op authors and users import."""

import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fictl.lazy import lazy

if TYPE_CHECKING:
    from fictl.jit.batch import build_jit_specs
    from fictl.jit.context import CompilationContext, current_compilation_context
    from fictl.jit.diagnose import BuildFailed
    from fictl.jit.lookup import MissingBuild
    from fictl.jit.module_spec import Template
    from fictl.jit.spec import JitSpec, gen_jit_spec, write_if_different

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

_own = lazy(
    __name__,
    {
        "BuildFailed": "diagnose",
        "CompilationContext": "context",
        "JitSpec": "spec",
        "MissingBuild": "lookup",
        "Template": "module_spec",
        "build_jit_specs": "batch",
        "current_compilation_context": "context",
        "gen_jit_spec": "spec",
        "write_if_different": "spec",
    },
)


def __getattr__(name: str) -> Any:
    """Return our own name, or one that a family of the shipped ops adds, found by its file."""
    # Why look on disk: `from fictl.jit import build` asks for an attribute first.
    is_module = any(
        os.path.exists(Path(place, f"{name}{end}")) for place in __path__ for end in ("", ".py")
    )
    if name in __all__ or name.startswith("_") or is_module:
        return _own(name)
    from fictl.project import Project
    from fictl.project.shared import offered

    places = offered(Project.shipped(), __name__)
    return getattr(import_module(places[name]), name) if name in places else _own(name)
