"""A request that is kept with its op, and the files that the scaffold writes for it today."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from fictl.dtype import parse_dtype
from fictl.errors import FictlError
from fictl.project import OpFolder, Project
from fictl.scaffold.new.draft import Draft
from fictl.scaffold.new.new_op import draft, texts_of
from fictl.scaffold.new.request import NewOpRequest
from fictl.scaffold.new.signature import Axis, Tensor
from fictl.scaffold.plan.plan import Plan
from fictl.scaffold.record import LARGEST, ScaffoldRecord, is_sound, place
from fictl.user_file import read_text
from fictl.version import VERSION


def with_record(plan: Plan, new_op: Draft, request: NewOpRequest) -> Plan:
    """Add the op's record to the plan that writes it; not one that could not be read again."""
    record = record_of(new_op, request)
    if len(record.text()) > LARGEST or not is_sound(record):
        return plan
    folder = OpFolder(new_op.project, new_op.family, new_op.name)
    return replace(plan, files={**plan.files, place(folder): record.text()})


def record_of(new_op: Draft, request: NewOpRequest) -> ScaffoldRecord:
    """Make the record. What was inferred is in it as if it had been said: a later fictl may infer
    otherwise.
    """
    named = replace(request, name=new_op.name, family=new_op.family)
    source = ""
    if request.reference:
        file, _, function = request.reference.rpartition(":")
        named = replace(named, reference=f"{Path(file).name}:{function}")
    if request.definition:
        source = read_text(Path(request.definition))
        named = replace(named, definition=Path(request.definition).name)
    elif request.kernel:
        path, entry = _parted(request.kernel)
        source = read_text(path)
        named = replace(named, kernel=f"{path.name}:{entry}")
    read = None
    if request.reference and new_op.read:
        read = replace(new_op.read, guesses=())
    texts = texts_of(new_op)
    record = ScaffoldRecord(VERSION, named, texts, read, source)
    explicit = replace(record, request=_explicit(named, new_op))
    return explicit if _gives(new_op.project, explicit, texts) else record


def rewritten(project: Project, record: ScaffoldRecord) -> ScaffoldRecord:
    """The record that an op has whose files are what this fictl writes."""
    return replace(record, version=VERSION, files=texts_now(project, record))


def texts_now(project: Project, record: ScaffoldRecord) -> dict[str, str]:
    """The op's files as this fictl's templates give them; nothing is written, nothing of it is run."""
    with _at_hand(record) as request:
        return texts_of(draft(project, request, overwrite=True, read=record.read))


def _gives(project: Project, record: ScaffoldRecord, texts: dict[str, str]) -> bool:
    try:
        return texts_now(project, record) == texts
    except FictlError:
        return False


@contextmanager
def _at_hand(record: ScaffoldRecord) -> Iterator[NewOpRequest]:
    """The request, with the file that it names in a folder of its own."""
    request = record.request
    with TemporaryDirectory(prefix="fictl-upgrade-") as place_:
        if request.definition:
            path = Path(place_) / request.definition
            path.write_text(record.source, encoding="utf-8")
            request = replace(request, definition=str(path))
        elif request.kernel:
            name, entry = _parted(request.kernel)
            path = Path(place_) / name
            path.write_text(record.source, encoding="utf-8")
            request = replace(request, kernel=f"{path}:{entry}")
        yield request


def _parted(kernel: str) -> tuple[Path, str]:
    """`a/gate.cu:Gate<T,2>` as a file and what is in it."""
    stem, _, rest = kernel.partition(".cu")
    suffix, _, entry = rest.partition(":")
    return Path(f"{stem}.cu{suffix}"), entry


def _explicit(request: NewOpRequest, new_op: Draft) -> NewOpRequest:
    """A definition, or a reference as it was read, says its shapes already."""
    kind = "" if new_op.kind.name.startswith("_") else new_op.kind.name
    dtypes = ",".join(dtype.short for dtype in new_op.dtypes)
    request = replace(request, kind=kind, dtypes=dtypes)
    if request.definition or request.reference:
        return request
    signature = new_op.signature
    return replace(
        request,
        inputs=tuple(map(_spelled, signature.inputs)),
        scalars=tuple(map(str, signature.scalars)),
        outputs=tuple(map(_spelled, signature.outputs)),
    )


def _spelled(tensor: Tensor) -> str:
    """Spell a tensor as --input and --output take it."""
    axes = ",".join(map(_axis, tensor.axes))
    dtype = f":{parse_dtype(tensor.dtype).short}" if tensor.dtype else ""
    return f"{tensor.name}:{axes}{dtype}"


def _axis(axis: Axis) -> str:
    value = axis.text or (str(axis.size) if axis.size else "")
    return f"{axis.name}={value}" if value else axis.name
