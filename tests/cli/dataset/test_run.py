from __future__ import annotations

import json
from pathlib import Path

import pytest

from fictl.dataset import run_jobs as loop
from fictl.dataset.run_plan import EvaluationJob
from fictl.errors import SetupError, UsageError
from fictl.farm.place import Place
from fictl.judge.fault import JudgeFault
from fictl.judge.hardware import hardware_name
from fictl.trace import Definition, Evaluation, Solution, TraceSet, Workload

_SPEC = {"shape": ["n"], "dtype": "float32"}
_ALL = """
    --definitions a,b --definitions c* --solutions s --op-type norm --device emu
    --warmup-runs 1 --iterations 2 --num-trials 3 --rtol 0.1 --atol 0.2
    --required-matched-ratio 0.5 --timeout 9 --compile-timeout 8 --seed 4 --no-profile-baseline --isolated --large
    --untrusted --resume --jobs 2 --no-save --wait 5 --on local --hardware H100,B200
"""
_STATUSES = {"good": "PASSED", "bad": "INCORRECT_NUMERICAL"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """good and bad of scale, on w0 and w1."""
    folder = tmp_path / "dataset"
    folder.mkdir()
    made = TraceSet.from_path(folder)
    said = {
        "name": "scale",
        "op_type": "norm",
        "axes": {"n": {"type": "var"}},
        "inputs": {"x": _SPEC},
        "outputs": {"y": _SPEC},
        "reference": "def run(x): return x",
    }
    made.add_definition(Definition.model_validate(said))
    for uuid in ("w0", "w1"):
        workload = {"axes": {"n": 4}, "inputs": {"x": {"type": "random"}}, "uuid": uuid}
        made.add_workload("scale", Workload.model_validate(workload))
    for name in _STATUSES:
        spec = {"language": "python", "target_hardware": ["cpu"], "entry_point": "main.py::run"}
        sources = [{"path": "main.py", "content": f"# {name}"}]
        solution = {
            "name": name,
            "definition": "scale",
            "author": "me",
            "spec": spec,
            "sources": sources,
        }
        made.add_solution(Solution.model_validate(solution))
    return folder


class FakeEvaluator:
    """As solutions are named."""

    def __init__(self, root: Path, place: Place, isolated: bool, *more: object) -> None:
        self.isolated = isolated

    def prepare(self, device: str, waits: object) -> None:
        pass

    def build(self, job: EvaluationJob) -> None:
        return None

    def evaluate(self, job: EvaluationJob, workload: Workload, waits: bool = True) -> Evaluation:
        status = _STATUSES[job.solution.name]
        said = {
            "status": status,
            "environment": {"hardware": hardware_name("cpu")},
            "timestamp": "now",
            "log": "y: all wrong",
            "correctness": {},
            "performance": {"latency_ms": 0.5, "speedup_factor": 2.0}
            if status == "PASSED"
            else None,
        }
        return Evaluation.model_validate(said)

    def stop(self) -> None:
        pass

    def close(self) -> None:
        pass


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "ProcessEvaluator", FakeEvaluator)


@pytest.mark.usefixtures("judged")
def test_results_are_told_counted_and_kept(fictl, root: Path) -> None:
    answer = fictl("dataset", "run", str(root), "--device", "cpu")
    assert answer.code == 0
    assert answer.out.startswith("2 INCORRECT_NUMERICAL · 2 PASSED    ")
    assert answer.err.splitlines() == [
        "2 solutions, 4 evaluations",
        "1/4  INCORRECT_NUMERICAL  scale  bad  w0  y: all wrong",
        "2/4  INCORRECT_NUMERICAL  scale  bad  w1  y: all wrong",
        "3/4  PASSED  scale  good  w0  0.5 ms  2.00x",
        "4/4  PASSED  scale  good  w1  0.5 ms  2.00x",
    ]
    assert len([*TraceSet.from_path(root).traces()]) == 4


@pytest.mark.usefixtures("judged")
def test_a_run_as_a_document(fictl, root: Path) -> None:
    answer = fictl("dataset", "run", str(root), "--device", "cpu", "--json", "--no-save")
    document = answer.document
    assert (document["schema"], document["ok"], answer.err) == (
        "fictl.dataset.run/1",
        True,
        "",
    )
    assert document["data"]["statuses"] == {"INCORRECT_NUMERICAL": 2, "PASSED": 2}
    assert document["data"]["outcomes"][2] == {
        "definition": "scale",
        "solution": "good",
        "workload": "w0",
        "status": "PASSED",
        "latency_ms": 0.5,
        "speedup": 2.0,
        "error": None,
        "place": "cpu",
    }
    assert not (root / "traces").exists()


@pytest.mark.usefixtures("judged")
def test_strict_wants_all_to_pass(fictl, root: Path) -> None:
    words = ("dataset", "run", str(root), "--device", "cpu", "--no-save", "--strict")
    assert fictl(*words).code == 1
    assert fictl(*words, "--solutions", "good").code == 0


@pytest.mark.usefixtures("judged")
def test_resume_says_what_was_there(fictl, root: Path) -> None:
    fictl("dataset", "run", str(root), "--device", "cpu", "--solutions", "good")
    answer = fictl("dataset", "run", str(root), "--device", "cpu", "--resume")
    assert "2 evaluated before" in answer.out
    again = fictl("dataset", "run", str(root), "--device", "cpu", "--resume")
    assert again.out.startswith("4 evaluated before")


