"""Makes solutions callable: the API of flashinfer_bench.compile."""

from typing import TYPE_CHECKING

from fictl.lazy import lazy

if TYPE_CHECKING:
    from fictl.runnable.builder import Builder
    from fictl.runnable.error import BuildError
    from fictl.runnable.metadata import RunnableMetadata
    from fictl.runnable.registry import BuilderRegistry
    from fictl.runnable.runnable import Runnable

__all__ = ["BuildError", "Builder", "BuilderRegistry", "Runnable", "RunnableMetadata"]

__getattr__ = lazy(
    __name__,
    {
        "BuildError": "error",
        "Builder": "builder",
        "BuilderRegistry": "registry",
        "Runnable": "runnable",
        "RunnableMetadata": "metadata",
    },
)
