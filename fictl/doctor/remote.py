"""Checks of remotes: they answer, this machine's clock agrees with theirs, and what is in between.

No request is made unless a remote is set, and none at all under FICTL_NO_DOWNLOAD.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from fictl import settings
from fictl.doctor.finding import DoctorFinding, Say, error, ok, warning
from fictl.doctor.parallel import at_once
from fictl.errors import FictlError
from fictl.jit.remote import remotes
from fictl.jit.remote.bucket import BadAnswer, NotThere
from fictl.jit.remote.mark import MARK
from fictl.jit.remote.remote import Remote
from fictl.quantity import spell_age
from fictl.redact import hide_secrets

if TYPE_CHECKING:
    from fictl.doctor.facts import Facts

_NAME = "remote"
_LARGEST_MARK = 1 << 16
_GRACE = 3.0  # Seconds for all that is not the remote's answer.
# Object storage refuses requests whose time differs by 15 minutes; half of it is worth a word.
_WORTH_A_WORD, _REFUSED = 60.0, 900.0
_PROXIES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY")


def remote(facts: Facts) -> Iterator[DoctorFinding]:
    """Ask each remote for its mark, all at once."""
    for line in remotes.silent():
        yield ok(_NAME, line)
    asked = {url: (lambda url=url: _asked(url)) for url in _to_ask()}
    kept = [url for url in remotes.urls() if url not in asked]
    for url in kept:
        yield ok(_NAME, f"{hide_secrets(url)}: not asked, {settings.NO_DOWNLOAD.name} is set")
    limit = settings.REMOTE_TIMEOUT.get() + _GRACE
    for url, answer in at_once(asked, limit).items():
        yield answer if isinstance(answer, DoctorFinding) else _failed(url, answer)


def clock(facts: Facts) -> Iterator[DoctorFinding]:
    """Compare this machine's time with that of the remotes' servers."""
    hosts = {_server(url, facts.environ) for url in _to_ask()} - {""}
    asked: Mapping[str, Any] = {host: (lambda host=host: _ahead(host)) for host in sorted(hosts)}
    limit = settings.REMOTE_TIMEOUT.get() + _GRACE
    for host, ahead in at_once(asked, limit).items():
        # One that does not answer is the other check's finding.
        if isinstance(ahead, float) and abs(ahead) > _WORTH_A_WORD:
            yield _skewed(host, ahead)


def proxy(facts: Facts) -> Iterator[DoctorFinding]:
    """Name the proxy that requests to remotes go through."""
    if not any(_server(url, facts.environ) for url in _to_ask()):
        return
    for name in (spelling for upper in _PROXIES for spelling in (upper, upper.lower())):
        value = facts.environ.get(name, "")
        if not value:
            continue
        parts = urlsplit(value if "://" in value else f"http://{value}")
        if parts.hostname and parts.scheme in ("http", "https", "socks5", "socks5h"):
            except_for = facts.environ.get("NO_PROXY") or facts.environ.get("no_proxy") or "none"
            yield ok("proxy", f"{name}={hide_secrets(value)}; without it: {except_for}")
        else:
            text = f"{name} is {hide_secrets(value)!r}, which is not the URL of a proxy"
            yield warning("proxy", text, f"write it as in http://proxy:3128, or unset {name}")


def _to_ask() -> list[str]:
    """Return the remotes that may be asked; a folder is read without any request."""
    silent = settings.NO_DOWNLOAD.get()
    return [url for url in remotes.urls() if not silent or url.startswith(("file:", "memory:"))]


def _asked(url: str) -> DoctorFinding:
    there = Remote.at(url)
    seen = f"{there.url} ({settings.REMOTE_MODE.get()})"
    try:
        there.bucket.read(MARK, _LARGEST_MARK)
    except NotThere:
        return warning(
            _NAME,
            f"{seen} answers, and holds no builds of fictl",
            "check its URL; the first `fictl cache push` makes it a remote",
        )
    except BadAnswer as problem:
        return _say()(_NAME, f"{seen} answers with something else: {problem}", "check its URL")
    if reason := there.breaker.reason():
        text = f"{seen} answers now; it is not asked for a minute, since {reason}"
        return warning(_NAME, text, "fictl cache pull asks it at once")
    return ok(_NAME, f"{seen} answers")


def _failed(url: str, why: Exception) -> DoctorFinding:
    if isinstance(why, FictlError):
        hint = why.hint or f"check {settings.REMOTE.name}, or unset it"
        return _say()(_NAME, why.message, hint)
    text = f"{hide_secrets(url)} cannot be asked: {why}"
    return _say()(_NAME, text, f"check {settings.REMOTE.name}, or unset it")


def _say() -> Say:
    """Return the level of a remote that fails: an error where a build is all that can be had."""
    return error if settings.DISABLE_JIT.get() else warning


def _server(url: str, environ: Mapping[str, str]) -> str:
    """Return the address of the server behind a remote; '' for a folder, or if it is not known."""
    parts = urlsplit(url)
    if parts.scheme in ("http", "https"):
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
    if parts.scheme == "gs":
        return "https://storage.googleapis.com"
    if parts.scheme != "s3":
        return ""
    named = environ.get("AWS_ENDPOINT_URL") or environ.get("AWS_ENDPOINT", "")
    return named if named.startswith(("http://", "https://")) else "https://s3.amazonaws.com"


def _ahead(server: str) -> float:
    """Return the seconds by which this machine's clock is ahead of a server's."""
    from email.utils import parsedate_to_datetime
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    request = Request(server, method="HEAD")  # noqa: S310  (_server gives http and https alone)
    try:
        with urlopen(request, timeout=settings.REMOTE_TIMEOUT.get()) as answer:  # noqa: S310
            date = answer.headers.get("Date", "")
    except HTTPError as refused:
        date = refused.headers.get("Date", "")
    return time.time() - parsedate_to_datetime(date).timestamp()


def _skewed(server: str, ahead: float) -> DoctorFinding:
    host = urlsplit(server).hostname or server
    text = f"this machine is {spell_age(abs(ahead))} {'ahead of' if ahead > 0 else 'behind'} {host}"
    if abs(ahead) > _REFUSED:
        text += ", more than object storage allows: it refuses what is signed at such a time"
    else:
        text += ": keys expire, and what is remembered ends, at other times than elsewhere"
    return warning("clock", text, "timedatectl set-ntp true, or ask who runs this machine")
