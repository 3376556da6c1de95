"""An S3 clone of the old kind: conditional puts are ignored, and a LIST has two keys a page."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import md5
from xml.sax.saxutils import escape, unescape

from .loopback import Exchange, Request, Response, Server

_DATE = "Mon, 23 Nov 2026 06:00:00 GMT"
_ISO_DATE = "2026-11-23T06:00:00.000Z"
_PAGE = 2


class OldS3:
    """`objects` by "/bucket/key"; a LIST passes over keys that `unlisted` matches: it is stale."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.unlisted = ""
        self.pages = 0
        self._lock = threading.Lock()
        self._server = Server(self._handle)
        self.url = self._server.url

    def stop(self) -> None:
        self._server.stop()

    async def _handle(self, exchange: Exchange) -> None:
        with self._lock:
            response = self._answer(exchange.request)
        await exchange.answer(response)

    def _answer(self, request: Request) -> Response:
        if request.method in {"GET", "HEAD"}:
            is_bucket = request.path.strip("/").count("/") == 0
            return self._list(request) if is_bucket else self._get(request.path)
        if request.method == "PUT":
            self.objects[request.path] = request.body
            return Response(200, {"etag": _etag(request.body)})
        if request.method == "DELETE":
            self.objects.pop(request.path, None)
            return Response(204)
        if request.method == "POST" and "delete" in request.query:
            return self._delete(request)
        return Response(501, body=f"<Error><Code>NotImplemented</Code>{request}</Error>".encode())

    def _get(self, path: str) -> Response:
        body = self.objects.get(path)
        if body is None:
            return Response(404, body=b"<Error><Code>NoSuchKey</Code></Error>")
        return Response(200, {"etag": _etag(body), "last-modified": _DATE}, body)

    def _delete(self, request: Request) -> Response:
        keys = re.findall("<Key>(.*?)</Key>", request.body.decode())
        for key in keys:
            self.objects.pop(f"{request.path.rstrip('/')}/{unescape(key)}", None)
        deleted = "".join(f"<Deleted><Key>{key}</Key></Deleted>" for key in keys)
        return Response(200, body=f"<DeleteResult>{deleted}</DeleteResult>".encode())

    def _list(self, request: Request) -> Response:
        self.pages += 1
        query, bucket = request.query, request.path.rstrip("/") + "/"
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        after = query.get("continuation-token", query.get("start-after", ""))
        names = sorted({_up_to(delimiter, key, prefix) for key in self._listed(bucket, prefix)})
        names = [name for name in names if name > after]
        page, more = names[:_PAGE], len(names) > _PAGE
        items = "".join(self._item(bucket, name, delimiter) for name in page)
        token = f"<NextContinuationToken>{escape(page[-1])}</NextContinuationToken>" if more else ""
        body = (
            f"<ListBucketResult><Prefix>{escape(prefix)}</Prefix><KeyCount>{len(page)}</KeyCount>"
            f"<IsTruncated>{str(more).lower()}</IsTruncated>{items}{token}</ListBucketResult>"
        )
        return Response(200, {"content-type": "application/xml"}, body.encode())

    def _listed(self, bucket: str, prefix: str) -> Iterator[str]:
        for path in self.objects:
            hidden = self.unlisted and re.search(self.unlisted, path)
            if path.startswith(bucket + prefix) and not hidden:
                yield path.removeprefix(bucket)

    def _item(self, bucket: str, name: str, delimiter: str) -> str:
        if delimiter and name.endswith(delimiter):
            return f"<CommonPrefixes><Prefix>{escape(name)}</Prefix></CommonPrefixes>"
        body = self.objects[bucket + name]
        return (
            f"<Contents><Key>{escape(name)}</Key><LastModified>{_ISO_DATE}</LastModified>"
            f"<ETag>{_etag(body)}</ETag><Size>{len(body)}</Size></Contents>"
        )


@contextmanager
def old_s3_server() -> Iterator[OldS3]:
    server = OldS3()
    try:
        yield server
    finally:
        server.stop()


def _up_to(delimiter: str, key: str, prefix: str) -> str:
    """The key, or its part up to the first delimiter after the prefix: a folder, to S3."""
    if not delimiter:
        return key
    first, mark, _ = key.removeprefix(prefix).partition(delimiter)
    return prefix + first + mark


def _etag(body: bytes) -> str:
    return f'"{md5(body, usedforsecurity=False).hexdigest()}"'
