"""One setting: a flag, a variable or a line of the settings file, with one parser."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Generic, TypeVar

from fictl import setting_values as values
from fictl.errors import InvalidValue
from fictl.redact import hidden, hide_secrets
from fictl.settings_file import PREFIX, SettingsFile, key_of, read

T = TypeVar("T")


@dataclass(frozen=True)
class Origin:
    """Origin of a value: flag, environment, file or default; `place` says where exactly."""

    kind: str
    place: str = ""
    text: str = ""


_BLANKS = " \t\r\n"  # Only these are stripped: other spaces are not accidental.
_DEFAULT = Origin("default")
_flags: dict[str, Origin] = {}


@dataclass(frozen=True)
class Setting(Generic[T]):
    """One setting. Empty counts as unset; an error about an invalid value names the setting."""

    name: str
    kind: str
    parse: Callable[[str], T]
    default: T
    doc: str
    also: tuple[str, ...] = ()

    def origin(self) -> Origin:
        """Return where the value comes from: flag, else variable, else settings file."""
        if self.name in _flags:
            return _flags[self.name]
        for name in (self.name, *self.also):
            text = os.environ.get(name, "").strip(_BLANKS)
            if text:
                return Origin("environment", name, text)
        # The setting that names the file cannot be in the file.
        if self.name.startswith(PREFIX) and self is not CONFIG:
            file = file_in_use()
            text = file.text(self.name, self.kind).strip(_BLANKS)
            if text:
                return Origin("file", file.place(self.name), text)
        return _DEFAULT

    def get(self) -> T:
        try:
            return self._value(self.origin())
        except InvalidValue:
            _file.cache_clear()  # The user may correct the file after this error.
            raise

    def _value(self, origin: Origin) -> T:
        if origin is _DEFAULT:
            return self.default
        try:
            return self.parse(origin.text)
        except ValueError as error:
            where = f"{origin.place}: {key_of(self.name)} = " if origin.kind == "file" else ""
            text = f"{where or origin.place + '='}{hidden(self.name, origin.text)!r}"
            why, hint = (
                hide_secrets(getattr(error, "message", str(error))),
                getattr(error, "hint", ""),
            )
            raise InvalidValue(f"{text} cannot be read: {why}", hint or self.doc) from None

    def set_by_flag(self, flag: str, text: str, *, for_children: bool = False) -> None:
        """Set a value from the command line, which overrides every other origin in this process.

        for_children: child processes get the value, too, as a variable.
        """
        _flags[self.name] = Origin("flag", flag, text)
        if for_children:
            os.environ[self.name] = text

    @contextmanager
    def temporarily(self, text: str) -> Iterator[None]:
        """Set a value for this process and for the children that it starts meanwhile."""
        flag, variable = _flags.get(self.name), os.environ.get(self.name)
        self.set_by_flag(self.name, text, for_children=True)
        try:
            yield
        finally:
            _restore(_flags, self.name, flag)
            _restore(os.environ, self.name, variable)


def _restore(values: MutableMapping[str, T], name: str, before: T | None) -> None:
    if before is None:
        values.pop(name, None)
    else:
        values[name] = before


CONFIG: Setting[Path | None] = Setting(
    "FICTL_CONFIG",
    "path",
    values.path,
    None,
    "the settings file; unset: ~/.config/fictl/settings.toml",
)
XDG_CONFIG_HOME: Setting[Path | None] = Setting(
    "XDG_CONFIG_HOME", "path", values.path, None, "what stands for ~/.config"
)


def file_in_use() -> SettingsFile:
    return _file(*map(os.environ.get, (CONFIG.name, XDG_CONFIG_HOME.name, "HOME")))


@cache
def _file(*_variables: str | None) -> SettingsFile:
    """Load the settings file, once for each value of the variables that determine its path."""
    try:
        folder = XDG_CONFIG_HOME.get() or Path("~/.config").expanduser()
    except RuntimeError:  # A user without a home folder has no settings file there.
        folder = Path(os.devnull)
    named = CONFIG.get()
    if named is not None and not os.path.exists(named):
        raise InvalidValue(
            f"{CONFIG.name}={str(named)!r} cannot be read: there is no such file",
            f"unset {CONFIG.name}, or make the file",
        )
    return read(named or folder / "fictl" / "settings.toml")


def wants_colours() -> bool:
    """Return false where a terminal cannot show colours, or its user wants none: no-color.org."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
