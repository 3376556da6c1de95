"""Rewrites `kernel<<<grid, block>>>(arguments)`, and launches of a kernel cast to void*."""

from __future__ import annotations

import re

from fictl.emu.rewrite.markers import padding, without_markers
from fictl.emu.rewrite.scan import Edit, Malformed, closing, find, opening, split

_NAME = re.compile(r"(?:\w|::|->|\.)+$")
_ERASED = re.compile(
    r'(::fictl_emu::launch_(?:kernel|cooperative)\(\s*"(?:\\.|[^"\\])*",\s*)'
    r"(?:\(\s*(?:const\s+void|void\s+const|void)\s*\*\s*\)"
    r"|(?:reinterpret_cast|static_cast)\s*<\s*(?:const\s+void|void\s+const|void)\s*\*\s*>)"
)


def keep_types(text: str) -> str:
    """Remove the cast in `cudaLaunchKernel((void*)kernel, …)`: the type gives the arguments."""
    return _ERASED.sub(r"\1", text) if "::fictl_emu::launch_" in text else text


def launch(text: str, index: int) -> Edit:
    """Rewrite the launch whose `<<<` is at `index`.

    A generic lambda calls the kernel, so that the compiler deduces template arguments and resolves
    overloads as it would in the launch.
    """
    begin, kernel = _kernel(text, index)
    configured = _configuration_end(text, index + 3)
    opened = _over_space(text, configured + 3)
    closed = closing(text, opened)
    configuration, arguments = text[index + 3 : configured], text[opened + 1 : closed]
    kernel = " ".join(kernel.split())
    name = kernel.replace("\\", "\\\\").replace('"', '\\"')
    code = f'::fictl_emu::Configuration({configuration}).run("{name}", {_call(kernel, arguments)})'
    lines_before, lines_between = padding(text[begin:index]), padding(text[configured:opened])
    return Edit(begin, closed + 1, lines_before + code + lines_between)


def _call(kernel: str, arguments: str) -> str:
    """Return a lambda and its arguments; the launch evaluates the arguments once.

    Exception: if one is a braced list, which has no type, every thread evaluates them. The lambda
    holds copies, because it may run after the function that launches has returned.
    """
    given = [argument.strip() for argument in split(without_markers(arguments), ",")]
    if any(argument.startswith("{") for argument in given):
        return f"[=] {{ {kernel}({arguments}); }}"
    function = f"[=](auto&... fictl_emu_a) {{ {kernel}(fictl_emu_a...); }}"
    return f"{function}, {arguments}" if given != [""] else function + arguments


def is_operator(text: str, index: int) -> bool:
    """True for `operator<<` followed by template arguments."""
    return text.endswith(("operator", "operator "), max(0, index - 9), index)


def _kernel(text: str, index: int) -> tuple[int, str]:
    """Return the begin and the text of the expression before `<<<`."""
    end = _back_over_space(text, index)
    begin = _expression_begin(text, end)
    if begin == end:
        raise Malformed(index, "<<< has no kernel before it")
    return begin, text[begin:end]


def _expression_begin(text: str, end: int) -> int:
    """Scan backwards over `a::b<T>::c<U>`, `f(x)->k`, `(condition ? a : b)`."""
    begin = end
    while True:
        if text[begin - 1 : begin] in (">", "]", ")"):
            begin = opening(text, begin - 1)
            if text[begin] == "<":
                begin = _back_over_space(text, begin)
            continue
        name = _NAME.search(text, max(0, begin - 1000), begin)
        if name is None or name[0] in ("return", "else", "do", "if", "while", "for", "switch"):
            return begin
        begin = name.start()
        if not name[0].startswith(("::", ".", "->")) or text[begin - 1] not in ">])":
            return begin


def _configuration_end(text: str, begin: int) -> int:
    end = find(text, ">>>", begin)
    after = _over_space(text, end + 3)
    if text[after : after + 1] != "(":
        raise Malformed(begin, "the arguments of the kernel must follow >>>")
    return end


def _over_space(text: str, index: int) -> int:
    while text[index : index + 1].isspace():
        index += 1
    return index


def _back_over_space(text: str, index: int) -> int:
    while text[index - 1 : index].isspace():
        index -= 1
    return index
