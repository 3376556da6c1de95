"""CUDA kernels, each built when it is first called: `{{ name }}.ops` has them by name."""

from typing import TYPE_CHECKING

from fictl.project import mounted

if TYPE_CHECKING:  # ops.pyi, which fictl keeps up to date
    from . import ops as ops
else:
    __path__, ops = mounted(__name__, __path__)
