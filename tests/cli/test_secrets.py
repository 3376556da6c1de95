"""What a setting holds that nobody else should read is in no command's output."""

from __future__ import annotations

import shlex

import pytest

from fictl.cli import main
from fictl.settings import CONFIG, SETTINGS, XDG_CONFIG_HOME

_SECRET = "hunter2abc"
_TEXTS = (
    f"-DTOKEN={_SECRET}",
    f"-DHF_TOKEN='{_SECRET} x'",
    f"--token {_SECRET}0",
    f"https://bob:{_SECRET}@host/x",
    "AKIAHUNTER2ABC234567",
    f"hf_{_SECRET}0123456789",
)


@pytest.fixture
def said(capfd):
    """The code of a command and all that it says."""

    def run(words: str) -> tuple[int, str]:
        code = main(shlex.split(words))
        captured = capfd.readouterr()
        assert "internal error" not in captured.err
        return code, captured.out + captured.err

    return run


@pytest.mark.parametrize("text", _TEXTS)
@pytest.mark.parametrize("form", ["", " --json"])
def test_no_setting_shows_one(tiny, said, monkeypatch, text, form):
    """Every one holds it, whether it can be read so or not."""
    for setting in SETTINGS:
        for name in (setting.name, *setting.also):
            if setting not in (CONFIG, XDG_CONFIG_HOME):
                monkeypatch.setenv(name, text)
    _, told = said(f"config show{form}")
    assert "FICTL_EXTRA_CFLAGS" in told
    assert "hunter2" not in told.lower()


@pytest.mark.parametrize("form", ["", " --json"])
def test_the_settings_file_shows_none(tiny, said, settings_toml, form):
    settings_toml(f'extra_cflags = ["-DTOKEN={_SECRET}"]\nmax_jobs = "TOKEN={_SECRET}"\n')
    assert _SECRET not in said(f"config show{form}")[1]


@pytest.mark.parametrize(
    "words",
    [
        "build twice --dry-run",
        "build twice --dry-run --json",
        "build twice -v",
        "doctor --report",
        "doctor --json",
        "cache explain twice -v",
        "cache show --json",
    ],
)
def test_no_command_shows_those_of_flags(tiny, said, use_nvcc, monkeypatch, words):
    use_nvcc("13.0")
    said("build twice")
    for name in ("FICTL_EXTRA_CFLAGS", "FICTL_EXTRA_CUDAFLAGS", "FICTL_EXTRA_LDFLAGS"):
        monkeypatch.setenv(name, f"-DTOKEN={_SECRET}")
    monkeypatch.setenv("NVCC_APPEND_FLAGS", f"-DAPI_KEY={_SECRET}")
    assert _SECRET not in said(words)[1]


@pytest.mark.parametrize("name", ["FICTL_MAX_JOBS", "FICTL_DEVICE", "FICTL_CUDA_ARCH_LIST"])
@pytest.mark.parametrize("text", _TEXTS)
def test_a_value_that_cannot_be_read_shows_none(tiny, said, monkeypatch, name, text):
    monkeypatch.setenv(name, text)
    for words in ("build twice", "build twice --json", "list"):
        assert "hunter2" not in said(words)[1].lower()


def test_a_count_is_no_secret(tiny, said, monkeypatch):
    monkeypatch.setenv("FICTL_EXTRA_CUDAFLAGS", "-DNUM_TOKENS=128 -O3")
    assert "-DNUM_TOKENS=128 -O3" in said("config show")[1]
