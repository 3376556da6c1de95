"""Building ahead of time, as FlashInfer's script does: a folder of all modules."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fictl.errors import FictlError, InvalidValue

__all__ = ["compile_and_package_modules"]


def compile_and_package_modules(
    out_dir: Path | None,
    build_dir: Path,
    project_root: Path,
    config: Mapping[str, Any] | None = None,
    verbose: bool = False,
    skip_prebuilt: bool = True,
) -> None:
    """Build every module of the shipped ops, and copy them to `out_dir`: `fictl aot build`.

    It is a store that FICTL_AOT_DIR names. What each op's aot() yields is built, for
    FICTL_CUDA_ARCH_LIST or the GPUs here, in fictl's cache: `build_dir` and `project_root` are
    looked at no more, what is built already is not built again, and a `config` is refused.
    """
    if config:
        raise InvalidValue(
            f"compile_and_package_modules: config={dict(config)!r} is not taken",
            "each op's jit.py says in aot() what is built",
        )
    from fictl.builds import building
    from fictl.jit.progress import LogObserver
    from fictl.project import Project, folders
    from fictl.ship.aot import ship

    names = [str(folder) for folder in folders(Project.shipped())]
    observer = LogObserver()
    built = (
        building.build(names, (), observer)
        if out_dir is None
        else ship(Path(out_dir), names, (), observer).built
    )
    failed = [module for module in built if module.error is not None]
    if failed:
        first = failed[0].error
        raise FictlError(
            f"{len(failed)} of {len(built)} modules were not built; {failed[0].module}: "
            f"{first.message if first else ''}",
            "fictl aot build shows them all",
        )
