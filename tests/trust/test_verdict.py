"""Every verdict on a signed document, each with the key's id."""

from __future__ import annotations

from datetime import date, datetime, timezone

import pytest

from fictl.trust.keys_file import TrustedKey
from fictl.trust.secret_key import SecretKey
from fictl.trust.signature import sign
from fictl.trust.verdict import Verdict, judge

SECRET = SecretKey.generate()
CI = TrustedKey("ci", SECRET.public, ("fictl", "my_*"), date(2027, 5, 1))
DATA, COMMENT = b"a document", "fictl.build fictl/a.b/1/2"


def at(day: str) -> float:
    return datetime.fromisoformat(day).replace(tzinfo=timezone.utc).timestamp()


def verdict(
    signature: str | None = None,
    keys: tuple[TrustedKey, ...] = (CI,),
    project: str = "fictl",
    data: bytes = DATA,
    comment: str = COMMENT,
    day: str = "2027-01-01",
) -> Verdict:
    text = sign(SECRET, DATA, COMMENT).text() if signature is None else signature
    return judge(data, text, keys, [project], comment, at(day))


def test_a_trusted_one() -> None:
    good = verdict()
    assert (good.is_trusted, good.name, good.key_id) == (True, "ci", SECRET.id)
    assert verdict(project="my_kernels").is_trusted


def test_a_key_is_good_through_its_last_day() -> None:
    assert verdict(day="2027-05-01T23:59:59").is_trusted
    assert verdict(day="2027-05-02").kind == "expired"


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("unknown key", {"keys": ()}),
        ("unknown key", {"keys": (TrustedKey("ci", SecretKey.generate().public),)}),
        ("bad signature", {"data": b"another document"}),
        ("another document", {"comment": "fictl.build fictl/a.b/1/3"}),
        ("expired", {"day": "2028-01-01"}),
        ("wrong project", {"project": "theirs"}),
    ],
)
def test_what_is_refused_names_the_key(kind: str, changes: dict[str, object]) -> None:
    refused = verdict(**changes)  # type: ignore[arg-type]
    assert not refused.is_trusted
    assert refused.kind == kind
    assert SECRET.id in refused.text


def test_a_forged_key_id_is_a_bad_signature() -> None:
    other = SecretKey(SECRET.id, SecretKey.generate().seed)
    assert verdict(sign(other, DATA, COMMENT).text()).kind == "bad signature"


def test_what_is_not_a_signature_is_refused() -> None:
    refused = verdict("<html>not found</html>")
    assert (refused.kind, refused.is_trusted) == ("bad signature", False)
    assert "cannot be read" in refused.text


def test_the_entry_that_fits_counts() -> None:
    old = TrustedKey("old", SECRET.public, ("theirs",))
    assert verdict(keys=(old, CI)).name == "ci"
