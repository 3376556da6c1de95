"""fictl trace list: what ops compute."""

from __future__ import annotations

from fictl.cli import console
from fictl.cli.options import Json, Ops

_COLUMNS = ("op", "axes", "inputs", "cases", "definitions")


EXAMPLES = {
    "fictl trace list": "every op",
    "fictl trace list norm": "a family",
}


def command(ops: Ops = None, json: Json = False) -> None:
    """List traces: axes, inputs, how many cases, how many definitions these make."""
    from fictl.case.definitions import traced
    from fictl.project import select
    from fictl.trace import Const, Expr

    rows, data = [], []
    for one_traced in traced(select(ops or [])):
        template, names = one_traced.template, [*one_traced.definitions()]
        axes = [
            f"{name}={axis.text}"
            if isinstance(axis, Expr)
            else f"{name} const"
            if isinstance(axis, Const)
            else name
            for name, axis in template.axes.items()
        ]
        inputs = [*template.inputs]
        rows.append(
            (
                one_traced.op.api,
                ", ".join(axes),
                ", ".join(inputs),
                str(len(one_traced.cases)),
                str(len(names)),
            )
        )
        data.append(
            {
                "op": one_traced.op.api,
                "axes": [*template.axes],
                "inputs": inputs,
                "cases": [str(case) for case in one_traced.cases],
                "definitions": names,
            }
        )
    console.show(console.Result(data, console.Table(_COLUMNS, rows)))
