"""Every way in which ncu measures nothing is said with what mends it, and has its exit code."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fictl.errors import FictlError, SetupError, UsageError
from fictl.profile.launched import Launched
from fictl.profile.ncu.collection import Collection
from fictl.profile.ncu.diagnosis import raise_problem, raise_without_numbers

# NVIDIA documents this one (developer.nvidia.com/ERR_NVGPUCTRPERM): the GPU that the other
# recorded outputs are from gives its counters to everyone.
PERMISSION = (
    "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU "
    "Performance Counters on the target device 0. For instructions on enabling permissions and to "
    "get more information see https://developer.nvidia.com/ERR_NVGPUCTRPERM"
)
BUSY = (
    "==ERROR== An error was reported by the driver:\n==ERROR== Profiling failed because a driver "
    "resource was unavailable. Ensure that no other tool (like DCGM) is concurrently collecting "
    "profiling data."
)


@pytest.fixture
def problem() -> Callable[..., FictlError]:
    """What is raised where these lines were said."""

    def of(
        text: str,
        done: bool = False,
        code: int = 0,
        error: FictlError | None = None,
        collection: Collection | None = None,
    ) -> FictlError:
        collection = collection or Collection()
        launched = Launched(str)
        launched.listener.lines.extend(text.splitlines())
        launched.listener.done, launched.listener.error, launched.code = done, error, code
        with pytest.raises(FictlError) as raised:
            raise_problem(launched, collection, "2025.3.1")
        return raised.value

    return of


@pytest.mark.parametrize(
    ("said", "message", "hint"),
    [
        (PERMISSION, "ERR_NVGPUCTRPERM", "NVreg_RestrictProfilingToAdminUsers=0"),
        (PERMISSION, "this user may not", "--cap-add=SYS_ADMIN"),
        (BUSY, "holds the GPU's hardware counters", "dcgmi profile --pause"),
        (
            "==ERROR== Failed to initialize the profiler: LibraryNotLoaded. Check that a "
            "compatible driver library is loaded.",
            "does not fit the driver: Failed to initialize",
            "nvidia-smi",
        ),
        ("==ERROR== Cuda driver is not compatible with Nsight Compute.", "not fit", "nvidia-smi"),
        (
            "==ERROR== Nsight Compute failed to connect to the CUDA driver (stub libcuda.so[.1] on "
            "path?).",
            "stub",
            "LD_LIBRARY_PATH",
        ),
        (
            "==ERROR== Profiling is not supported on device 0. To find out supported GPUs refer "
            "--list-chips option.",
            "cannot profile this GPU",
            "--list-chips",
        ),
        ("==ERROR== Unknown Error on device 0.", "failed on this GPU", "nvidia-smi"),
        (
            "==ERROR== Failed to open/create lock file /tmp/nsight-compute-lock. Please check that "
            "this process has write permissions on this file.",
            "lock file",
            "TMPDIR",
        ),
        ("==ERROR== something else", "made no report: ==ERROR== something else", ""),
        ("", "made no report: nothing", ""),
    ],
)
def test_what_the_environment_cannot_do_is_exit_code_3(problem, said, message, hint) -> None:
    found = problem(said, done=True)
    assert isinstance(found, SetupError)
    assert message in found.message
    assert hint in found.hint


def test_a_program_that_prints_such_words_is_not_believed(problem) -> None:
    found = problem("the docs say ERR_NVGPUCTRPERM\n==ERROR== other\n", done=True)
    assert "made no report" in found.message


def test_the_programs_own_error_is_the_answer(problem) -> None:
    own = UsageError("no case of it matches 7x7", "it has 8x8")
    text = "==PROF== Connected to process 7\n==ERROR== The application returned an error code (2)."
    assert problem(text, code=2, error=own) is own


def test_but_not_where_ncu_took_it_down(problem) -> None:
    own = FictlError("CUDA error: unspecified launch failure")
    assert isinstance(problem(PERMISSION, code=1, error=own), SetupError)


def test_a_program_that_fell_is_exit_code_1_with_its_last_words(problem) -> None:
    text = (
        "==PROF== Connected to process 7\nTraceback\nImportError: no torch\n"
        "==ERROR== The application returned an error code (1)."
    )
    found = problem(text, code=1)
    assert (found.exit_code, found.hint) == (1, "Traceback\nImportError: no torch")


@pytest.mark.parametrize(
    ("said", "done"),
    [
        ("==ERROR== unrecognised option '--nosuch-option'. Use --help for further details.", False),
        ("==ERROR== the argument for option '--clock-control' is invalid.", False),
        ("==ERROR== Option '--section Nosuch' did not match any section.", False),
        ("==ERROR== Invalid regex provided to --kernel option. Unmatched marking ( or \\(.", False),
        (
            "==WARNING== No metrics to collect found in sections.\n"
            "==WARNING== No kernels were profiled.",
            True,
        ),
    ],
)
def test_what_ncu_does_not_know_is_a_usage_error(problem, said, done) -> None:
    found = problem(said, done=done)
    assert isinstance(found, UsageError)
    assert found.message.startswith("ncu 2025.3.1: ")
    assert "--list-sections" in found.hint


def test_an_ncu_that_fails_before_it_starts_has_no_marks(problem) -> None:
    assert isinstance(problem("the argument ('x') for option '--set' is invalid"), UsageError)


def test_no_matching_kernel_lists_those_there_are(problem, recorded) -> None:
    collection = Collection(kernel="nosuch")
    found = problem(recorded("no_kernel.txt"), done=True, collection=collection)
    assert isinstance(found, UsageError)
    assert found.message == "no kernel's name matches --kernel nosuch"
    assert found.hint == "there are: reduce_kernel, vectorized_elementwise_kernel"


def test_a_case_without_kernels_is_exit_code_1(problem) -> None:
    assert problem("==WARNING== No kernels were profiled.", done=True).exit_code == 1


def test_counters_that_are_all_nan_are_an_ncu_that_does_not_fit() -> None:
    metric = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"
    with pytest.raises(SetupError, match="2 of 5 metrics") as raised:
        raise_without_numbers(3, (metric, "b"), "2026.2.0")
    assert "driver" in raised.value.hint
    raise_without_numbers(3, ("b",), "2026.2.0")
