"""A snapshot with its signature: read from a bucket, judged, and written in an order that is safe."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fictl.errors import FictlError, shown
from fictl.jit.remote.bucket import BadAnswer, Bucket, NotThere
from fictl.ship.artifacts.names import parsed
from fictl.ship.artifacts.snapshot import LARGEST, Snapshot, read_snapshot
from fictl.trust.key import LARGEST as LARGEST_SIGNATURE
from fictl.trust.keys_file import keys_path, trusted_keys
from fictl.trust.secret_key import SecretKey
from fictl.trust.signature import SUFFIX, sign
from fictl.trust.verdict import TRUSTED, Verdict, judge

OWN = "own"
UNSIGNED = "unsigned"
STRANGER = "unknown key"


class Untrusted(FictlError):
    """A snapshot that nobody vouches for whom the user trusts."""

    code = "untrusted"


@dataclass(frozen=True)
class Signed:
    """A snapshot and the text of its signature, '' without one.

    own: only this user can have written it. at_home: it lies where only fictl writes, for this user.
    """

    snapshot: Snapshot
    signature: str = ""
    own: bool = False
    at_home: bool = False

    def verdict(self) -> Verdict:
        """Judge the signature.

        Without one, only a file of the user's own is good enough, and only while no key is trusted
        for its projects: else to remove a signature would be a way in.
        """
        snapshot, keys = self.snapshot, trusted_keys()
        if self.signature:
            verdict = judge(
                snapshot.data, self.signature, keys, snapshot.projects, snapshot.comment
            )
            at_home = self.at_home and verdict.kind == STRANGER
            return Verdict(OWN, f"{verdict.text}, but you put it here") if at_home else verdict
        if self.at_home:
            return Verdict(OWN, "not signed, and you put it here")
        if not self.own:
            return Verdict(UNSIGNED, "it is not signed")
        for key in keys:
            if any(key.covers(project) for project in snapshot.projects):
                return Verdict(UNSIGNED, f"it is not signed, and {key.name} is trusted to do that")
        return Verdict(OWN, "not signed, and only you can have written it")

    def require_trusted(self, place: str) -> Verdict:
        """Return the verdict; raise Untrusted where the snapshot must not be used."""
        verdict = self.verdict()
        if verdict.kind in (TRUSTED, OWN):
            return verdict
        snapshot = self.snapshot
        name = f"the snapshot {snapshot.name}@{snapshot.sha256[:12]} of {place}"
        hint = "ask who made it for the public key: fictl trust add NAME KEY"
        if verdict.kind == UNSIGNED:
            hint = "sign it where it was made, with FICTL_SIGNING_KEY"
        elif verdict.kind not in (STRANGER, "wrong project"):
            hint = f"get it again from who made it; {keys_path()} has the trusted keys"
        raise Untrusted(f"{name} is not used: {verdict.text}", hint)

    def signed_with(self, key: SecretKey) -> Signed:
        signature = sign(key, self.snapshot.data, self.snapshot.comment).text()
        return replace(self, signature=signature)


def read_signed(bucket: Bucket, path: str) -> Signed:
    """Read the snapshot at a path, which has its hash, and its signature if there is one."""
    expected = parsed(path)
    snapshot = read_snapshot(bucket.read(path, LARGEST))
    if expected != (snapshot.name, snapshot.sha256):
        raise BadAnswer(
            f"{path} holds another snapshot: {shown(snapshot.name)}@{snapshot.sha256[:12]}"
        )
    try:
        signature = bucket.read(path + SUFFIX, LARGEST_SIGNATURE).decode("utf-8", "replace")
    except NotThere:
        signature = ""
    return Signed(snapshot, signature, bucket.is_own(path))


def write_signed(bucket: Bucket, signed: Signed) -> None:
    """Write the signature, then the document: whoever sees the one sees the other, too."""
    path = signed.snapshot.path
    if signed.signature:
        bucket.write(path + SUFFIX, signed.signature.encode())
    bucket.write(path, signed.snapshot.data)
