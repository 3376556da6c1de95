"""Parser of compute-sanitizer's reports in the output of a program."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fictl.emu.report import Place, Report, Thread
from fictl.emu.symbols import is_of_toolkit, plain_name
from fictl.report.test_markers import NAMED, STARTED
from fictl.sanitize.classify import ASSERT, classify
from fictl.sanitize.sanitizer_report import HostFrame, SanitizerReport

# The program's text may come before it on the line, such as pytest's dots.
_OURS = re.compile(r"(?<!=)={9}(?: (?P<text>.*)|$)")
_PLACE = re.compile(
    r"(?:at |Device Frame:\s*)(?P<function>.+?)\+0x[0-9a-f]+(?: in (?P<file>.+):(?P<line>\d+))?$"
)
_THREAD = re.compile(r"by thread (\(\d+,\d+,\d+\)) in block (\(\d+,\d+,\d+\))")
_HOST = re.compile(
    r"Host Frame:\s*(?P<function>.*?)(?: in (?P<file>[^\[\]]+?):(?P<line>\d+))?"
    r"(?: \[0x[0-9a-f]+\] in (?P<module>.+))?$"
)
_ASSERTED = re.compile(r"\S.*: block: \[[\d,]+\], thread: \[[\d,]+\] Assertion `.*` failed\.")
_UNPRINTED = re.compile(r"={9} ERROR SUMMARY: (\d+) errors? (?:was|were) not printed")
_COUNTED = re.compile(
    r"={9} (?:ERROR|RACECHECK) SUMMARY: (\d+) (?:errors?|hazards?.*)$", re.MULTILINE
)


@dataclass
class _Block:
    """A title and the lines that belong to it."""

    title: str
    test: str
    details: list[str] = field(default_factory=list)

    def add(self, line: str) -> None:
        """Add a line; with full paths, the module of a host frame is on a line of its own."""
        if line.startswith("in ") and self.details and self.details[-1].startswith("Host Frame"):
            self.details[-1] += f" {line}"
        else:
            self.details.append(line)

    def record(self) -> SanitizerReport | None:
        title = classify(self.title, self.details)
        if title is None:
            return None
        places = [place for place in map(_PLACE.match, self.details) if place]
        thread = next(filter(None, map(_THREAD.match, self.details)), None)
        host = tuple(map(_host, filter(None, map(_HOST.match, self.details))))
        report = Report(
            kind=title.kind,
            kernel=title.kernel or (plain_name(places[-1]["function"]) if places else ""),
            what=title.what,
            cause=title.cause,
            place=title.place or _place(places) or _on_host(host),
            at=Thread(_triple(thread[2]), _triple(thread[1])) if thread else None,
            other=title.other,
            facts=title.facts,
        )
        named = (frame.function for frame in host if frame.function.startswith(NAMED))
        return SanitizerReport(report, host, next(named, self.test).removeprefix(NAMED))


def records(text: str) -> list[SanitizerReport]:
    """Parse the reports in a tool's output, in their order."""
    return [record for block in _blocks(text) if (record := block.record())]


def unprinted(text: str) -> int:
    """Number of reports that the tool counted and did not print."""
    return sum(map(int, _UNPRINTED.findall(text)))


def counted(text: str) -> int:
    """Number of reports by the tool's own count, to notice reports that were not parsed."""
    return sum(map(int, _COUNTED.findall(text)))


def program_output(line: str) -> str:
    """Output of the program on a line, without the tool's and without test markers."""
    match = _OURS.search(line)
    output = line[: match.start()] if match else line
    return "" if output.startswith(STARTED) else output


def _blocks(text: str) -> Iterator[_Block]:
    block, test, asserted = None, "", ""
    for line in text.splitlines():
        match = _OURS.search(line)
        if match is None:
            test = line.removeprefix(STARTED) if line.startswith(STARTED) else test
            asserted = line if _ASSERTED.match(line) else asserted
            continue
        words = match["text"] or ""
        if block and words.startswith("    "):
            block.add(words.strip())
            continue
        if block:
            yield block
        block = _Block(words, test) if words.strip() else None
        if block and words == ASSERT:
            block.add(asserted)
    if block:
        yield block


def _host(match: re.Match[str]) -> HostFrame:
    return HostFrame(
        match["function"], match["file"] or "", int(match["line"] or 0), match["module"] or ""
    )


def _place(frames: Sequence[re.Match[str]]) -> Place | None:
    """Innermost line of the kernel, with the inlined calls that lead to it and those within it."""
    known = [(frame["file"], int(frame["line"])) for frame in frames if frame["line"]]
    return Place.among(known, own=lambda file: not is_of_toolkit(file)) if known else None


def _on_host(host: Sequence[HostFrame]) -> Place:
    """Line of a host source, where no kernel is to blame; headers are fictl's own."""
    known = [Place(frame.file, frame.line) for frame in host if frame.module and frame.line]
    sources = [place for place in known if Path(place.file).suffix in (".cu", ".cpp", ".cc")]
    return next(iter(sources or known), Place())


def _triple(text: str) -> tuple[int, int, int]:
    x, y, z = map(int, text.strip("()").split(","))
    return x, y, z
