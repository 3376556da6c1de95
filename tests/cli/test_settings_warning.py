"""What a command says of variables that it does not read: once, on stderr, and no error."""

from __future__ import annotations

import pytest

_UNREAD = {"FICTL_DUMP_MAX_COUNT": "many", "FICTL_LOGLEVEL": "2", "FICTL_TRACE_DUMP": "maybe"}


@pytest.mark.parametrize(("name", "value"), _UNREAD.items())
@pytest.mark.parametrize("words", [("where", "halve"), ("list",), ("--version",), ("--help",)])
def test_a_value_that_cannot_be_read_is_a_warning(
    fictl, repo, monkeypatch, words, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    answer = fictl(*words)
    assert answer.code == 0
    assert answer.err.count(f"warning: {name}='{value}' cannot be read: expected") == 1


def test_where_it_is_read_it_is_an_error_and_said_once(fictl, repo, monkeypatch) -> None:
    monkeypatch.setenv("FICTL_DEVICE", "gpu")
    answer = fictl("build", "halve", "--dry-run")
    assert answer.code == 2
    assert answer.err.count("FICTL_DEVICE='gpu'") == 1
    assert answer.err.startswith("error:")


def test_a_name_that_means_nothing_is_said_with_the_nearest(fictl, repo, monkeypatch) -> None:
    monkeypatch.setenv("FICTL_MAX_JOB", "2")
    answer = fictl("where", "halve", "--json")
    assert answer.document["ok"]
    assert answer.err == "warning: FICTL_MAX_JOB is not a setting; did you mean FICTL_MAX_JOBS?\n"


def test_a_setting_of_an_op_is_a_setting(fictl, repo, monkeypatch) -> None:
    op = repo / "kernels" / "elementwise" / "halve" / "op.py"
    said = op.read_text().replace("mutates=", 'settings={"FICTL_HALVE_WAY": "how"}, mutates=')
    op.write_text(said)
    monkeypatch.setenv("FICTL_HALVE_WAY", "fast")
    assert fictl("where", "halve").err == ""


def test_a_settings_file_that_is_not_there_is_an_error_of_what_reads_it(
    fictl, repo, monkeypatch, tmp_path
) -> None:
    monkeypatch.setenv("FICTL_CONFIG", str(tmp_path / "none.toml"))
    assert fictl("build", "halve", "--dry-run").code == 2
    answer = fictl("--version")
    assert answer.code == 0
    assert answer.err.count("there is no such file") == 1


@pytest.mark.parametrize("words", [("config", "show"), ("doctor", "--json")])
def test_commands_that_show_settings_do_not_say_it_again(fictl, repo, monkeypatch, words) -> None:
    monkeypatch.setenv("FICTL_DUMP_MAX_COUNT", "many")
    assert "warning: FICTL_DUMP_MAX_COUNT" not in fictl(*words).err
