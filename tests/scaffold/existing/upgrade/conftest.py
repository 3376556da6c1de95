"""A project whose own template stands for the scaffold of several versions."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from fictl.project import OpFolder, Project
from fictl.scaffold.existing.upgrade.again import with_record
from fictl.scaffold.existing.upgrade.op_upgrade import OpUpgrade
from fictl.scaffold.existing.upgrade.upgrade import examine, plan_upgrade
from fictl.scaffold.new.new_op import draft, plan_op
from fictl.scaffold.new.request import NewOpRequest
from fictl.scaffold.plan.write import apply

KIND = """
summary = "{kind}"
inputs = ["x:*n"]
outputs = ["out:*n"]
scalars = ["factor:float"]
expression = "pointwise"
default = "x * factor"
"""
OP = """\"\"\"{{ name }}: {{ expression }}.\"\"\"

from __future__ import annotations

ONE = 1
TWO = 2
THREE = 3
FOUR = 4
FIVE = 5
"""
HERE = "kernels/{{family}}/{{name}}"
TEST = "tests/kernels/{{family}}/test_{{name}}.py"
TEMPLATE = {
    f"{HERE}/op.py": OP,
    f"{HERE}/bench.py": "CASES = ()\n",
    TEST: "def test_it() -> None:\n    pass\n",
}


@dataclass(frozen=True)
class Scaffolded:
    """A project, and an op of its kind `mine` in it."""

    project: Project

    @property
    def folder(self) -> OpFolder:
        return OpFolder(self.project, "mine", "twice")

    def template(self, texts: Mapping[str, str]) -> None:
        """From now on the kind has these files and no others."""
        root = self.project.root / "templates" / "mine"
        shutil.rmtree(root, ignore_errors=True)
        for name, text in {"kind.toml": KIND, **texts}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")

    def now(self, **files: str) -> OpUpgrade:
        """Examine the op after a change of single templates, by stem; an empty text deletes one."""
        changed = {f"{HERE}/{stem}.py": text for stem, text in files.items()}
        self.template({name: t for name, t in {**TEMPLATE, **changed}.items() if t})
        return examine(self.folder)

    def upgrade(self, **files: str) -> OpUpgrade:
        upgrade = self.now(**files)
        apply(plan_upgrade(self.project.top, [upgrade]), "fictl upgrade")
        return upgrade


@pytest.fixture
def scaffolded(project: Project) -> Scaffolded:
    (project.root / "fictl.toml").write_text('name = "my_kernels"\n[templates]\nop = "templates"\n')
    (project.root / "templates").mkdir()
    made = Scaffolded(Project.at(project.root))
    made.template(TEMPLATE)
    wanted = NewOpRequest("twice", kind="mine")
    new_op = draft(made.project, wanted)
    apply(with_record(plan_op(new_op), new_op, wanted), "fictl new-op twice")
    return made
