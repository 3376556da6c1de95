"""Rewrites inline PTX as C++; inline assembly for the host CPU stays."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fictl.emu.rewrite.markers import padding, without_markers
from fictl.emu.rewrite.ptx.instruction import TABLE
from fictl.emu.rewrite.ptx.operands import Names, P
from fictl.emu.rewrite.ptx.syntax import Scope, Written, parse
from fictl.emu.rewrite.ptx.translate import translate_scope
from fictl.emu.rewrite.ptx.wgmma import registers
from fictl.emu.rewrite.scan import Edit, Malformed, closing, split

_HEAD = re.compile(
    r"(?:asm|__asm__|__asm)((?:\s+(?:volatile|__volatile__|__volatile|inline))*)\s*\("
)
_BEFORE_LABEL = re.compile(r"[\w)\]]\s*$")
_STRINGS = re.compile(
    r'R"(?P<fence>[^()\s]*)\((?P<raw>.*?)\)(?P=fence)"|"(?P<plain>(?:\\.|[^"\\])*)"', re.DOTALL
)
_OPERAND = re.compile(r'\s*(?:\[\s*(\w+)\s*\]\s*)?"([^"]*)"\s*(?=\()')
_REGISTERS = {
    "r": "uint32_t",
    "f": "float",
    "l": "uint64_t",
    "h": "uint16_t",
    "d": "double",
    "q": "unsigned __int128",
    "n": "int64_t",
    "i": "int64_t",
}
_STATEMENT_WORDS = ("else", "do")


@dataclass(frozen=True)
class _Operand:
    name: str
    register: str  # its C++ type
    expression: str
    is_output: bool
    is_read: bool
    ties_to: int | None = None  # the output whose register this input shares


def assembly(text: str, index: int, number: int) -> Edit | None:
    """Rewrite the statement whose `asm` is at `index`; None if it is not PTX.

    number: makes the statement's labels unique.
    """
    head = _HEAD.match(text, index)
    if head is None or text[index - 1 : index].isalnum() or text[index - 1 : index] == "_":
        return None
    end = closing(text, head.end() - 1) + 1
    sections = split(without_markers(text[head.end() : end - 1]), ":")
    if len(sections) == 1 and not head[1] and _names_a_declaration(text, index):
        return None
    try:
        code = _translate(sections, number)
    except Malformed as problem:
        raise Malformed(index, str(problem)) from None
    return None if code is None else Edit(index, end, code + padding(text[index:end]))


def _names_a_declaration(text: str, index: int) -> bool:
    """True for `int x asm("y")`, which names a symbol."""
    before = text[max(0, index - 100) : index].rstrip()
    return _BEFORE_LABEL.search(before) is not None and not before.endswith(_STATEMENT_WORDS)


def _translate(sections: list[str], number: int) -> str | None:
    template = _template(sections[0])
    operands = _operands(sections)
    if operands is None:
        return None
    if not template.strip():
        # A fence on registers. To a host compiler "+f" is a register of the x87.
        return 'asm volatile("" ::: "memory")' if operands else None
    scope = parse(template)
    if _is_of_the_host(scope):
        return None
    named = {operand.name: i for i, operand in enumerate(operands) if operand.name}
    names = Names(len(operands), named, labels=f"label{number}")
    body = translate_scope(scope, names)
    held = set(map(names.operand_number, registers(scope)))
    before = " ".join(_before(i, operand, i in held) for i, operand in enumerate(operands))
    after = " ".join(
        _after(i, operand)
        for i, operand in enumerate(operands)
        if operand.is_output and i not in held
    )
    return f"do {{ {before} {body} {after} }} while (0)"


def _template(section: str) -> str:
    parts = []
    for match in _STRINGS.finditer(section):
        raw = match["raw"]
        parts.append(_unescape(match["plain"]) if raw is None else raw)
    return "".join(parts).replace("%=", "").replace("%%", "%")


def _unescape(text: str) -> str:
    plain = {"n": "\n", "t": " ", "r": " ", "\n": ""}
    return re.sub(r"\\(.)", lambda match: plain.get(match[1], match[1]), text, flags=re.DOTALL)


def _operands(sections: list[str]) -> list[_Operand] | None:
    """Parse the operands; None if one needs a register that PTX lacks."""
    operands: list[_Operand] = []
    for number, section in enumerate(sections[1:3]):
        for text in split(section, ",") if section.strip() else []:
            operand = _operand(text, operands, is_output=number == 0)
            if operand is None:
                return None
            operands.append(operand)
    return operands


def _operand(text: str, others: list[_Operand], *, is_output: bool) -> _Operand | None:
    match = _OPERAND.match(text)
    if match is None:
        raise Malformed(0, f"not an operand of asm: {text.strip()!r}")
    expression = re.sub(r"\s*\n\s*", " ", text[match.end() :]).strip()
    letters = match[2].strip("=+&% ")
    if letters.isdigit() and int(letters) < len(others):
        tied = int(letters)
        return _Operand(match[1] or "", others[tied].register, expression, False, True, tied)
    if letters not in _REGISTERS:
        return None
    is_read = not is_output or "+" in match[2]
    return _Operand(match[1] or "", _REGISTERS[letters], expression, is_output, is_read)


def _is_of_the_host(scope: Scope) -> bool:
    """True for host opcodes such as `pause`: nearly all PTX opcodes have a dot."""
    first = next((item for item in scope.items if isinstance(item, Written)), None)
    return first is not None and "." not in first.opcode and first.opcode not in TABLE


def _before(number: int, operand: _Operand, is_held: bool) -> str:
    """Declare the register; one that is held for longer than the statement is the variable itself."""
    name = f"fictl_emu_{number}"
    given = f"{P}in<{operand.register}>{operand.expression}"
    if operand.ties_to is not None:
        return f"auto& {name} = fictl_emu_{operand.ties_to}; {name} = {given};"
    if is_held and operand.is_output:
        return f"auto& {name} = {operand.expression};"
    if is_held:
        return f"const {P}Source {name} = {P}source{operand.expression};"
    constant = "" if operand.is_output else "const "
    return f"{constant}{operand.register} {name}{f' = {given}' if operand.is_read else '{}'};"


def _after(number: int, operand: _Operand) -> str:
    target = operand.expression
    return f"{target} = {P}out<std::decay_t<decltype({target})>>(fictl_emu_{number});"
