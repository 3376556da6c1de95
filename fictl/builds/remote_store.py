"""The remotes as stores: what is in them, what is old, and what is damaged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fictl import settings
from fictl.builds.cached import chosen
from fictl.errors import UsageError
from fictl.jit.remote import remotes
from fictl.jit.remote.audit import Audit, audit
from fictl.jit.remote.bucket import Bucket, Listed
from fictl.jit.remote.catalog import Candidate
from fictl.jit.remote.contents import contents_of
from fictl.jit.remote.sweep import Swept, sweep
from fictl.jit.remote.url import open_bucket
from fictl.trust.keys_file import trusted_keys


@dataclass(frozen=True)
class Shared:
    """One document in a remote, by its names: who signed it, and when it came.

    signers: names of trusted keys, and ids of others. own: in a folder of the user's own.
    """

    url: str
    candidate: Candidate
    listed: Listed
    signers: tuple[str, ...]
    own: bool

    @property
    def is_trusted(self) -> bool:
        return self.own or any(signer not in self.candidate.keys for signer in self.signers)

    def to_dict(self) -> dict[str, Any]:
        it = self.candidate
        return {
            "url": self.url,
            "project": it.project,
            "module": it.module,
            "recipe": it.folder.rpartition("/")[2],
            "build": it.build,
            "document": it.name,
            "keys": list(it.keys),
            "signers": list(self.signers),
            "trusted": self.is_trusted,
            "sent": self.listed.changed,
        }


@dataclass(frozen=True)
class RemoteContents:
    """Builds of all remotes, with the blobs and bytes of each URL."""

    builds: tuple[Shared, ...]
    blobs: dict[str, int]
    sizes: dict[str, int]

    def to_dict(self) -> dict[str, Any]:
        remotes = [
            {"url": url, "blobs": self.blobs[url], "size": self.sizes[url]} for url in self.sizes
        ]
        return {"remotes": remotes, "builds": [shared.to_dict() for shared in self.builds]}


def show_remote(names: Sequence[str]) -> RemoteContents:
    """List the builds of these modules, or of all, in every remote that lists its names."""
    keys = {key.public.id: key.name for key in trusted_keys()}
    listed = [(bucket, contents_of(bucket)) for bucket in buckets()]
    known = {(it.project, it.module) for _, contents in listed for it in contents.documents}
    wanted = chosen(names, known)
    builds = [
        _shared(bucket, it, entry, keys)
        for bucket, contents in listed
        for it, entry in contents.documents.items()
        if (it.project, it.module) in wanted
    ]
    builds.sort(key=lambda shared: shared.listed.changed, reverse=True)
    blobs = {bucket.url: len(contents.blobs) for bucket, contents in listed}
    sizes = {bucket.url: contents.size for bucket, contents in listed}
    return RemoteContents(tuple(builds), blobs, sizes)


def _shared(bucket: Bucket, it: Candidate, listed: Listed, keys: dict[str, str]) -> Shared:
    signers = tuple(keys.get(key_id, key_id) for key_id in it.keys)
    return Shared(bucket.url, it, listed, signers, not it.keys and bucket.is_own(it.name))


def sweep_remote(older_than: float | None, dry_run: bool) -> list[Swept]:
    """Sweep every remote that can be written."""
    writable = [bucket for bucket in buckets() if bucket.writable]
    return [sweep(bucket, older_than, dry_run) for bucket in writable]


def audit_remote() -> list[Audit]:
    keys = trusted_keys()
    return [audit(bucket, keys) for bucket in buckets()]


def buckets() -> list[Bucket]:
    """Open all remotes that can list their names; at least one."""
    opened = [bucket for url in remotes.urls() if (bucket := open_bucket(url)).lists]
    if not opened:
        raise UsageError(
            f"no remote to look into: {settings.REMOTE.name} names none that lists its names",
            f"{settings.REMOTE.name}=s3://bucket/prefix or file:///folder",
        )
    return opened
