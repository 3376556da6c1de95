"""The snapshot that a name means: the one of that hash, or the newest that a trusted key signed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from fictl.errors import FictlError
from fictl.jit.remote.bucket import BadAnswer, Bucket, NotThere, RemoteFailed
from fictl.ship.artifacts.folder import ArtifactsFolder
from fictl.ship.artifacts.index import INDEX, Indexed, newest_first, read_index
from fictl.ship.artifacts.names import path_of
from fictl.ship.artifacts.signed import Signed, Untrusted, read_signed
from fictl.ship.artifacts.transfer import NowhereError, Repositories, spell
from fictl.trust.verdict import Verdict


@dataclass(frozen=True)
class Located:
    """A trusted snapshot, and the URL it is from; '' if it is in the folder already."""

    signed: Signed
    verdict: Verdict
    url: str = ""


def locate(
    name: str,
    sha256: str,
    repositories: Repositories,
    folder: ArtifactsFolder,
    note: Callable[[str], None],
) -> Located:
    """Find a snapshot. One that is here is taken from here; a newest one is never older than it."""
    here = folder.newest(name, sha256)
    if here and (sha256 or not repositories.buckets):
        return _local(here, folder)
    if sha256:
        return _remote(name, sha256, repositories)
    newest, refused = _Newest(repositories, note), []
    for entry in newest.of(name):
        if here and (here.snapshot.created, here.snapshot.sha256) >= (entry.created, entry.sha256):
            break
        try:
            return _remote(name, entry.sha256, repositories, entry.created)
        except NowhereError as error:
            note(f"{entry.name}@{entry.sha256[:12]} is passed over: {error.message}")
            refused.append(error)
    if here:
        return _local(here, folder)
    if refused:
        raise FictlError(f"no snapshot {name} can be used: {refused[0].message}", refused[0].hint)
    raise NowhereError(f"a snapshot {name}", newest.reasons)


def _local(here: Signed, folder: ArtifactsFolder) -> Located:
    return Located(here, here.require_trusted(str(folder.root)))


def _remote(name: str, sha256: str, repositories: Repositories, created: str = "") -> Located:
    path = path_of(name, sha256)
    hints: list[str] = []

    def ask(bucket: Bucket) -> Located:
        signed = read_signed(bucket, path)
        if created not in ("", signed.snapshot.created):
            text = f"{INDEX} says that it was made {created}, it says {signed.snapshot.created}"
            raise BadAnswer(text)
        try:
            return Located(signed, signed.require_trusted(bucket.url), bucket.url)
        except Untrusted as error:
            hints.append(error.hint)  # Another repository may have its signature.
            raise BadAnswer(error.message) from error

    try:
        return repositories.first(f"the snapshot {name}@{sha256[:12]}", ask)
    except NowhereError as error:
        error.hint = next(iter(hints), "")
        raise


class _Newest:
    """The snapshots of a name in all repositories, newest first; `reasons` of those without."""

    def __init__(self, repositories: Repositories, note: Callable[[str], None]) -> None:
        self._repositories, self._note = repositories, note
        self.reasons: list[tuple[str, str]] = [*repositories.closed]

    def of(self, name: str) -> tuple[Indexed, ...]:
        entries = {entry for entry in self._all() if entry.name == name}
        return newest_first(entries)

    def _all(self) -> Iterator[Indexed]:
        for bucket in self._repositories.buckets:
            try:
                entries = read_index(bucket)
            except (BadAnswer, NotThere, RemoteFailed) as error:
                self.reasons.append((bucket.url, spell(error)))
                self._note(f"{bucket.url} is passed over: {spell(error)}")
                continue
            if not entries:
                self.reasons.append((bucket.url, "it has no index of snapshots"))
            yield from entries
