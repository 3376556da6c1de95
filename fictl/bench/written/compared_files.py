"""The files of `fictl compare --out`, each in the format of its ending."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from fictl.bench.compare.outcome import CompareOutcome
from fictl.bench.written.compared_csv import compared_csv
from fictl.bench.written.compared_junit import compared_junit
from fictl.bench.written.compared_markdown import compared_markdown
from fictl.bench.written.compared_page import compared_page
from fictl.bench.written.compared_picture import compared_picture
from fictl.bench.written.file_format import formats
from fictl.bench.written.picture_file import write_picture
from fictl.user_file import write_text


def _json(outcome: CompareOutcome) -> str:
    document = {
        "schema": "fictl.compare/1",
        "ok": not outcome.exit_code,
        "data": outcome.to_dict(),
        "error": None,
    }
    return json.dumps(document, indent=1) + "\n"


_TEXTS = {
    "markdown": compared_markdown,
    "junit": compared_junit,
    "csv": compared_csv,
    "json": _json,
}
FORMATS = (*_TEXTS, "plot")


def formats_of(paths: Sequence[Path], given: str) -> list[tuple[Path, str]]:
    """Pair each path with its format, or raise before anything is measured."""
    return formats(paths, given, FORMATS)


def write_compared(outcome: CompareOutcome, files: Sequence[tuple[Path, str]]) -> None:
    for path, kind in files:
        if kind == "plot":
            write_picture(compared_picture(outcome), path, lambda: compared_page(outcome))
        else:
            write_text("--out", path, _TEXTS[kind](outcome))
