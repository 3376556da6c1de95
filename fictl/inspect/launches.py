"""Block sizes that sources launch kernels with, as far as their text tells."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_CONSTANT = re.compile(r"\bconstexpr\s+(?:[\w:]+\s+)+(?P<name>\w+)\s*=\s*(?P<value>[^;{}]+);")
_MACRO = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+(?P<name>\w+)[ \t]+(?P<value>[^\n]+)$", re.MULTILINE
)
# The template arguments of a kernel hold no semicolon and no brace.
_CHEVRONS = re.compile(
    r"\b(?P<kernel>\w+)\s*(?:<[^;{}]*?>)?\s*<<<(?P<arguments>[^;{}]*?)>>>", re.DOTALL
)
_LAUNCH = re.compile(r"\blaunch\s*<\s*\(?\s*(?:\w+::)*(?P<kernel>\w+)")
_BLOCK = re.compile(r"\.\s*block\s*=\s*(?P<value>[^;]+);")
_END_OF_FUNCTION = re.compile(r"^\}", re.MULTILINE)
_DIM3 = re.compile(r"^dim3\s*[({](?P<sizes>.*)[)}]$", re.DOTALL)
_OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}
_MOST_THREADS = 1024
_DEEPEST = 8


def block_sizes(texts: Iterable[str]) -> dict[str, int]:
    """Map each kernel's name to its block size; one that is computed, or launched with several, is
    left out.
    """
    codes = [_COMMENT.sub(" ", text) for text in texts]
    constants = _constants(codes)
    sizes: dict[str, set[int | None]] = defaultdict(set)
    for code in codes:
        for kernel, block in _launches(code):
            sizes[kernel].add(_threads(block, constants) if block else None)
    return {
        kernel: size
        for kernel, known in sizes.items()
        if len(known) == 1 and (size := next(iter(known)))
    }


def _constants(codes: Iterable[str]) -> dict[str, str]:
    """Collect constants; one that is declared with several values is none."""
    values: dict[str, set[str]] = defaultdict(set)
    for code in codes:
        for pattern in (_CONSTANT, _MACRO):
            for match in pattern.finditer(code):
                values[match["name"]].add(" ".join(match["value"].split()))
    return {name: next(iter(known)) for name, known in values.items() if len(known) == 1}


def _launches(code: str) -> Iterator[tuple[str, str]]:
    """Yield kernels and the expressions of their blocks, '' where there is none."""
    for match in _CHEVRONS.finditer(code):
        arguments = _split(match["arguments"])
        yield match["kernel"], arguments[1] if len(arguments) > 1 else ""
    assigned = [(match.start(), match["value"]) for match in _BLOCK.finditer(code)]
    everywhere = {value for _, value in assigned}
    for match in _LAUNCH.finditer(code):
        begin = max(
            (end.end() for end in _END_OF_FUNCTION.finditer(code, 0, match.start())), default=0
        )
        own = [value for at, value in assigned if begin <= at < match.start()]
        only = next(iter(everywhere)) if len(everywhere) == 1 else ""
        yield match["kernel"], own[-1] if own else only


def _split(text: str) -> list[str]:
    """Split at commas outside of brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def _threads(block: str, constants: Mapping[str, str]) -> int | None:
    """Return the threads of a block; None if they are not constant."""
    text = block.strip()
    dimensions = _DIM3.match(text)
    sizes = [
        _value(part, constants) for part in _split(dimensions["sizes"] if dimensions else text)
    ]
    known = [size for size in sizes if size is not None]
    if len(known) < len(sizes):
        return None
    threads = math.prod(known)
    return threads if 0 < threads <= _MOST_THREADS else None


def _value(text: str, constants: Mapping[str, str], depth: int = 0) -> int | None:
    """Evaluate sums and products of numbers and constants."""
    plain = re.sub(r"\b(?:\w+::)+", "", re.sub(r"(?<=\d)[uUlL]+\b", "", text.strip()))
    try:
        tree = ast.parse(plain, mode="eval").body if len(plain) < 200 else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return _number(tree, constants, depth)


def _number(tree: ast.expr | None, constants: Mapping[str, str], depth: int) -> int | None:
    if isinstance(tree, ast.Constant):
        return tree.value if type(tree.value) is int else None
    if isinstance(tree, ast.Name) and depth < _DEEPEST and tree.id in constants:
        return _value(constants[tree.id], constants, depth + 1)
    if isinstance(tree, ast.BinOp) and type(tree.op) in _OPERATORS:
        sides = (_number(side, constants, depth) for side in (tree.left, tree.right))
        left, right = sides
        if left is not None and right is not None:
            return int(_OPERATORS[type(tree.op)](left, right))
    return None
