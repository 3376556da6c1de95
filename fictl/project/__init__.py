"""Projects: finds their ops, reads declarations, checks the layout."""

from fictl.project.declaration import Declaration
from fictl.project.discover import find, folders, names, select
from fictl.project.folder import OpFolder
from fictl.project.mount import mount, mounted
from fictl.project.project import Project
from fictl.project.trusted import require_trusted

__all__ = [
    "Declaration",
    "OpFolder",
    "Project",
    "find",
    "folders",
    "mount",
    "mounted",
    "names",
    "require_trusted",
    "select",
]
