from __future__ import annotations

from fictl.project import Project
from fictl.scaffold.existing.definition_files import definition_files


def test_those_of_the_functions_are_found_beside_the_tests(tiny) -> None:
    folder = tiny / "tests/trace/definitions"
    for name in ("twice/twice_i32.json", "twice/twice_i8.json", "other/other_i8.json"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("{}")
    found = definition_files(Project.at(tiny), ["twice", "missing"])
    assert [path.name for path in found] == ["twice_i32.json", "twice_i8.json"]
