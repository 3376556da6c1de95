"""Markers of the plugin, and strict reading of them: a malformed one is an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fictl.errors import InvalidValue

MARKERS = (
    "needs_gpu: runs on a CUDA device",
    "needs_nvcc: compiles CUDA code",
    "arch(rule): runs on GPUs that the rule admits, as in arch('9.0a') or arch('>=8.0')",
    "gpus(n): runs in n processes at once, each with a GPU of its own",
)
_MEANT = {
    "needs_gpu": "it takes no argument: @pytest.mark.needs_gpu",
    "needs_nvcc": "it takes no argument: @pytest.mark.needs_nvcc",
    "arch": "it takes one text: @pytest.mark.arch('9.0a'), or '>=8.0', or '9.0a 10.0a'",
    "gpus": "it takes one whole number from 1: @pytest.mark.gpus(2)",
}


def rule_of(item: pytest.Item) -> str:
    """Return the architecture rule of a test; '' for all."""
    marker = item.get_closest_marker("arch")
    return str(marker.args[0]) if marker else ""


def gpus_of(item: pytest.Item) -> int:
    """Number of processes that run a test together; 0 where it has no such marker."""
    marker = item.get_closest_marker("gpus")
    return int(marker.args[0]) if marker else 0


def malformed(item: pytest.Item) -> str:
    """Error message about the first malformed marker of a test, or ''."""
    for name, read in _READERS.items():
        for marker in item.iter_markers(name):
            wrong = _wrong(marker, read)
            if wrong:
                where = f"{item.location[0]}:{(item.location[1] or 0) + 1}"
                return f"{where}: @pytest.mark.{_text(marker)}: {wrong}\n  hint: {_MEANT[name]}"
    return ""


def _wrong(marker: pytest.Mark, read: Callable[..., None]) -> str:
    try:
        read(*marker.args, **marker.kwargs)
    except InvalidValue as error:
        return error.message
    except TypeError:
        return "these arguments are not what it takes"
    return ""


def _text(marker: pytest.Mark) -> str:
    named = (f"{name}={value!r}" for name, value in marker.kwargs.items())
    words = ", ".join([*map(repr, marker.args), *named])
    return f"{marker.name}({words})" if words else marker.name


def _no_argument() -> None:
    pass


def _arch(rule: Any, /) -> None:
    from fictl.arch import ArchRule

    if not isinstance(rule, str):
        raise TypeError(rule)
    if not rule.strip():
        raise InvalidValue("a rule that is empty admits nothing")
    ArchRule.parse(rule)


def _gpus(number: Any, /) -> None:
    if type(number) is not int:
        raise TypeError(number)
    if number < 1:
        raise InvalidValue(f"{number} processes run nothing")


_READERS: dict[str, Callable[..., None]] = {
    "needs_gpu": _no_argument,
    "needs_nvcc": _no_argument,
    "arch": _arch,
    "gpus": _gpus,
}
