"""Writes names and numbers as C++."""

from __future__ import annotations

import math

_KEYWORDS = frozenset(
    [
        "alignas",
        "alignof",
        "and",
        "and_eq",
        "asm",
        "auto",
        "bitand",
        "bitor",
        "bool",
        "break",
        "case",
        "catch",
        "char",
        "char16_t",
        "char32_t",
        "class",
        "compl",
        "const",
        "constexpr",
        "const_cast",
        "continue",
        "decltype",
        "default",
        "delete",
        "do",
        "double",
        "dynamic_cast",
        "else",
        "enum",
        "explicit",
        "export",
        "extern",
        "false",
        "float",
        "for",
        "friend",
        "goto",
        "if",
        "inline",
        "int",
        "long",
        "mutable",
        "namespace",
        "new",
        "noexcept",
        "not",
        "not_eq",
        "nullptr",
        "operator",
        "or",
        "or_eq",
        "private",
        "protected",
        "public",
        "register",
        "reinterpret_cast",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "static_assert",
        "static_cast",
        "struct",
        "switch",
        "template",
        "this",
        "thread_local",
        "throw",
        "true",
        "try",
        "typedef",
        "typeid",
        "typename",
        "union",
        "unsigned",
        "using",
        "virtual",
        "void",
        "volatile",
        "wchar_t",
        "while",
        "xor",
        "xor_eq",
        "linux",
        "unix",
    ]
)
_LARGEST = (1 << 31) - 1


def identifier(name: str, taken: frozenset[str] = frozenset()) -> str:
    """Return a C++ name; append '_' to keywords, names in capitals (macros) and names in `taken`.

    Letters beyond ASCII are written as their code.
    """
    plain = "".join(letter if letter.isascii() else f"u{ord(letter):04x}" for letter in name)
    plain = f"{plain}_" if plain in _KEYWORDS or plain.isupper() else plain
    while plain in taken:
        plain += "_"
    return plain


def number(value: float | bool) -> str | None:
    """Return a literal; None for an integer that does not fit into 32 bits."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if abs(value) <= _LARGEST else None
    if math.isnan(value):
        return "NAN"
    return "INFINITY" if math.isinf(value) or value > 3.4028235677973366e38 else f"{value!r}f"
