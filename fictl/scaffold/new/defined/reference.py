"""The reference that a definition carries, translated where it can be; nothing of it is run."""

from __future__ import annotations

import ast
import tempfile
from pathlib import Path

from fictl.errors import UsageError
from fictl.scaffold.new.defined.read import Defined
from fictl.scaffold.new.reference import ReadReference
from fictl.scaffold.new.reference.parameters import ReferenceParameter
from fictl.scaffold.new.reference.reference import Reference
from fictl.scaffold.new.reference.source import cut_out, read_function
from fictl.scaffold.new.reference.translate import Translation, translate

_RUN = "run"


def read_defined(defined: Defined) -> ReadReference:
    """Read the definition's reference as `--from` does; the definition gives all shapes."""
    with tempfile.TemporaryDirectory(prefix="fictl-definition-") as place:
        path = Path(place) / "reference.py"
        path.write_text(defined.definition.reference, encoding="utf-8")
        function = read_function(f"{path}:{_RUN}")
        _check_parameters(function.node, defined)
        heads = [_head(defined, name) for name in _ordered(defined)]
        count = len(defined.definition.outputs)
        result = "torch.Tensor" if count == 1 else f"tuple[{', '.join(['torch.Tensor'] * count)}]"
        reference = Reference(*cut_out(function, heads, result, defined.renamed))
        translation = translate(
            function, [_parameter(defined, n) for n in defined.definition.inputs]
        )
    return ReadReference(
        reference,
        defined.inputs,
        defined.scalars,
        defined.outputs,
        _expression(translation, defined),
        translation.why_not,
        translation.kind,
        defined.doc,
    )


def _ordered(defined: Defined) -> list[str]:
    """Tensors first: so an op takes its arguments."""
    inputs = defined.definition.inputs
    return [*defined.tensors, *(name for name in inputs if name not in defined.tensors)]


def _head(defined: Defined, name: str) -> str:
    if name in defined.tensors:
        return f"{defined.argument(name)}: torch.Tensor"
    return f"{defined.argument(name)}: {defined.scalar(name).type}"


def _parameter(defined: Defined, name: str) -> ReferenceParameter:
    if name in defined.tensors:
        axes = ",".join(defined.tensors[name].shape or ())
        return ReferenceParameter(name, "tensor", axes)
    return ReferenceParameter(name, "scalar", type=defined.scalar(name).type)


def _check_parameters(node: ast.FunctionDef, defined: Defined) -> None:
    """They are called in the order of the inputs, whatever their names; ours are by name."""
    given = [
        posonlyarg.arg
        for posonlyarg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
    ]
    wanted = [*defined.definition.inputs]
    if given != wanted:
        raise UsageError(
            f"{defined.path}: the reference takes {', '.join(given)}",
            f"the definition's inputs are {', '.join(wanted)}: call them so there, too",
        )


def _expression(translation: Translation, defined: Defined) -> str | None:
    if translation.expression is None or not defined.renamed:
        return translation.expression
    tree = ast.parse(translation.expression, mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = defined.argument(node.id)
    return ast.unparse(tree)
