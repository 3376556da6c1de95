"""Every number option has a range, and takes ASCII digits within it alone."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
import typer

from fictl.cli import COMMANDS
from fictl.cli.numbers import Range


def _commands(names: Any, package: str) -> Iterator[tuple[str, Any]]:
    for name in names:
        module = import_module(f"{package}.{name.replace('-', '_')}")
        if hasattr(module, "command"):
            yield module.__name__.removeprefix("fictl.cli."), module.command
        else:
            yield from _commands(module.COMMANDS, module.__name__)


def _numbers() -> Iterator[tuple[str, Any]]:
    for command, function in _commands(COMMANDS, "fictl.cli"):
        hints = typing.get_type_hints(function, include_extras=True)
        for name in inspect.signature(function).parameters:
            kind, *more = typing.get_args(hints[name]) or (hints[name],)
            if {*(typing.get_args(kind) or (kind,))} & {int, float}:
                yield f"{command} {name}", more[0] if more else None


def test_every_number_option_has_a_range() -> None:
    found = dict(_numbers())
    assert len(found) > 20
    assert not [
        f"{name}: use fictl.cli.numbers"
        for name, option in found.items()
        if not isinstance(option.parser, Range) or option.parser.low >= option.parser.high
    ]


@pytest.mark.parametrize("text", ["0", "10", " 5", "1.5", "nan", "\uff15", "1_0", "0x5", "", "1e1"])
def test_what_is_no_whole_number_of_the_range_is_refused_with_the_range(text: str) -> None:
    limits = Range(1, 9, whole=True)
    with pytest.raises(typer.BadParameter, match="is not a whole number from 1 to 9"):
        limits(text)


@pytest.mark.parametrize(
    "text", ["nan", "inf", "-inf", "1e400", "-1", "\uff19", "0.05", "86401", ""]
)
def test_what_is_no_number_of_the_range_is_refused_with_the_range(text: str) -> None:
    with pytest.raises(typer.BadParameter, match=r"is not a number from 0\.1 to 86400"):
        Range(0.1, 86400.0, whole=False)(text)


@pytest.mark.parametrize(
    ("text", "value"), [("0.1", 0.1), ("1e2", 100), (".5", 0.5), ("86400", 86400)]
)
def test_both_ends_are_in_the_range(text: str, value: float) -> None:
    assert Range(0.1, 86400.0, whole=False)(text) == value
