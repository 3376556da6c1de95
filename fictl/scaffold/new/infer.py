"""Inference of what a user leaves out: tensors from an expression, an output from inputs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from fictl.errors import UsageError
from fictl.scaffold.kinds.kind import Kind
from fictl.scaffold.kinds.match import bind, expand
from fictl.scaffold.new.expression import Expression, Score
from fictl.scaffold.new.names import check_parameter
from fictl.scaffold.new.signature import Scalar, Signature, Tensor, parse_scalar, parse_tensor

_HEAD_DIMS = range(8, 257, 8)


def infer(
    kind: Kind,
    inputs: Sequence[str],
    scalars: Sequence[str],
    outputs: Sequence[str],
    text: str,
) -> tuple[Signature, Expression | None]:
    """Infer the signature from texts of the command line; empty ones are to be found."""
    read = Score if kind.expression == "score" else Expression
    expression = read(text) if text else None
    if expression is not None and not kind.expression:
        raise UsageError(
            f"kind {kind.name} takes no expression", "its computation is in its kernel"
        )
    tensors = tuple(map(parse_tensor, inputs)) or _usual_inputs(kind, expression, scalars)
    usual = kind.scalars if not (kind.expression and (inputs or expression)) else ()
    numbers = tuple(map(parse_scalar, scalars or usual))
    if not kind.expression:
        _check_fixed_numbers(kind, numbers)
    if kind.expression and expression is None:
        expression = read(_usual_expression(kind, tensors, numbers))
    if expression is not None:
        numbers = _with_missing(expression, tensors, numbers)
    numbers = tuple(sorted(numbers, key=lambda scalar: scalar.default is not None))
    results = tuple(parse_tensor(tensor, fixed_sizes=False) for tensor in outputs)
    signature = Signature(tensors, numbers, results or _usual_outputs(kind, tensors))
    _check_names(kind, signature)
    if kind.scalars and not kind.expression:
        _check_any_sizes(kind, signature)
    if isinstance(expression, Score):
        expression = replace(expression, scalars=numbers)
        expression.check()
    if expression is not None:
        _check(kind, expression, signature)
        expression = replace(expression, tensors=tuple(tensor.name for tensor in tensors))
    return signature, expression


def _usual_inputs(
    kind: Kind, expression: Expression | None, scalars: Iterable[str]
) -> tuple[Tensor, ...]:
    """Those of the kind; with an expression its first name that is not a scalar is the tensor."""
    usual = tuple(parse_tensor(expand(pattern)) for pattern in kind.inputs)
    if expression is None or len(usual) != 1:
        return usual
    taken = {parse_scalar(scalar).name for scalar in scalars}
    free = [name for name in expression.names if name not in taken]
    if not free:
        raise UsageError(
            f"the expression {expression} has no tensor in it", "name one, as in --input x:n"
        )
    return (replace(usual[0], name=check_parameter(free[0])),)


def _usual_outputs(kind: Kind, inputs: Sequence[Tensor]) -> tuple[Tensor, ...]:
    bound = bind(kind.inputs, inputs[: len(kind.inputs)]) or {}
    return tuple(
        parse_tensor(expand(pattern, bound), fixed_sizes=False) for pattern in kind.outputs
    )


def _with_missing(
    expression: Expression, tensors: Sequence[Tensor], scalars: Sequence[Scalar]
) -> tuple[Scalar, ...]:
    """Add the names that are neither tensor nor scalar, as numbers that the caller gives."""
    known = {*_names(tensors, scalars)}
    missing = [name for name in expression.names if name not in known]
    return (*scalars, *(Scalar(check_parameter(name)) for name in missing))


def _usual_expression(kind: Kind, tensors: Sequence[Tensor], scalars: Sequence[Scalar]) -> str:
    """The kind's own where its names are these, else one that has every argument in it."""
    if kind.expression == "score":
        return kind.default
    names = _names(tensors, scalars)
    if kind.default and {*Expression(kind.default).names} == {*names}:
        return kind.default
    x, *rest = names
    if kind.expression == "rows":
        eps = scalars[0].name if scalars else "1e-6"
        others = [name for name in rest if name != eps]
        return " * ".join([f"{x} * rsqrt(mean({x} * {x}) + {eps})", *others])
    product = " * ".join(names)
    return f"sum({product})" if kind.expression == "reduction" else product


