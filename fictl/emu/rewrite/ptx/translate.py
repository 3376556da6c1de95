"""Translates a parsed asm statement to C++ statements."""

from __future__ import annotations

from fictl.emu.rewrite.ptx import (
    arithmetic,
    bulk,
    cluster,
    control,
    convert,
    mbarrier,
    memory,
    warp,
    wgmma,
)
from fictl.emu.rewrite.ptx.control import SITE, label
from fictl.emu.rewrite.ptx.instruction import translate
from fictl.emu.rewrite.ptx.operands import Names, NotEmulated, register, register_type
from fictl.emu.rewrite.ptx.syntax import Label, Scope, Written

# These modules register their translations when imported.
FAMILIES = (arithmetic, bulk, cluster, control, convert, mbarrier, memory, warp, wgmma)


def translate_scope(scope: Scope, names: Names) -> str:
    names.scopes.append(scope.registers)
    parts = [_declare(name, type_) for name, type_ in scope.registers.items()]
    parts += [_item(item, names) for item in scope.items]
    names.scopes.pop()
    return f"{{ {' '.join(parts)} }}"


def _declare(name: str, type_: str) -> str:
    try:
        return f"{register_type(type_)} {register(name)}{{}};"
    except NotEmulated:
        return ""  # instructions that use such a register are refused


def _item(item: Scope | Label | Written, names: Names) -> str:
    if isinstance(item, Scope):
        return translate_scope(item, names)
    if isinstance(item, Label):
        return f"{label(item.name, names.labels)}:;"
    code = _instruction(item, names)
    if not item.predicate:
        return code
    return f"if ({'!' if item.negated else ''}{names.value(item.predicate)}) {{ {code} }}"


def _instruction(written: Written, names: Names) -> str:
    try:
        return translate(written, names)
    except NotEmulated as why:
        what = f"PTX instruction {written.opcode}"
        if str(why) not in written.opcode:
            what += f" ({why})"
        return f'::fictl_emu_missing("{_quoted(what)}", {SITE});'


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
