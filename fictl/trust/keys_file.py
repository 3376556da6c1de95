"""The file of trusted keys: whose signatures count, for which projects, and until when."""

from __future__ import annotations

import os
import re
import stat
import time
from dataclasses import dataclass
from datetime import date, datetime, timezone
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from fictl import settings
from fictl.errors import InvalidValue, SetupError, UsageError, shown, unreadable
from fictl.paths import write_atomic
from fictl.toml_text import TomlError, parse_toml
from fictl.trust.key import PublicKey
from fictl.user_file import read_text, require_folder

_LARGEST = 1 << 20
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@-]{0,63}")
_PROJECT = re.compile(r"[A-Za-z0-9_*?.-]{1,100}")
_TABLE = re.compile(r"^[ \t]*\[\[[ \t]*key[ \t]*\]\]", re.MULTILINE)
_FIELDS = {"name", "public", "projects", "expires"}


@dataclass(frozen=True)
class TrustedKey:
    """One entry: a name for people, the key, the projects it may sign, and its last day."""

    name: str
    public: PublicKey
    projects: tuple[str, ...] = ("*",)
    expires: date | None = None

    @classmethod
    def parse(cls, data: dict[str, Any]) -> TrustedKey:
        strange = sorted(set(data) - _FIELDS)
        if strange:
            raise InvalidValue(f"it has an unknown entry {shown(strange[0])!r}")
        projects = data.get("projects", ["*"])
        if not isinstance(projects, list) or not projects:
            raise InvalidValue("its projects are not a list of names")
        return cls(
            _matching(_NAME, data.get("name"), "name"),
            PublicKey.parse(str(data.get("public", ""))),
            tuple(_matching(_PROJECT, project, "project") for project in projects),
            _day(data["expires"]) if "expires" in data else None,
        )

    def covers(self, project: str) -> bool:
        return any(fnmatchcase(project, pattern) for pattern in self.projects)

    def has_expired(self, now: float | None = None) -> bool:
        """True after the last day of the key, by this machine's clock, in UTC."""
        moment = time.time() if now is None else now
        today = datetime.fromtimestamp(moment, timezone.utc).date()
        return self.expires is not None and today > self.expires

    @property
    def state(self) -> str:
        """Say until when it counts."""
        return f"expired {self.expires}" if self.has_expired() else str(self.expires or "")

    def text(self) -> str:
        """Return the entry as the file has it."""
        projects = ", ".join(f'"{project}"' for project in self.projects)
        expires = f"expires = {self.expires}\n" if self.expires else ""
        return (
            f'[[key]]\nname = "{self.name}"\npublic = "{self.public.line}"\n'
            f"projects = [{projects}]\n{expires}"
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "key_id": self.public.id,
            "public": self.public.line,
            "projects": list(self.projects),
            "expires": str(self.expires) if self.expires else None,
        }


def keys_path() -> Path:
    """Return the place of the file, which may not exist."""
    path = settings.TRUST.get()
    if path is not None:
        return path
    folder = settings.XDG_CONFIG_HOME.get() or Path("~/.config").expanduser()
    return folder / "fictl" / "trust.toml"


def trusted_keys() -> tuple[TrustedKey, ...]:
    """Read the user's list; without a file nobody is trusted. Refuse one that others can write."""
    path = keys_path()
    if not os.path.lexists(path):
        return ()
    return _parsed(path, _read(path))


def parse_day(text: str) -> date:
    """Parse a day as in 2027-12-31."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        hint = "write it as in 2027-12-31"
        raise InvalidValue(f"{shown(text)!r} is not a day", hint) from None


def add(key: TrustedKey, dry_run: bool = False) -> bool:
    """Append an entry to the file; return False if it is there already."""
    path, keys = keys_path(), trusted_keys()
    if key in keys:
        return False
    if any(other.name == key.name for other in keys):
        raise UsageError(
            f"{path} has another key of the name {key.name}",
            f"choose another name, or fictl trust remove {key.name}",
        )
    text = _read(path) if os.path.lexists(path) else ""
    longer = f"{text.rstrip()}\n\n{key.text()}".lstrip()
    if not _has_keys(longer, (*keys, key)):
        raise _not_editable(path)
    if not dry_run:
        _write(path, longer)
    return True


def remove(name: str, dry_run: bool = False) -> TrustedKey:
    """Remove the entry of that name, or of that key id; other text of the file stays."""
    path, keys = keys_path(), trusted_keys()
    gone = next((key for key in keys if name in (key.name, key.public.id)), None)
    if gone is None:
        known = " ".join(key.name for key in keys) or "it is empty"
        raise UsageError(f"{path} has no key {shown(name)!r}", f"its keys: {known}")
    text = _read(path)
    starts = [match.start() for match in _TABLE.finditer(text)]
    at = keys.index(gone)
    left = tuple(key for key in keys if key != gone)
    end = starts[at + 1] if at + 1 < len(starts) else len(text)
    rest = text[: starts[at]] + text[end:] if at < len(starts) else text
    if not _has_keys(rest, left):
        raise _not_editable(path)
    if not dry_run:
        _write(path, rest)
    return gone


def _has_keys(text: str, keys: tuple[TrustedKey, ...]) -> bool:
    """True if an edited list still is one, of exactly these keys."""
    try:
        return _parsed(Path(), text) == keys
    except UsageError:
        return False


def _not_editable(path: Path) -> UsageError:
    return UsageError(f"{path} is written in a form that cannot be edited", "edit it by hand")


def _read(path: Path) -> str:
    try:
        info = os.stat(path)
        text = read_text(path, largest=_LARGEST)
    except OSError as error:
        raise unreadable(f"the trusted keys {path}", error) from None
    except UnicodeDecodeError:
        raise UsageError(f"the trusted keys {path} are not text in UTF-8") from None
    if info.st_mode & (stat.S_IWGRP | stat.S_IWOTH) or info.st_uid not in (0, os.geteuid()):
        raise SetupError(
            f"the trusted keys {path} can be written by others, who could add their own",
            f"chmod 644 '{path}', in a folder of yours",
        )
    return text


def _parsed(path: Path, text: str) -> tuple[TrustedKey, ...]:
    try:
        table = parse_toml(text)
    except TomlError as error:
        raise UsageError(f"the trusted keys {path} are not valid TOML: {error}") from None
    entries = table.get("key", [])
    if set(table) - {"key"} or not isinstance(entries, list):
        raise UsageError(f"the trusted keys {path} have something else than [[key]] tables")
    keys = []
    for number, data in enumerate(entries, 1):
        try:
            keys.append(TrustedKey.parse(data if isinstance(data, dict) else {}))
        except InvalidValue as error:
            text = f"entry {number} of the trusted keys {path} cannot be read: {error.message}"
            raise UsageError(text, error.hint) from None
    names = [key.name for key in keys]
    if len(set(names)) < len(names):
        raise UsageError(f"the trusted keys {path} have a name twice: {' '.join(names)}")
    return tuple(keys)


def _write(path: Path, text: str) -> None:
    require_folder(settings.TRUST.name, path.parent)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, text)
    os.chmod(path, 0o644)  # Whatever the umask is: others must not add keys.


def _matching(pattern: re.Pattern[str], value: object, what: str) -> str:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise InvalidValue(f"its {what} {shown(repr(value))} is not one")
    return value


def _day(value: object) -> date:
    return value if type(value) is date else parse_day(str(value))
