"""`doctor --for`: what a machine lacks counts only where it is needed."""

from __future__ import annotations

import pytest

from fictl import doctor
from fictl.arch import Arch
from fictl.doctor import Facts, driver, gpus, profilers, python_packages
from fictl.doctor.finding import error, exit_code, ok, warning
from fictl.doctor.probe_steps import LAUNCH, LOAD
from fictl.doctor.purpose import check_purpose, needed, weighed
from fictl.errors import UsageError
from fictl.toolchain import Gpu, Probe
from fictl.toolchain.smi import Smi

BARE = Facts()
FINDINGS = (
    warning("driver", "none", "install one"),
    warning("GPU", "none", "run where there is one"),
    warning(LAUNCH, "not run", "run where there is a GPU"),
    ok(LOAD, "in 0.3 s"),
    error("nvcc", "none", "install one"),
)


def _named(purpose: str, facts: Facts = BARE) -> dict[str, str]:
    return {each.name: each.level for each in weighed(purpose, facts, FINDINGS)}


def test_without_a_purpose_everything_counts_as_it_is() -> None:
    assert needed("", BARE, doctor.CHECKS) == doctor.CHECKS
    assert weighed("", BARE, FINDINGS) == [*FINDINGS]


def test_a_build_asks_for_no_gpu_no_torch_and_no_profiler() -> None:
    checks = needed("build", BARE, doctor.CHECKS)
    assert not {driver.driver, gpus.gpus, python_packages.torch, profilers.cupti} & {*checks}
    assert {doctor.compilers.nvcc, doctor.compilers.host_compiler, doctor.probes.probes} < {*checks}
    assert LAUNCH not in _named("build")
    assert _named("build")["nvcc"] == "error"


def test_tests_are_emulated_where_there_is_no_gpu_and_no_nvcc() -> None:
    assert gpus.gpus not in needed("test", BARE, doctor.CHECKS)
    assert python_packages.torch in needed("test", BARE, doctor.CHECKS)
    assert _named("test")["nvcc"] == "warning"
    assert LAUNCH not in _named("test")


@pytest.mark.parametrize(
    "facts",
    [Facts(smi=Smi()), Facts(gpus=Probe(problem="SYSTEM_NOT_READY"))],
    ids=["smi", "broken"],
)
def test_tests_ask_for_the_gpu_of_a_machine_that_has_one(facts: Facts) -> None:
    assert gpus.gpus in needed("test", facts, doctor.CHECKS)
    assert profilers.tools not in needed("test", facts, doctor.CHECKS)
    assert _named("test", facts)["nvcc"] == "error"


def test_a_gpu_that_a_container_was_not_given_is_not_emulated_away(monkeypatch) -> None:
    monkeypatch.setattr("fictl.doctor.purpose.kernel_module", lambda: "580.65")
    assert driver.driver in needed("test", BARE, doctor.CHECKS)


def test_a_benchmark_without_a_gpu_is_a_problem_of_the_environment() -> None:
    assert profilers.cupti in needed("bench", BARE, doctor.CHECKS)
    assert profilers.tools not in needed("bench", BARE, doctor.CHECKS)
    found = weighed("bench", BARE, [warning("GPU", "none", "run where there is one")])
    assert (found[0].level, exit_code(found)) == ("error", 3)


def test_an_old_gpu_beside_a_new_one_stays_a_warning() -> None:
    facts = Facts(gpus=Probe((Gpu(0, "NVIDIA H200", Arch(9, 0)),)))
    assert _named("bench", facts)["GPU"] == "warning"


def test_another_purpose_is_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError, match="--for is 'fun'") as raised:
        check_purpose("fun")
    assert raised.value.hint == "one of build, test, bench"
