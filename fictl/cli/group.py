"""Groups of commands: named and described by declarations, imported when one of them is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

import typer
import typer.main
from typer.core import TyperGroup

from fictl.cli.help_page import Sections, write_options, write_sections
from fictl.cli.strict import StrictCommand


def as_command(function: Callable[..., None], name: str | None = None) -> StrictCommand:
    """Return the parser of a command's function."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(name, cls=StrictCommand)(function)
    command = typer.main.get_command(app)
    assert isinstance(command, StrictCommand)
    return command


class Commands(Mapping[str, Any]):
    """The commands of a package by name; to look at one is to import it."""

    def __init__(self, package: str, sections: Sections) -> None:
        self.sections = sections
        self._package = package
        self._lines = {n: line for section in sections.values() for n, line in section.items()}
        self._loaded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._loaded:
            if name not in self._lines:
                raise KeyError(name)
            module = import_module(f"{self._package}.{name.replace('-', '_')}")
            self._loaded[name] = _load(name, module)
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)

    def beginning(self, text: str) -> Iterator[tuple[str, str]]:
        """Yield names with their lines."""
        return (pair for pair in self._lines.items() if pair[0].startswith(text))


def _load(name: str, module: ModuleType) -> Any:
    """A module has a `command`, EXAMPLES of it, and may have tables for its help,
    or PASSES_ON; a folder has COMMANDS.
    """
    if hasattr(module, "COMMANDS"):
        commands = Commands(module.__name__, {"Commands": module.COMMANDS})
        return CommandGroup.of(name, commands, module.__doc__ or "")
    command = as_command(module.command, name)
    command.examples = getattr(module, "EXAMPLES", {})
    command.tables = getattr(module, "tables", None)
    command.passes_on = getattr(module, "PASSES_ON", False)
    return command


@dataclass(frozen=True)
class Completion:
    """A word that shell completion offers."""

    value: str
    help: str
    type: str = "plain"


class CommandGroup(TyperGroup):
    """A group whose help, completion and suggestions import none of its commands."""

    commands: Any

    @classmethod
    def of(cls, name: str, commands: Commands, help: str) -> CommandGroup:
        group = cls(name=name, help=help, rich_markup_mode=None)
        group.commands = commands
        return group

    def list_commands(self, ctx: Any) -> list[str]:
        return [*self.commands]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        sections = self.commands.sections.items()
        write_sections(formatter, {title: [*lines.items()] for title, lines in sections})
        write_options(self, ctx, formatter)

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        if incomplete.startswith("-"):  # No command begins so: none is imported.
            return super().shell_complete(ctx, incomplete)
        return [Completion(name, line) for name, line in self.commands.beginning(incomplete)]
