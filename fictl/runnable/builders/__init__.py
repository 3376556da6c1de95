"""The builders that fictl ships."""

from typing import TYPE_CHECKING

from fictl.lazy import lazy

if TYPE_CHECKING:
    from fictl.runnable.builders.python import PythonBuilder
    from fictl.runnable.builders.tilelang import TileLangBuilder
    from fictl.runnable.builders.torch import TorchBuilder
    from fictl.runnable.builders.triton import TritonBuilder
    from fictl.runnable.builders.tvm_ffi import TVMFFIBuilder

__all__ = ["PythonBuilder", "TVMFFIBuilder", "TileLangBuilder", "TorchBuilder", "TritonBuilder"]

__getattr__ = lazy(
    __name__,
    {
        "PythonBuilder": "python",
        "TVMFFIBuilder": "tvm_ffi",
        "TileLangBuilder": "tilelang",
        "TorchBuilder": "torch",
        "TritonBuilder": "triton",
    },
)
