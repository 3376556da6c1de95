"""Parses the text of an asm statement into instructions, labels and scopes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from fictl.emu.rewrite.scan import Malformed, find, split

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_LABEL = re.compile(r"([A-Za-z_$][\w$]*)\s*:(?!:)")
_REGISTERS = re.compile(r"\.reg\s*(?:\.v\d\s*)?\.(\w+)\s+(.*)", re.DOTALL)
_RANGE = re.compile(r"(.*)<(\d+)>")
_STATEMENT = re.compile(r"(?:@\s*(!?)\s*([%\w$]+)\s+)?([A-Za-z][\w.:]*)\s*(.*)", re.DOTALL)


@dataclass(frozen=True)
class Written:
    """An instruction as written, not yet translated."""

    opcode: str
    operands: tuple[str, ...] = ()
    predicate: str = ""
    negated: bool = False


@dataclass(frozen=True)
class Label:
    name: str


@dataclass
class Scope:
    """A pair of braces: its registers, then its instructions."""

    registers: dict[str, str] = field(default_factory=dict)  # name -> type
    items: list[Written | Label | Scope] = field(default_factory=list)


def parse(text: str) -> Scope:
    """Parse a template whose C escapes are already resolved."""
    text = _COMMENT.sub(" ", text)
    scopes = [Scope()]
    at = 0
    while (at := _over_space(text, at)) < len(text):
        label = _LABEL.match(text, at)
        if text[at] == "{":
            scopes.append(Scope())
            scopes[-2].items.append(scopes[-1])
            at += 1
        elif text[at] == "}":
            scopes.pop()
            if not scopes:
                raise Malformed(0, "inline PTX closes a brace that it has not opened")
            at += 1
        elif label is not None:
            scopes[-1].items.append(Label(label[1]))
            at = label.end()
        else:
            end = _statement_end(text, at)
            _add(scopes[-1], text[at:end].strip())
            at = end + 1
    if len(scopes) > 1:
        raise Malformed(0, "inline PTX opens a brace that it does not close")
    return scopes[0]


def _statement_end(text: str, begin: int) -> int:
    try:
        return find(text, ";", begin)
    except Malformed:  # the last statement needs no semicolon
        if text[begin:].count("{") != text[begin:].count("}"):
            raise Malformed(0, f"no ';' ends {text[begin:].strip()!r} in inline PTX") from None
        return len(text)


def _add(scope: Scope, statement: str) -> None:
    if not statement:
        return
    registers = _REGISTERS.fullmatch(statement)
    if registers is not None:
        for name in registers[2].split(","):
            scope.registers.update(dict.fromkeys(_expand(name.strip()), registers[1]))
    elif not statement.startswith((".pragma", ".loc")):
        scope.items.append(_instruction(statement))


def _expand(name: str) -> list[str]:
    """Expand a declared name: `r<3>` stands for r0, r1 and r2."""
    several = _RANGE.fullmatch(name)
    return [f"{several[1]}{i}" for i in range(int(several[2]))] if several else [name]


def _instruction(statement: str) -> Written:
    match = _STATEMENT.fullmatch(statement)
    if match is None:
        raise Malformed(0, f"not an instruction of PTX: {statement!r}")
    operands = tuple(part.strip() for part in split(match[4], ",")) if match[4] else ()
    return Written(match[3], operands, match[2] or "", bool(match[1]))


def _over_space(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at
