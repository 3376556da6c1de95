"""Memory that the ranks of one host share, and the groups of ranks that share it."""

from typing import TYPE_CHECKING

from fictl.lazy import lazy

if TYPE_CHECKING:
    from fictl.comm.group import MOST_RANKS, Group
    from fictl.comm.shared import shared_ranks, shared_workspace
    from fictl.comm.workspace import Workspace

__all__ = ["MOST_RANKS", "Group", "Workspace", "shared_ranks", "shared_workspace"]

__getattr__ = lazy(
    __name__,
    {
        "Group": "group",
        "MOST_RANKS": "group",
        "Workspace": "workspace",
        "shared_ranks": "shared",
        "shared_workspace": "shared",
    },
)
