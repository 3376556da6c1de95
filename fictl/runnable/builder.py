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
    """What builders keep, each in a folder of its own."""
    return (settings.CACHE_PATH.get() or cache_root() / SOLUTIONS).absolute()


class Builder(ABC):
    """Works in <cache_path()>/<build_dir_name>/<package name>.

    `needs` says what to install where is_available() is false. `is_process_safe` says that processes
    may build one solution at the same time; others are kept apart by the registry.
    """

    needs: ClassVar[str] = ""
    is_process_safe: ClassVar[bool] = False

    def __init__(self, package_prefix: str, build_dir_name: str) -> None:
        self.package_prefix = package_prefix
        self.build_dir_name = build_dir_name

    @staticmethod
    @abstractmethod
    def is_available() -> bool:
        """Whether it can work in this environment."""
        return True

    @abstractmethod
    def can_build(self, solution: Solution) -> bool:
        """Whether it is for solutions of this kind."""

    @abstractmethod
    def build(self, definition: Definition, solution: Solution) -> Runnable:
        """The solution, ready to be called as the definition says; BuildError where it fails."""

    def package_name(self, solution: Solution) -> str:
        """Unique for what the solution is: its name is for people to read."""
        readable = re.sub(r"\W", "_", solution.name, flags=re.ASCII)[:_LONGEST_NAME]
        return f"{self.package_prefix}{readable}_{solution.hash()[:16]}"

    def build_path(self, solution: Solution) -> Path:
        return cache_path() / self.build_dir_name / self.package_name(solution)
