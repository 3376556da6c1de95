"""torch.utils.cpp_extension's load and load_inline over fictl's cache.

`from fictl.compat.cpp_extension import load, load_inline`: names, arguments and results are torch's, and
modules are bound with pybind11 as there. Builds are kept by content, published whole and shared by all
processes, and there is no lock that a killed process leaves behind.
"""

from fictl.lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fictl.compat.cpp_extension.loading import load, load_inline

__all__ = ["load", "load_inline"]

__getattr__ = lazy(__name__, {"load": "loading", "load_inline": "loading"})
