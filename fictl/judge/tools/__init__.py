"""Tools for agents that write kernels: plain functions whose answers are JSON documents."""

from typing import TYPE_CHECKING

from fictl.lazy import lazy

if TYPE_CHECKING:
    from fictl.judge.tools.compiling import compile_solution
    from fictl.judge.tools.profiling import profile_solution
    from fictl.judge.tools.running import run_solution
    from fictl.judge.tools.sanitizing import sanitize_solution
    from fictl.judge.tools.schema import tools_schema

__all__ = [
    "compile_solution",
    "profile_solution",
    "run_solution",
    "sanitize_solution",
    "tools_schema",
]

__getattr__ = lazy(
    __name__,
    {
        "compile_solution": "compiling",
        "profile_solution": "profiling",
        "run_solution": "running",
        "sanitize_solution": "sanitizing",
        "tools_schema": "schema",
    },
)
