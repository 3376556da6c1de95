"""A worker that is asked to end, as by a batch system: its work is done again, and nobody blamed."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from fictl import settings
from fictl.farm.place import Place
from fictl.farm.spread.command_doer import Project
from fictl.farm.spread.command_job import CommandJob
from fictl.farm.spread.spread import spread

from .busy_places import KINDS, BusyPlace, left_of
from .scripts import script


@pytest.mark.parametrize("kind", KINDS)
def test_its_work_is_done_again(
    kind: str, tmp_path: Path, users_cache: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the same place, which is no worse for it."""
    # The cache that has the runtime of emulated kernels.
    base = settings.WORKSPACE_BASE.get() or str(Path.home())
    busy = BusyPlace(tmp_path, kind, base="" if kind == "build" else base, seconds=0.2)
    with busy.driver("--json") as driver:
        family = busy.until_at_work(driver)
        (worker,) = busy.workers()
        os.kill(worker, signal.SIGTERM)
        out, err = driver.communicate(timeout=240)
    assert driver.returncode == 0, (out, err)
    data = json.loads(out)["data"]
    assert b"left out" not in err
    if kind == "build":
        assert [module["place"] for module in data] == ["far"]
    elif kind == "test":
        assert data["failed"] == []
        assert data["passed"] > 0
    elif kind == "bench":
        assert {row["place"] for row in data["rows"]} == {"far"}
    else:
        assert data["statuses"] == {"PASSED": 2}
        lines = [path.read_text() for path in busy.folder.rglob("traces/**/*.jsonl")]
        assert '"lost"' not in "".join(lines)
    assert left_of(family, 6) == {}


def test_it_is_no_loss_however_often(tmp_path: Path) -> None:
    """Three losses in a row would have the place checked, and the work blamed."""
    code = f"""
import os, signal, sys
from pathlib import Path
from fictl.farm import worker
from fictl.farm.serve import commands
count = Path({str(tmp_path / "count")!r})
run = commands.CommandServer.run
def preempted(self, request):
    with count.open("a") as file: file.write(request.argv[0] + "\\n")
    if len(count.read_text().split()) <= 4:
        os.kill(os.getpid(), signal.SIGTERM)
    return run(self, request)
commands.CommandServer.run = preempted
sys.exit(worker.main())
"""
    place = Place("often", python=script(tmp_path, code))
    found = spread([CommandJob("job", ("config", "show"))], [place], Project())
    assert (len(found.results), found.left_out, found.undone) == (1, (), ())
    assert found.results[0].error is None
    assert (tmp_path / "count").read_text().split() == ["config"] * 5
