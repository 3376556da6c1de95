"""What compute-sanitizer calls things, in the words of the emulated checker: as it said it on an H200."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.sanitize.report_parser import records
from fictl.sanitize.sanitizer_report import SanitizerReport

KINDS = (Path(__file__).parent / "recorded" / "kinds.txt").read_text(encoding="utf-8")


def said(name: str) -> SanitizerReport:
    (part,) = (part for part in KINDS.split("@@ ") if part.startswith(f"{name}\n"))
    (record,) = records(part)
    return record


@pytest.mark.parametrize(
    ("name", "kind", "what", "line"),
    [
        ("memcheck misaligned", "misaligned", "a write of 16 bytes at address 0x7fd820800004", 8),
        (
            "memcheck shared_oob",
            "out-of-bounds",
            "a write of 4 bytes at address 0x450, outside of shared memory",
            9,
        ),
        ("memcheck null_pointer", "null-pointer", "a write of 4 bytes at address 0xc", 10),
        (
            "memcheck through_call",
            "out-of-bounds",
            "a read of 4 bytes, 177 bytes after an allocation of 1024 bytes",
            6,
        ),
        (
            "memcheck atomic_oob",
            "out-of-bounds",
            "an atomic of 4 bytes, 1 byte after an allocation of 1024 bytes",
            13,
        ),
        ("memcheck asserts", "assert", 'n < 3 && "only three"', 14),
        ("memcheck traps", "trap", "the kernel executed a trap", 15),
        (
            "memcheck local_oob",
            "out-of-bounds",
            "a write of 4 bytes at address 0x13ffa90, outside of local memory",
            20,
        ),
        (
            "memcheck before",
            "out-of-bounds",
            "a write of 4 bytes, 12 bytes before an allocation of 1024 bytes",
            21,
        ),
        (
            "memcheck bad_launch",
            "bad-launch",
            "cudaLaunchKernel returned cudaErrorInvalidValue (invalid argument)",
            0,
        ),
        (
            "memcheck bad_argument",
            "api-error",
            "cudaMemcpy returned cudaErrorInvalidValue (invalid argument)",
            0,
        ),
        (
            "memcheck double_free",
            "api-error",
            "cudaFree returned cudaErrorInvalidValue (invalid argument)",
            0,
        ),
        ("memcheck leaks", "leak", "4000 bytes that were allocated are never freed", 0),
        ("synccheck bad_mask", "bad-mask", "a mask that does not name the calling lane", 16),
        (
            "racecheck waw",
            "race",
            "a write and a write of shared memory that nothing orders",
            19,
        ),
        (
            "initcheck uninit_copy",
            "uninitialised",
            "cudaMemcpy reads memory that nothing has written",
            0,
        ),
    ],
)
def test_each_kind_has_its_word_and_its_line(name: str, kind: str, what: str, line: int) -> None:
    report = said(name).report
    assert (report.kind, report.what, report.place.line) == (kind, what, line)


def test_a_function_that_the_kernel_calls_has_its_caller() -> None:
    for name in ("memcheck through_call", "memcheck through_inline"):
        report = said(name).report
        assert report.kernel == name.partition(" ")[2]
        assert [caller.rpartition("/")[2] for caller in report.place.callers] in (
            ["kinds.cu:11"],
            ["kinds.cu:12"],
        )


def test_an_intrinsic_of_the_toolkit_is_not_the_line_to_mend() -> None:
    assert said("synccheck bad_mask").report.place.file.endswith("kinds.cu")


def test_an_assertion_has_its_kernel_and_is_ours_only_by_its_launch() -> None:
    record = said("memcheck asserts")
    assert record.report.kernel == "asserts"
    assert not record.is_of_an_op


def access(*lines: str) -> str:
    return "\n".join(["========= Invalid __global__ read of size 4 bytes", *lines, "========= "])


def test_far_away_the_nearest_allocation_says_nothing() -> None:
    near = "=========     and is 261,590,529 bytes after the nearest allocation at 0x10 of size 512 bytes"
    (record,) = records(access("=========     Access to 0x7f00000000 is out of bounds", near))
    assert (
        record.report.what
        == "a read of 4 bytes at address 0x7f00000000, outside of all allocations"
    )


@pytest.mark.parametrize(
    ("title", "kind"),
    [
        ("Barrier error detected. Divergent thread(s) in block.", "divergent-barrier"),
        ("Barrier error detected. Invalid arguments.", "barrier-mismatch"),
        ("Barrier error detected. Missing init.", "barrier-mismatch"),
        ("Error: Potential WAW hazard detected at __shared__ 0x10 in block (0,0,0)", "race"),
        ("Stack overflow", "stack-overflow"),
        ("Illegal instruction", "trap"),
        ("Malloc/Free Error encountered: Double free", "bad-free"),
        ("Warp assert", "assert"),
        ("A report of tomorrow.", "other"),
    ],
)
def test_what_was_not_met_on_a_gpu_has_a_kind_too(title: str, kind: str) -> None:
    (record,) = records(f"========= {title}\n=========     at k()+0x1 in k.cu:3\n")
    assert (record.report.kind, record.report.place.line) == (kind, 3)
