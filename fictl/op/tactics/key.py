"""The key of a tactic, as the source text of a tuple: the key of backends, and buckets of sizes.

Parts: the parameters of `candidates`, the device, the inputs' dtypes, the Const axes; a Var axis
is rounded up to a power of two, since a tactic fast for 1000 rows is fast for 1024.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from inspect import Parameter
from typing import NamedTuple

from fictl.op.backend.call_key import Size, given_tensors, guarded, sizes
from fictl.trace import Const, TraceTemplate, Var


class Part(NamedTuple):
    """One part of a key. `label` is its name in a file; '' for the device, as files are of one GPU.

    `form`: a value as it is, a size, or the bucket of a size.
    """

    label: str
    source: str
    form: str = "value"
    tensor: str = ""


def tactic_key(
    parameters: Sequence[Parameter],
    seen: Collection[str],
    template: TraceTemplate,
    devices_are_alike: bool,
) -> list[Part]:
    """List the parts of the key. Outputs are not in it: passing `out` changes no tactic."""
    known = given_tensors(parameters, template)
    inputs = {template.parameter(name) for name, _ in template.input_tensors()}
    given = {name: tensor for name, tensor in known.items() if name in inputs}
    optional = {parameter.name for parameter in parameters if parameter.default is None}
    placed = [] if devices_are_alike else list(given)[:1]
    constant, variable = (
        {name for name, axis in template.axes.items() if isinstance(axis, kind)}
        for kind in (Const, Var)
    )
    parts = [
        *(
            Part(parameter.name, parameter.name)
            for parameter in parameters
            if parameter.name in {*seen} - {*known}
        ),
        *(Part("", f"{name}.get_device()", tensor=name) for name in placed),
        *(Part(name, f"{name}.dtype", tensor=name) for name in given),
        *(_size(size.axis, size, "size") for size in sizes(given, constant, optional)),
        *(_size(f"{size.axis}<=", size, "bucket") for size in sizes(given, variable, optional)),
    ]
    # Only optional arguments are compared with None.
    return [part if part.tensor in optional else part._replace(tensor="") for part in parts]


def sources(parts: Sequence[Part], bucket: str, size: str = "{}") -> Iterator[str]:
    """Write the parts as source; `bucket` turns a size into a bucket, '({} - 1).bit_length()'."""
    forms = {"value": "{}", "size": size, "bucket": bucket}
    for part in parts:
        text = forms[part.form].format(part.source)
        yield guarded(text, part.tensor, {part.tensor}) if part.tensor else text


def _size(label: str, size: Size, form: str) -> Part:
    return Part(label, size.with_leading, form, size.tensor)
