"""Commands with --on: an op's build, tests and times at places."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fictl import settings
from fictl.jit import load
from fictl.paths import cache_root

_PLACES = """
[[place]]
name = "far{0..1}"
launch = ["sh", "-c", 'echo welcome; exec "$@"', "sh"]
variables = { FICTL_WORKSPACE_BASE = "%s" }
"""


@pytest.fixture
def on(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> str:
    """Two places with the user's cache, where the emulated device is compiled already."""
    own = settings.WORKSPACE_BASE.get()
    request.getfixturevalue("users_cache")
    users = settings.WORKSPACE_BASE.get() or ""
    monkeypatch.setenv(settings.WORKSPACE_BASE.name, str(own))
    monkeypatch.setattr(load, "_loaded", {})
    monkeypatch.chdir(tiny)
    path = tmp_path / "places.toml"
    path.write_text(_PLACES % users)
    return str(path)


def test_a_build_comes_back_and_is_used(fictl, on: str) -> None:
    answer = fictl("build", "twice", "--device", "emu", "--on", on, "--json")
    assert answer.code == 0, answer.err
    (built,) = answer.document["data"]
    assert built["place"] in ("far0", "far1")
    assert Path(built["path"]).is_relative_to(cache_root())
    again = fictl("build", "twice", "--device", "emu", "--json")
    assert again.document["data"][0]["compiled"] is False
    assert again.document["data"][0]["path"] == built["path"]


def test_an_op_that_does_not_build_has_its_error_and_place(fictl, on: str, tiny: Path) -> None:
    header = next(tiny.rglob("twice.cuh"))
    header.write_text(header.read_text() + "\nint broken = nowhere;\n")
    answer = fictl("build", "twice", "--device", "emu", "--on", on, "--json")
    assert answer.code == 1
    (built,) = answer.document["data"]
    assert "nowhere" in built["error"]["message"]
    assert built["place"]


def test_tests_run_at_places(fictl, on: str) -> None:
    answer = fictl("test", "twice", "--device", "emu", "--on", on, "--json")
    assert answer.code == 0, answer.out + answer.err
    data = answer.document["data"]
    assert data["passed"] == len(data["tests"]) > 0
    assert {test["place"][:3] for test in data["tests"]} == {"far"}


def test_rows_of_a_bench_name_their_place(fictl, on: str) -> None:
    words = ("bench", "twice", "--device", "emu", "--on", on, "--max-time", "0.1")
    answer = fictl(*words, "--json")
    assert answer.code == 0, answer.out + answer.err
    data = answer.document["data"]
    places = {row["place"] for row in data["rows"]}
    assert len(places) == 1
    assert {*data["environments"]} == places


@pytest.mark.parametrize(
    "words", [("bench", "twice", "--save"), ("bench", "twice", "--out", "x.json")]
)
def test_files_of_one_machine_are_refused(fictl, on: str, words: tuple[str, ...]) -> None:
    answer = fictl(*words, "--device", "emu", "--on", on)
    assert answer.code == 2
    assert f"{words[2]} and --on exclude each other" in answer.err


def test_where_no_place_starts_the_reason_is_said(fictl, on: str) -> None:
    Path(on).write_text('[[place]]\nname = "bare"\nlaunch = ["env"]\npython = "no-python"\n')
    answer = fictl("build", "twice", "--device", "emu", "--on", on)
    assert answer.code == 3
    assert "place bare left out" in answer.err
    assert "no-python" in answer.err


def test_what_places_can_do_is_checked(fictl, on: str) -> None:
    answer = fictl("farm", "check", on, "--device", "emu", "--json")
    assert answer.code == 0, answer.out
    assert [one["place"] for one in answer.document["data"]] == ["far0", "far1"]
    facts = answer.document["data"][0]["facts"]
    assert facts["free_bytes"] > 0
    assert facts["sandbox"]
    Path(on).write_text(Path(on).read_text() + '[[place]]\nname = "bare"\nlaunch = ["false"]\n')
    answer = fictl("farm", "check", on, "--device", "emu")
    assert answer.code == 3
    assert "✗ bare" in answer.out
    assert "2 of 3 places can work" in answer.out


def test_a_first_file_of_places_is_one(
    fictl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "config").write_text("Host gpu1 gpu2\n  User me\nHost *.corp\n")
    path = tmp_path / "places.toml"
    assert fictl("farm", "init", "--out", str(path), "--ssh", "gpu1").code == 0
    from fictl.farm.places_file import places_in

    names = [place.name for place in places_in(path)]
    assert names[-1] == "gpu1"
    assert '# name = "gpu2"' in path.read_text()
    assert "corp" not in path.read_text()
    answer = fictl("farm", "init", "--out", str(path))
    assert (answer.code, "exists" in answer.err) == (2, True)
    assert json.loads(fictl("farm", "init", "--dry-run", "--json").out)["data"]["text"]


def test_runs_are_shown_while_they_are_at_work(fictl) -> None:
    from fictl.farm.run_status import RunStatus

    assert "nothing runs" in fictl("farm", "status").out
    with RunStatus("dataset run big", 100) as status:
        status.update(25, 3, 4, 5)
        (run,) = fictl("farm", "status", "--json").document["data"]
        assert (run["done"], run["busy"], run["places"], run["lost"]) == (25, 3, 4, 1)
        assert "25/100" in fictl("farm", "status").out
    assert "nothing runs" in fictl("farm", "status").out
