"""A page of the built site as a reader's browser parses it: tags, links, anchors, words."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

_VOID = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}
# Within these a wide line scrolls, or is broken by the style.
_BOXES = {"pre", "code", "table", "svg", "script", "style", "nav", "h1", "h2", "h3", "h4"}


@dataclass
class SitePage(HTMLParser):
    path: Path
    tags: set[str] = field(default_factory=set)
    ids: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    headings: list[str] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    long_words: list[str] = field(default_factory=list)
    alts: list[str | None] = field(default_factory=list)
    coloured: int = 0
    text: str = ""
    open: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        of = dict(attrs)
        self.tags.add(tag)
        self.ids |= {value for name in ("id", "name") if (value := of.get(name))}
        self.links += [value for name in ("href", "src") if (value := of.get(name))]
        if tag == "img":
            self.alts.append(of.get("alt"))
        if tag in ("h1", "th"):
            (self.headings if tag == "h1" else self.heads).append("")
        self.coloured += tag == "span" and "pre" in self.open and bool(of.get("class"))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while tag in self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        self.text += data
        if "h1" in self.open:
            self.headings[-1] += data
        if "th" in self.open:
            self.heads[-1] += data
        if not _BOXES & {*self.open}:
            self.long_words += [word for word in data.split() if len(word) > 45]
