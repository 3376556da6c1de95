"""What commands say that were to look at every op of a project, where there is none yet."""

from __future__ import annotations


def no_ops() -> str:
    from fictl.project import Project

    return f"{Project.at().name} has no op yet; `fictl new-op NAME` makes one"
