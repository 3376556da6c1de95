"""Print a line for each function of the shipped set: whether the modules of wheels serve a case.

The cases are those that tests/gpu/wheel_alone.py tries on a GPU. A process of its own: a module
that was loaded before is not asked for again.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

from fictl.errors import SetupError
from fictl.jit import JitSpec
from fictl.project import Project, folders
from fictl.testing.generated.suite import OpSuite


class BuiltAhead(Exception):
    """The first module that a call asks for is in a wheel."""


def main() -> None:
    checked = runpy.run_path(str(Path(__file__).parents[1] / "gpu" / "wheel_alone.py"))["checked"]
    suites = [OpSuite(folder) for folder in folders(Project.shipped())]
    ahead = {_key(spec) for suite in suites for spec in suite.specs}

    def ask(spec: JitSpec) -> Any:
        if _key(spec) in ahead:
            raise BuiltAhead
        raise SetupError(f"{_key(spec)} is not in a wheel")

    JitSpec.build_and_load = ask  # type: ignore[method-assign]
    for suite in suites:
        for row in checked(suite, "emu"):
            print(row["op"], row["problem"])


def _key(spec: JitSpec) -> tuple[str, str]:
    parameters = dict(spec.template.parameters) if spec.template else {}
    return spec.name, str(sorted(parameters.items(), key=str))


if __name__ == "__main__":
    main()
