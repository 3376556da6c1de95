"""`import fictl.compat.flashinfer as flashinfer`: a drop-in, as far as fictl has the op.

Names, argument order, defaults and meanings are FlashInfer's, each name where FlashInfer has it.
What is not here raises AttributeError, or ImportError, with what would serve instead; what an engine
imports with its files can be imported all the same, and refuses its call.
"""

from __future__ import annotations

from fictl.compat.flashinfer._names import VERSION
from fictl.compat.flashinfer._served import served

__version__ = VERSION

_HERE = "fictl.compat.flashinfer"


def parts() -> tuple[str, ...]:
    """Modules whose names the package has, besides fictl's ops."""
    names = ("_autotune", "_enums", "_numbers", "_trace")
    return tuple(f"{_HERE}.{name}" for name in names)


__getattr__, __dir__ = served(__name__, *parts())
