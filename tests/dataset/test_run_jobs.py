from __future__ import annotations

import os
import tempfile
import threading
import time
from dataclasses import replace

import pytest

from fictl.dataset.run_observer import RunObserver
from fictl.dataset.run_outcome import RunOutcome
from fictl.dataset.run_plan import EvaluationJob
from fictl.errors import FictlError, SetupError, UsageError
from fictl.farm.place import Place
from fictl.farm.station import Stopped
from fictl.judge.fault import JudgeFault
from fictl.trace import Definition, Environment, Evaluation, TraceSet, Workload

from .samples import FakeEvaluator, definition, evaluation, run, saved, solution, workload


def test_every_solution_runs_on_every_workload_of_its_definition(dataset: TraceSet) -> None:
    summary = run(dataset)
    assert dict(summary.statuses) == {"PASSED": 7}
    assert {(t.solution, t.workload.uuid) for t in saved(dataset)} == {
        (name, f"s{n}") for name in ("scale_a", "scale_b") for n in range(3)
    } | {("mm_a", "g0")}


def test_a_result_has_the_solutions_hash_and_the_device(dataset: TraceSet) -> None:
    run(dataset, solutions=("mm_a",))
    (trace,) = saved(dataset)
    assert trace.evaluation is not None
    hashed = solution("mm_a", "mm").hash()
    assert trace.evaluation.fictl == {
        "solution_hash": hashed,
        "device": "cpu",
        "place": "cpu",
    }