def _names(tensors: Iterable[Tensor], scalars: Iterable[Scalar]) -> list[str]:
    return [*(tensor.name for tensor in tensors), *(scalar.name for scalar in scalars)]


def _check_fixed_numbers(kind: Kind, numbers: Sequence[Scalar]) -> None:
    """Refuse other numbers than those of a kernel that is written already; their defaults are free."""
    own = {(scalar.name, scalar.type) for scalar in map(parse_scalar, kind.scalars)}
    if {(scalar.name, scalar.type) for scalar in numbers} != own:
        raise UsageError(
            f"kind {kind.name} takes {', '.join(kind.scalars) or 'no numbers'}, not "
            f"{', '.join(map(str, numbers)) or 'none'}",
            "its computation is in its kernel; add them there",
        )


def _check_any_sizes(kind: Kind, signature: Signature) -> None:
    """Refuse fixed sizes: such a kernel has its sizes from the tensors and numbers of a call."""
    for axis in (axis for axis in signature.axes if axis.size is not None):
        raise UsageError(
            f"axis {axis.name} has the size {axis.size}, and kind {kind.name} takes any",
            f"leave its size out: {axis.name}; cases() in bench.py says which sizes matter",
        )


def _check_names(kind: Kind, signature: Signature) -> None:
    names = [*_names(signature.inputs, signature.scalars), *_names(signature.outputs, ())]
    for name in (name for name in names if name in kind.taken):
        raise UsageError(
            f"{name!r} cannot name an argument: kind {kind.name} uses it for something else",
            f"try {name + '_in'!r}",
        )


def _check(kind: Kind, expression: Expression, signature: Signature) -> None:
    """Every argument is used, and the expression is of the sort that the kind can do."""
    used = {*expression.names}
    tensors = () if kind.expression == "score" else signature.inputs
    idle = [name for name in _names(tensors, signature.scalars) if name not in used]
    if idle:
        raise UsageError(
            f"the expression {expression} does not use {', '.join(idle)}",
            "use every argument in it, or leave those out",
        )
    if kind.expression == "pointwise" and expression.has_reductions:
        raise UsageError(
            f"the expression {expression} goes over a row, and kind {kind.name} has none",
            "--kind rowwise keeps the row's shape, --kind reduction gives one value a row",
        )
    if kind.expression == "reduction":
        _check_reduced(expression, {tensor.name for tensor in signature.inputs})
    if kind.expression == "weights":
        _check_any_rows(signature)
    if kind.expression == "score":
        _check_any_lengths(signature)


def _check_any_rows(signature: Signature) -> None:
    """Refuse a fixed number of rows: there are as many draws as the caller asks for."""
    rows = signature.outputs[0].axis_names
    for axis in (axis for axis in signature.axes if axis.name in rows and axis.size):
        raise UsageError(
            f"axis {axis.name} has the size {axis.size}, and a token is drawn for each of any "
            "number of rows",
            f"leave its size out: {axis.name}",
        )


def _check_any_lengths(signature: Signature) -> None:
    """Only of heads the size may be fixed, to one that the kernels have."""
    last = signature.inputs[0].axes[-1]
    fixed = [axis for axis in signature.axes if axis.size and axis.name != last.name]
    if fixed or (last.size is not None and last.size not in _HEAD_DIMS):
        wrong = fixed[0] if fixed else last
        raise UsageError(
            f"axis {wrong.name} has the size {wrong.size}",
            f"{last.name} is a multiple of 8 up to 256; the others are of any size",
        )


def _check_reduced(expression: Expression, tensors: set[str]) -> None:
    left = sorted(tensors & {*expression.final.names})
    if left or not expression.has_reductions:
        raise UsageError(
            f"the expression {expression} leaves {', '.join(left) or 'every value'} as long as a "
            "row is",
            "put it into sum, mean, max or min; --kind rowwise keeps the row",
        )
