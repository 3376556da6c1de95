"""A new op: from what a user says to a draft, and from the draft to a plan."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fictl.arch import ArchRule
from fictl.dtype import DType, parse_dtype
from fictl.errors import UsageError
from fictl.project import Project, names, require_trusted
from fictl.scaffold.kinds.kind import Kind, find_kind, find_part, kinds
from fictl.scaffold.kinds.match import match
from fictl.scaffold.kinds.polish import polish
from fictl.scaffold.kinds.render import render
from fictl.scaffold.new.draft import Draft
from fictl.scaffold.new.guess import guessed_functions, guessed_numbers
from fictl.scaffold.new.infer import infer
from fictl.scaffold.new.names import check_family, check_op
from fictl.scaffold.new.request import NewOpRequest
from fictl.scaffold.plan.plan import Plan

if TYPE_CHECKING:
    from fictl.scaffold.new.reference import ReadReference


def draft(
    project: Project,
    request: NewOpRequest,
    overwrite: bool = False,
    read: ReadReference | None = None,
) -> Draft:
    """`overwrite` lets it have the name of an op that is there; `read` is the reference as it was
    read before.
    """
    if project.templates:
        require_trusted(project)  # A template may say any Python.
    there = [] if overwrite else [n for n in names([project]) if n != request.family]
    if request.definition:
        return _of_definition(project, request, there)
    check_op(request.name, there)
    _check_words(project, request)
    read = read or _read_reference(project, request)
    if request.kernel:
        return _around_kernel(project, request, read)
    kind = request.kind or (read.kind if read and not request.expression else "")
    if kind:
        return _of_kind(project, request, read, find_kind(kind, project.templates))
    all_kinds = kinds(project.templates).values()
    return _of_any(project, request, read, sorted(all_kinds, key=lambda kind: kind.guess))


def plan_op(new_op: Draft, polished: bool = True) -> Plan:
    """The files of it; nothing is written. Templates break lines as formatters do, as far as they
    can foresee names; `polished` has the formatters say the last word, where they are installed.
    """
    project = new_op.project
    files = {place(project, where): text for where, text in texts_of(new_op).items()}
    return Plan(project.top, {**(polish(files) if polished else files)})


def texts_of(new_op: Draft) -> dict[str, str]:
    """The files as the templates give them, by their path in the tree of a template."""
    return render(new_op.kind.files(), new_op.context)


def _check_words(project: Project, request: NewOpRequest) -> None:
    """Refuse what is wrong by itself, before a reference is called and something else is asked for."""
    for word in request.dtypes.replace(",", " ").split():
        parse_dtype(word)
    if request.archs:
        ArchRule.parse(request.archs)
    if request.family:
        check_family(request.family)
    if request.kernel:
        _refuse_kind(request)
    elif request.grid or request.block:
        raise UsageError(
            "--grid and --block say how a kernel is launched, and --kernel names none",
            "a kind knows how to launch its kernel",
        )
    elif request.kind:
        _refuse_reference(request.reference, find_kind(request.kind, project.templates))


def _refuse_reference(reference: str, kind: Kind) -> None:
    if reference and kind.scalars and not kind.expression:
        raise UsageError(
            f"kind {kind.name} has no use for {reference}: its kernel comes with a reference",
            "leave it out, and edit trace.py where yours differs",
        )
    if reference and kind.expression == "score":
        raise UsageError(
            f"kind {kind.name} has no use for {reference}: its reference is the attention "
            "around an expression",
            'leave --from out, and say the mask or the logit with --expr "…"',
        )


def _refuse_kind(request: NewOpRequest) -> None:
    if request.kind:
        raise UsageError(
            f"--kind {request.kind} writes a kernel, --kernel wraps an existing one",
            "leave one of them out",
        )


def _read_reference(project: Project, request: NewOpRequest) -> ReadReference | None:
    sizes: tuple[str, ...] = ()
    if request.kernel:
        from fictl.scaffold.new.brought import checked_kernel

        sizes = tuple(parameter.name for parameter in checked_kernel(request).of("int"))
    if not request.reference:
        return None
    from fictl.scaffold.new.reference import read_reference

    kind = find_kind(request.kind, project.templates) if request.kind else None
    says_kernel = bool(request.kernel or request.expression)
    return read_reference(
        request.reference,
        request.example,
        request.inputs,
        request.outputs,
        needs_kernel=not says_kernel and (kind is None or bool(kind.expression)),
        sizes=sizes,
    )


def _of_definition(project: Project, request: NewOpRequest, there: list[str]) -> Draft:
    """The definition says what all other words on shapes and computations would."""
    given = {
        "--input": request.inputs,
        "--output": request.outputs,
        "--scalar": request.scalars,
        "--from": request.reference,
        "--kernel": request.kernel,
        "--example": request.example,
        "--grid": request.grid,
        "--block": request.block,
    }
    beside = [flag for flag, value in given.items() if value]
    if beside:
        raise UsageError(
            f"{beside[0]} and --from-definition both say what the op takes and computes",
            "leave one of them out",
        )
    from fictl.scaffold.new.defined.draft import defined_draft

    def of_kinds(asked: NewOpRequest, read: ReadReference, among: Sequence[Kind]) -> Draft:
        check_op(asked.name, there)
        kind = request.kind or read.kind
        if kind:
            return _of_kind(project, asked, read, find_kind(kind, project.templates))
        return _of_any(project, asked, read, [*among])

    by_guess = sorted(kinds(project.templates).values(), key=lambda kind: kind.guess)
    new_op = defined_draft(project, request, by_guess, of_kinds)
    check_op(new_op.name, there)
    return new_op


def _around_kernel(project: Project, request: NewOpRequest, read: ReadReference | None) -> Draft:
    from fictl.scaffold.new.brought.draft import KIND, brought_draft

    return brought_draft(project, request, read, find_part(KIND))


def _of_any(
    project: Project, request: NewOpRequest, read: ReadReference | None, among: list[Kind]
) -> Draft:
    """The first kind, of those that may be guessed, that what was said fits."""
    problems: dict[str, UsageError] = {}
    for kind in among:
        try:
            if kind.guess:
                return _of_kind(project, request, read, kind)
        except UsageError as error:
            problems[kind.name] = error
    first, *others = problems.values()
    if all(error.message == first.message for error in others):
        raise first
    raise UsageError(
        "no kind fits: " + "; ".join(f"{e.message} ({e.hint})" for e in problems.values()),
        "name one with --kind, or bring a kernel along with --kernel",
    )


def _of_kind(
    project: Project, request: NewOpRequest, read: ReadReference | None, kind: Kind
) -> Draft:
    family = check_family(request.family or kind.family)
    dtypes = _dtypes(request.dtypes or kind.dtypes, kind)
    if read:
        _refuse_reference(request.reference or request.definition, kind)
    text = request.expression or (read.expression if read and kind.expression else "") or ""
    if read and kind.expression and not text:
        from fictl.scaffold.new.reference import untranslated

        raise untranslated(request.reference, read.why_not)
    signature, expression = infer(
        kind,
        request.inputs or (read.inputs if read else ()),
        request.scalars or (read.scalars if read else ()),
        request.outputs or (read.outputs if read and kind.expression != "weights" else ()),
        text,
    )
    archs = str(ArchRule.parse(request.archs)) if request.archs else kind.archs
    return Draft(
        project,
        family,
        request.name,
        kind,
        signature,
        dtypes,
        archs,
        kind.devices,
        match(kind, signature),
        expression,
        read.reference if read else None,
        request.doc or (read.doc if read else ""),
        guesses=(
            *(read.guesses if read else ()),
            *guessed_numbers(kind, request, signature),
            *guessed_functions(request),
        ),
        read=read,
    )


def _dtypes(text: str, kind: Kind) -> tuple[DType, ...]:
    dtypes = tuple(dict.fromkeys(parse_dtype(word) for word in text.replace(",", " ").split()))
    if not dtypes:
        raise UsageError("--dtypes names none", "as in --dtypes f16,bf16,f32")
    accepted = [parse_dtype(word) for word in (kind.accepts or kind.dtypes).split()]
    for dtype in dtypes:
        if dtype not in accepted:
            raise UsageError(
                f"kind {kind.name} cannot be of {dtype.name}",
                f"it takes {', '.join(dtype.short for dtype in accepted)}",
            )
    return dtypes


def place(project: Project, where: str) -> Path:
    """`kernels/` and `tests/kernels/` of a template tree are where the project has them."""
    for prefix, folder in (("kernels/", project.kernels), ("tests/kernels/", project.tests)):
        if where.startswith(prefix):
            return folder / where[len(prefix) :]
    return project.root / where


def where_of(project: Project, path: Path) -> str:
    """The inverse of `place`."""
    for prefix, folder in (("kernels/", project.kernels), ("tests/kernels/", project.tests)):
        if path.is_relative_to(folder):
            return prefix + path.relative_to(folder).as_posix()
    return path.relative_to(project.root).as_posix()
