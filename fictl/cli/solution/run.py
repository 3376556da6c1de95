"""fictl solution run: judge a solution on one workload."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fictl.cli import console
from fictl.cli.gpu_use import Wait, alone
from fictl.cli.numbers import whole
from fictl.cli.options import Device, Json, On
from fictl.cli.solution import options, view

if TYPE_CHECKING:
    from rich.console import Console


EXAMPLES = {
    "fictl solution run solution.json --definition rmsnorm_h4096.json": "on random inputs",
    "fictl solution run solution.json --dataset dataset --workload 7c3e": "on one workload of a dataset",
}


def command(
    file: options.File,
    definition: options.Definition = "",
    workload: options.Workload = "",
    axes: options.Axes = "",
    dataset: options.Dataset = "",
    device: Device = "",
    iterations: Annotated[
        int, whole("--iterations", low=1, high=1_000_000, help="Number of timed calls.")
    ] = 50,
    timeout: options.Timeout = 300.0,
    seed: options.Seed = 0,
    untrusted: options.Untrusted = False,
    wait: Wait = None,
    on: On = "",
    json: Json = False,
) -> None:
    """Evaluate a solution on fresh inputs for every call, checked against the reference.

    It runs in a process that sees neither the reference nor the clock that times it.
    """
    subject = options.subject_of(file, definition, dataset, workload, axes)
    chosen = options.chosen_device(device)
    from fictl.judge.config import EvalConfig
    from fictl.judge.tools.running import answered, evaluated

    config = EvalConfig(
        device=chosen,
        untrusted=untrusted,
        iterations=iterations,
        timeout_seconds=timeout,
        seed=seed,
    )
    if on:
        from fictl.dataset.one_evaluation import evaluated_at

        evaluation = evaluated_at(subject, config, on, wait, console.note)
    else:
        with alone(wait, chosen):
            evaluation = evaluated(subject, config)
    answer = answered(subject, config, evaluation)
    code = 0 if answer["ok"] else 1
    console.show(console.Result(answer, lambda out: _view(out, answer), code))


def _view(out: Console, answer: dict[str, Any]) -> None:
    view.headline(out, answer, view.sizes(answer), view.where(answer["device"]))
    errors, times = answer.get("correctness"), answer.get("performance")
    if times:
        latency, reference = times["latency_ms"], times["reference_latency_ms"]
        factor = times["speedup_factor"]
        text = f"{latency * 1e3:.2f} us, the reference {reference * 1e3:.2f} us: {factor:.2f}x"
        out.print(f"  {text}", soft_wrap=True)
    if errors:
        absolute, relative = errors["max_absolute_error"], errors["max_relative_error"]
        text = f"largest error {_number(absolute)} absolute, {_number(relative)} relative"
        out.print(f"  {text}", soft_wrap=True)
    ours = answer.get("fictl") or {}
    facts = [
        f"{n} {ours[n]}" for n in ("timer", "sandbox", "seed", "place") if ours.get(n) is not None
    ]
    if facts:
        out.print(f"  {' · '.join(facts)}", markup=False, style="dim", soft_wrap=True)
    if ours.get("unclear"):
        text = f"  UNCLEAR: {ours['unclear']}"
        out.print(text, markup=False, style="yellow", soft_wrap=True)
    if not answer["ok"]:
        view.problem(out, answer)
        view.log(out, answer.get("log", ""))


def _number(value: Any) -> str:
    """Spell NaN and infinities, which JSON has as words."""
    return value if isinstance(value, str) else f"{value:.3g}"
