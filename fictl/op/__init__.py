"""The names that op authors import: declaration, module spec, and kernel functions."""

from typing import TYPE_CHECKING

from fictl.lazy import lazy

if TYPE_CHECKING:
    from fictl.op.backend.explain import BackendRefused, Explanation
    from fictl.op.backend.planned import PlannedBackends, PlannedChoice
    from fictl.op.backend.requirement import backend_requirement, supported_compute_capability
    from fictl.op.declared import Op, declaration
    from fictl.op.declared_settings import setting
    from fictl.op.decorator import op
    from fictl.op.ffi.kernel_module import KernelModule
    from fictl.op.folder_specs import folder_specs
    from fictl.op.module import module_spec
    from fictl.op.notice import notice
    from fictl.op.random_numbers import Draws, draws, uniforms

__all__ = [
    "BackendRefused",
    "Draws",
    "Explanation",
    "KernelModule",
    "Op",
    "PlannedBackends",
    "PlannedChoice",
    "backend_requirement",
    "declaration",
    "draws",
    "folder_specs",
    "module_spec",
    "notice",
    "op",
    "setting",
    "supported_compute_capability",
    "uniforms",
]

__getattr__ = lazy(
    __name__,
    {
        "KernelModule": "ffi.kernel_module",
        "Op": "declared",
        "declaration": "declared",
        "folder_specs": "folder_specs",
        "module_spec": "module",
        "notice": "notice",
        "op": "decorator",
        "setting": "declared_settings",
        "supported_compute_capability": "backend.requirement",
        "backend_requirement": "backend.requirement",
        "BackendRefused": "backend.explain",
        "PlannedBackends": "backend.planned",
        "PlannedChoice": "backend.planned",
        "Explanation": "backend.explain",
        "Draws": "random_numbers",
        "draws": "random_numbers",
        "uniforms": "random_numbers",
    },
)
