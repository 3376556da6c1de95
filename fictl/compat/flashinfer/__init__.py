"""`import fictl.compat.flashinfer as flashinfer`: a drop-in, as far as fictl has the op.

Names, argument order, defaults and meanings are FlashInfer's. What is not here raises
AttributeError, as a name that an older FlashInfer lacks does.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from fictl.compat.flashinfer import _served

# Of the API that is followed.
__version__ = "0.7.2"

_MODULES = {
    "activation", "cascade", "decode", "jit", "norm", "page", "prefill", "quantization", "rope",
    "sampling", "testing", "topk", "utils",
}  # fmt: skip
_ops = _served.everything(__name__)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    return _ops.getattr(name)


def __dir__() -> list[str]:
    return sorted({*_MODULES, *_ops.dir()})  # topk is a module and an op.
