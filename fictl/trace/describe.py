"""Makes a Definition from a template: constant sizes and dtypes of one case, reference inlined."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from fictl.dtype import parse_dtype
from fictl.errors import UsageError
from fictl.trace.documents.axis import AxisConst, AxisExpr, AxisVar
from fictl.trace.documents.definition import API_TAG, Definition
from fictl.trace.documents.tensor_spec import TensorSpec, published_name
from fictl.trace.expression import names_in
from fictl.trace.source import Standalone, standalone
from fictl.trace.template import Const, Expr, Scalar, Tensor, TraceTemplate

_RANGE = {"float8_e4m3fn": 448.0, "float8_e5m2": 57344.0}


def definition_name(
    template: TraceTemplate, api: str, sizes: Mapping[str, int], dtypes: Mapping[str, str]
) -> str:
    """Name such as `rmsnorm_h4096_bf16`: it contains all that tells definitions of an op apart."""
    constants = [
        f"{axis.abbrev or name}{sizes[name]}"
        for name, axis in template.axes.items()
        if isinstance(axis, Const) and name in sizes
    ]
    passed = [n for n, spec in template.input_tensors() if spec.optional and n in dtypes]
    return "_".join([api.rpartition(".")[2], *constants, *_dtype_words(template, dtypes), *passed])


def definition(
    template: TraceTemplate, api: str, sizes: Mapping[str, int], dtypes: Mapping[str, str]
) -> Definition:
    """Describe one case. `sizes` has all axes, `dtypes` the passed inputs and the outputs."""
    inputs = {name: spec for name, spec in template.inputs.items() if name in dtypes}
    axes: dict[str, AxisVar | AxisConst | AxisExpr] = {
        name: _axis(template, name, sizes) for name in template.axes if name in sizes
    }
    equations = [
        f"{name} == {axis.text}"
        for name, axis in template.axes.items()
        if isinstance(axis, Expr) and isinstance(axes.get(name), AxisVar)
    ]
    texts = [*template.constraints, *equations]
    known = {*axes, *template.scalars()}
    op = api.rpartition(".")[2]
    document = {
        "name": definition_name(template, api, sizes, dtypes),
        "description": template.description or None,
        "op_type": template.op_type or op,
        "tags": (f"{API_TAG}{api}", *template.tags),
        "axes": axes,
        "constraints": tuple(text for text in texts if names_in(text) <= known),
        "inputs": {name: _spec(name, spec, dtypes) for name, spec in inputs.items()},
        "outputs": {name: _spec(name, spec, dtypes) for name, spec in template.outputs.items()},
        "reference": _run(template, [*inputs], dtypes),
        "init": standalone(template.init).text if template.init else None,
    }
    try:
        return Definition.model_validate(document)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field, problem = (
            ".".join(map(str, first["loc"])),
            first["msg"].removeprefix("Value error, "),
        )
        raise UsageError(
            f"{op} at {dict(sizes)} makes no definition: {field}: {problem}", "other sizes may"
        ) from None


def _dtype_words(template: TraceTemplate, dtypes: Mapping[str, str]) -> Iterator[str]:
    """Dtypes of the inputs that choose them, one word if they agree; then the unusual ones."""
    tensors = [(name, spec) for name, spec in template.input_tensors() if name in dtypes]
    free = [dtypes[name] for name, spec in tensors if not (spec.dtype or spec.dtype_from)]
    yield from (parse_dtype(name).short for name in (free[:1] if len({*free}) == 1 else free))
    for name, spec in tensors:
        expected = dtypes.get(spec.dtype_from) or (spec.dtype and parse_dtype(spec.dtype).name)
        if expected and dtypes[name] != expected:
            yield f"{name}-{parse_dtype(dtypes[name]).short}"


def _axis(template: TraceTemplate, name: str, sizes: Mapping[str, int]) -> AxisVar | AxisConst:
    axis = template.axes[name]
    description = axis.doc or None
    if _is_constant(template, name):
        return AxisConst(value=sizes[name], description=description)
    return AxisVar(description=description)


def _is_constant(template: TraceTemplate, name: str) -> bool:
    """Tell whether an axis is a Const, or an expression of such axes only."""
    axis = template.axes.get(name)
    if isinstance(axis, Expr):
        return all(_is_constant(template, part) for part in names_in(axis.text))
    return isinstance(axis, Const)


def _spec(name: str, spec: Tensor | Scalar, dtypes: Mapping[str, str]) -> TensorSpec:
    dtype = published_name(dtypes[name])
    shape = spec.axes if isinstance(spec, Tensor) else None
    return TensorSpec.model_validate(
        {"shape": shape, "dtype": dtype, "description": spec.doc or None}
    )


def _run(template: TraceTemplate, inputs: list[str], dtypes: Mapping[str, str]) -> str:
    """Source of the reference and of `run`, which computes in fp64 and rounds to the outputs'
    dtypes.
    """
    source = standalone(template.reference)
    _refuse_run(source, template.reference)
    arguments = ", ".join(
        f"{template.parameter(name)}={_double(template, name, dtypes)}" for name in template.inputs
    )
    call = f"{source.name}({arguments})"
    names = [*template.outputs]
    lines = [f"def run({', '.join(inputs)}):"]
    if names:
        target = names[0] if len(names) == 1 else f"({', '.join(names)})"
        rounded = ", ".join(_rounded(name, dtypes[name]) for name in names)
        lines += [f"    {target} = {call}", f"    return {rounded}"]
    else:
        lines += [f"    {call}", "    return ()"]
    body = "\n".join(lines)
    return f"{_with_torch(source).rstrip()}\n\n\n{body}\n"


def _rounded(name: str, dtype: str) -> str:
    """Round with saturation, as GPUs do: torch turns values beyond an 8-bit range into NaN."""
    if dtype not in _RANGE:
        return f"torch.as_tensor({name}, dtype=torch.{dtype})"
    most = _RANGE[dtype]
    return f"torch.as_tensor({name}).double().clamp(-{most}, {most}).to(torch.{dtype})"


def _double(template: TraceTemplate, name: str, dtypes: Mapping[str, str]) -> str:
    if name not in dtypes:
        return "None"
    is_float = isinstance(template.inputs[name], Tensor) and "float" in dtypes[name]
    return f"{name}.double()" if is_float else name


def _with_torch(source: Standalone) -> str:
    if "torch" in source.names:
        return source.text
    first, _, rest = source.text.partition("\n")
    if first.startswith("from __future__"):
        return f"{first}\n\nimport torch\n{rest}"
    return f"import torch\n\n\n{source.text}"


def _refuse_run(source: Standalone, reference: Callable[..., Any]) -> None:
    if "run" in source.names:
        raise UsageError(
            f"{reference.__module__}: the reference defines the name run",
            "definitions define run themselves: choose another name",
        )
