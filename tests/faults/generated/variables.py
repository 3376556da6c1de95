"""Bad values of every variable, read by the command or not, and names that mean nothing."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from fictl import settings

from .bad_input import BadInput
from .values import ARCHS, chosen, mangled, numbers

_READ_BY = {"FICTL_CUDA_ARCH_LIST": "build twice --dry-run", "FICTL_MAX_JOBS": "build twice"}
_BOOLS = ("2", "maybe", "nan", "TRUE1", "ｔｒｕｅ", "on off", "yes!", "-1", "１", "0.0")
_WORDS = ("'open", '"', "a 'b", "\\")
_BAD = {
    "bool": _BOOLS,
    "list": ARCHS,
    "words": _WORDS,
    "device": ("gpu", "cuda:0", "CPU", "ｅｍｕ"),
    "schedule": ("sideways", "random-", "random-x", "random-１", "reverse-3"),
    "level": ("loud", "2", "４", "-1", "nan", "info warning", "99"),
    "number": ("nan", "inf", "-1", "1e3", ".", "１", "1e400", "9" * 400),
}


def of_variables(random: Random) -> Iterator[BadInput]:
    for setting in (each for each in settings.SETTINGS if each.name.startswith(settings.PREFIX)):
        bad = _BAD.get(setting.kind, ())
        if setting.kind == "int":
            bad = tuple(numbers(random, 0, 10**9, True, 8))
            bad = tuple(value for value in bad if value.strip() and "\udcff" not in value)
        for value in chosen(random, bad, 5):
            variables = {setting.name: value}
            # Read or not: it is named, and on stderr.
            yield BadInput("variables", ("where", "twice"), "named", (setting.name,), variables)
            if setting.name in _READ_BY:
                words = tuple(_READ_BY[setting.name].split())
                yield BadInput("variables", words, "refused", (setting.name,), variables)


def of_unknown_names(random: Random) -> Iterator[BadInput]:
    known = [each.name for each in settings.SETTINGS if each.name.startswith(settings.PREFIX)]
    names = {name for setting in settings.SETTINGS for name in (setting.name, *setting.also)}
    for name in random.sample(known, 12):
        wrong = f"{name[:-1]}{random.choice('QZX')}"
        if wrong not in names:
            yield BadInput("variables", ("where", "twice"), "named", (wrong, name), {wrong: "1"})


def of_settings_files(random: Random) -> Iterator[BadInput]:
    texts = [
        "max_jobs = ''",
        "max_jobs = nan",
        "max_jobs = 1.5",
        "max_jobs = [1]",
        "max_jobs = {}",
        "max_jobs = '１'",
        "max_jobs =",
        "[max_jobs]",
        "disable_jit = 'maybe'",
        "cuda_arch_list = '>=9'",
        "cuda_arch_list = '９.０'",
        "max_jobs = 99999999999999999999",
        "device = 'gpu'",
        "\udcff",
        "lock_timeout = inf",
        "max_jobs = true",
        "loglevel = 2",
        "max_jobs = 1979-05-27",
    ]
    for text in texts:
        yield _file(("mine.toml", "text", text + "\n"))
    for _ in range(12):
        yield _file(("mine.toml", "text", "max_jobs = [[" + mangled(random, "'many' # 4") + "\n"))
    for part, end in (("[", ""), ("a.", "b = 1"), ("x = [", "")):
        yield _file(("mine.toml", "repeated", f'["{part}", 100000, "{end}"]'))
    yield _file(("mine.toml", "repeated", '["max_jobs = 1 # long\\n", 200000, ""]'))
    for kind in (
        "fifo",
        "device",
        "loop",
        "dangling",
        "socket",
        "folder",
        "binary",
        "sparse",
        "gone",
    ):
        yield _file(("mine.toml", kind, ""))


def _file(file: tuple[str, str, str]) -> BadInput:
    variables = {"FICTL_CONFIG": "mine.toml"}
    return BadInput("settings", ("where", "twice"), "named", ("mine.toml",), variables, (file,))
