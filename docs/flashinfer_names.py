"""The page of FlashInfer's public names: served, planned and refused, and what engines get."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fictl.compat.flashinfer._listing import STANDS_IN, PublicName, public_names, reached_names
from fictl.compat.flashinfer._names import VERSION
from fictl.compat.flashinfer._public import PLANNED, REFUSED, SERVED

INTRO = f"""# FlashInfer's names

The public names of FlashInfer {VERSION}, and what becomes of each: `fictl compat list` prints the same, `fictl compat list NAME` one, and
`--json` all, with the modules that have it and the engines that reach it. [Coming from FlashInfer](flashinfer.md) says how to use them.
"""
WAYS = {
    "always": "with a file of the engine",
    "tried": "with a way round",
    "inside": "when it is called",
    "asked": "by a question, or an attribute",
}


def page() -> str:
    names = public_names()
    parts = [INTRO, *_counts(names), *_served(names)]
    for status, title in ((PLANNED, "Planned"), (REFUSED, "Refused")):
        parts += [f"## {title}\n", "| why, or what serves | names |\n|---|---|"]
        parts += _by_reason(name for name in names if name.status == status)
        parts.append("")
    return "\n".join([*parts, *_engines()])


def _counts(names: list[PublicName]) -> Iterator[str]:
    yield f"| {SERVED} | {PLANNED} | {REFUSED} |\n|---|---|---|"
    counts = (sum(name.status == status for name in names) for status in (SERVED, PLANNED, REFUSED))
    yield "| " + " | ".join(map(str, counts)) + " |\n"


def _served(names: list[PublicName]) -> Iterator[str]:
    yield "## Served\n"
    yield " ".join(f"`{name.name}`" for name in names if name.status == SERVED) + "\n"


def _by_reason(names: Iterable[PublicName]) -> Iterator[str]:
    reasons: dict[str, list[str]] = {}
    for name in names:
        reasons.setdefault(name.reason, []).append(f"`{name.name}`")
    for reason, listed in sorted(reasons.items(), key=lambda item: -len(item[1])):
        yield f"| {reason} | {' '.join(listed)} |"


def _engines() -> Iterator[str]:
    yield "## Engines\n"
    yield (
        "Names that an engine's files import, and that are not served: those that it cannot start without can be imported and refuse "
        "their call, the others refuse their import. What an engine only asks for is not here for it, so that it goes another way.\n"
    )
    yield "| engine | imported | what it gets | names |\n|---|---|---|---|"
    groups: dict[tuple[str, str, str], list[str]] = {}
    for name in reached_names():
        if name.status != SERVED and name.way != "asked":
            gets = "refuses its call" if name.status == STANDS_IN else "refuses its import"
            short = name.name.removeprefix("flashinfer.")
            groups.setdefault((name.engine, WAYS[name.way], gets), []).append(f"`{short}`")
    for (engine, way, gets), listed in groups.items():
        yield f"| {engine} | {way} | {gets} | {' '.join(listed)} |"
    yield ""
