"""The private folder of a running build, and its publication by one atomic rename."""

from __future__ import annotations

import errno
import os
import platform
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fictl import private_folder, rooted, settings
from fictl.errors import SetupError
from fictl.jit.store.entry import Entry, Newer, Unusable
from fictl.jit.store.use import Removed, keeping
from fictl.jit.store.writing import writing
from fictl.paths import matching

STAGING = "staging"
_FORGOTTEN_SECONDS = 86400.0


@contextmanager
def staging_folder(module_dir: Path) -> Iterator[Path]:
    """Make a fresh folder; it is gone afterwards, published or not."""
    parent = module_dir / STAGING
    path = parent / f"{platform.node()}+{os.getpid()}+{secrets.token_hex(4)}"
    try:
        with writing(module_dir):
            private_folder.check(module_dir, STAGING)
            _make(path)
            _sweep(parent)
            yield path
    finally:
        with suppress(OSError):
            rooted.remove(module_dir, path)


def _make(path: Path) -> None:
    for _ in range(3):
        with suppress(
            FileNotFoundError
        ):  # A process that clears the cache removed an empty parent.
            private_folder.make_within(path)
            return
    private_folder.make_within(path)


def publish(staging: Path, final: Path) -> Entry:
    """Rename into place. A second publisher takes the existing build, unless it is broken."""
    with keeping(staging):
        for _ in range(3):
            try:
                private_folder.make_within(final.parent)
                os.rename(staging, final)
            except FileNotFoundError:
                continue  # A process that clears the cache removed the empty folder.
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise
                winner = _standing(final)
                if winner is not None and _same(winner, Entry.read(staging)):
                    return winner
                with suppress(OSError):
                    rooted.remove(final.parents[1], final)
            else:
                break
        try:
            return Entry.read(final)
        except Unusable as error:  # By force.
            raise Removed(final) from error


def _standing(final: Path) -> Entry | None:
    """Return the whole build that is already there; one of a newer fictl is not to be replaced."""
    try:
        Entry.read(final)
    except Newer as error:
        raise SetupError(
            f"{final} is taken: {error}",
            f"set {settings.WORKSPACE_BASE.name} to a cache of this version's own",
        ) from error
    except Unusable:
        return None
    return Entry.whole(final)


def _same(one: Entry, other: Entry) -> bool:
    """True if both have the same recipe and build; a damaged manifest may claim others."""
    names = ("archs", "toolchain", "ffi_abi", "cudart", "platform")
    return all(getattr(one.manifest, name) == getattr(other.manifest, name) for name in names)


def is_abandoned(path: Path) -> bool:
    """True if no process builds there any more; for another host only the age is known."""
    host, _, rest = path.name.partition("+")
    pid = rest.partition("+")[0]
    if host == platform.node() and pid.isdigit():
        return not os.path.exists(Path("/proc", pid))
    try:
        return time.time() - path.stat().st_mtime > _FORGOTTEN_SECONDS
    except OSError:
        return True


def _sweep(parent: Path) -> None:
    """Remove folders left by killed builds."""
    for path in matching(parent, "*"):
        if is_abandoned(path):
            with suppress(OSError):
                rooted.remove(parent.parent, path)
