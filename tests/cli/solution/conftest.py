"""The op `shift` of a project of a user's, exported: a dataset with one solution."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def dataset(fictl, stray: Path) -> Path:
    """The working folder is that of the project, which is another place."""
    answer = fictl("dataset", "export", "shift", "--out", str(stray / "data"))
    assert answer.code == 0, answer.err
    return stray / "data"


@pytest.fixture
def solution(dataset: Path) -> Path:
    (found,) = dataset.glob("solutions/fictl/shift/shift_i32/*.json")
    return found


@pytest.fixture
def edited(solution: Path) -> Callable[[str, str, str], Path]:
    """The solution with one of its sources changed."""

    def edit(path: str, old: str, new: str) -> Path:
        document = json.loads(solution.read_text())
        (source,) = [each for each in document["sources"] if each["path"].endswith(path)]
        assert old in source["content"]
        source["content"] = source["content"].replace(old, new)
        solution.write_text(json.dumps(document))
        return solution

    return edit


@pytest.fixture
def astray(stray: Path) -> Path:
    """A workload with which the op writes one element beyond the end."""
    path = stray / "astray.json"
    inputs = {"input": {"type": "random"}, "by": {"type": "scalar", "value": 1}}
    path.write_text(json.dumps({"axes": {"n": 40}, "inputs": inputs, "uuid": "astray"}))
    return path
