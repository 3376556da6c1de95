from __future__ import annotations

import json
from dataclasses import replace

from fictl.scaffold.existing.rename.definitions import renamed_definitions
from fictl.scaffold.existing.rename.renaming import Renaming


def test_committed_definitions_bear_the_new_name(twice) -> None:
    folder = twice.project.root / "tests/trace/definitions/twice"
    folder.mkdir(parents=True)
    text = {
        "name": "twice_h8_i32",
        "op_type": "twice",
        "tags": ["fi_api:tiny.ops.twice", "twice"],
        "reference": "def run(): return twice",
    }
    path = folder / "twice_h8_i32.json"
    path.write_text(json.dumps(text, indent=2))
    found = dict(renamed_definitions(Renaming(twice, replace(twice, module="thrice"))))
    new = folder.with_name("thrice") / "thrice_h8_i32.json"
    assert found.keys() == {path, new}
    assert found[path] is None
    assert json.loads(found[new] or "") == text | {
        "name": "thrice_h8_i32",
        "op_type": "thrice",
        "tags": ["fi_api:tiny.ops.thrice", "twice"],
    }


def test_without_any_there_are_none(twice) -> None:
    assert [*renamed_definitions(Renaming(twice, replace(twice, module="thrice")))] == []
