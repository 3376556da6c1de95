"""Checks ownership of projects: code in another user's files is not run, as with git."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from fictl import settings
from fictl.errors import SetupError
from fictl.owners import is_listed_safe, user_name
from fictl.owners import trusted_users as _trusted_users
from fictl.project.project import Project

# Depth of the search in folders; less behind a link, which may lead anywhere.
_DEEPEST, _BEHIND_LINK = 32, 3


@cache
def require_trusted(project: Project) -> None:
    """Refuse another user's project, before any of it is imported, compiled or rendered.

    Projects that Python itself can import are accepted: installed, or on the user's sys.path.
    """
    if _is_installed(project) or is_listed_safe(project.root):
        return
    stranger = next(_strangers(project), None)
    if stranger is not None:
        raise SetupError(
            f"project {project.name} ({project.root}): {_belongs(stranger)}, and you are "
            f"{user_name(os.geteuid())}: its code does not run",
            f"if you trust all of it: {settings.SAFE_PROJECTS.name}={project.root}, or "
            f'safe_projects = ["{project.root}"] in your settings file',
        )


def _is_installed(project: Project) -> bool:
    from importlib.util import find_spec

    if project.is_shipped:
        return True
    with suppress(ImportError, ValueError):
        spec = find_spec(project.package)
        places = spec.submodule_search_locations if spec and spec.origin else None
        return any(Project.at(Path(place)) == project for place in places or ())
    return False


def _strangers(project: Project) -> Iterator[str]:
    """Yield files of a project that another user owns, of all that can affect its code."""
    users = _trusted_users()
    folders = dict.fromkeys((project.kernels, project.tests, project.templates or project.tests))
    beside = {
        folder for place in folders for folder in place.parents if project.top in folder.parents
    }
    seen: set[tuple[int, int]] = set()
    for folder in (project.root, project.top, *beside):
        yield from _of_others(str(folder), users)
        yield from (foreign for path in _listed(str(folder)) for foreign in _of_others(path, users))
    pending = [(str(folder), _DEEPEST) for folder in folders]
    while pending:
        place, depth = pending.pop()
        yield from _of_others(place, users)
        with suppress(OSError):
            info = os.stat(place)
            if depth and (info.st_dev, info.st_ino) not in seen:
                seen.add((info.st_dev, info.st_ino))
                for entry in _listed(place):
                    if os.path.isdir(entry):
                        below = depth - 1 if not os.path.islink(entry) else min(depth, _BEHIND_LINK)
                        pending.append((entry, below))
                    else:
                        yield from _of_others(entry, users)


def _of_others(path: str, users: set[int]) -> Iterator[str]:
    """Yield the path if another user owns it or, for a link, its target."""
    with suppress(OSError):
        if os.lstat(path).st_uid not in users or os.stat(path).st_uid not in users:
            yield path


def _listed(folder: str) -> list[str]:
    with suppress(OSError):
        return [entry.path for entry in os.scandir(folder)]
    return []


def _belongs(path: str) -> str:
    with suppress(OSError):
        linked = os.path.realpath(path) if os.path.islink(path) else path
        return f"{linked} belongs to {user_name(os.stat(linked).st_uid)}"
    return f"{path} is not yours"
