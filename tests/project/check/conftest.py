"""What the rules say of the project's one op, as `rule path:line message`."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fictl.project.check import check_project


@pytest.fixture
def problems(tree) -> Callable[[], list[str]]:
    def check() -> list[str]:
        return [
            f"{each.rule} {each.path.relative_to(tree.root).as_posix()}:{each.line} {each.message}"
            for each in check_project(tree.project)
        ]

    return check
