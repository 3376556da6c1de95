"""The draft of an op around a kernel that is there."""

from __future__ import annotations

from dataclasses import replace

from fictl.arch import ArchRule
from fictl.dtype import DType, parse_dtype
from fictl.errors import UsageError
from fictl.project import Project
from fictl.scaffold.kinds.kind import Kind
from fictl.scaffold.new.brought.bring import bring
from fictl.scaffold.new.brought.brought import Brought
from fictl.scaffold.new.draft import Draft
from fictl.scaffold.new.guess import Guess
from fictl.scaffold.new.names import check_family, snake
from fictl.scaffold.new.reference import ReadReference
from fictl.scaffold.new.request import NewOpRequest

KIND = "_brought"


def brought_draft(
    project: Project, request: NewOpRequest, read: ReadReference | None, kind: Kind
) -> Draft:
    """`kind` is the one called KIND."""
    brought = bring(request, read)
    family = check_family(request.family or _family(brought))
    archs = str(ArchRule.parse(request.archs)) if request.archs else kind.archs
    what = request.doc or (read.doc if read else "") or brought.words
    op_draft = Draft(
        project,
        family,
        request.name,
        kind,
        brought.signature,
        _dtypes(request, brought, kind),
        archs,
        brought.devices,
        {},
        brought.expression,
        read.reference if read else None,
        what,
        guesses=_guesses(request, read, brought),
        read=read,
    )
    code = {"reference_code": _torch(op_draft)} if brought.expression else {}
    return replace(op_draft, more={**brought.context(project.name, family), **code})


def _guesses(
    request: NewOpRequest, read: ReadReference | None, brought: Brought
) -> tuple[Guess, ...]:
    shape = Guess(
        ("shapes",),
        "all tensors are of one shape; if not, say each",
        "--input x:rows,hidden --output out:rows",
    )
    alike = () if read or request.inputs else (shape,)
    return (
        *alike,
        *(read.guesses if read else ()),
        *(brought.launch.guesses if brought.launch else ()),
    )


def _torch(draft: Draft) -> str:
    """The expression, which kinds of ours know to keep a row or to end in one value."""
    assert draft.expression is not None
    inputs, (first, *_) = draft.signature.inputs, draft.signature.outputs
    keep = len(first.axes) == max(len(tensor.axes) for tensor in inputs)
    names = [tensor.name for tensor in inputs]
    return draft.expression.torch(names, keep, ".double()" if draft.has_integers else "")


def _family(brought: Brought) -> str:
    """The file's name: kernels of one file belong together."""
    stem = snake(brought.source.path.stem)
    try:
        return check_family(stem)
    except UsageError:
        return f"{stem}_kernels"


def _dtypes(request: NewOpRequest, brought: Brought, kind: Kind) -> tuple[DType, ...]:
    asked = tuple(parse_dtype(word) for word in request.dtypes.replace(",", " ").split())
    if not brought.dtypes:
        return asked or tuple(parse_dtype(word) for word in kind.dtypes.split())
    strange = [dtype for dtype in asked if dtype not in brought.dtypes]
    if strange:
        raise UsageError(
            f"{brought.source.at} is written for {brought.dtypes[0].name}, not {strange[0].name}",
            "make it a template of its element type, or leave --dtypes out",
        )
    return brought.dtypes
