"""Rewrites `__shared__` declarations as references to memory of the running block."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from fictl.emu.rewrite.captures import Reach, mentions
from fictl.emu.rewrite.markers import padding, without_markers
from fictl.emu.rewrite.scan import CONSTRUCT, Edit, Malformed, closing, find, split

SHARED = "__fictl_emu_shared__"  # the prelude's expansion of __shared__

_LABEL = re.compile(r"(?<!:):(?!:)")
# An attribute after `struct` belongs to the type.
_ATTRIBUTE = re.compile(
    r"(?:\b(?:struct|union|class)\s+)?(?P<attribute>\b(?:alignas|__attribute__)\s*)\("
)
_STORAGE = re.compile(rf"\b(?:extern|static|{SHARED})\b")
_DIMENSIONS = re.compile(r"(?:\s*\[(?:[^\[\]]|\[[^\[\]]*\])*\])*\s*$")
_DECLARATOR = re.compile(r"(?P<front>[\s*&(]*)\b(?P<name>[A-Za-z_]\w*)(?P<back>[\s)]*)$")
_NAMESPACE = re.compile(r'(?:\bnamespace\b[^;{}]*?(?P<name>[\w:]*)\s*|\bextern\s*"C(?:\+\+)?"\s*)$')
_PARAMETERS = re.compile(r"\)[\s\w:&<>,*-]*$")


@dataclass(frozen=True)
class Variable:
    """A shared variable: the code at its declaration, and the code that binds its name."""

    name: str
    storage: str
    reference: str


def namespace(text: str, open_braces: list[int]) -> str | None:
    """Return the namespace, as `::a::b::`, inside these braces; None in a function."""
    path = "::"
    for brace in open_braces:
        match = _NAMESPACE.search(text, max(0, brace - 300), brace)
        if match is None:
            return None
        path += f"{match['name']}::" if match["name"] not in (None, "", "namespace") else ""
    return path


def declaration(text: str, index: int, where: str | None) -> tuple[Edit, list[Variable]]:
    """Rewrite the declaration whose `__shared__` is at `index`; return its variables too.

    In a namespace (`where`), only types stay at this place; `bind` adds the names to functions.
    """
    begin = _statement_begin(text, index)
    end = find(text, ";", index) + 1
    try:
        variables = _variables(without_markers(text[begin : end - 1]), where or "")
    except Malformed as problem:
        raise Malformed(index, str(problem)) from None
    code = " ".join(
        variable.storage + (f" {variable.reference}" if where is None else "")
        for variable in variables
    )
    return Edit(begin, end, code + padding(text[begin:end])), variables


def bind(text: str, begin: int, variables: list[Variable]) -> tuple[list[Edit], list[Reach]]:
    """Bind variables declared outside of functions in each function after `begin` that uses them.

    The body stays a block of its own, so that its variables may hide the bound ones.
    """
    edits, reaches = [], []
    for opened, closed in _function_bodies(text, begin) if variables else ():
        parameters = text[_statement_begin(text, opened - 1) : opened]
        used = [
            variable
            for variable in variables
            if mentions(text[opened:closed], variable.name)
            and not mentions(parameters, variable.name)
        ]
        if used:
            references = " ".join(variable.reference for variable in used)
            edits += [Edit(opened, opened, f" {references} {{"), Edit(closed, closed, "}")]
            reaches += [Reach(opened, closed, variable.name) for variable in used]
    return edits, reaches


def _statement_begin(text: str, index: int) -> int:
    begin = max(text.rfind(mark, 0, index) for mark in ";{}") + 1
    marker = text.rfind("\n# ", begin, index)
    if marker >= 0:
        begin = text.index("\n", marker + 1)
    for label in _LABEL.finditer(text, begin, index):
        begin = label.end()
    return begin + len(text[begin:index]) - len(text[begin:index].lstrip())


def _variables(declaration: str, where: str) -> list[Variable]:
    dynamic = re.search(r"\bextern\b", declaration) is not None
    plain, attributes = _cut_attributes(" ".join(_STORAGE.sub(" ", declaration).split()))
    if split(plain, "=")[1:]:
        raise Malformed(0, "a __shared__ variable has no initialiser")
    declarators = _declarators(plain)
    base, declarators[0] = _cut_base(declarators[0])
    prefix = ""
    if "{" in base:  # define a type only once
        alias = f"fictl_emu_{_name(declarators[0])[1]}_base"
        prefix, base = f"typedef {base} {alias};", alias
    variables = [_variable(base, part, attributes, where, dynamic) for part in declarators]
    first = replace(variables[0], storage=f"{prefix} {variables[0].storage}".strip())
    return [first, *variables[1:]]


def _variable(base: str, declarator: str, attributes: str, where: str, dynamic: bool) -> Variable:
    front, name, back = _name(declarator)
    if dynamic:
        alias = f"fictl_emu_{name}"
        return Variable(
            name,
            f"typedef {base} {front}{alias}{back};",
            f"auto& {name} = *static_cast<{where}{alias}*>(::fictl_emu_dynamic_shared());",
        )
    # As a member, the variable keeps its declared alignment and dimensions.
    holder, key = f"fictl_emu_{name}_holder", f"fictl_emu_{name}_key"
    return Variable(
        name,
        f"struct {holder} {{ {attributes}{base} {front}{name}{back}; }}; static char {key};",
        f'auto& {name} = ::fictl_emu::shared<{where}{holder}>(&{where}{key}, "{name}").{name};',
    )


def _cut_attributes(declaration: str) -> tuple[str, str]:
    plain, attributes, done = "", "", 0
    for match in _ATTRIBUTE.finditer(declaration):
        if match.start() < done or match.start() != match.start("attribute"):
            continue
        end = closing(declaration, match.end() - 1) + 1
        attributes += declaration[match.start() : end] + " "
        plain += declaration[done : match.start()] + " "
        done = end
    return plain + declaration[done:], attributes


def _declarators(declaration: str) -> list[str]:
    """Split at the commas outside of template arguments."""
    parts: list[str] = []
    for part in split(declaration, ","):
        if parts and parts[-1].count("<") > parts[-1].count(">"):
            parts[-1] += f",{part}"
        else:
            parts.append(part)
    return parts


def _cut_base(declarator: str) -> tuple[str, str]:
    dimensions = _DIMENSIONS.search(declarator)
    assert dimensions is not None
    match = _DECLARATOR.search(declarator, 0, dimensions.start())
    if match is None or not declarator[: match.start()].strip():
        raise Malformed(0, f"not a declaration of a __shared__ variable: {declarator.strip()!r}")
    return declarator[: match.start()].strip(), declarator[match.start() :]


def _name(declarator: str) -> tuple[str, str, str]:
    dimensions = _DIMENSIONS.search(declarator)
    assert dimensions is not None
    match = _DECLARATOR.search(declarator, 0, dimensions.start())
    if match is None:
        raise Malformed(0, f"not a declaration of a __shared__ variable: {declarator.strip()!r}")
    return match["front"].strip(), match["name"], match["back"].strip() + dimensions[0].strip()


def _function_bodies(text: str, begin: int) -> list[tuple[int, int]]:
    """Return (begin, end) of the bodies of outermost functions, without the braces."""
    bodies: list[tuple[int, int]] = []
    for match in CONSTRUCT.finditer(text, begin):
        inside = bodies and match.start() < bodies[-1][1]
        if match[0] == "{" and not inside and _opens_function(text, match.start()):
            bodies.append((match.end(), closing(text, match.start())))
    return bodies


def _opens_function(text: str, brace: int) -> bool:
    header = text[_statement_begin(text, brace) : brace]
    plain, _ = _cut_attributes(header)
    return _PARAMETERS.search(plain) is not None
