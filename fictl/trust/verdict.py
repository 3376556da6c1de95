"""The verdict on a signed document: trusted, or the reason why not, in words with the key's id."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fictl.errors import InvalidValue, shown
from fictl.trust.keys_file import TrustedKey
from fictl.trust.signature import Signature

TRUSTED = "trusted"


@dataclass(frozen=True)
class Verdict:
    """The result of checking one signature.

    kind: trusted, unknown key, bad signature, another document, expired or wrong project.
    name: the key's name in the user's list. text: the whole verdict, for people.
    """

    kind: str
    text: str
    key_id: str = ""
    name: str = ""

    @property
    def is_trusted(self) -> bool:
        return self.kind == TRUSTED


def judge(
    data: bytes,
    signature: str,
    keys: Iterable[TrustedKey],
    projects: Iterable[str],
    comment: str,
    now: float | None = None,
) -> Verdict:
    """Check that a trusted key signed `data`, for all these projects, with exactly this comment."""
    try:
        signed = Signature.parse(signature)
    except InvalidValue as error:
        return Verdict("bad signature", f"its signature cannot be read: {error.message}")
    known = [key for key in keys if key.public.id == signed.key_id]
    if not known:
        return unknown(signed.key_id)
    verdicts = [_of_key(key, data, signed, tuple(projects), comment, now) for key in known]
    return next((verdict for verdict in verdicts if verdict.is_trusted), verdicts[0])


def unknown(key_id: str) -> Verdict:
    text = f"it is signed by key {key_id}, which is not among the trusted ones"
    return Verdict("unknown key", text, key_id)


def _of_key(
    key: TrustedKey,
    data: bytes,
    signed: Signature,
    projects: tuple[str, ...],
    comment: str,
    now: float | None,
) -> Verdict:
    who = f"key {signed.key_id} ({key.name})"

    def refused(kind: str, text: str) -> Verdict:
        return Verdict(kind, text, signed.key_id, key.name)

    if not signed.fits(key.public, data):
        return refused("bad signature", f"the signature of {who} is not one of these bytes")
    if signed.comment != comment:
        other = f"it was signed as {shown(signed.comment)!r}, and lies as {shown(comment)!r}"
        return refused("another document", f"the signature of {who} is moved: {other}")
    if key.has_expired(now):
        return refused("expired", f"{who} has expired on {key.expires}")
    outside = [project for project in projects if not key.covers(project)]
    if outside:
        allowed = " ".join(key.projects)
        text = f"{who} is trusted for {allowed}, not for {shown(' '.join(outside))}"
        return refused("wrong project", text)
    return Verdict(TRUSTED, f"signed by {key.name}", signed.key_id, key.name)
