from __future__ import annotations

import os
from pathlib import Path

import pytest

from fictl import settings
from fictl.errors import InvalidValue


@pytest.mark.parametrize("text", ["1", "true", "yes", "on", "TRUE", " On "])
def test_words_that_switch_on(monkeypatch, text):
    monkeypatch.setenv("FICTL_DISABLE_JIT", text)
    assert settings.DISABLE_JIT.get() is True


@pytest.mark.parametrize("text", ["0", "false", "no", "off", "Off"])
def test_words_that_switch_off(monkeypatch, text):
    monkeypatch.setenv("FICTL_DISABLE_JIT", text)
    assert settings.DISABLE_JIT.get() is False


@pytest.mark.parametrize("setting", settings.SETTINGS, ids=lambda setting: setting.name)
def test_empty_is_unset(monkeypatch, setting):
    monkeypatch.setenv(setting.name, "")
    assert (setting.get(), setting.origin().kind) == (setting.default, "default")


@pytest.mark.parametrize("setting", settings.SETTINGS, ids=lambda setting: setting.name)
def test_blank_is_the_default(monkeypatch, setting):
    monkeypatch.setenv(setting.name, "  ")
    assert setting.get() == setting.default


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("DISABLE_JIT", "2"),
        ("ENABLE_SM120", "maybe"),
        ("DEVICE", "gpu"),
        ("MAX_JOBS", "0"),
        ("MAX_JOBS", "-1"),
        ("MAX_JOBS", "many"),
        ("LOCK_TIMEOUT", "1.5"),
        ("LOGGING_LEVEL", "loud"),
        ("EXTRA_CFLAGS", "'unbalanced"),
        ("EMU_SCHEDULE", "sideways"),
        ("EMU_SCHEDULE", "random-"),
        ("EMU_SCHEDULE", "reverse-3"),
        ("EMU_THREADS", "0"),
        ("EMU_TIMEOUT", "0.5"),
        ("EMU_CHECK", "full"),
        ("LOGLEVEL", "2"),
        ("LOGLEVEL", "4"),
        ("LOGLEVEL", "info"),
        ("LOGLEVEL", "-1"),
        ("DUMP_MAX_SIZE_GB", "1e3"),
        ("DUMP_MAX_SIZE_GB", "-1"),
        ("DUMP_MAX_SIZE_GB", "."),
        ("DUMP_MAX_COUNT", "0"),
    ],
)
def test_a_value_that_cannot_be_read_names_variable_and_value(monkeypatch, name, text):
    setting = getattr(settings, name)
    monkeypatch.setenv(setting.name, text)
    with pytest.raises(InvalidValue) as caught:
        setting.get()
    assert f"{setting.name}={text!r}" in caught.value.message
    assert caught.value.hint == setting.doc


def test_bare_max_jobs_counts(monkeypatch):
    monkeypatch.setenv("MAX_JOBS", "3")
    assert (settings.MAX_JOBS.get(), settings.MAX_JOBS.origin().place) == (3, "MAX_JOBS")


def test_fictl_max_jobs_beats_the_bare_one(monkeypatch):
    monkeypatch.setenv("MAX_JOBS", "3")
    monkeypatch.setenv("FICTL_MAX_JOBS", "5")
    assert (settings.MAX_JOBS.get(), settings.MAX_JOBS.origin().place) == (5, "FICTL_MAX_JOBS")


def test_an_empty_fictl_max_jobs_leaves_the_bare_one(monkeypatch):
    monkeypatch.setenv("MAX_JOBS", "3")
    monkeypatch.setenv("FICTL_MAX_JOBS", "")
    assert settings.MAX_JOBS.get() == 3


def test_an_unreadable_bare_max_jobs_is_named_as_it_was_set(monkeypatch):
    monkeypatch.setenv("MAX_JOBS", "all")
    with pytest.raises(InvalidValue, match=r"^MAX_JOBS='all'"):
        settings.MAX_JOBS.get()


def test_words_are_split_like_a_shell_does(monkeypatch):
    monkeypatch.setenv("FICTL_EXTRA_CFLAGS", "-DA='b c' -O1")
    assert settings.EXTRA_CFLAGS.get() == ("-DA=b c", "-O1")


def test_paths_expand_the_home_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("FICTL_STORES", "~/a::/b")
    assert settings.STORES.get() == (tmp_path / "a", Path("/b"))


def test_choices_do_not_mind_case(monkeypatch):
    monkeypatch.setenv("FICTL_LOGGING_LEVEL", "DEBUG")
    assert settings.LOGGING_LEVEL.get() == "debug"


