"""Builder: makes solutions of one kind callable."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from fictl import settings
from fictl.paths import SOLUTIONS, cache_root

if TYPE_CHECKING:
    from fictl.runnable.runnable import Runnable
    from fictl.trace import Definition, Solution

_LONGEST_NAME = 80


def cache_path() -> Path:
    """Folder in which builders keep their builds."""
    return (settings.CACHE_PATH.get() or cache_root() / SOLUTIONS).absolute()


class Builder(ABC):
    """Builds in `<cache_path()>/<build_dir_name>/<package name>`.

    `needs` says what to install if is_available() is false. `is_process_safe` means that several
    processes may build one solution at once; otherwise the registry serialises them.
    """

    needs: ClassVar[str] = ""
    is_process_safe: ClassVar[bool] = False

    def __init__(self, package_prefix: str, build_dir_name: str) -> None:
        self.package_prefix = package_prefix
        self.build_dir_name = build_dir_name

    @staticmethod
    @abstractmethod
    def is_available() -> bool:
        """Tell whether the builder works in this environment."""
        return True

    @abstractmethod
    def can_build(self, solution: Solution) -> bool:
        """Tell whether the builder accepts this kind of solution."""

    @abstractmethod
    def build(self, definition: Definition, solution: Solution) -> Runnable:
        """Build the solution, to be called as the definition says; raise BuildError if it fails."""

    def package_name(self, solution: Solution) -> str:
        """A unique name made of the content: the solution's own name is for people."""
        readable = re.sub(r"\W", "_", solution.name, flags=re.ASCII)[:_LONGEST_NAME]
        return f"{self.package_prefix}{readable}_{solution.hash()[:16]}"

    def build_path(self, solution: Solution) -> Path:
        return cache_path() / self.build_dir_name / self.package_name(solution)
