"""A function found in C++ by text: its attributes, template, parameters, body, and namespaces."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.MULTILINE)
_NAMESPACE = re.compile(r"\bnamespace\s*([\w:]*)\s*$")
_TEMPLATE = re.compile(r"\s*\btemplate\s*(?=<)")
_BOUNDS = re.compile(r"__launch_bounds__\s*\(\s*([\w:]+)[^()]*\)")
_WORDS = re.compile(
    r"\b(?:__global__|__host__|__device__|__forceinline__|__noinline__|static|inline|constexpr|"
    r'extern)\b|" *"'
)
_KERNEL = re.compile(r"__global__[^;{}()]*?\b(\w+)\s*\(")


@dataclass(frozen=True)
class TemplateParameter:
    """`is_type` of `typename T`; `default` is empty where there is none."""

    name: str
    is_type: bool
    default: str


@dataclass(frozen=True)
class CppFunction:
    """A definition. `scope` is what is before its name where it is called from outside."""

    name: str
    line: int
    result: str
    is_global: bool
    bounds: str
    template: tuple[TemplateParameter, ...]
    parameters: tuple[str, ...]
    body: str
    scope: str
    at_namespace_level: bool


def without_strings(code: str) -> str:
    """Blank strings and directives of C++ code, which keeps its length."""
    code = _STRING.sub(lambda m: '"' + " " * (len(m[0]) - 2) + '"', code)
    return _DIRECTIVE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), code)


def kernels(code: str) -> list[str]:
    """The names of the `__global__` functions."""
    return [match[1] for match in _KERNEL.finditer(_BOUNDS.sub("", without_strings(code)))]


def functions(code: str, name: str) -> Iterator[CppFunction]:
    """The definitions of that name."""
    plain = without_strings(code)
    for match in re.finditer(rf"\b{re.escape(name)}\s*\(", plain):
        end = closing(plain, match.end() - 1)
        opened = re.match(r"\s*(?:noexcept\s*)?\{", plain[end + 1 :]) if end > 0 else None
        if opened is None:
            continue
        start = max(plain.rfind(sign, 0, match.start()) for sign in ";{}") + 1
        brace = end + opened.end()
        yield _function(plain, name, start, (match.start(), match.end() - 1, end, brace))


def _function(code: str, name: str, start: int, places: tuple[int, int, int, int]) -> CppFunction:
    at, opening, end, brace = places
    head, template = _template(code[start:at])
    bounds = _BOUNDS.search(head)
    scopes = [_scope(text) for text in _around(code, at)]
    return CppFunction(
        name=name,
        line=code.count("\n", 0, at) + 1,
        result=" ".join(_WORDS.sub(" ", _BOUNDS.sub(" ", head)).split()),
        is_global="__global__" in head,
        bounds=bounds[1] if bounds else "",
        template=template,
        parameters=tuple(split(code[opening + 1 : end])),
        body=code[brace : closing(code, brace) + 1],
        scope="".join(f"{scope}::" for scope in scopes if scope),
        at_namespace_level=None not in scopes,
    )


def _template(head: str) -> tuple[str, tuple[TemplateParameter, ...]]:
    """The head without its template, and the template's parameters."""
    match = _TEMPLATE.match(head)
    if match is None:
        return head, ()
    end = closing(head, match.end())
    return head[end + 1 :], tuple(map(_parameter, split(head[match.end() + 1 : end])))


def _parameter(text: str) -> TemplateParameter:
    declared, _, default = text.partition("=")
    words = declared.replace("...", " ").split()
    return TemplateParameter(words[-1], words[0] in ("typename", "class"), default.strip())


def _around(code: str, at: int) -> list[str]:
    """List the texts before each brace that is open at a place."""
    opened: list[str] = []
    last = 0
    for match in re.finditer(r"[{};]", code[:at]):
        if match[0] == "{":
            opened.append(code[last : match.start()])
        elif match[0] == "}" and opened:
            opened.pop()
        last = match.end()
    return opened


def _scope(text: str) -> str | None:
    """A namespace's name, empty for one without and for `extern "C"`; None for anything else."""
    named = _NAMESPACE.search(text)
    if named:
        return named[1]
    return "" if re.search(r'\bextern\s*"[^"]*"\s*$', text) else None


def closing(code: str, at: int) -> int:
    """Find where the bracket at `at` closes; -1 if nowhere."""
    closes = {"(": ")", "{": "}", "<": ">"}[code[at]]
    depth = 0
    for place in range(at, len(code)):
        depth += (code[place] == code[at]) - (code[place] == closes)
        if depth == 0:
            return place
    return -1


def split(text: str) -> list[str]:
    """At the commas that are inside no brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "(<[{") - (letter in ")>]}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [" ".join(part.split()) for part in parts if part.strip()]
