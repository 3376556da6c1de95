"""What `new-op` writes can be renamed, whatever its kind."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from fictl.project import Project, folders
from fictl.project.check import check_project
from fictl.scaffold.existing.rename import plan_rename
from fictl.scaffold.plan.write import apply

GOLDEN = sorted(path for path in Path(__file__).parents[2].glob("golden/*") if path.is_dir())


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda path: path.name)
def test_an_op_of_each_kind_keeps_the_law_under_another_name(golden: Path, tmp_path: Path) -> None:
    root = shutil.copytree(golden, tmp_path / "project")
    (folder,) = folders(Project.at(root))
    renamed = plan_rename(folder, "quite_another", "elsewhere")
    apply(renamed.plan, "rename-op")
    assert check_project(Project.at(root)) == ()
    code = "\n".join(path.read_text() for _, path in renamed.folder.files())
    assert not re.search(rf"\b(namespace \w+::{folder.family}|{folder.module}\()", code)
