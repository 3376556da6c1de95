"""fictl dataset report: what the results of a dataset come to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fictl.cli import console
from fictl.cli.dataset.run_flags import Definitions, OpTypes, Root, names
from fictl.cli.options import Json
from fictl.cli.outputs import writes_file_and_folders
from fictl.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.dataset.report.links import Links
    from fictl.dataset.report.report import Report

_FORMATS = {".md": "md", ".markdown": "md", ".html": "html", ".htm": "html"}


EXAMPLES = {
    "fictl dataset report dataset": "the best solution of each definition",
    "fictl dataset report dataset --format html --out report.html": "as a page",
}


def command(
    root: Root = None,
    definitions: Definitions = None,
    op_type: OpTypes = None,
    hardware: Annotated[
        list[str] | None,
        typer.Option(
            "--hardware",
            metavar="PATTERN",
            help="Select results by hardware, as in '*H200*'.",
            show_default=False,
        ),
    ] = None,
    format: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="md|html",
            help="Print a document in this format.",
            show_default=False,
        ),
    ] = "",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Output file, as in report.html.",
            callback=writes_file_and_folders,
            show_default=False,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Summarise the latest results: the best solution of each definition, speedups and failures."""
    from fictl.dataset.report.links import Links
    from fictl.dataset.report.report import report
    from fictl.trace import TraceSet

    kind = _kind(format, out)
    dataset = TraceSet.from_path(root)
    summary = report(dataset, names(definitions), names(op_type), names(hardware))
    data = summary.to_dict()
    if not kind:
        console.show(console.Result(data, lambda screen: _show(screen, summary)))
        return
    text = _document(summary, kind, Links(dataset, out) if out else None)
    if out is None:
        console.show(console.Result(data, text.rstrip("\n")))
        return
    _write(out, text)
    console.show(console.Result({**data, "path": str(out)}, f"wrote {out}"))


def _kind(text: str, out: Path | None) -> str:
    if text and text not in _FORMATS.values():
        raise UsageError(f"--format is {text!r}", "md or html")
    if text or out is None:
        return text
    if out.suffix not in _FORMATS:
        raise UsageError(f"{out} has no known format", "its name ends in .md or .html")
    return _FORMATS[out.suffix]


def _document(summary: Report, kind: str, links: Links | None) -> str:
    from fictl.dataset.report.html import html
    from fictl.dataset.report.markdown import markdown

    return html(summary, links) if kind == "html" else markdown(summary)


def _write(path: Path, text: str) -> None:
    from fictl.paths import write_atomic

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, text)
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written: {error.strerror}", "give another --out"
        ) from None


def _show(screen: Console, summary: Report) -> None:
    from fictl.dataset.report.tables import headline, remarks, sections

    screen.print(headline(summary), markup=False, style="bold", soft_wrap=True)
    for remark in remarks(summary):
        screen.print(f"  {remark}", markup=False, soft_wrap=True)
    for section in sections(summary):
        screen.print(f"\n{section.title}", markup=False, style="bold")
        console.print_table(console.Table(section.columns, section.rows))
