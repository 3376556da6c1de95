"""dataset run --hardware: everything on each kind of place, and results by hardware."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

from fictl.dataset.run_jobs import planned_run, run_dataset
from fictl.dataset.run_options import RunOptions
from fictl.dataset.summary import Summary
from fictl.errors import SetupError
from fictl.trace import TraceSet

from .samples import saved
from .test_farm_run import FLAGS

H100, B200, A100 = "NVIDIA_H100_80GB_HBM3", "NVIDIA_B200", "NVIDIA_A100-SXM4-80GB"
# A worker whose machine has such a GPU, as far as its hello and its results tell.
_WORKER = """#!{python}
import sys
from dataclasses import replace
from fictl.judge import hardware
real = hardware.hardware_name("cpu")
hardware.hardware_name = lambda *device: {name!r}
from fictl.farm import worker
from fictl.farm.serve import judging
evaluate = judging.JudgeServer.evaluate
def renamed(self, request):
    answer = evaluate(self, request)
    return replace(answer, evaluation=answer.evaluation.replace(real, {name!r}))
judging.JudgeServer.evaluate = renamed
sys.exit(worker.main())
"""


@pytest.fixture
def on(tmp_path: Path) -> str:
    """h0 and h1 have H100s, b0 a B200, a0 an A100."""
    text = ""
    for place, name in (("h0", H100), ("h1", H100), ("b0", B200), ("a0", A100)):
        script = tmp_path / f"worker-{place}"
        script.write_text(_WORKER.format(python=sys.executable, name=name))
        script.chmod(0o755)
        base = f'variables = {{ FICTL_WORKSPACE_BASE = "{tmp_path}/far" }}'
        text += f'[[place]]\nname = "{place}"\nlaunch = ["env"]\npython = "{script}"\n{base}\n'
    path = tmp_path / "places.toml"
    path.write_text(text)
    return str(path)


def options(on: str, *hardware: str, **more: object) -> RunOptions:
    return RunOptions(device="cpu", on=on, hardware=hardware, flags=FLAGS, **more)  # type: ignore[arg-type]


def run(dataset: TraceSet, on: str, *hardware: str, **more: object) -> Summary:
    return run_dataset(dataset.root, options(on, *hardware, **more))


def by_hardware(dataset: TraceSet) -> Counter[str]:
    return Counter(t.evaluation.environment.hardware for t in saved(dataset) if t.evaluation)


def places_of(summary: Summary) -> set[str]:
    return {outcome.place for outcome in summary.outcomes}


def test_each_kind_evaluates_everything_once_and_resumes_by_itself(
    dataset: TraceSet, on: str
) -> None:
    first = run(dataset, on, "H100", solutions=("scale_a",))
    assert (len(first.outcomes), by_hardware(dataset)) == (3, {H100: 3})
    assert places_of(first) <= {"h0", "h1"}
    assert sorted(why.split(":")[0] for why in first.left_out) == [
        "place a0 left out",
        "place b0 left out",
    ]

    both = run(dataset, on, "H100", "B200", solutions=("scale_a", "mm_a"), resume=True)
    assert (len(both.outcomes), both.skipped, both.undone) == (5, 3, 0)
    assert by_hardware(dataset) == {H100: 4, B200: 4}
    keys = Counter(
        (t.solution, t.workload.uuid, t.evaluation.environment.hardware)
        for t in saved(dataset)
        if t.evaluation
    )
    assert {*keys.values()} == {1}
    for trace in saved(dataset):
        assert trace.evaluation
        place = (trace.evaluation.fictl or {})["place"]
        assert (place == "b0") == (trace.evaluation.environment.hardware == B200)

    again = run(dataset, on, "H100", "B200", solutions=("scale_a", "mm_a"), resume=True)
    assert (len(again.outcomes), again.skipped) == (0, 8)
    planned = planned_run(dataset, options(on, "A100", resume=True), lambda text: None)
    assert (planned.total, planned.skipped) == (7, 0)


def test_without_a_choice_the_first_places_hardware_is_meant(dataset: TraceSet, on: str) -> None:
    summary = run(dataset, on, solutions=("mm_a",))
    assert by_hardware(dataset) == {H100: 1}
    assert any("place b0 left out: it has NVIDIA_B200" in why for why in summary.left_out)


def test_hardware_that_is_not_there_is_said_with_what_is(dataset: TraceSet, on: str) -> None:
    with pytest.raises(SetupError, match="no place has the hardware GB300") as caught:
        run(dataset, on, "H100", "GB300")
    assert H100 in caught.value.hint
    assert saved(dataset) == []


def test_a_kind_whose_places_are_lost_is_left_undone_and_the_other_is_not(
    dataset: TraceSet, on: str, tmp_path: Path
) -> None:
    script = tmp_path / "worker-b0"
    dying = "from fictl.farm import worker\nworker.FarmWorker._answer = lambda *x: __import__('os')._exit(9)"
    script.write_text(script.read_text().replace("from fictl.farm import worker\n", f"{dying}\n"))
    summary = run(dataset, on, "H100", "B200", solutions=("mm_a",))
    assert (by_hardware(dataset), summary.undone) == ({H100: 1}, 1)
    assert any("place b0 left out" in why for why in summary.left_out)
