"""The command: parse, plan, write, say what is there now and what to do next."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fictl.cli import console
from fictl.cli._new_op import options as flags
from fictl.cli.one_op import own_project
from fictl.cli.options import DryRun, Json
from fictl.cli.scaffolded import Commit, Diff, Force, carry_out, print_diff, print_tree
from fictl.errors import UsageError
from fictl.quantity import counted

if TYPE_CHECKING:
    from fictl.scaffold.new.draft import Draft
    from fictl.scaffold.new.request import NewOpRequest
    from fictl.scaffold.plan.plan import Plan

# As the way of the data is.
_ORDER = ("launcher.cu", "binding.cpp", "jit.py", "op.py", "trace.py", "bench.py")


def tables() -> Mapping[str, Mapping[str, str]]:
    """Kinds, for the help."""
    return {"Kinds": flags.summaries()}


EXAMPLES = {
    "fictl new-op swish --expr 'x * sigmoid(beta * x)' --scalar beta:float": "from an expression; --dry-run shows the files before they are written",
    "fictl new-op my_norm --from reference.py:my_norm --dtypes bf16,f16": "from a torch function",
    "fictl new-op gate --kernel gate.cu:Gate --output w:n,k=2 --output i:n,k=2:i32": "around a kernel that exists, with two results, one of int32",
}


def command(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Name of the new op.", show_default=False)
    ] = "",
    kind: flags.Kind = "",
    family: flags.Family = "",
    input: flags.Input = None,
    scalar: flags.Scalar = None,
    output: flags.Output = None,
    dtypes: flags.Dtypes = "",
    arch: flags.Arch = "",
    expr: flags.Expr = "",
    reference: flags.From = "",
    example: flags.Example = "",
    kernel: flags.Kernel = "",
    from_definition: flags.FromDefinition = "",
    doc: flags.Doc = "",
    undo: Annotated[
        bool,
        typer.Option("--undo", help="Undo the last command that scaffolded.", show_default=False),
    ] = False,
    dry_run: DryRun = False,
    diff: Diff = False,
    force: Force = False,
    commit: Commit = False,
    json: Json = False,
) -> None:
    """Write a new op: kernel, launcher, binding, JIT generator, API, trace, benchmark and test.

    The JIT generator is the default one, fictl.op.module_spec of the op's files; kinds whose modules
    have parameters write a jit.py. On a terminal, with a name alone, the command asks.
    """
    if undo:
        _undo()
        return
    if not name and not from_definition:
        raise UsageError("a new op needs a name", "as in fictl new-op rope_scale")
    new_op, request = _draft(request_of(context.params), may_ask=not json, overwrite=force)
    from fictl.scaffold.existing.upgrade.again import with_record
    from fictl.scaffold.new.new_op import plan_op

    plan = plan_op(new_op)
    if not diff:  # A patch is for people to read.
        plan = with_record(plan, new_op, request)
    message = f"feat: {new_op.family}/{new_op.name}, scaffolded" if commit else ""
    words = f"fictl new-op {new_op.name}"
    data = carry_out(plan, words, dry_run=dry_run, diff=diff, commit=message, force=force)
    described = {
        "op": f"{new_op.project.name}/{new_op.family}/{new_op.name}",
        "kind": new_op.kind.name,
    }
    view: console.View = "\n".join(_written(new_op, plan))
    if diff or dry_run:
        view = partial(print_diff, text=data["diff"]) if diff else partial(print_tree, plan=plan)
    console.show(console.Result({**described, **data}, view))


def _draft(request: NewOpRequest, *, may_ask: bool, overwrite: bool) -> tuple[Draft, NewOpRequest]:
    """The op, and the request with what was answered."""
    project = own_project()
    if request.says_nothing and may_ask and _is_terminal():
        from fictl.cli._new_op.ask import ask

        request = ask(request, project)
    from fictl.scaffold.new.new_op import draft

    return draft(project, request, overwrite), request


def request_of(flags: Mapping[str, Any]) -> NewOpRequest:
    """Read the command's parameters, given by name."""
    from fictl.scaffold.new.request import NewOpRequest

    inputs, scalars, outputs = (tuple(flags[key] or ()) for key in ("input", "scalar", "output"))
    return NewOpRequest(
        flags["name"],
        flags["kind"],
        flags["family"],
        inputs,
        scalars,
        outputs,
        flags["dtypes"],
        flags["arch"],
        flags["expr"],
        flags["reference"],
        flags["example"],
        flags["kernel"],
        flags["doc"],
        flags["from_definition"],
    )


def _is_terminal() -> bool:
    import sys

    return sys.stdin.isatty() and sys.stdout.isatty()


def _undo() -> None:
    from fictl.scaffold.plan.undo import take_back
    from fictl.scaffold.record import FILE as RECORD

    top = own_project().top
    record = take_back(top)
    if record is None:
        raise UsageError(
            f"there is nothing to take back in {top}",
            "--undo knows the last scaffold of a project, once",
        )
    names = [file.path for file in record.files]
    data = {"command": record.command, "files": names}
    shown = [name for name in names if Path(name).name != RECORD]
    text = f"took back `{record.command}`: {counted(len(shown), 'file')} as before"
    console.show(console.Result(data, text))


def _written(new_op: Draft, plan: Plan) -> Iterator[str]:
    """Lines for people: the computation, the files by folder, and what to do next."""
    from fictl.scaffold.record import FILE as RECORD

    yield f"  {new_op.call}"
    shown = [plan.shown(path) for path in plan.files if path.name != RECORD]
    kernels = [name for name in shown if name.endswith(".cuh")]
    tests = [name for name in shown if Path(name).name.startswith("test_")]
    others = [name for name in shown if name not in (*kernels, *tests)]
    for number, name in enumerate(kernels):
        yield f"  {name}" + (f"      {new_op.kind.kernel}" if number == 0 else "")
    for folder in dict.fromkeys(str(Path(name).parent) for name in others):
        names = [Path(name).name for name in others if str(Path(name).parent) == folder]
        names.sort(key=lambda file: _ORDER.index(file) if file in _ORDER else -1)
        yield f"  {folder}/  {' '.join(names)}"
    yield from (f"  {name}" for name in tests)
    yield from _left_to_do(new_op)
    op = shlex.quote(new_op.name)
    place = _place_to_edit(new_op, plan)
    edit = f"      edit: {place}" if place else ""
    yield f"  {len(shown)} files · next: fictl test {op}      fictl bench {op}{edit}"


def _left_to_do(new_op: Draft) -> Iterator[str]:
    """Parts of an op from a definition that are left to its author."""
    more = new_op.more or {}
    if "flag" in more:
        yield (
            f"  to write: the kernel's body in {new_op.name}.cuh; {more['flag']} = true then. "
            "Until then a call, and every test, says so"
        )
    if more.get("unsaid"):
        yield f"  to write: an init in trace.py that makes {', '.join(more['unsaid'])}"


def _place_to_edit(new_op: Draft, plan: Plan) -> str:
    """Place of the computation: in the header, or in the kernel's Python file."""
    for path, text in plan.files.items():
        if text and (path.suffix == ".cuh" or path.name == "kernel.py"):
            lines = enumerate(text.splitlines(), 1)
            match = (number for number, line in lines if re.search(new_op.kind.edit, line))
            return f"{path.name}:{next(match, 1)}"
    return ""
