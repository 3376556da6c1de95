"""fictl.runnable.builders under the name that flashinfer_bench has for it."""

from fictl.runnable.builders import (
    PythonBuilder,
    TileLangBuilder,
    TorchBuilder,
    TritonBuilder,
    TVMFFIBuilder,
)

__all__ = ["PythonBuilder", "TVMFFIBuilder", "TileLangBuilder", "TorchBuilder", "TritonBuilder"]
