"""Checks of the keys that vouch for builds: those that are trusted here, and the one that signs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fictl import settings
from fictl.doctor.finding import DoctorFinding, error, ok, warning
from fictl.errors import FictlError
from fictl.jit.remote import remotes
from fictl.paths import friendly
from fictl.trust.keys_file import TrustedKey, keys_path, trusted_keys
from fictl.trust.secret_key import signing_key

if TYPE_CHECKING:
    from fictl.doctor.facts import Facts

_FOLDER = "file:"
_READ_ONLY = ("http:", "https:")


def trusted(facts: Facts) -> Iterator[DoctorFinding]:
    """Check that the file of trusted keys can be read, and that a remote has one to be read with."""
    name = "trusted keys"
    try:
        keys = trusted_keys()
    except FictlError as problem:
        yield error(name, problem.message, problem.hint)
        return
    expired = [key for key in keys if key.has_expired()]
    for key in expired:
        text = f"{_spelled(key)} has expired on {key.expires}: what it signed is not used"
        yield warning(name, text, f"fictl trust remove {key.name}, and add the key that follows it")
    asked = [url for url in remotes.urls() if not url.startswith(_FOLDER)]
    if asked and len(expired) == len(keys):
        yield warning(
            name,
            f"{friendly(keys_path())} has none that counts: no build of a remote is used",
            "fictl trust add NAME KEY, with the public key of who builds",
        )
    elif keys and not expired:
        yield ok(name, ", ".join(map(_spelled, keys)))


def signing(facts: Facts) -> Iterator[DoctorFinding]:
    """Check that the signing key can be used, and that own builds can be signed where they go."""
    name = "signing key"
    try:
        key = signing_key()
    except FictlError as problem:
        yield error(name, problem.message, problem.hint)
        return
    if key is not None:
        yield ok(name, f"{key.id}, {friendly(settings.SIGNING_KEY.get() or '')}")
    elif remotes.is_written() and not all(map(_takes_unsigned, settings.REMOTE.get())):
        yield warning(
            name,
            f"{settings.REMOTE_MODE.name}=write, and no key signs: own builds are not sent",
            f"fictl trust new-key, then {settings.SIGNING_KEY.name}=<its file>",
        )


def _takes_unsigned(url: str) -> bool:
    """True for a folder, whose owner is known, and for a server that nothing is sent to."""
    return url.startswith((_FOLDER, *_READ_ONLY))


def _spelled(key: TrustedKey) -> str:
    return f"{key.name} ({key.public.id})"
