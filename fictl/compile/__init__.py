"""fictl.runnable under the name that flashinfer_bench has for it."""

from fictl.runnable import Builder, BuilderRegistry, BuildError, Runnable, RunnableMetadata

__all__ = ["BuildError", "Builder", "BuilderRegistry", "Runnable", "RunnableMetadata"]
