"""Checks of environment variables that are wrong, misspelt, or change builds unnoticed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fictl import settings
from fictl.builds.configuration import configuration
from fictl.doctor.finding import DoctorFinding, error, ok, warning

if TYPE_CHECKING:
    from fictl.doctor.facts import Facts

# Compilers obey them, and a build's key does not contain them.
_BEHIND_THE_KEY = {
    "CPATH": "adds include folders",
    "C_INCLUDE_PATH": "adds include folders",
    "CPLUS_INCLUDE_PATH": "adds include folders",
    "LIBRARY_PATH": "adds library folders",
    "COMPILER_PATH": "changes which assembler and linker run",
    "GCC_EXEC_PREFIX": "changes which parts of GCC run",
    "CCC_OVERRIDE_OPTIONS": "changes Clang's flags",
}
_STUBS = "LD_LIBRARY_PATH"


def settings_in_force(facts: Facts) -> Iterator[DoctorFinding]:
    """Check fictl's settings and the ops' own, and names that are neither."""
    config, name = configuration(), "settings"
    wrong = {row.problem: row for row in config.settings if row.problem}
    for problem, row in wrong.items():
        way = "unset it" if row.name in facts.environ else f"edit {config.file}"
        yield error(name, problem, f"{way} ({row.doc})")
    for unknown, suggestion in config.unknown:
        fix = f"rename it to {suggestion}" if suggestion else f"unset {unknown}"
        text = f"{unknown} is set, and fictl knows no such name"
        yield warning(name, text, f"{fix}; `fictl config show` lists all")
    if not wrong:
        changed = [row.name for row in config.settings if row.origin != "default"]
        yield ok(name, ", ".join(changed) or "all at their defaults")


def flags(facts: Facts) -> Iterator[DoctorFinding]:
    """Check nvcc's own variables, which are in the key but easily forgotten."""
    for setting in (settings.NVCC_PREPEND_FLAGS, settings.NVCC_APPEND_FLAGS):
        if setting.get():
            yield warning(
                setting.name,
                f"{setting.get()!r} goes into every nvcc call, of fictl and of others",
                f"unset {setting.name}; FICTL_EXTRA_CUDAFLAGS is for fictl alone",
            )


def behind_the_key(facts: Facts) -> Iterator[DoctorFinding]:
    for name, effect in _BEHIND_THE_KEY.items():
        value = facts.environ.get(name, "")
        if value:
            yield warning(
                name,
                f"{value!r} {effect}, and no build is made again when that changes",
                f"unset {name}; FICTL_EXTRA_CFLAGS, _CUDAFLAGS and _LDFLAGS are part of the key",
            )


def stubs(facts: Facts) -> Iterator[DoctorFinding]:
    folders = facts.environ.get(_STUBS, "").split(":")
    bad = [folder for folder in folders if folder.rstrip("/").endswith("stubs")]
    if bad:
        yield warning(
            _STUBS,
            f"{bad[0]} holds a libcuda that is for linking only and hides the driver's",
            f"take it out of {_STUBS}",
        )
