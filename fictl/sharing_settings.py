"""Settings of what machines share: remotes, keys, downloads. Others read them from settings.py."""

from __future__ import annotations

from pathlib import Path

from fictl import setting_values as values
from fictl.setting import Setting

REMOTE: Setting[tuple[str, ...]] = Setting(
    "FICTL_REMOTE",
    "list",
    values.urls,
    (),
    "builds of others, nearest first: s3://bucket/prefix gs:// az:// file:// https:// (read only)",
)
REMOTE_MODE = Setting(
    "FICTL_REMOTE_MODE",
    "mode",
    values.choice("read", "write", "off"),
    "read",
    "read: take builds from the remote; write: send own builds there, too; off: no request",
)
REMOTE_TIMEOUT = Setting(
    "FICTL_REMOTE_TIMEOUT",
    "int",
    values.whole(1, 3600),
    5,
    "seconds to wait for a remote's answer; connecting takes 1 s at most",
)
SIGNING_KEY: Setting[Path | None] = Setting(
    "FICTL_SIGNING_KEY",
    "path",
    values.path,
    None,
    "the file of the secret key that signs what is sent; fictl trust new-key makes one",
)
SIGNING_PASSWORD = Setting(
    "FICTL_SIGNING_PASSWORD", "text", str, "", "the password of that key, if it has one"
)
TRUST: Setting[Path | None] = Setting(
    "FICTL_TRUST",
    "path",
    values.path,
    None,
    "the file of trusted keys; unset: ~/.config/fictl/trust.toml",
)
NO_DOWNLOAD = Setting(
    "FICTL_NO_DOWNLOAD",
    "bool",
    values.boolean,
    False,
    "make no request at all, by any command or lookup; what is missing is named",
)
