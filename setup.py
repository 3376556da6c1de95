"""The build steps that pyproject.toml cannot say: content folders, the commit, the ops' stub."""

from __future__ import annotations

import sys
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py
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
    cmdclass={"build_py": BuildWithGenerated, "sdist": SdistWithCommit},
)
