"""PythonBuilder: imports a solution in Python as a package."""

from __future__ import annotations

import traceback
from pathlib import Path
from types import ModuleType
from typing import ClassVar

from fictl.errors import FictlError
from fictl.runnable.builder import Builder
from fictl.runnable.entry import check_signature, entry_function
from fictl.runnable.error import BuildError
from fictl.runnable.imported import Package, frames_within, open_package
from fictl.runnable.metadata import RunnableMetadata
from fictl.runnable.package_folder import publish
from fictl.runnable.runnable import Runnable
from fictl.trace import Definition, Solution


class PythonBuilder(Builder):
    """Builds any Python; subclasses are for languages embedded in Python."""

    language: ClassVar[str] = "python"
    is_process_safe: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__(f"fictl_{self.language}_", self.language)

    @staticmethod
    def is_available() -> bool:
        return True

    def can_build(self, solution: Solution) -> bool:
        return solution.spec.language.value == self.language

    def build(self, definition: Definition, solution: Solution) -> Runnable:
        """Import the solution. BuildError if the entry is not a Python file, the import fails, or
        the function is missing or takes other arguments.
        """
        path = solution.get_entry_path()
        if path.suffix != ".py":
            raise BuildError(
                f"{solution.name}: {path} is not a Python file", "its entry ends in .py"
            )
        files = {source.path: source.content for source in solution.sources}
        folder = self.build_path(solution)
        try:
            publish(folder, files)
        except FictlError as error:
            raise BuildError.of(solution.name, error) from error
        package = open_package(folder.name, folder, files)
        try:
            module = _imported(solution, package)
            function = entry_function(solution, module)
            check_signature(definition, solution, function)
        except BaseException:
            package.close()
            raise
        metadata = RunnableMetadata(
            build_type=self.language,
            definition_name=definition.name,
            solution_name=solution.name,
            destination_passing_style=solution.spec.destination_passing_style,
            definition=definition,
            misc={"module_name": module.__name__, "entry_symbol": solution.get_entry_symbol()},
        )
        return Runnable(function, metadata, package.close)


def _imported(solution: Solution, package: Package) -> ModuleType:
    try:
        return package.load(str(solution.get_entry_path()))
    except (Exception, SystemExit) as error:  # A solution may raise anything.
        what = f"{type(error).__name__}: {error}"
        if isinstance(error, SyntaxError) and error.filename:
            what = f"{type(error).__name__}: {error.msg}"
            where = f"{Path(error.filename).name}:{error.lineno}: "
        else:
            places = [f"{name}:{line}: " for name, line in frames_within(package.folder, error)]
            where = places[-1] if places else ""
        raise BuildError(
            f"{solution.name} cannot be imported: {where}{what}",
            _hint(solution, error),
            log="".join(traceback.format_exception(error)),
            first_error=f"{where}{what}",
        ) from error


def _hint(solution: Solution, error: BaseException) -> str:
    if not isinstance(error, ModuleNotFoundError):
        return ""
    declared = ", ".join(solution.spec.dependencies)
    wanted = f"; it declares that it needs {declared}" if declared else ""
    return f"install what has {error.name}{wanted}"
