"""The project that commands are about, as other machines get it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from fictl import settings
from fictl.errors import UsageError
from fictl.farm.blobs import blob_of
from fictl.farm.own_folder import own_folder
from fictl.farm.spread.command_doer import Project
from fictl.farm.tree import pack
from fictl.project import OpFolder
from fictl.removal import remove

# Settings that decide what is done, and mean the same on every machine.
_CARRIED = {"bool", "device", "schedule"}
_CARRIED_BY_NAME = (settings.CUDA_ARCH_LIST, settings.EXTRA_CUDAFLAGS, settings.EXTRA_CFLAGS)


@contextmanager
def project_files(folders: Sequence[OpFolder], also: Path | None = None) -> Iterator[Project]:
    """Pack the one project of these ops; the shipped ops are at every place.

    also: a folder whose files are added.
    """
    projects = {folder.project for folder in folders}
    own = [project for project in projects if not project.is_shipped]
    if len(own) > 1:
        names = ", ".join(sorted(project.name for project in own))
        raise UsageError(f"the ops are of several projects: {names}", "one --on for each project")
    variables = _variables()
    if not own:
        yield Project(variables=variables)
        return
    scratch = own_folder("packed")
    try:
        packed = scratch / "project.tar"
        pack(own[0].top, packed, also)
        folder = str(own[0].root.relative_to(own[0].top))
        yield Project(packed, blob_of(packed), folder, variables)
    finally:
        remove(scratch)


def _variables() -> dict[str, str]:
    """Return the user's choices for this run that other machines follow, too."""
    carried = [setting for setting in settings.SETTINGS if setting.kind in _CARRIED]
    pairs = ((setting.name, setting.origin()) for setting in (*carried, *_CARRIED_BY_NAME))
    return {name: origin.text for name, origin in pairs if origin.kind in ("environment", "flag")}
