from __future__ import annotations

from pathlib import Path

import pytest

from fictl.bench.written.file_format import formats
from fictl.errors import UsageError

KNOWN = ("markdown", "junit", "csv", "json", "plot")


@pytest.mark.parametrize(
    ("name", "given", "kind"),
    [
        ("a.md", "", "markdown"),
        ("a.XML", "", "junit"),
        ("a.png", "", "plot"),
        ("a.csv", "json", "json"),
        ("step_summary_1", "markdown", "markdown"),
    ],
)
def test_the_ending_or_the_word_names_it(name: str, given: str, kind: str) -> None:
    assert formats([Path(name)], given, KNOWN) == [(Path(name), kind)]


@pytest.mark.parametrize(
    ("name", "given"), [("a", ""), ("a.pdf", ""), ("a.md", "plot"), ("a", "pdf")]
)
def test_what_names_none_is_refused(name: str, given: str) -> None:
    with pytest.raises(UsageError):
        formats([Path(name)], given, KNOWN)


def test_only_what_the_command_writes_is_known() -> None:
    with pytest.raises(UsageError, match="names no format"):
        formats([Path("a.xml")], "", ("csv", "plot"))


def test_a_format_of_no_file_is_refused() -> None:
    with pytest.raises(UsageError, match="--format csv is of no file"):
        formats([], "csv", KNOWN)
    with pytest.raises(UsageError, match="there is no format 'pdf'"):
        formats([], "pdf", KNOWN)
