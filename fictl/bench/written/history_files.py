"""The files of `fictl history --out`, each in the format of its ending."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fictl.bench.history.levels import HistorySeries
from fictl.bench.written.file_format import formats
from fictl.bench.written.history_page import history_page
from fictl.bench.written.history_picture import history_picture
from fictl.bench.written.history_texts import history_csv, history_json, history_markdown
from fictl.bench.written.picture_file import write_picture
from fictl.user_file import write_text

_TEXTS = {"markdown": history_markdown, "csv": history_csv, "json": history_json}
FORMATS = (*_TEXTS, "plot")


def formats_of(paths: Sequence[Path], given: str) -> list[tuple[Path, str]]:
    return formats(paths, given, FORMATS)


def write_history(series: Sequence[HistorySeries], files: Sequence[tuple[Path, str]]) -> None:
    for path, kind in files:
        if kind == "plot":
            write_picture(history_picture(series), path, lambda: history_page(series))
        else:
            write_text("--out", path, _TEXTS[kind](series))
