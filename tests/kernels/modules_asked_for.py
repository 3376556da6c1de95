"""Print a line for each function of the shipped set: whether a case needs modules of wheels alone.

A process of its own: a module that was loaded before is not asked for again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fictl.jit import JitSpec
from fictl.op.folder_specs import folder_specs
from fictl.project import Project, folders
from fictl.testing.generated.guarded_trial import GuardedTrial
from fictl.testing.generated.layout import MemoryLayout
from fictl.testing.generated.suite import OpSuite
from fictl.testing.generated.variant import CaseVariant


class Asked(BaseException):
    """The first module that a call asks for; no handler of a function under test takes it."""


def main() -> None:
    JitSpec.build_and_load = _ask  # type: ignore[method-assign]
    all_folders = folders(Project.shipped())
    ahead = {_key(spec) for folder in all_folders for spec in folder_specs(folder)}
    for folder in all_folders:
        suite = OpSuite(folder)
        for name in dict.fromkeys(case.function for case in suite.cases):
            keys = list(_until(ahead, suite, name))
            print(name, "ahead" if keys[-1] in ahead else f"not ahead: {keys}")


def _until(ahead: set[Any], suite: Any, name: str) -> Iterator[Any]:
    """Yield what the cases ask for, the smallest first, up to one that is built ahead."""
    cases = [case for case in suite.cases if case.function == name]
    template = suite.template(cases[0])
    for case in sorted(cases, key=lambda one: template.elements(one.sizes, one.passing)):
        variant = CaseVariant(case, MemoryLayout.CONTIGUOUS, 0)
        try:
            GuardedTrial(suite.function(case), template, variant, "cpu").check()
        except Asked as asked:
            yield asked.args[0]
            if asked.args[0] in ahead:
                return
        else:
            yield "no module"


def _ask(spec: JitSpec) -> Any:
    raise Asked(_key(spec))


def _key(spec: JitSpec) -> tuple[str, str]:
    parameters = dict(spec.template.parameters) if spec.template else {}
    return spec.name, str(sorted(parameters.items(), key=str))


if __name__ == "__main__":
    main()
