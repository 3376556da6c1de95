"""The message of commands that have nothing to build: no op yet, or one that is made of others."""

from __future__ import annotations


def no_ops() -> str:
    from fictl.project import Project, folders

    if folders(Project.at()):
        return "nothing to build: an op that is made of others has no kernel of its own"
    return f"{Project.at().name} has no op yet; `fictl new-op NAME` makes one"
