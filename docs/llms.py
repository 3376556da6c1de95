"""The documentation for language models: an index, llms.txt, and in a built site all pages as they are written.

`python docs/llms.py site` adds every page as Markdown, at the address that the index gives, and all of them in one
file, llms-full.txt. The format is that of llmstxt.org.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

DOCS = Path(__file__).resolve().parent
_LONGEST = 240

INTRODUCTION = """\
# fictl

> {description}

Each link is a page as it is written, in Markdown; [all pages in one file](llms-full.txt). An agent that works with
fictl gets step-by-step skills by `fictl skills install`, and its commands as tools by `fictl mcp`.
"""


class Page(NamedTuple):
    """A page of the navigation: its section, its path below docs/, its text."""

    section: str
    path: str
    text: str

    @property
    def title(self) -> str:
        title = re.search(r"^# (.+)$", self.text, re.MULTILINE)
        assert title is not None, f"{self.path} has no title"
        return title[1]

    @property
    def summary(self) -> str:
        """The first sentences below the title, without markup of their own."""
        after = self.text.partition(f"# {self.title}\n")[2]
        blocks = (block.strip() for block in re.split(r"\n\s*\n", after))
        first = next((block for block in blocks if re.match(r"[A-Za-z*\[]|`[^`]", block)), "")
        line = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(first.split()))
        return _shortened(line)


def _shortened(line: str) -> str:
    """Keep whole sentences, as many as an index has room for; the first one always."""
    sentences = re.split(r"(?<=[.:!?]) ", line)
    kept = sentences[0]
    for sentence in sentences[1:]:
        if len(kept) + len(sentence) >= _LONGEST:
            break
        kept += f" {sentence}"
    return kept


def pages() -> Iterator[Page]:
    """Yield the pages in the order of the navigation."""
    for section, path in _entries(_settings()["nav"], ""):
        yield Page(section, path, (DOCS / path).read_text(encoding="utf-8"))


def index() -> str:
    """Return llms.txt."""
    lines = [INTRODUCTION.format(description=_settings()["site_description"])]
    section = None
    for page in pages():
        if page.section != section:
            section = page.section
            lines.append(f"{'' if len(lines) == 1 else chr(10)}## {section or 'Pages'}\n")
        lines.append(f"- [{page.title}]({page.path}): {page.summary}".rstrip(": "))
    return "\n".join(lines) + "\n"


def write_into(site: Path) -> None:
    """Add the Markdown of all pages to a built site, one by one and in one file."""
    whole = []
    for page in pages():
        target = site / page.path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(DOCS / page.path, target)
        whole.append(f"<!-- {page.path} -->\n\n{page.text.strip()}\n")
    (site / "llms-full.txt").write_text("\n\n".join(whole), encoding="utf-8")


def _settings() -> Any:
    return yaml.load((DOCS.parent / "mkdocs.yml").read_text(encoding="utf-8"), _Loader)


def _entries(nav: list[Any], section: str) -> Iterator[tuple[str, str]]:
    """Yield (section, path); of nested sections the outer one counts."""
    for entry in nav:
        for title, what in entry.items() if isinstance(entry, dict) else (("", entry),):
            if isinstance(what, list):
                yield from _entries(what, section or title)
            elif not re.match(r"\w+:", what):
                yield section, what


class _Loader(yaml.SafeLoader):
    """Reads what extensions of a theme name in Python as nothing: no part of the navigation."""


_Loader.add_multi_constructor("", lambda loader, suffix, node: None)  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    write_into(Path(sys.argv[1]))
