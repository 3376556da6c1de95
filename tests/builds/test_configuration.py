"""All settings in force, those of ops among them."""

from __future__ import annotations

from pathlib import Path

from fictl.builds.configuration import configuration
from fictl.settings import SETTINGS


def _rows() -> dict:
    return {row.name: row for row in configuration().settings}


def test_every_setting_is_there_with_its_default(tiny: Path) -> None:
    rows = _rows()
    assert set(rows) >= {setting.name for setting in SETTINGS}
    row = rows["FICTL_LOCK_TIMEOUT"]
    assert (row.value, row.default, row.origin, row.place) == (600, 600, "default", "")


def test_a_variable_is_named_as_it_was_set(tiny: Path, monkeypatch) -> None:
    monkeypatch.setenv("MAX_JOBS", "3")
    row = _rows()["FICTL_MAX_JOBS"]
    assert (row.value, row.origin, row.place) == (3, "environment", "MAX_JOBS")


def test_a_line_of_the_file_is_named(tiny: Path, settings_toml) -> None:
    path = settings_toml("extra_cflags = ['-DA=b c', '-O2']\n")
    row = _rows()["FICTL_EXTRA_CFLAGS"]
    assert (row.value, row.origin, row.place) == (["-DA=b c", "-O2"], "file", f"{path}:1")
    assert configuration().file == str(path)


def test_what_cannot_be_read_is_said_beside_the_others(tiny: Path, monkeypatch) -> None:
    monkeypatch.setenv("FICTL_MAX_JOBS", "many")
    rows = _rows()
    assert rows["FICTL_MAX_JOBS"].origin == "unreadable"
    assert "FICTL_MAX_JOBS='many' cannot be read" in rows["FICTL_MAX_JOBS"].problem
    assert rows["FICTL_LOCK_TIMEOUT"].problem == ""


def test_the_settings_of_ops_are_known(tiny: Path, monkeypatch) -> None:
    op = tiny / "kernels" / "elementwise" / "twice" / "op.py"
    declared = 'mutates="", settings={"FICTL_TWICE_WAY": "how twice doubles"}'
    op.write_text(op.read_text().replace('mutates=""', declared))
    monkeypatch.setenv("FICTL_TWICE_WAY", "shift")
    row = _rows()["FICTL_TWICE_WAY"]
    assert (row.value, row.doc) == ("shift", "how twice doubles")
    assert configuration().unknown == ()


def test_no_setting_is_there_twice(tiny: Path) -> None:
    op = tiny / "kernels" / "elementwise" / "twice" / "op.py"
    declared = 'mutates="", settings={"FICTL_VALIDATE_INPUTS": "look at what it doubles"}'
    op.write_text(op.read_text().replace('mutates=""', declared))
    names = [row.name for row in configuration().settings]
    assert len(names) == len(set(names))
    assert _rows()["FICTL_VALIDATE_INPUTS"].default is False


def test_names_that_mean_nothing_are_told(tiny: Path, monkeypatch) -> None:
    monkeypatch.setenv("FICTL_NVC", "x")
    assert configuration().unknown == (("FICTL_NVC", "FICTL_NVCC"),)
    assert configuration().to_dict()["unknown"] == [
        {"name": "FICTL_NVC", "suggestion": "FICTL_NVCC"}
    ]


def test_a_broken_op_does_not_hide_the_settings(tiny: Path) -> None:
    (tiny / "kernels" / "elementwise" / "twice" / "op.py").write_text("def (")
    assert "FICTL_MAX_JOBS" in _rows()


def test_the_project_is_named(tiny: Path) -> None:
    assert configuration().project["name"] == "tiny"
