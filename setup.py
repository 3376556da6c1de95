"""The build steps that pyproject.toml cannot say: content folders, the commit, the ops' stub."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py
from setuptools.command.editable_wheel import editable_wheel
from setuptools.command.sdist import sdist

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))

from fictl.project.facade_stub import write_shipped_stub
from fictl.version import COMMIT_FILE, commit

CONTENT = {f"fictl.data.{n}": n for n in ("kernels", "templates", "skills") if (ROOT / n).is_dir()}


def files(folder: str) -> list[str]:
    """All of them: a pattern would pass over those that begin with a dot."""
    found = (path for path in (ROOT / folder).rglob("*") if "__pycache__" not in path.parts)
    return [path.relative_to(ROOT / folder).as_posix() for path in found if path.is_file()]


# Of the emulated device: headers by any name, as CUDA's, and its runtime.
SOURCES = ["include/**/*", "runtime/**/*"]


def record_commit(package: Path) -> None:
    (package / COMMIT_FILE).write_text(commit() + "\n", encoding="utf-8")


class BuildWithGenerated(build_py):
    """With the commit and with ops.pyi; an installation in place has the stub beside ops.py."""

    def run(self) -> None:
        super().run()
        package = ROOT / "fictl" if self.editable_mode else Path(self.build_lib) / "fictl"
        write_shipped_stub(package)
        if not self.editable_mode:
            record_commit(package)


def link_stubs() -> Path:
    """Make a folder with `fictl-stubs`, links to the package: type checkers look there, Python never."""
    stubs = ROOT / "build" / "types" / "fictl-stubs"
    shutil.rmtree(stubs, ignore_errors=True)
    stubs.mkdir(parents=True)
    for path in (ROOT / "fictl").iterdir():
        # mypy takes a package for one of stubs by its __init__.pyi.
        name = "__init__.pyi" if path.name == "__init__.py" else path.name
        if name != "__pycache__":
            (stubs / name).symlink_to(path)
    return stubs.parent


class EditableWithTypes(editable_wheel):
    """In place, with a path for type checkers: they do not run the import hook of an installation in place."""

    def _select_strategy(self, *args: Any) -> Any:
        return WithTypes(super()._select_strategy(*args))


class WithTypes:
    """A way to install in place that also writes the path of the stubs."""

    def __init__(self, strategy: Any) -> None:
        self._strategy = strategy

    def __enter__(self) -> Any:
        self._strategy.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._strategy.__exit__(*error)

    def __call__(self, wheel: Any, *args: Any) -> None:
        self._strategy(wheel, *args)
        wheel.writestr("__editable__.fictl_types.pth", f"{link_stubs()}\n")


class SdistWithCommit(sdist):
    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        super().make_release_tree(base_dir, files)
        record_commit(Path(base_dir) / "fictl")


setup(
    packages=[*find_packages(include=["fictl", "fictl.*"]), *CONTENT],
    package_dir=CONTENT,
    package_data={
        "fictl": ["py.typed"],
        "fictl.schemas": ["*.json"],
        "fictl.compat.flashinfer": ["*.txt"],
        "fictl.emu": SOURCES,
        "fictl.plot.page": ["page.css", "page.js"],
        **{name: files(folder) for name, folder in CONTENT.items()},
    },
    exclude_package_data={"": ["**/__pycache__/*", "**/*.pyc"]},
    cmdclass={
        "build_py": BuildWithGenerated,
        "editable_wheel": EditableWithTypes,
        "sdist": SdistWithCommit,
    },
)