def test_a_place_that_cannot_start_is_an_error_of_the_place(
    fictl, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is written, the reason is said, and --resume does it later."""
    words = ("dataset", "run", str(root), "--device", "cpu", "--resume")
    with monkeypatch.context() as patch:
        patch.setattr("fictl.farm.engine.command.sys.executable", "nowhere-python")
        answer = fictl(*words)
    assert answer.code == 3
    left_out, undone, count = answer.out.splitlines()[1:]
    assert "place cpu left out: its process did not start (exit code 127)" in left_out
    assert "nowhere-python" in left_out
    assert undone.strip() == "4 evaluations not done: no place was left"
    assert count == "4 workloads not judged: --resume runs them"
    assert not any((root / "traces").iterdir())
    answer = fictl(*words, "--dry-run", "--json")
    assert answer.document["data"]["total"] == 4


def test_a_plan_runs_nothing(fictl, root: Path) -> None:
    (root / "eval_config.toml").write_text("rtol = 0.5\n")
    words = ("dataset", "run", str(root), "--dry-run", "--atol", "0.25")
    answer = fictl(*words)
    assert [line.split() for line in answer.out.splitlines()] == [
        ["definition", "solution", "workloads"],
        ["scale", "bad", "2"],
        ["scale", "good", "2"],
        ["2", "solutions", "4"],
    ]
    data = fictl(*words, "--json").document["data"]
    assert (data["total"], data["jobs"][0]["rtol"], data["jobs"][0]["atol"]) == (4, 0.5, 0.25)


def test_every_flag_reaches_the_run(
    fictl, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[str, object] = {}

    def run_dataset(root: Path, options: object, observer: object) -> None:
        seen.update(vars(options))
        raise SetupError("seen")

    monkeypatch.setattr(loop, "run_dataset", run_dataset)
    (tmp_path / "c.toml").write_text("")
    config = ("--config", str(tmp_path / "c.toml"))
    assert fictl("dataset", "run", str(root), *_ALL.split(), *config).code == 3
    assert seen == {
        "definitions": ("a", "b", "c*"),
        "solutions": ("s",),
        "op_types": ("norm",),
        "device": "emu",
        "isolated": True,
        "large": True,
        "resume": True,
        "save": False,
        "jobs": 2,
        "gpus": (),
        "wait": 5.0,
        "on": "local",
        "hardware": ("H100", "B200"),
        "config": tmp_path / "c.toml",
        "flags": {
            "warmup_runs": 1,
            "iterations": 2,
            "num_trials": 3,
            "rtol": 0.1,
            "atol": 0.2,
            "required_matched_ratio": 0.5,
            "timeout_seconds": 9.0,
            "compile_timeout_seconds": 8.0,
            "seed": 4,
            "profile_baseline": False,
            "untrusted": True,
        },
    }


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--device", "tpu"), 2, "--device is 'tpu'"),
        (("--device", "cuda"), 3, "there is no GPU here"),
        (("--device", "cpu", "--rtol", "-1"), 2, "'--rtol': '-1' is not a number"),
        (("--device", "cpu", "--solutions", "god"), 2, "is it good?"),
        (("--device", "cpu", "--gpus", "0"), 2, "--gpus names GPUs"),
        (("--device", "cpu", "--config", "no.toml"), 2, "no.toml cannot be read"),
    ],
)
def test_what_cannot_be_run_is_refused(
    fictl, root: Path, words: tuple[str, ...], code: int, message: str
) -> None:
    answer = fictl("dataset", "run", str(root), *words)
    assert answer.code == code
    assert message in answer.err
    assert "Traceback" not in answer.err


def test_a_folder_that_is_none_is_refused(fictl, tmp_path: Path) -> None:
    assert fictl("dataset", "run", str(tmp_path / "none")).code == 2


def test_a_fault_of_the_judge_is_the_environments(
    fictl, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def evaluate(
        self: FakeEvaluator, job: EvaluationJob, workload: Workload, waits: bool = False
    ) -> Evaluation:
        raise JudgeFault("no space left", "free some")

    monkeypatch.setattr(FakeEvaluator, "evaluate", evaluate)
    monkeypatch.setattr(loop, "ProcessEvaluator", FakeEvaluator)
    answer = fictl("dataset", "run", str(root), "--device", "cpu")
    assert answer.code == 3
    assert "  scale  w0  no space left (free some)" in answer.out
    assert "4 workloads not judged: --resume runs them" in answer.out
    assert [*TraceSet.from_path(root).traces()] == []


def test_what_could_not_be_evaluated_is_said(
    fictl, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def evaluate(
        self: FakeEvaluator, job: EvaluationJob, workload: Workload, waits: bool = False
    ) -> Evaluation:
        raise UsageError("the blob is not there")

    monkeypatch.setattr(FakeEvaluator, "evaluate", evaluate)
    monkeypatch.setattr(loop, "ProcessEvaluator", FakeEvaluator)
    answer = fictl("dataset", "run", str(root), "--device", "cpu")
    assert answer.code == 1
    assert "  scale  w0  the blob is not there" in answer.out
    document = fictl("dataset", "run", str(root), "--device", "cpu", "--json").document
    assert json.dumps(document["data"]["statuses"]) == '{"ERROR": 4}'
