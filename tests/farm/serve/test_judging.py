"""Which processes of references the jobs of a run have."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from fictl.farm.exchange import Exchange
from fictl.farm.line import Evaluated, EvaluateWorkload, Greeting, JobStarted
from fictl.farm.serve.judging import JudgeServer
from fictl.judge.config import EvalConfig
from fictl.trace import Definition

from ...judge.judge_runs import CONFIG, REFERENCE, WORKLOAD, definition, solution

DOUBLE = definition(REFERENCE.replace("x * s", "2 * x * s"))
QUICK = replace(CONFIG, profile_baseline=False)


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Iterator[JudgeServer]:
    exchange = Exchange(pytest.fail, pytest.fail)
    made = JudgeServer(exchange, Greeting("cpu", run=getattr(request, "param", "fedcba98")))
    yield made
    made.close()


def judged(
    server: JudgeServer,
    asked: Definition,
    call: str,
    config: EvalConfig = QUICK,
    root: Path | None = None,
) -> str:
    tried = solution(f"def run(x, s):\n    return {call}\n")
    server.begin(JobStarted(False, config, asked.model_dump_json(), tried.model_dump_json(), root))
    answer = server.evaluate(EvaluateWorkload(WORKLOAD.model_dump_json(), waits=True))
    assert isinstance(answer, Evaluated), answer
    assert answer.evaluation is not None
    return str(json.loads(answer.evaluation)["status"])


def test_the_next_definition_has_the_processes_of_the_one_before(server: JudgeServer) -> None:
    assert judged(server, definition(), "x * s") == "PASSED"
    reference, process = server._reference, server._reference._sandboxed
    assert judged(server, DOUBLE, "2 * x * s") == "PASSED"
    assert judged(server, definition(), "2 * x * s") == "INCORRECT_NUMERICAL"
    assert server._reference is reference
    assert reference._sandboxed is process


@pytest.mark.parametrize(
    ("server", "config"),
    [("fedcba98", replace(QUICK, untrusted=True)), ("", QUICK)],
    ids=["untrusted", "no run"],
    indirect=["server"],
)
def test_otherwise_each_definition_has_its_own(server: JudgeServer, config: EvalConfig) -> None:
    assert judged(server, definition(), "x * s", config) == "PASSED"
    first = server._reference
    assert judged(server, DOUBLE, "2 * x * s", config) == "PASSED"
    assert server._reference is not first
    assert first._sandboxed is None


def test_another_dataset_has_others(server: JudgeServer, tmp_path: Path) -> None:
    assert judged(server, definition(), "x * s") == "PASSED"
    first = server._reference
    assert judged(server, DOUBLE, "2 * x * s", root=tmp_path) == "PASSED"
    assert server._reference is not first
    assert server._reference.root == tmp_path
