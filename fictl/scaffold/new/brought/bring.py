"""Reading of a request that names a kernel: its signature, the roles of parameters, dtypes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fictl.dtype import DType, parse_dtype
from fictl.errors import UsageError
from fictl.scaffold.new.brought.brought import Brought
from fictl.scaffold.new.brought.kernel_source import KernelSource, read_kernel
from fictl.scaffold.new.brought.launch import checked_launch, launch_of
from fictl.scaffold.new.brought.roles import Roles, assign
from fictl.scaffold.new.brought.sizes import Sizes
from fictl.scaffold.new.expression import Expression
from fictl.scaffold.new.reference import ReadReference
from fictl.scaffold.new.request import NewOpRequest
from fictl.scaffold.new.signature import Signature, Tensor, parse_scalar, parse_tensor


def bring(request: NewOpRequest, read: ReadReference | None) -> Brought:
    """Read the kernel that a request names."""
    source = checked_launch(read_kernel(request.kernel), request)
    if read is None and not request.expression:
        _refuse_unsaid(source)
    expression = None if read else Expression(request.expression)
    if expression is not None:
        signature = _of_expression(source, request, expression)
    else:
        assert read is not None
        _refuse_foreign_numbers(request, read)
        signature = _said(
            request.inputs or read.inputs,
            request.scalars or read.scalars,
            request.outputs or read.outputs,
        )
    roles = assign(source, signature)
    brought = _typed(source, signature, roles, expression)
    return replace(brought, launch=launch_of(source, request, Sizes(brought.signature)))


def checked_kernel(request: NewOpRequest) -> KernelSource:
    """The kernel; refuses what is wrong with it by itself, whatever its reference will say."""
    source = checked_launch(read_kernel(request.kernel), request)
    if not (request.reference or request.expression):
        _refuse_unsaid(source)
    return source


def _refuse_unsaid(source: KernelSource) -> None:
    raise UsageError(
        f"nothing says what {source.function.name} computes, and its test has to know",
        'say it in torch with --from ref.py:function, or with --expr "…"',
    )


def _refuse_foreign_numbers(request: NewOpRequest, read: ReadReference) -> None:
    """Refuse numbers that the reference does not take: the tests could not call it."""
    known = [parse_scalar(text).name for text in read.scalars]
    strange = [name for text in request.scalars if (name := parse_scalar(text).name) not in known]
    if strange:
        raise UsageError(
            f"--scalar names {strange[0]!r}, which the reference does not take",
            f"give it a parameter {strange[0]}: int, or call an axis so; its numbers are "
            f"{', '.join(known) or 'none'}",
        )


def _said(inputs: Sequence[str], scalars: Sequence[str], outputs: Sequence[str]) -> Signature:
    numbers = sorted(map(parse_scalar, scalars), key=lambda scalar: scalar.default is not None)
    results = tuple(parse_tensor(tensor, fixed_sizes=False) for tensor in outputs)
    return Signature(tuple(map(parse_tensor, inputs)), tuple(numbers), results)


def _of_expression(
    source: KernelSource, request: NewOpRequest, expression: Expression
) -> Signature:
    """Its names are those of the kernel's parameters; all tensors have one shape, if none is said."""
    pointers = [p.name for p in source.of("pointer") if p.is_const]
    tensors = [name for name in pointers if name in expression.names]
    if not request.inputs and (expression.has_reductions or not tensors):
        raise UsageError(
            f"the expression {expression} does not say the shapes of {', '.join(pointers) or 'any input'}",
            "say them, as in --input x:rows,hidden --output out:rows",
        )
    inputs = request.inputs or tuple(f"{name}:n" for name in tensors)
    known = {text.partition(":")[0].strip() for text in (*inputs, *request.scalars)}
    types = {p.name: p.role for p in source.parameters if p.role in ("int", "bool")}
    free = (n for n in expression.names if n not in known)
    numbers = (*request.scalars, *(f"{name}:{types.get(name, 'float')}" for name in free))
    axes = inputs[0].partition(":")[2]
    return _said(inputs, numbers, request.outputs or (f"out:{axes}",))


def _typed(
    source: KernelSource, signature: Signature, roles: Roles, expression: Expression | None
) -> Brought:
    """Add the dtypes of the pointers: those that are not the template's are fixed."""
    kinds = {roles.tensors[p.name].name: p for p in source.of("pointer")}
    fixed = {name: p.dtype for name, p in kinds.items() if p.type != source.element}
    case = None
    if not source.element:
        first = [fixed[item.name] for item in signature.inputs]
        floating = (dtype for dtype in first if dtype and "float" in dtype.name)
        case = next(floating, first[0])
    inputs, outputs = (
        tuple(_with_dtype(source, item, fixed.get(item.name), case) for item in tensors)
        for tensors in (signature.inputs, signature.outputs)
    )
    if not any(not item.dtype for item in inputs):
        raise UsageError(
            f"{source.at} has no input of its element type {source.element}",
            "an op's dtype is that of an input",
        )
    typed = Signature(inputs, signature.scalars, outputs)
    by_name = {known.name: known for known in (*inputs, *outputs)}
    bound = {name: by_name[tensor.name] for name, tensor in roles.tensors.items()}
    return Brought(
        source, typed, replace(roles, tensors=bound), expression, (case,) if case else ()
    )


def _with_dtype(
    source: KernelSource, tensor: Tensor, fixed_dtype: DType | None, case: DType | None
) -> Tensor:
    dtype = fixed_dtype.name if fixed_dtype and fixed_dtype != case else ""
    if tensor.dtype and tensor.dtype != (dtype or (case.name if case else "")):
        given = parse_dtype(tensor.dtype).name
        raise UsageError(
            f"{source.at} takes {tensor.name} as {dtype or source.element}, and it is said to be {given}",
            "one of the two is wrong",
        )
    return replace(tensor, dtype=dtype)