@pytest.mark.parametrize(
    ("chosen", "count"),
    [
        ({"definitions": ("mm",)}, 1),
        ({"definitions": ("sc*",)}, 6),
        ({"solutions": ("scale_b",)}, 3),
        ({"op_types": ("gemm",)}, 1),
        ({"op_types": ("norm",), "solutions": ("*_a",)}, 3),
    ],
)
def test_what_is_chosen_runs(dataset: TraceSet, chosen: dict, count: int) -> None:
    assert len(run(dataset, **chosen).outcomes) == count


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"definitions": ("scal",)}, "there is no definition 'scal'"),
        ({"solutions": ("scale_c",)}, "there is no solution 'scale_c'"),
        ({"op_types": ("nrm",)}, "there is no op type 'nrm'"),
        (
            {"definitions": ("mm",), "solutions": ("scale_a",)},
            "none of the chosen solutions has a workload",
        ),
    ],
)
def test_a_choice_of_nothing_is_refused(dataset: TraceSet, chosen: dict, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        run(dataset, **chosen)


def test_resume_leaves_out_what_has_a_result(dataset: TraceSet) -> None:
    run(dataset, solutions=("scale_a",))
    again = run(dataset, resume=True)
    assert (len(again.outcomes), again.skipped) == (4, 3)
    assert run(dataset, resume=True).skipped == 7
    assert len(saved(dataset)) == 7


def test_resume_runs_a_changed_solution_again(dataset: TraceSet) -> None:
    run(dataset, solutions=("mm_a",))
    path = next(dataset.root.rglob("mm_a.json"))
    path.write_text(solution("mm_a", "mm", code="def run(x):\n    return x + 0\n").to_json())
    assert len(run(dataset, resume=True, solutions=("mm_a",)).outcomes) == 1


def test_resume_does_not_count_results_of_another_device(dataset: TraceSet) -> None:
    run(dataset)
    for path in dataset.root.rglob("traces/**/*.jsonl"):
        path.write_text(path.read_text().replace('"device":"cpu"', '"device":"cuda"'))
    assert len(run(dataset, resume=True).outcomes) == 7


def test_resume_does_not_count_results_of_another_gpu(dataset: TraceSet) -> None:
    run(dataset)  # samples says that an H200 did
    h200, b200 = (Place("0", hardware=f"NVIDIA_{name}") for name in ("H200", "B200"))
    assert run(dataset, resume=True, slots=(h200,)).skipped == 7
    again = run(dataset, resume=True, slots=(b200,))
    assert (again.skipped, len(again.outcomes)) == (0, 7)
    # With both, a result of either will do.
    assert run(dataset, resume=True, slots=(h200, replace(b200, name="1"))).skipped == 7


def test_resume_counts_every_gpu_where_none_is_known(dataset: TraceSet) -> None:
    run(dataset)
    assert run(dataset, resume=True, slots=(Place("0"),)).skipped == 7


def test_what_failed_before_it_ran_belongs_to_the_hardware_of_its_run(
    dataset: TraceSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = evaluation("COMPILE_ERROR")
    failed = failed.model_copy(update={"environment": Environment(hardware="unknown")})
    monkeypatch.setattr("fictl.dataset.run_plan._COMPILED", ("python",))
    monkeypatch.setattr(FakeEvaluator, "build", lambda self, job: failed)
    slots = (Place("0", hardware="NVIDIA_B200"),)
    run(dataset, solutions=("scale_a",), slots=slots)
    assert {t.evaluation.environment.hardware for t in saved(dataset) if t.evaluation} == {
        "NVIDIA_B200"
    }
    assert run(dataset, solutions=("scale_a",), slots=slots, resume=True).skipped == 3


def test_a_workload_that_breaks_a_constraint_is_not_judged(dataset: TraceSet) -> None:
    made = definition("even").model_dump(mode="json") | {"constraints": ["n % 2 == 0", "n < 9"]}
    dataset.add_definition(Definition.model_validate(made))
    dataset.add_solution(solution("even_a", "even"))
    dataset.add_workloads("even", [workload("w3", 3), workload("w4", 4), workload("w10", 10)])
    summary = run(dataset, definitions=("even",))
    assert [(each.workload, each.status, each.is_fault) for each in summary.outcomes] == [
        ("w3", "ERROR", False),
        ("w4", "PASSED", False),
        ("w10", "ERROR", False),
    ]
    assert summary.outcomes[0].error == "workload w3: even requires n % 2 == 0 (here n=3)"
    assert [trace.workload.uuid for trace in saved(dataset)] == ["w4"]


def test_two_workloads_of_one_uuid_are_refused_unless_they_are_one(dataset: TraceSet) -> None:
    path = dataset.files.workload("gemm", "mm")
    path.write_text(path.read_text() * 2)
    assert len(run(dataset, definitions=("mm",)).outcomes) == 1
    path.write_text(path.read_text() + path.read_text().replace('"n":4', '"n":5'))
    with pytest.raises(UsageError, match="two different workloads of mm are both g0"):
        run(dataset, definitions=("mm",))


def test_two_slots_work_at_the_same_time(dataset: TraceSet) -> None:
    together = threading.Barrier(2, timeout=10)

    def judge(job: EvaluationJob, workload: Workload, slot: Place) -> Evaluation:
        if workload.uuid in ("s0", "g0") and job.solution.name != "scale_b":
            together.wait()
        return evaluation()

    summary = run(dataset, judge, places=("0", "1"))
    assert dict(summary.statuses) == {"PASSED": 7}


def test_a_solution_that_hangs_is_given_up(dataset: TraceSet) -> None:
    def judge(job: EvaluationJob, workload: Workload, slot: Place) -> Evaluation:
        return evaluation("TIMEOUT" if job.solution.name == "scale_a" else "PASSED")

    summary = run(dataset, judge)
    assert dict(summary.statuses) == {"TIMEOUT": 2, "PASSED": 4}
    assert summary.left_out == ("scale  scale_a: 2 timeouts; 1 more workload left out",)


def test_a_workload_that_cannot_be_made_is_an_error_and_no_result(dataset: TraceSet) -> None:
    def judge(job: EvaluationJob, workload: Workload, slot: Place) -> Evaluation:
        if workload.uuid == "s1":
            raise UsageError("s1 has no blob")
        return evaluation()

    summary = run(dataset, judge, solutions=("scale_a",))
    assert [each.error for each in summary.errors] == ["s1 has no blob"]
    assert {trace.workload.uuid for trace in saved(dataset)} == {"s0", "s2"}


def test_what_no_solution_can_run_without_ends_the_run(dataset: TraceSet) -> None:
    def judge(job: EvaluationJob, workload: Workload, slot: Place) -> Evaluation:
        raise SetupError("no sandbox works here")

    with pytest.raises(SetupError, match="no sandbox"):
        run(dataset, judge)


def test_an_interrupted_run_keeps_what_it_has(dataset: TraceSet) -> None:
    class Impatient(RunObserver):
        def outcome(self, outcome: RunOutcome, done: int, total: int) -> None:
            if done == 2:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(dataset, observer=Impatient())
    assert len(saved(dataset)) == 2
    assert run(dataset, resume=True).skipped == 2


def test_a_stopped_evaluator_ends_its_slot(dataset: TraceSet) -> None:
    def judge(job: EvaluationJob, workload: Workload, slot: Place) -> Evaluation:
        raise Stopped("the run was stopped")

    assert run(dataset, judge).outcomes == []


def test_two_runs_at_once_add_whole_lines(dataset: TraceSet) -> None:
    def slowly(job: EvaluationJob, workload: Workload, slot: Place) -> Evaluation:
        time.sleep(0.001)
        return evaluation(log="x" * 50_000)

    runs = [threading.Thread(target=run, args=(dataset, slowly)) for _ in range(3)]
    for each in runs:
        each.start()
    for each in runs:
        each.join()
    assert len(saved(dataset)) == 21


def test_what_is_not_kept_leaves_no_trace(dataset: TraceSet) -> None:
    assert len(run(dataset, save=False).outcomes) == 7
    assert not (dataset.root / "traces").exists()


@pytest.mark.skipif(os.getuid() == 0, reason="root writes everywhere")
def test_a_dataset_that_cannot_be_written_is_refused_before_anything_runs(
    dataset: TraceSet,
) -> None:
    dataset.root.chmod(0o500)
    with pytest.raises(SetupError, match="cannot be written"):
        run(dataset)


def test_a_file_in_place_of_the_traces_is_refused(dataset: TraceSet) -> None:
    (dataset.root / "traces").write_text("")
    with pytest.raises(SetupError, match="cannot be written"):
        run(dataset)


def test_a_full_disk_ends_the_run(dataset: TraceSet, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: TraceSet, traces: object) -> None:
        raise FictlError("the disk is full")

    monkeypatch.setattr(TraceSet, "add_traces", full)
    with pytest.raises(FictlError, match="full"):
        run(dataset)


def test_the_configuration_of_the_dataset_reaches_the_judge(dataset: TraceSet) -> None:
    (dataset.root / "eval_config.toml").write_text(
        "rtol = 0.5\n[definition.mm]\nrtol = 0.25\n[op_type.norm]\nnum_trials = 7\n"
    )
    seen: dict[str, tuple[float, int]] = {}

    def judge(job: EvaluationJob, workload: Workload, slot: Place) -> Evaluation:
        seen[job.definition.name] = (job.config.rtol, job.config.num_trials)
        return evaluation()

    run(dataset, judge, flags={"num_trials": 5})
    assert seen == {"mm": (0.25, 5), "scale": (0.5, 5)}


def test_a_configuration_may_choose_what_is_run(dataset: TraceSet) -> None:
    """As flashinfer-bench's do; the command line is stronger."""
    path = dataset.root / "eval_config.yaml"
    path.write_text("definitions: [mm]\nop_type_config:\n  gemm:\n    rtol: 1e-4\n")
    seen: list[float] = []

    def judge(job: EvaluationJob, workload: Workload, slot: Place) -> Evaluation:
        seen.append(job.config.rtol)
        return evaluation()

    assert [each.definition for each in run(dataset, judge).outcomes] == ["mm"]
    assert seen == [1e-4]
    assert len(run(dataset, definitions=("scale",)).outcomes) == 6
    path.write_text("solutions: [nobody]\n")
    with pytest.raises(UsageError, match="there is no solution 'nobody'"):
        run(dataset)


def test_a_long_log_is_kept_in_the_dataset_only(dataset: TraceSet) -> None:
    def judge(job: EvaluationJob, workload: Workload, slot: Place) -> Evaluation:
        return evaluation("RUNTIME_ERROR", log="x" * 100_000)

    summary = run(dataset, judge, solutions=("mm_a",))
    assert summary.outcomes[0].evaluation is not None
    assert summary.outcomes[0].evaluation.log == ""
    (trace,) = saved(dataset)
    assert trace.evaluation is not None
    assert len(trace.evaluation.log) == 100_000


def test_what_cannot_be_built_fails_on_every_workload(
    dataset: TraceSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fictl.dataset.run_plan._COMPILED", ("python",))
    monkeypatch.setattr(
        FakeEvaluator, "build", lambda self, job: evaluation("COMPILE_ERROR", log="no such header")
    )
    summary = run(dataset, solutions=("scale_a",))
    assert dict(summary.statuses) == {"COMPILE_ERROR": 3}
    assert {trace.evaluation.log for trace in saved(dataset) if trace.evaluation} == {
        "no such header"
    }


def test_a_fault_of_the_judge_is_kept_nowhere_and_resumed(dataset: TraceSet) -> None:
    def judge(job: EvaluationJob, workload: Workload, slot: Place) -> Evaluation:
        if workload.uuid == "s1":
            raise JudgeFault("the disk is full", "free some")
        return evaluation()

    summary = run(dataset, judge, solutions=("scale_a", "mm_a"))
    assert dict(summary.statuses) == {"PASSED": 3, "ERROR": 1}
    assert [(each.workload, each.error) for each in summary.faults] == [
        ("s1", "the disk is full (free some)")
    ]
    assert len(saved(dataset)) == 3
    again = run(dataset, resume=True, solutions=("scale_a", "mm_a"))
    assert [(each.workload, each.status) for each in again.outcomes] == [("s1", "PASSED")]


def test_a_judge_that_fails_again_and_again_leaves_the_rest_of_a_solution(
    dataset: TraceSet,
) -> None:
    def judge(job: EvaluationJob, workload: Workload, slot: Place) -> Evaluation:
        if job.solution.name == "scale_a":
            raise JudgeFault("it has gone")
        return evaluation()

    summary = run(dataset, judge)
    assert dict(summary.statuses) == {"ERROR": 2, "PASSED": 4}
    assert summary.left_out == ("scale  scale_a: 2 faults of the judge; 1 more workload left out",)


def test_a_build_that_the_judge_failed_at_is_resumed(
    dataset: TraceSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(evaluator: FakeEvaluator, job: EvaluationJob) -> Evaluation:
        raise JudgeFault("it has gone")

    monkeypatch.setattr("fictl.dataset.run_plan._COMPILED", ("python",))
    with monkeypatch.context() as patch:
        patch.setattr(FakeEvaluator, "build", fails)
        assert len(run(dataset, solutions=("scale_a",)).faults) == 3
    assert dict(run(dataset, resume=True, solutions=("scale_a",)).statuses) == {"PASSED": 3}


def test_a_build_without_a_place_is_no_compile_error(
    dataset: TraceSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fictl.dataset.run_plan._COMPILED", ("python",))
    monkeypatch.setattr("fictl.dataset.builds.new_scratch", lambda kind: dataset.root / "nowhere")
    summary = run(dataset, solutions=("scale_a",))
    assert [each.is_fault for each in summary.outcomes] == [True] * 3
    assert saved(dataset) == []


def test_a_run_without_a_room_to_build_in_does_not_begin(
    dataset: TraceSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fictl.dataset.run_plan._COMPILED", ("python",))
    (dataset.root / "file").touch()
    monkeypatch.setattr(tempfile, "tempdir", str(dataset.root / "file"))
    with pytest.raises(JudgeFault, match="creating the root of its scratch folders"):
        run(dataset)


def test_no_thread_stays(dataset: TraceSet) -> None:
    before = threading.active_count()
    run(dataset)
    assert threading.active_count() == before


def test_what_takes_minutes_emulated_is_left_out_unless_it_is_asked_for(dataset: TraceSet) -> None:
    dataset.add_workloads("mm", [workload("huge", 6_000_000)])
    summary = run(dataset, device="emu", definitions=("mm",))
    assert [each.workload for each in summary.outcomes] == ["g0"]
    assert summary.left_out == (
        "left out: 1 workload of mm with more than 10 million elements (--large emulates them, too)",
    )
    asked = run(dataset, device="emu", definitions=("mm",), large=True, resume=True)
    assert [each.workload for each in asked.outcomes] == ["huge"]
    assert len(run(dataset, definitions=("mm",)).outcomes) == 2
