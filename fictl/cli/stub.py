"""The stub of a project's ops, made anew by commands after which it may be stale."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from fictl.cli import console
from fictl.errors import UsageError

if TYPE_CHECKING:
    from fictl.project import Project


def refresh_stub(project: Project) -> None:
    """Write ops.pyi if ops have changed; `fictl check` reports what cannot be written down."""
    from fictl.paths import friendly
    from fictl.project import facade_stub

    with suppress(OSError, UsageError):  # An installation may be of another user.
        path = facade_stub.refresh_stub(project)
        if path and project.is_shipped:
            console.note(f"made anew for editors: {friendly(path)}")
