"""Reading a reference: its parameters, a call of it, and its translation, put together."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from fictl.errors import UsageError
from fictl.scaffold.kinds.kind import kind_for
from fictl.scaffold.new import names
from fictl.scaffold.new.guess import Guess
from fictl.scaffold.new.reference import parameters
from fictl.scaffold.new.reference.axes import Axes
from fictl.scaffold.new.reference.call import ReferenceCall, call_reference, invented, with_said
from fictl.scaffold.new.reference.parameters import ReferenceParameter
from fictl.scaffold.new.reference.reference import Reference
from fictl.scaffold.new.reference.source import FunctionSource, cut_out, read_function
from fictl.scaffold.new.reference.translate import Translation, translate


@dataclass(frozen=True)
class ReadReference:
    """A function of the user's, as the command line would say it.

    `expression` is None where the kernel has none in our language: `why_not`. `kind` is said where
    it follows from something else than the expression; `doc` is the first line of its docstring.
    """

    reference: Reference
    inputs: tuple[str, ...]
    scalars: tuple[str, ...]
    outputs: tuple[str, ...]
    expression: str | None
    why_not: str = ""
    kind: str = ""
    doc: str = ""
    guesses: tuple[Guess, ...] = field(default=(), compare=False)


def read_reference(
    text: str,
    example: str = "",
    inputs: Sequence[str] = (),
    outputs: Sequence[str] = (),
    needs_kernel: bool = False,
    sizes: Sequence[str] = (),
) -> ReadReference:
    """`file.py:function`. What `inputs` and `outputs` say goes before its parameters. With
    `needs_kernel` a function that has no translation is refused before anything is asked of its
    shapes; `sizes` are the names that a kernel has for axes.
    """
    function = read_function(text)
    declared = with_said(parameters.parameters(function.node), inputs)
    translation = translate(function, declared)
    if needs_kernel and translation.expression is None and not translation.kind:
        _refuse_changed(function, _written(function, {item.name for item in declared}))
        raise untranslated(text, translation.why_not)
    renamed = _renamed(declared)
    job = _standalone(function, declared, renamed)
    call = call_reference(
        function, example, invented(declared, translation), declared, job, renamed, sizes
    )
    known = [_seen(item, call) for item in declared]
    _check_results(function, call)
    axes = Axes(translation.kind, from_example=call.from_example)
    tensors = axes.inputs([p for p in known if p.role == "tensor"], call.arguments)
    outputs_text = axes.outputs(_outputs(function, call, renamed), call.results, outputs)
    return ReadReference(
        reference=_reference(function, known, renamed, len(call.results)),
        inputs=tuple(_under(text, renamed) for text in tensors),
        scalars=tuple(_under(p.said, renamed) for p in known if p.role == "scalar"),
        outputs=tuple(outputs_text),
        expression=_renamed_expression(translation, renamed),
        why_not=translation.why_not,
        kind=translation.kind,
        doc=(ast.get_docstring(function.node) or "").partition("\n")[0],
        guesses=axes.guesses,
    )


def untranslated(reference: str, why_not: str) -> UsageError:
    kind = kind_for(why_not)
    own = "write the kernel and bring it along with --kernel my.cu:Kernel"
    finished = f"--kind {kind.name}, without --from, gives {kind.summary}; or" if kind else ""
    return UsageError(
        f"{reference} has no translation into a kernel: {why_not}",
        f'{finished or "no kind fits:"} {own}; if it can be one line, say that with --expr "…"',
    )


def _renamed(declared: Sequence[ReferenceParameter]) -> dict[str, str]:
    """New names for parameters whose names mean something else in C++ or in the generated files."""
    taken = {item.name for item in declared}
    renamed: dict[str, str] = {}
    for item in declared:
        try:
            names.check_parameter(item.name)
        except UsageError:
            first = names.snake(item.name) or "value"
            tries = (first, f"{first}_in", f"{first}_value", f"{first}_argument")
            renamed[item.name] = next(n for n in tries if n not in taken and _can(n))
            taken.add(renamed[item.name])
    return renamed


def _can(name: str) -> bool:
    try:
        names.check_parameter(name)
    except UsageError:
        return False
    return True


def _under(text: str, renamed: dict[str, str]) -> str:
    name, colon, rest = text.partition(":")
    return f"{renamed.get(name, name)}{colon}{rest}"


def _standalone(
    function: FunctionSource, declared: Sequence[ReferenceParameter], renamed: dict[str, str]
) -> str:
    heads = [renamed.get(p.name, p.name) for p in declared]
    source, imports = cut_out(function, heads, "object", renamed)
    return "\n".join(["from __future__ import annotations", *imports, source])


def _reference(
    function: FunctionSource,
    known: Sequence[ReferenceParameter],
    renamed: dict[str, str],
    results: int,
) -> Reference:
    order = [p for role in ("tensor", "scalar", "other") for p in known if p.role == role]
    result = "torch.Tensor" if results == 1 else f"tuple[{', '.join(['torch.Tensor'] * results)}]"
    heads = [_declared(parameter, renamed) for parameter in order]
    return Reference(*cut_out(function, heads, result, renamed))


def _declared(parameter: ReferenceParameter, renamed: dict[str, str]) -> str:
    name = renamed.get(parameter.name, parameter.name)
    if parameter.role == "tensor":
        return f"{name}: torch.Tensor"
    if parameter.role == "scalar":
        return f"{name}: {parameter.type}"
    if parameter.annotation:
        return f"{name}: {parameter.annotation} = {parameter.default}"
    return f"{name}={parameter.default}"


def _seen(parameter: ReferenceParameter, call: ReferenceCall) -> ReferenceParameter:
    """Give a parameter the role of its value in the call, if nothing else tells it."""
    value = call.arguments[parameter.name]
    if parameter.role in ("tensor", "scalar"):
        return parameter
    if value.shape is not None:
        return ReferenceParameter(parameter.name, "tensor")
    if value.value is not None and parameter.role != "other":
        return ReferenceParameter(parameter.name, "scalar", type=type(value.value).__name__)
    if parameter.role == "other":
        return parameter
    raise UsageError(
        f"the argument {parameter.name} is a {value.other}", "an op takes tensors and numbers"
    )


def _written(function: FunctionSource, parameters: set[str]) -> list[str]:
    """Parameters that a method such as add_ is called on."""
    calls = (node.func for node in ast.walk(function.node) if isinstance(node, ast.Call))
    owners = [
        called.value.id
        for called in calls
        if isinstance(called, ast.Attribute)
        and isinstance(called.value, ast.Name)
        and re.fullmatch(r"[a-z]\w*[a-z0-9]_", called.attr)
    ]
    return [name for name in dict.fromkeys(owners) if name in parameters]


def _refuse_changed(function: FunctionSource, changed: Sequence[str]) -> None:
    if changed:
        raise UsageError(
            f"{function.at(function.node)}: {function.node.name} changes its input "
            f"{', '.join(changed)} in place",
            "a reference returns what it computes: begin with a clone()",
        )


def _check_results(function: FunctionSource, call: ReferenceCall) -> None:
    where = f"{function.at(function.node)}: {function.node.name}"
    _refuse_changed(function, call.changed)
    strange = [result.other or "number" for result in call.results if result.shape is None]
    if strange or not call.results:
        raise UsageError(
            f"{where} returns a {strange[0] if strange else 'nothing'}, which is not a tensor",
            "let it return a tensor, or a tuple of tensors",
        )


def _outputs(
    function: FunctionSource, call: ReferenceCall, renamed: dict[str, str]
) -> list[ReferenceParameter]:
    annotated = parameters.results(function.node)
    if len(annotated) == len(call.results):
        return [*annotated]
    known = parameters.output_names(function.node, len(call.results))
    return [ReferenceParameter(name if _can(name) else f"{name}_out", "tensor") for name in known]


def _renamed_expression(translation: Translation, renamed: dict[str, str]) -> str | None:
    if translation.expression is None or not renamed:
        return translation.expression
    tree = ast.parse(translation.expression, mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = renamed.get(node.id, node.id)
    return ast.unparse(tree)
