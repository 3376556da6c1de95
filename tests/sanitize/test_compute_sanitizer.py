"""The command of compute-sanitizer, and what it says where it cannot look."""

from __future__ import annotations

import pytest

from fictl.errors import SetupError, UsageError
from fictl.sanitize.compute_sanitizer import TOOLS, choose, command, environment, refusal, version


@pytest.fixture
def there(program) -> str:
    return str(program("compute-sanitizer", "echo Version 2025.3.1.0 '(build 36400806)'"))


@pytest.mark.parametrize("tool", TOOLS)
def test_every_tool_names_full_paths_and_looks_at_one_process(there: str, tool: str) -> None:
    words = command(tool, 7)
    assert words[:2] == [there, f"--tool={tool}"]
    assert {"--print-limit=7", "--strip-paths=no", "--target-processes=application-only"} < {*words}
    assert any(word.startswith("--error-exitcode=") for word in words)


def test_memcheck_has_red_zones_and_goes_on(there: str) -> None:
    assert {"--padding=512", "--destroy-on-device-error=kernel"} < {*command("memcheck")}


@pytest.mark.parametrize("tool", TOOLS)
def test_torchs_kernels_are_left_out_but_where_their_writes_count(there: str, tool: str) -> None:
    excluded = [word for word in command(tool) if word.startswith("--kernel-name-exclude=")]
    assert bool(excluded) == (tool != "initcheck")


def test_without_the_program_it_is_the_machines_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fictl.sanitize.compute_sanitizer.find_tool", lambda name: None)
    with pytest.raises(SetupError, match="compute-sanitizer was not found") as caught:
        command("memcheck")
    assert "apt install cuda-sanitizer-" in caught.value.hint


def test_every_tensor_is_an_allocation_of_its_own_in_a_build_with_lines() -> None:
    variables = environment()
    assert variables["FICTL_JIT_LINEINFO"] == variables["PYTORCH_NO_CUDA_MEMORY_CACHING"] == "1"
    assert variables["PYTORCH_ALLOC_CONF"] == ""


def test_its_version_is_the_one_that_it_says(there: str) -> None:
    assert version() == "2025.3.1"


def test_tools_are_chosen_by_words() -> None:
    assert choose([]) == TOOLS
    assert choose(["racecheck, memcheck", "racecheck"]) == ("racecheck", "memcheck")
    with pytest.raises(UsageError, match="--tool ncu: there is no such tool"):
        choose(["ncu"])


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("Error: Device not supported. Please refer to the documentation", "does not fit"),
        ("Error: Unable to launch target application: Operation not permitted", "may not look"),
        ("Error: No attachable process found. compute-sanitizer timed-out.", "used no CUDA"),
    ],
)
def test_a_machine_that_cannot_is_told_with_its_fix(line: str, said: str) -> None:
    error = refusal(f"========= COMPUTE-SANITIZER\n========= {line}\n")
    assert error is not None
    assert said in error.message
    assert line in error.message
    assert error.hint


def test_reports_are_no_refusal() -> None:
    assert refusal("========= Invalid __global__ read of size 4 bytes\npermission denied\n") is None
