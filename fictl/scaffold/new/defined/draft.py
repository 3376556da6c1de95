"""The draft of an op from a definition: a kernel of a kind that can do it, else all but the kernel."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from fictl.arch import ArchRule
from fictl.dtype import parse_dtype
from fictl.errors import UsageError
from fictl.project import Project
from fictl.scaffold.kinds.imports import merged
from fictl.scaffold.kinds.kind import Kind, find_part
from fictl.scaffold.new.brought.bring import bring
from fictl.scaffold.new.defined.initial import initial, unsaid
from fictl.scaffold.new.defined.read import Defined
from fictl.scaffold.new.defined.reference import read_defined
from fictl.scaffold.new.defined.sizes import case_sizes
from fictl.scaffold.new.defined.skeleton import Skeleton
from fictl.scaffold.new.defined.spelling import DefinedSpelling
from fictl.scaffold.new.draft import Draft
from fictl.scaffold.new.names import check_family
from fictl.scaffold.new.reference import ReadReference
from fictl.scaffold.new.request import NewOpRequest

KIND, _CASES = "_definition", "_definition_cases"
# From a reading of the reference to an op of one of these kinds.
OfKinds = Callable[[NewOpRequest, ReadReference, Sequence[Kind]], Draft]


def defined_draft(
    project: Project, request: NewOpRequest, kinds: Sequence[Kind], of_kinds: OfKinds
) -> Draft:
    """Draft an op from a definition: of the named kind, else of the first that fits, or of none."""
    defined = Defined.read(Path(request.definition))
    read = read_defined(defined)
    asked = replace(
        request,
        name=request.name or defined.name,
        family=request.family or check_family(defined.family),
        dtypes=request.dtypes or parse_dtype(defined.dtype).short,
    )
    try:
        op_draft = of_kinds(asked, read, kinds)
    except UsageError:
        if request.kind or request.expression:
            raise
        return _all_but_the_kernel(project, asked, defined, read)
    return _with_cases(
        replace(op_draft, more={**(op_draft.more or {}), **_said(op_draft, defined, read)})
    )


def _all_but_the_kernel(
    project: Project, request: NewOpRequest, defined: Defined, read: ReadReference
) -> Draft:
    kind, skeleton = find_part(KIND), Skeleton(defined, request.name)
    with tempfile.TemporaryDirectory(prefix="fictl-definition-") as place:
        path = Path(place) / f"{request.name}.cu"
        path.write_text(skeleton.text(), encoding="utf-8")
        brought = bring(replace(request, kernel=f"{path}:{skeleton.entry}"), read)
        # What `bring` guesses of the names of sizes is known here.
        roles = replace(brought.roles, axes=skeleton.sizes, counts=frozenset())
        brought = replace(brought, roles=roles)
        more = brought.context(project.name, request.family)
        archs = str(ArchRule.parse(request.archs)) if request.archs else kind.archs
        op_draft = Draft(
            project,
            request.family,
            request.name,
            kind,
            brought.signature,
            tuple(parse_dtype(word) for word in request.dtypes.replace(",", " ").split()),
            archs,
            brought.devices,
            {},
            None,
            read.reference,
            read.doc,
            more,
        )
    context = {**_said(op_draft, defined, read), "has_integers": False, "flag": skeleton.flag}
    context["untied"] = None  # Its definition says what its inputs are.
    return _with_cases(replace(op_draft, more={**more, **context}))


def _with_cases(draft: Draft) -> Draft:
    """Its own, whatever those of the kind are: a definition may not allow them."""
    kind = replace(draft.kind, trees=(*draft.kind.trees, *find_part(_CASES).trees))
    return replace(draft, kind=kind)


def _said(draft: Draft, defined: Defined, read: ReadReference) -> dict[str, Any]:
    """Variables of the templates, beside those of every kind."""
    first = initial(defined, read.reference)
    imports = (*read.reference.imports, *(first.imports if first else ()))
    return {
        "defined": defined,
        "spelled": DefinedSpelling(draft.signature, defined),
        "reference": replace(read.reference, imports=merged(imports)),
        "initial": first,
        "unsaid": unsaid(defined),
        "defined_cases": case_sizes(defined),
    }
