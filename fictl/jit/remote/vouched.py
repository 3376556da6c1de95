"""A document with who vouches for it."""

from __future__ import annotations

from dataclasses import dataclass

from fictl.jit.remote.document import Document
from fictl.trust.secret_key import SecretKey
from fictl.trust.signature import sign


@dataclass(frozen=True)
class Vouched:
    """A document that may be used: the name and id of its key, and the signature.

    All three are empty in a folder of the user's own, where no signature is needed.
    """

    document: Document
    key: str = ""
    key_id: str = ""
    signature: str = ""

    @property
    def by(self) -> str:
        return f"signed by {self.key}" if self.key else "from a folder of yours"


def signed(document: Document, key: SecretKey | None) -> Vouched:
    """Sign the document, if there is a key."""
    if key is None:
        return Vouched(document)
    text = sign(key, document.data, document.comment).text()
    return Vouched(document, "own", key.id, text)
