"""A file of the user's as a header of the project."""

from __future__ import annotations

import re

from fictl.scaffold.new.brought.kernel_source import KernelSource

_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once\b", re.MULTILINE)
_GUARD = re.compile(
    r"\A\s*(?://[^\n]*\n|/\*.*?\*/|\s)*#\s*ifndef\s+(\w+)\s*\n\s*#\s*define\s+\1\b", re.DOTALL
)
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[^\n]*\n?", re.MULTILINE)


def header(source: KernelSource, namespace: str) -> str:
    """Make a header of the file: it may be included twice, and is in a namespace, by default the project's."""
    text = source.text.rstrip() + "\n"
    once = "" if _ONCE.search(text) or _GUARD.match(text) else "#pragma once\n\n"
    if source.function.scope:
        return _after_comment(text, once)
    return _after_comment(_wrapped(text, namespace), once)


def _wrapped(text: str, namespace: str) -> str:
    """All that comes after the includes."""
    last = max((match.end() for match in _INCLUDE.finditer(text)), default=0)
    once = _ONCE.search(text)
    last = last or (text.find("\n", once.start()) + 1 if once else 0)
    before, body = text[:last].rstrip(), text[last:].strip()
    end = ""
    if _GUARD.match(text):
        body, _, end = body.rpartition("#endif")
        body, end = body.strip(), f"\n#endif{end.rstrip()}\n"
    top = f"{before}\n\n" if before else ""
    return f"{top}namespace {namespace} {{\n\n{body}\n\n}}  // namespace {namespace}\n{end}"


def _after_comment(text: str, once: str) -> str:
    """A comment at the top stays there."""
    if not once:
        return text
    comment = re.match(r"(?://[^\n]*\n)+", text)
    end = comment.end() if comment else 0
    return text[:end] + once + text[end:].lstrip("\n")
