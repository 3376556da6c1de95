"""Specs of recorded modules: those of the projects here, with the parameters of the record.

A record is data: names choose among the files and flags of an op, and none comes from the file.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from fictl.errors import FictlError, UsageError, shown
from fictl.jit import JitSpec, Template
from fictl.op.folder_specs import folder_specs
from fictl.project import OpFolder, Project, require_trusted
from fictl.project.discover import folders
from fictl.warmup.needs_file import NeededModule


def spec_of(needed: NeededModule) -> JitSpec:
    """Return the spec; FictlError says why this record cannot be built here."""
    folder = _folder_of(needed)
    require_trusted(folder.project)
    like = _like(needed, folder)
    return replace(
        like,
        template=_template(needed, like),
        max_spill_bytes=needed.max_spill_bytes,
        allowed_remarks=needed.allowed_remarks,
        device=needed.device,
    )


def _folder_of(needed: NeededModule) -> OpFolder:
    projects = [project for project in Project.all() if project.name == needed.project]
    if not projects:
        raise UsageError(
            f"{needed.title}: there is no project {needed.project!r} here",
            "run it in the project's folder, or install it; what a program builds from its own "
            "text is built by that program",
        )
    for folder in folders(projects[0]):
        if folder.key == needed.module:
            return folder
    raise UsageError(
        f"{needed.title}: project {needed.project} has no module {needed.module}",
        "it was removed or renamed: record it again",
    )


def _like(needed: NeededModule, folder: OpFolder) -> JitSpec:
    """Return a spec of the op with the same sources and flags: aot() has one of each kind."""
    specs = folder_specs(folder)
    sources = [spec for spec in specs if [path.name for path in spec.sources] == [*needed.sources]]
    if not sources:
        raise UsageError(
            f"{needed.title}: no module of it is made of {shown(' '.join(needed.sources))}",
            _known({path.name for spec in specs for path in spec.sources}),
        )
    flags = (needed.cuda_flags, needed.cxx_flags, needed.link_flags)
    for spec in sources:
        if (spec.extra_cuda_cflags, spec.extra_cflags, spec.extra_ldflags) == flags:
            return spec
    words = " ".join(word for group in flags for word in group)
    raise UsageError(
        f"{needed.title}: its jit.py has no module with the flags {shown(words) or 'of none'}",
        "the op has changed since: record it again",
    )


def _template(needed: NeededModule, like: JitSpec) -> Template | None:
    if like.template is None:
        if needed.parameters is None:
            return None
        raise UsageError(
            f"{needed.title} has no config.jinja for the recorded parameters",
            "the op has changed since: record it again",
        )
    own, given = like.template.parameters, needed.parameters or {}
    if set(own) != set(given):
        raise UsageError(
            f"{needed.title}: its template takes {', '.join(own)}, not {shown(', '.join(given))}",
            "the op has changed since: record it again",
        )
    return replace(like.template, parameters=dict(given))


def is_stale(needed: NeededModule, spec: JitSpec) -> bool:
    """Tell whether the sources have changed since: then the new ones are built."""
    from fictl.jit.recipe import recipe_of

    return recipe_of(spec).key != needed.recipe


def resolved(
    modules: Sequence[NeededModule],
) -> tuple[list[tuple[NeededModule, JitSpec]], list[tuple[NeededModule, FictlError]]]:
    """Split into modules that can be built here, with their specs, and the refused ones."""
    accepted: list[tuple[NeededModule, JitSpec]] = []
    refused: list[tuple[NeededModule, FictlError]] = []
    for needed in modules:
        try:
            accepted.append((needed, spec_of(needed)))
        except FictlError as error:
            refused.append((needed, error))
    return accepted, refused


def _known(names: set[str]) -> str:
    return f"it has {', '.join(sorted(names))}; record it again" if names else os.strerror(2)
