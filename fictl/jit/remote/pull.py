"""The lookup in remotes, after that in the stores: nearest first, and never in the way.

Whatever a remote does, the answer is a build or a reason; only this machine's own faults, such as a
full disk, are errors.
"""

from __future__ import annotations

from pathlib import Path

from fictl import settings
from fictl.errors import FictlError, NotInstalled
from fictl.jit.lookup import Lookup
from fictl.jit.plan import build_key
from fictl.jit.remote import remotes
from fictl.jit.remote.answer import Pulled
from fictl.jit.remote.bucket import BadAnswer, NotThere, RemoteFailed
from fictl.jit.remote.catalog import Candidate, candidates, names_in
from fictl.jit.remote.document import recipe_folder
from fictl.jit.remote.fetch import NotTrusted, fetched, vouched
from fictl.jit.remote.remote import Remote
from fictl.jit.remote.sender import copy_later
from fictl.jit.remote.vouched import Vouched
from fictl.jit.store.entry import Entry, Newer
from fictl.jit.store.shareable import unshared_variant
from fictl.jit.store.stores import Store
from fictl.log import logger, warn_once
from fictl.redact import hide_secrets
from fictl.trust.keys_file import TrustedKey, trusted_keys

_MOST_CANDIDATES = 32


def pull(lookup: Lookup, store: Store, patient: bool = False, look_only: bool = False) -> Pulled:
    """Ask the remotes for a build that answers the lookup, and publish it in the store.

    patient: ask also what did not answer, or did not have it, a moment ago.
    look_only: fetch nothing; then only `by` says that there is a build, and where.
    """
    answer = Pulled(reasons=list(remotes.silent()), asked=True)
    if unshared_variant(lookup.recipe.device, lookup.recipe.flags.variant):
        return answer
    nearer: list[Remote] = []
    for url in remotes.urls():
        try:
            remote = Remote.at(url)
            answer.entry, taken = _pulled(remote, lookup, store, patient, look_only)
            answer.by = f"{remote.url}, {taken.by}"
            _copy_to(nearer, answer.entry, taken)
            break
        except _Nothing as nothing:
            nearer.append(remote)
            answer.reasons.append(f"{hide_secrets(url)} {nothing}")
        except (RemoteFailed, NotInstalled) as error:
            answer.reasons.append(_in_full(error))
            if not settings.NO_DOWNLOAD.get():  # Who set that knows.
                here_only = isinstance(error, RemoteFailed) and error.here_only
                for_a_minute = "" if here_only else "; it is not asked again for a minute"
                warn_once(f"{_in_full(error)}{for_a_minute}")
    return answer


def _copy_to(nearer: list[Remote], entry: Entry | None, taken: Vouched) -> None:
    """Let the nearest remote that can be written have the build, too, if own builds are sent."""
    writable = [remote for remote in nearer if remote.bucket.writable]
    if writable and entry and remotes.is_written():
        copy_later(writable[0], entry, taken)


def _in_full(error: FictlError) -> str:
    return f"{error.message} ({error.hint})" if error.hint else error.message


class _Nothing(Exception):
    """The remote has no build to use; the text says why, after its URL."""


def _pulled(
    remote: Remote, lookup: Lookup, store: Store, patient: bool, look_only: bool
) -> tuple[Entry | None, Vouched]:
    folder = recipe_folder(lookup.spec.project, lookup.spec.name, lookup.recipe.key)
    if patient:
        remote.breaker.forget()
    elif reason := remote.breaker.reason():
        raise _Nothing(f"is not asked for a minute: {reason}")
    elif remote.breaker.lacks(folder):
        raise _Nothing("did not have it a moment ago")
    try:
        choices = candidates(folder, names_in(remote.bucket, folder))
        if not choices:
            remote.breaker.note_absent(folder)
            raise _Nothing("does not have it")
        return _first(remote, choices, lookup, None if look_only else store)
    except BadAnswer as error:
        warn_once(f"{remote.url} is passed over: {error}")
        raise _Nothing(f"cannot be read: {error}") from None
    except RemoteFailed as error:
        remote.breaker.trip(error)
        raise


def _first(
    remote: Remote, choices: list[Candidate], lookup: Lookup, store: Store | None
) -> tuple[Entry | None, Vouched]:
    """Take the first candidate that fits, is trusted and is whole; warn about what is not."""
    keys = _keys()
    refusals: list[str] = []
    unfit: list[str] = []
    for candidate in _in_order(choices, lookup, keys)[:_MOST_CANDIDATES]:
        try:
            taken = vouched(remote.bucket, candidate, keys)
            if reason := lookup.unfit(Entry(Path(remote.url), taken.document.manifest)):
                unfit.append(reason)
                continue
            entry = fetched(remote.bucket, taken, store) if store else None
        except Newer as error:
            logger().debug("%s at %s is passed over: %s", candidate.name, remote.url, error)
        except NotThere as error:
            refusals.append(f"{error} is missing")
        except (BadAnswer, NotTrusted) as error:
            refusals.append(str(error))
        else:
            return entry, taken
    for refusal in dict.fromkeys(refusals):
        warn_once(f"a build at {remote.url} is passed over: {refusal}")
    if refusals:
        raise _Nothing(f"has one, but {refusals[0]}")
    raise _Nothing(f"has none that fits: {(unfit or ['a newer fictl made it'])[0]}")


def _keys() -> tuple[TrustedKey, ...]:
    try:
        return trusted_keys()
    except FictlError as error:
        warn_once(f"no key is trusted: {error.message}")
        return ()


def _in_order(
    choices: list[Candidate], lookup: Lookup, keys: tuple[TrustedKey, ...]
) -> list[Candidate]:
    """Put first those of known keys, and of these the very build that would be compiled here.

    So it does not help to fill a folder with builds that nobody trusts.
    """
    wanted, known = "", {key.public.id for key in keys}
    if lookup.compilers and lookup.targets:
        identity = lookup.compilers.identity(lookup.recipe.libraries)
        wanted = build_key(identity, lookup.targets.archs, lookup.compilers.cudart)
    return sorted(
        choices, key=lambda choice: (known.isdisjoint(choice.keys), choice.build != wanted)
    )
