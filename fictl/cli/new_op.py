"""The command: parse, plan, write, say what is there now and what to do next."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fictl.cli import console
from fictl.cli._new_op import options as flags
from fictl.cli._new_op.shown import described, guesses, written
from fictl.cli.one_op import own_project
from fictl.cli.options import DryRun, Json
from fictl.cli.scaffolded import Commit, Diff, Force, carry_out, print_diff, print_tree
from fictl.errors import UsageError
from fictl.quantity import counted

if TYPE_CHECKING:
    from rich.console import Console

    from fictl.scaffold.new.draft import Draft
    from fictl.scaffold.new.request import NewOpRequest
    from fictl.scaffold.plan.plan import Plan


def tables() -> Mapping[str, Mapping[str, str]]:
    """Kinds, and how tensors are written, for the help."""
    return {"Kinds": flags.summaries(), "Tensors, as --input and --output take them": flags.TENSORS}


EXAMPLES = {
    "fictl new-op swish --expr 'x * sigmoid(beta * x)' --scalar beta:float": "from an expression; --dry-run shows the files before they are written",
    "fictl new-op my_norm --from reference.py:my_norm --dtypes bf16,f16": "from a torch function",
    "fictl new-op gate --kernel g.cu:Gate --from g.py:f --output ids:n,k=2:i32": "around a kernel that exists, with a result of two int32 a row",
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
    grid: flags.Grid = "",
    block: flags.Block = "",
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
    have parameters write a jit.py. On a terminal, with a name alone, the command asks. What it
    guesses it says, with the options that say something else. Where no kind fits, write the kernel
    and bring it along with --kernel.
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
    view: console.View = "\n".join(written(new_op, plan))
    if diff:
        view = partial(print_diff, text=data["diff"])
        for line in guesses(new_op):
            console.note(line)
    elif dry_run:
        view = partial(_planned, new_op=new_op, plan=plan)
    console.show(console.Result({**_data(new_op), **data}, view))


def _data(new_op: Draft) -> dict[str, Any]:
    """The op for --json, beside its files. A part of ours is not a kind to start from."""
    kind = new_op.kind.name
    return {
        "op": f"{new_op.project.name}/{new_op.family}/{new_op.name}",
        "kind": None if kind.startswith("_") else kind,
        "signature": new_op.to_dict(),
        "guesses": [guess.to_dict() for guess in new_op.guesses],
    }


def _planned(out: Console, new_op: Draft, plan: Plan) -> None:
    for line in described(new_op):
        out.print(line, markup=False, soft_wrap=True)
    print_tree(out, plan)


def _draft(request: NewOpRequest, *, may_ask: bool, overwrite: bool) -> tuple[Draft, NewOpRequest]:
    """The op, and the request with what was answered."""
    project = own_project()
    asks = may_ask and _is_terminal()
    if request.says_nothing and asks:
        from fictl.cli._new_op.ask import ask

        request = ask(request, project)
    from fictl.scaffold.new.new_op import draft

    with _waiting(request):
        new_op = draft(project, request, overwrite)
    if asks and new_op.guesses:
        from fictl.cli._new_op.settle import settle

        settled = settle(request, new_op)
        if settled != request:
            return draft(project, settled, overwrite), settled
    return new_op, request


def _waiting(request: NewOpRequest) -> AbstractContextManager[Any]:
    """Say on a terminal what takes seconds: torch's import, and one call of the reference."""
    screen = console.console(stderr=True)
    if not (request.reference and screen.is_interactive):
        return nullcontext()
    from rich.markup import escape

    return screen.status(f"calling {escape(request.reference)} once, for its shapes")


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
        flags["grid"],
        flags["block"],
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
