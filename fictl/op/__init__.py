"""What op authors import: the declaration, the spec of their module, and its functions."""

from typing import TYPE_CHECKING

from fictl.lazy import lazy

if TYPE_CHECKING:
    from fictl.op.decorator import Op, op
    from fictl.op.kernel_module import KernelModule
    from fictl.op.module import module_spec

__all__ = ["KernelModule", "Op", "module_spec", "op"]

__getattr__ = lazy(
    __name__,
    {
        "KernelModule": "kernel_module",
        "Op": "decorator",
        "module_spec": "module",
        "op": "decorator",
    },
)
