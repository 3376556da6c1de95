"""Makes a project importable in place: `import my_kernels.elementwise.scale.op`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from fictl.errors import UsageError
from fictl.project.copied import is_copy
from fictl.project.facade import Facade
from fictl.project.project import Project
from fictl.project.trusted import require_trusted


def mount(project: Project | None = None) -> None:
    """Make the project importable; repeatable. Another package of its name is an error.

    A wheel of the project, installed or on PYTHONPATH, is the same project: what lies here is used.
    """
    project = project or Project.at()
    require_trusted(project)
    package = project.package
    if package not in sys.modules:
        if _is_free(package):
            sys.modules[package] = _namespace(project)
        elif is_copy(project):
            _import_own(project)
    module = sys.modules.get(package) or import_module(package)
    here = [str(place) for place in getattr(module, "__path__", ())]
    if str(project.kernels) not in here:
        raise UsageError(
            f"project {project.name} ({project.root}) cannot be imported as {package}: that name "
            f"is taken by {getattr(module, '__file__', None) or ', '.join(here)}",
            "give the project another name in fictl.toml, or uninstall the other package",
        )


def mounted(package: str, path: Iterable[str]) -> tuple[list[str], ModuleType]:
    """Return `__path__` and `ops` for a project's own package, installed or in place.

    The package's `__init__.py` consists of `__path__, ops = mounted(__name__, __path__)`.
    """
    here = [*path]
    project = Project.at(Path(here[0]))
    if project.package != package:
        raise UsageError(
            f"package {package} ({here[0]}) is not of the project that it lies in: that is "
            f"{project.name} ({project.root})",
            "its wheel holds kernels/ and, beside it, fictl.toml",
        )
    return [*here, str(project.kernels)], _ops(project)


def _is_free(package: str) -> bool:
    """True if the name is not importable, or is only a folder without `__init__.py`."""
    spec = find_spec(package)
    return spec is None or spec.origin is None


def _import_own(project: Project) -> None:
    """Import the project's own package in place of the wheel's."""
    folder = project.root / project.package
    init = folder / "__init__.py"
    spec = spec_from_file_location(project.package, init, submodule_search_locations=[str(folder)])
    if spec is None or spec.loader is None or not os.path.isfile(init):
        sys.modules[project.package] = _namespace(project)
        return
    module = sys.modules[project.package] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[project.package]
        raise


def _namespace(project: Project) -> ModuleType:
    spec = ModuleSpec(project.package, None, is_package=True)
    spec.submodule_search_locations = [str(project.kernels)]
    module = module_from_spec(spec)
    module.ops = _ops(project)  # type: ignore[attr-defined]
    return module


def _ops(project: Project) -> ModuleType:
    """Create and register the module `ops`, so that `from my_kernels.ops import scale` works."""
    ops = ModuleType(f"{project.package}.ops", f"The ops of {project.name}, found by folder.")
    facade = Facade(lambda: project, vars(ops))
    ops.__getattr__, ops.__dir__ = facade.resolve, facade.names  # type: ignore[method-assign]
    sys.modules[ops.__name__] = ops
    return ops
