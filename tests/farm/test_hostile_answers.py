"""Documents that no command prints: each is an error in words, which names job and place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fictl.errors import FictlError
from fictl.farm.place import Place
from fictl.farm.spread import merged
from fictl.farm.spread.collect import collected
from fictl.farm.spread.command_doer import Project
from fictl.farm.spread.command_job import CommandJob, CommandResult
from fictl.farm.spread.spread import spread
from fictl.farm.spread.tuned import kept_tuning

from .scripts import script

_HASH = "0" * 64
_DOCUMENTS: list[Any] = [
    {},
    {"tests": 7},
    {"tests": [7]},
    {"tests": [{"test": "x"}], "seconds": 1},
    {"rows": [], "environment": 3},
    {"rows": [{"op": 1}], "environment": {}},
    {"gpu": "x", "keys": 7},
    {"gpu": "x", "driver": "1", "keys": [7]},
]
_BUILDS: list[Any] = [
    {},
    "text",
    7,
    [7],
    ["text"],
    [{}],
    [{"project": "p"}],
    [{"project": 1, "module": 2}],
    [{"project": "p", "module": "m", "error": "text"}],
    [{"project": "p", "module": "m", "error": {}}],
    [{"project": "p", "module": "m", "seconds": "long"}],
    [{"project": "p", "module": "m", "archs": 7}],
    [{"project": "p", "module": "m", "path": 7}],
]


def result(data: Any) -> CommandResult:
    return CommandResult(CommandJob("job", ("x",)), "gpu9", data)


@pytest.mark.parametrize("data", _BUILDS, ids=str)
def test_a_list_of_builds_that_is_none(data: Any) -> None:
    (built,) = collected([result(data)])
    assert built.place == "gpu9"
    assert built.error is not None


@pytest.mark.parametrize("data", _DOCUMENTS, ids=str)
@pytest.mark.parametrize(
    "read",
    [
        lambda one: merged.tests([one], 1.0),
        lambda one: merged.benches([one]),
        lambda one: kept_tuning([one], None),
    ],
    ids=["test", "bench", "tune"],
)
def test_a_report_that_is_none(read: Any, data: Any) -> None:
    with pytest.raises(FictlError, match="job: the answer of gpu9 cannot be read: "):
        read(result(data))


@pytest.mark.parametrize("blob", [_HASH, "../../etc/passwd"])
def test_a_file_that_did_not_come_is_not_taken_from_elsewhere(tmp_path: Path, blob: str) -> None:
    """As one that another place has sent, or that is the user's."""
    code = f"""
import sys
from fictl.farm import worker
from fictl.farm.line import Blob, CommandDone
from fictl.farm.serve import commands
kept = {{"x": Blob({blob!r}, 3)}}
commands.CommandServer.run = lambda self, request: CommandDone(0, "{{}}", "", kept)
sys.exit(worker.main())
"""
    bad = Place("bad", python=script(tmp_path, code))
    found = spread([CommandJob("job", ("config", "show"))], [bad], Project())
    assert found.results == ()
    assert "it names a file that did not come with it" in found.left_out[0]