@pytest.mark.parametrize("text", ["forward", "Reverse", "random", "random-12"])
def test_orders_of_threads_are_read(monkeypatch, text):
    monkeypatch.setenv("FICTL_EMU_SCHEDULE", text)
    assert settings.EMU_SCHEDULE.get() == text.lower()


@pytest.mark.parametrize(
    ("text", "level"),
    [("off", 0), ("0", 0), ("Calls", 1), ("3", 3), ("values", 3), ("statistics", 5), ("10", 10)],
)
def test_levels_of_the_call_log_have_names_and_numbers(monkeypatch, text, level):
    monkeypatch.setenv("FICTL_LOGLEVEL", text)
    assert settings.LOGLEVEL.get() == level


@pytest.mark.parametrize(("text", "number"), [("20", 20.0), ("0.5", 0.5), (".25", 0.25), ("2.", 2)])
def test_sizes_are_numbers(monkeypatch, text, number):
    monkeypatch.setenv("FICTL_DUMP_MAX_SIZE_GB", text)
    assert settings.DUMP_MAX_SIZE_GB.get() == number


def test_names_are_split_at_commas(monkeypatch):
    monkeypatch.setenv("FICTL_DUMP_INCLUDE", "rms*, ,scale")
    assert settings.DUMP_INCLUDE.get() == ("rms*", "scale")


@pytest.mark.parametrize("launcher", ["RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"])
def test_the_rank_is_what_the_launcher_says(monkeypatch, launcher):
    monkeypatch.setenv(launcher, "3")
    assert settings.RANK.get() == "3"


def test_every_setting_is_described_and_listed_once():
    names = [setting.name for setting in settings.SETTINGS]
    assert len(names) == len(set(names))
    assert all(setting.doc and not setting.doc.endswith(".") for setting in settings.SETTINGS)


def test_a_flag_beats_the_environment_and_the_environment_the_file(monkeypatch, settings_toml):
    settings_toml("max_jobs = 2\n")
    assert (settings.MAX_JOBS.get(), settings.MAX_JOBS.origin().kind) == (2, "file")
    monkeypatch.setenv("MAX_JOBS", "3")
    assert (settings.MAX_JOBS.get(), settings.MAX_JOBS.origin().kind) == (3, "environment")
    settings.MAX_JOBS.set_by_flag("--jobs", "4")
    origin = settings.MAX_JOBS.origin()
    assert (settings.MAX_JOBS.get(), origin.kind, origin.place) == (4, "flag", "--jobs")


def test_a_value_of_the_file_that_cannot_be_read_names_its_line(settings_toml):
    path = settings_toml("# mine\nmax_jobs = 'many'\n")
    with pytest.raises(InvalidValue) as caught:
        settings.MAX_JOBS.get()
    assert caught.value.message.startswith(f"{path}:2: max_jobs = 'many' cannot be read")


def test_what_names_the_file_does_not_stand_in_it(settings_toml):
    settings_toml("config = '/elsewhere'\n")
    assert settings.CONFIG.origin().kind == "environment"


def test_others_variables_do_not_stand_in_the_file(settings_toml):
    settings_toml("cxx = 'clang++'\n")
    assert settings.CXX.get() == ()


def test_unknown_names_are_found_wherever_they_are_said(monkeypatch, settings_toml):
    settings_toml("max_job = 2\n")
    monkeypatch.setenv("FICTL_NVC", "/x")
    monkeypatch.setenv("FICTL_TOPK_ALGO", "radix")
    monkeypatch.setenv("FICTL_ZZZZZZ", "1")
    assert settings.unknown(known=["FICTL_TOPK_ALGO"]) == [
        ("FICTL_MAX_JOB", "FICTL_MAX_JOBS"),
        ("FICTL_NVC", "FICTL_NVCC"),
        ("FICTL_ZZZZZZ", ""),
    ]


def test_where_the_file_lies_when_nobody_chose(monkeypatch, tmp_path):
    monkeypatch.delenv("FICTL_CONFIG")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert settings.file_in_use().path == tmp_path / ".config" / "fictl" / "settings.toml"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    assert settings.file_in_use().path == tmp_path / "xdg" / "fictl" / "settings.toml"


def test_a_flag_may_hold_for_children_too(monkeypatch):
    settings.LOCKED.set_by_flag("--locked", "1", for_children=True)
    assert (settings.LOCKED.get(), settings.LOCKED.origin().place) == (True, "--locked")
    assert os.environ["FICTL_LOCKED"] == "1"
