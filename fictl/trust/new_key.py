"""Creation of a pair of keys: the secret file for its owner alone, the public one beside it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fictl import settings
from fictl.errors import UsageError
from fictl.paths import write_atomic
from fictl.trust.key import PublicKey
from fictl.trust.secret_key import SecretKey
from fictl.user_file import require_folder

PUBLIC_SUFFIX = ".pub"


@dataclass(frozen=True)
class KeyPair:
    """A pair on disk; nothing of the secret key is in here."""

    secret: Path
    public: Path
    key: PublicKey

    def to_dict(self) -> dict[str, Any]:
        return {
            "secret": str(self.secret),
            "public_file": str(self.public),
            "key_id": self.key.id,
            "public": self.key.line,
        }


def default_path() -> Path:
    folder = settings.XDG_CONFIG_HOME.get() or Path("~/.config").expanduser()
    return folder / "fictl" / "signing.key"


def new_key(path: Path, dry_run: bool = False) -> KeyPair:
    """Make a pair; a key that exists is never replaced."""
    public = path.with_name(path.name + PUBLIC_SUFFIX)
    for place in (path, public):
        if os.path.lexists(place):
            raise UsageError(
                f"{place} exists, and a key that is replaced is lost",
                "name another file, or remove it yourself",
            )
    require_folder("the key", path.parent)
    secret = SecretKey.generate()
    pair = KeyPair(path, public, secret.public)
    if not dry_run:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(secret.text())
        write_atomic(public, pair.key.text())
    return pair
