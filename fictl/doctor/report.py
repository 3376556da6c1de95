"""The environment as Markdown, to paste into a bug report."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib import metadata

from fictl.builds.configuration import SettingRow, configuration
from fictl.doctor.finding import DoctorFinding, tally
from fictl.doctor.short_paths import shorten
from fictl.jit.jobs import available_kib, usable_cores
from fictl.redact import redact
from fictl.version import describe

# Names of packages, or their beginnings.
_PACKAGES = (
    "apache-tvm-ffi",
    "cuda-",
    "cupti-python",
    "fictl",
    "flashinfer",
    "jinja2",
    "ninja",
    "numpy",
    "nvidia-",
    "pydantic",
    "tilelang",
    "torch",
    "triton",
    "nvidia-cutlass-dsl",
    "typer",
)


def make_report(findings: Sequence[DoctorFinding]) -> str:
    sections = {
        "Machine": _machine(),
        f"Findings: {tally(findings)}": _findings(findings),
        "Settings": _settings(),
        "Packages": _packages(),
    }
    body = "\n\n".join("\n".join([f"### {title}", "", *rows]) for title, rows in sections.items())
    return redact(shorten(f"## Environment of {describe()}\n\n{body}"))


def _machine() -> Iterator[str]:
    libc = " ".join(platform.libc_ver())
    rows = {
        "platform": platform.platform(),
        "libc": libc,
        "python": f"{platform.python_implementation()} {platform.python_version()}, {sys.executable}",
        "cores": str(usable_cores()),
        "memory": f"{available_kib() / 2**20:.1f} GiB free",
    }
    yield from _table(("", ""), rows.items())


def _findings(findings: Iterable[DoctorFinding]) -> Iterator[str]:
    signs = {"error": "✗", "warning": "!", "ok": "✓"}
    for finding in findings:
        first, *evidence = finding.text.splitlines() or [""]
        yield f"- {signs[finding.level]} **{finding.name}**: {first}" + (
            f" → {finding.fix}" * bool(finding.fix)
        )
        yield from (f"    - `{line.strip()}`" for line in evidence if line.strip())


def _settings() -> Iterator[str]:
    rows = [row for row in configuration().settings if row.origin != "default"]
    if rows:
        cells = ((row.name, _value(row), f"{row.origin}: {row.place}") for row in rows)
        yield from _table(("setting", "value", "origin"), cells)
        yield ""
    yield f"{'The others are' if rows else 'All are'} at their defaults."


def _value(row: SettingRow) -> str:
    return row.problem or str(row.value)


def _packages() -> Iterator[str]:
    versions = {
        name: package.version
        for package in metadata.distributions()
        if (name := (package.metadata["Name"] or "").lower()).startswith(_PACKAGES)
    }
    yield from _table(("package", "version"), sorted(versions.items()))


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(columns)} |"
    yield f"|{'---|' * len(columns)}"
    for row in rows:
        yield f"| {' | '.join(map(_cell, row))} |"


def _cell(text: str) -> str:
    return text.replace("|", r"\|")
