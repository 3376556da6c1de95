"""Breaking a list of arguments as ruff and clang-format do, so that generated files are theirs."""

from __future__ import annotations

from collections.abc import Sequence

WIDTH = 100


def py(prefix: str, items: Sequence[str], suffix: str) -> str:
    """`def f(`, parameters, `) -> int:` in one line, in three, or one a line. The first line's
    indentation is the prefix's.
    """
    line = f"{prefix}{', '.join(items)}{suffix}"
    if len(line) <= WIDTH:
        return line
    indent = " " * (len(prefix) - len(prefix.lstrip()))
    inner = f"{indent}    {', '.join(items)}"
    if len(inner) <= WIDTH:
        return f"{prefix}\n{inner}\n{indent}{suffix}"
    lines = "".join(f"{indent}    {item},\n" for item in items)
    return f"{prefix}\n{lines}{indent}{suffix}"


def py_literal(prefix: str, items: Sequence[str], suffix: str) -> str:
    """A tuple, list or dict: in one line, or one a line. A tuple of one has its comma."""
    comma = "," if len(items) == 1 and prefix.endswith("(") else ""
    line = f"{prefix}{', '.join(items)}{comma}{suffix}"
    if len(line) <= WIDTH:
        return line
    indent = " " * (len(prefix) - len(prefix.lstrip()))
    return "\n".join([prefix, *(f"{indent}    {item}," for item in items), f"{indent}{suffix}"])


def cpp(prefix: str, items: Sequence[str], suffix: str, outer: int = 0) -> str:
    """Break a list into lines, aligned below the first item. `outer` is how far the prefix stands
    to the right, where the template has written that indentation itself.
    """
    column = outer + len(prefix)
    lines = [prefix]
    used = column
    for number, item in enumerate(items):
        last = number == len(items) - 1
        text = item + (suffix if last else ",")
        space = 0 if lines[-1] == prefix or lines[-1].isspace() else 1
        if used + space + len(text) > WIDTH and number > 0:
            lines.append(" " * column)
            used, space = column, 0
        lines[-1] += " " * space + text
        used += space + len(text)
    if not items:
        lines[-1] += suffix
    return "\n".join(lines)


def py_value(prefix: str, text: str) -> str:
    """An expression after `    return ` or the like."""
    if len(prefix) + len(text) <= WIDTH:
        return prefix + text
    indent = " " * (len(prefix) - len(prefix.lstrip()))
    whole = f"{indent}    {text}"
    if len(whole) > WIDTH:
        whole = "\n".join(f"{indent}    {part}" for part in _operands(text, before=True))
    return f"{prefix}(\n{whole}\n{indent})"


def cpp_value(prefix: str, text: str, suffix: str = ";") -> str:
    """Break an expression into lines of whole operands, aligned below the first."""
    lines = [prefix]
    for part in _operands(text, before=False) if len(prefix + text + suffix) > WIDTH else [text]:
        space = "" if lines[-1].endswith(" ") else " "
        if len(lines[-1]) + len(space) + len(part) > WIDTH - len(suffix) and lines != [prefix]:
            lines.append(" " * len(prefix))
            space = ""
        lines[-1] += space + part
    return "\n".join(lines) + suffix


def cpp_function(prefix: str, items: Sequence[str], body: str) -> str:
    """A function of one statement, in one line where it fits."""
    line = f"{prefix}{', '.join(items)}) {{ {body} }}"
    if len(line) <= WIDTH:
        return line
    word, _, value = body.removesuffix(";").partition(" ")
    return f"{cpp(prefix, items, ') {')}\n{cpp_value(f'  {word} ', value)}\n}}"


def cpp_dispatch(
    tensor: str, types: Sequence[str], prefix: str, items: Sequence[str], suffix: str
) -> str:
    """DISPATCH_DTYPE in a launcher, around one call."""
    line = f"  DISPATCH_DTYPE(launch, {tensor}, T, ({', '.join(types)}), {{"
    if len(line) <= WIDTH:
        return f"{line}\n{cpp(f'    {prefix}', items, suffix)}\n  }});"
    margin = " " * len("  DISPATCH_DTYPE(")
    accepted = cpp(f"{margin}(", types, "),")
    body = cpp(f"{margin}  {prefix}", items, suffix)
    first = f"  DISPATCH_DTYPE(launch, {tensor}, T,"
    return f"{first}\n{accepted}\n{margin}{{\n{body}\n{margin}}});"


def _operands(text: str, before: bool) -> list[str]:
    """Cut at the operators that bind least, which stay at the front or at the end of a part."""
    for signs in ("+-", "*/"):
        parts = _cut(text, signs, before)
        if len(parts) > 1:
            return parts
    return [text]


def _cut(text: str, signs: str, before: bool) -> list[str]:
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        infix = letter in signs and text[at - 1 : at + 2 : 2] == "  "
        if depth == 0 and infix:
            end = at if before else at + 1
            parts.append(text[start:end].strip())
            start = end
    return [*parts, text[start:].strip()]
