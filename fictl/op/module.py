"""The spec of an op folder: its launcher and binding, and facts from its declaration.

`default_module` is the JIT generator of a folder that has no jit.py.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from fictl.arch import ArchRule
from fictl.errors import UsageError
from fictl.jit import JitSpec, Template
from fictl.jit.gate.refused import checked_bytes, checked_codes
from fictl.project import OpFolder


def module_spec(
    file: str,
    parameters: Mapping[str, Any] | None = None,
    *,
    backend: str = "",
    archs: str = "",
    extra_cuda_cflags: Sequence[str] = (),
    extra_cflags: Sequence[str] = (),
    extra_ldflags: Sequence[str] = (),
    max_spill_bytes: int | None = None,
    allowed_remarks: Sequence[str] = (),
) -> JitSpec:
    """Make the spec; call it in jit.py with `__file__`. `parameters` render config.jinja to
    config.inc; Triton kernels in a kernel.py beside it are compiled to kernel.inc.

    The architectures come from `@op` in op.py, for this backend if it is declared there, so that
    they are not repeated. `archs` says them where plan() chooses the backend, as in "9.0a".

    The build fails if a kernel of the launcher spills more than `max_spill_bytes`, and on remarks of
    ptxas that wgmma is serialised or setmaxnreg ignored, except `allowed_remarks`, as in ("C7519",).
    """
    folder = OpFolder.of(file)
    launcher = f"launcher_{backend}.cu" if backend else "launcher.cu"
    template = None
    if parameters is not None:
        template = Template(folder.path / "config.jinja", "config.inc", dict(parameters))
    return JitSpec(
        name=folder.key,
        sources=(folder.path / launcher, folder.binding),
        extra_cuda_cflags=tuple(extra_cuda_cflags),
        extra_cflags=tuple(extra_cflags),
        extra_ldflags=tuple(extra_ldflags),
        include_dirs=folder.project.include_dirs,
        template=template,
        triton=folder.triton if os.path.isfile(folder.triton) else None,
        archs=ArchRule.parse(archs) if archs else folder.archs_of(backend),
        fallback_archs=folder.project.archs,
        project=folder.project.name,
        base=folder.path,
        devices=folder.devices,
        max_spill_bytes=checked_bytes(max_spill_bytes),
        allowed_remarks=checked_codes(allowed_remarks),
    )


def default_module(file: str) -> Callable[..., JitSpec]:
    """Return the default `module()` of an op folder without jit.py: one module of its files."""

    def module(*parameters: Hashable) -> JitSpec:
        if parameters:
            raise UsageError(
                f"{OpFolder.of(file)} has one module, without parameters; asked for {parameters}",
                "write module(…) and aot() in its jit.py, and KernelModule(module) in op.py",
            )
        return module_spec(file)

    return module
