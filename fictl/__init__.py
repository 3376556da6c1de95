"""fictl: a workbench for authors of CUDA kernels for LLM inference."""

# Not from typing: `import fictl` imports nothing. Type checkers know the name.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from . import ops as ops
    from .op.notebook.inline import load_inline as load_inline
    from .op.notebook.reload import reload as reload
    from .tune.autotune import autotune as autotune

    __version__: str
    __commit__: str
else:

    def __dir__() -> list[str]:
        """List what is imported when it is asked for, too: completion and help() show it."""
        lazy = ("__commit__", "__version__", "autotune", "load_inline", "ops", "reload")
        return sorted({*globals(), *lazy} - {"TYPE_CHECKING"})

    def __getattr__(name: str) -> object:
        if name == "ops":
            import fictl.ops

            return fictl.ops
        if name == "load_inline":
            from fictl.op.notebook.inline import load_inline

            return load_inline
        if name == "reload":
            from fictl.op.notebook.reload import reload

            return reload
        if name == "autotune":
            from fictl.tune import autotune

            return autotune
        if name in ("__version__", "__commit__"):
            from fictl import version

            return version.VERSION if name == "__version__" else version.commit()
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
