from __future__ import annotations

from fictl.settings import SETTINGS


def test_every_setting_is_a_row(fictl, repo) -> None:
    answer = fictl("config", "show")
    assert answer.code == 0
    first = {line.split()[0] for line in answer.out.splitlines() if line}
    assert {setting.name for setting in SETTINGS} <= first


def test_the_document_has_value_default_and_origin(fictl, repo, monkeypatch, settings_toml) -> None:
    path = settings_toml("lock_timeout = 5\n")
    monkeypatch.setenv("FICTL_MAX_JOBS", "3")
    document = fictl("config", "show", "--arch", "9.0a", "--json").document
    assert (document["schema"], document["ok"]) == ("fictl.config.show/1", True)
    rows = {row["name"]: row for row in document["data"]["settings"]}
    said = {name: (row["value"], row["origin"], row["place"]) for name, row in rows.items()}
    assert said["FICTL_CUDA_ARCH_LIST"] == ("9.0a", "flag", "--arch")
    assert said["FICTL_MAX_JOBS"] == (3, "environment", "FICTL_MAX_JOBS")
    assert said["FICTL_LOCK_TIMEOUT"] == (5, "file", f"{path}:1")
    assert said["FICTL_LOGGING_LEVEL"] == ("info", "default", "")
    assert rows["FICTL_LOCK_TIMEOUT"]["default"] == 600


def test_verbose_is_a_flag_too(fictl, repo) -> None:
    document = fictl("config", "show", "-v", "--json").document
    row = next(row for row in document["data"]["settings"] if row["name"] == "FICTL_JIT_VERBOSE")
    assert (row["value"], row["origin"]) == (True, "flag")


def test_unknown_names_are_warned_of(fictl, repo, monkeypatch) -> None:
    monkeypatch.setenv("FICTL_NVC", "x")
    answer = fictl("config", "show")
    assert answer.code == 0
    assert "warning: FICTL_NVC means nothing; FICTL_NVCC?" in answer.err
    assert fictl("config", "show", "--json").document["data"]["unknown"] == [
        {"name": "FICTL_NVC", "suggestion": "FICTL_NVCC"}
    ]


def test_a_value_that_cannot_be_read_is_a_usage_error_beside_all_others(
    fictl, repo, monkeypatch
) -> None:
    monkeypatch.setenv("FICTL_MAX_JOBS", "many")
    answer = fictl("config", "show", "--json")
    assert answer.code == 2
    assert "FICTL_MAX_JOBS='many'" in answer.document["error"]["message"]
    assert len(answer.document["data"]["settings"]) >= len(SETTINGS)
    assert "FICTL_MAX_JOBS='many'" in fictl("config", "show").err


def test_a_value_with_brackets_is_shown_as_it_is(fictl, repo, monkeypatch) -> None:
    monkeypatch.setenv("FICTL_EXTRA_CFLAGS", "-DA=[red]")
    assert "-DA=[red]" in fictl("config", "show").out
