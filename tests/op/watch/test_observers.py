"""The settings decide who watches, once; with nothing set, nobody does."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

WHO = "from fictl.op.watch.observers import observers; print(*(type(o).__name__ for o in observers()))"


def who_watches(**variables: str) -> str:
    environment = {**os.environ, **variables}
    argv = [sys.executable, "-c", WHO]
    ran = subprocess.run(argv, env=environment, capture_output=True, text=True, check=True)
    return ran.stdout.strip()


@pytest.mark.parametrize(
    ("variable", "value", "observers"),
    [
        ("FICTL_LOGLEVEL", "0", ""),
        ("FICTL_LOGLEVEL", "1", "CallLog"),
        ("FICTL_LOGLEVEL", "statistics", "CallLog"),
        ("FICTL_LOGLEVEL", "10", "CallLog DumpWriter"),
        ("FICTL_VALIDATE_INPUTS", "1", "Validation"),
        ("FICTL_TRACE_DUMP", "1", "DefinitionDump"),
        ("FICTL_AUTORELOAD", "1", "AutoReload"),
    ],
)
def test_a_setting_brings_its_observer(
    variable: str, value: str, observers: str, tmp_path: object
) -> None:
    folders = {"FICTL_DUMP_DIR": str(tmp_path), "FICTL_TRACE_DUMP_DIR": str(tmp_path)}
    assert who_watches(**{**folders, variable: value}) == observers


@pytest.mark.parametrize("level", ["2", "4", "info", "-1"])
def test_a_level_that_means_nothing_is_an_error_that_names_those_that_do(level: str) -> None:
    with pytest.raises(subprocess.CalledProcessError) as error:
        who_watches(FICTL_LOGLEVEL=level)
    assert "FICTL_LOGLEVEL" in error.value.stderr
    assert "3 (values)" in error.value.stderr
