"""The builds that a bucket has of one recipe, by the names of files alone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from fictl.jit.remote.bucket import BadAnswer, Bucket, NotThere
from fictl.jit.remote.document import canonical
from fictl.trust.signature import SUFFIX

# For web servers, which cannot list: names that a reader then checks like any other.
INDEX = "index.json"
LARGEST_INDEX = 1 << 20
_DOCUMENT = r"(?P<build>[0-9a-f]{8,64})-(?P<sha256>[0-9a-f]{64})\.json"
_NAME = re.compile(rf"{_DOCUMENT}(\.(?P<key>[0-9A-F]{{16}}){re.escape(SUFFIX)})?")


@dataclass(frozen=True)
class Candidate:
    """A document in a bucket, with the ids of the keys that signed it."""

    folder: str
    build: str
    sha256: str
    keys: tuple[str, ...] = field(default=())

    @property
    def name(self) -> str:
        return f"{self.folder}/{self.build}-{self.sha256}.json"

    @property
    def project(self) -> str:
        return self.folder.split("/")[1]

    @property
    def module(self) -> str:
        return self.folder.split("/")[2]

    @property
    def comment(self) -> str:
        """Return the comment that is signed with it."""
        return f"fictl.build {self.folder.removeprefix('builds/')}/{self.build}"

    def signature(self, key_id: str) -> str:
        return signature_name(self.name, key_id)


def signature_name(document: str, key_id: str) -> str:
    """Return the name of a signature: with the key's id, so that two signers do not meet."""
    return f"{document}.{key_id}{SUFFIX}"


def names_in(bucket: Bucket, folder: str) -> list[str]:
    """List the files of a recipe's folder, in one request where there are few."""
    if bucket.lists:
        return [entry.name.rpartition("/")[2] for entry in bucket.listed(folder)]
    try:
        names = json.loads(bucket.read(f"{folder}/{INDEX}", LARGEST_INDEX))["names"]
        return [name for name in names if isinstance(name, str)]
    except NotThere:
        return []
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadAnswer(f"{folder}/{INDEX} is not an index of fictl") from error


def candidates(folder: str, names: Iterable[str]) -> list[Candidate]:
    """Return the documents among the names; a signature without its document does not count."""
    keys: dict[tuple[str, str], list[str]] = {}
    documents = []
    for match in filter(None, map(_NAME.fullmatch, sorted(names))):
        document = (match["build"], match["sha256"])
        if match["key"]:
            keys.setdefault(document, []).append(match["key"])
        else:
            documents.append(document)
    return [Candidate(folder, *document, tuple(keys.get(document, ()))) for document in documents]


def index_of(names: Iterable[str]) -> bytes:
    """Return the index of a recipe's folder."""
    ours = sorted({name for name in names if _NAME.fullmatch(name)})
    return canonical({"schema": "fictl.index/1", "names": ours})
