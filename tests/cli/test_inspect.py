"""fictl inspect: what is shown of kernels, which gates hold, and with which exit code."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fictl.errors import FictlError, SetupError
from fictl.inspect.inspected import Inspected
from fictl.inspect.instruction import SassInstruction, SourcePlace
from fictl.inspect.kernel import InspectedKernel, Opcode
from fictl.inspect.sources import KernelSources
from fictl.toolchain import find_tool

PLANTED = Path(__file__).parents[1] / "planted_project"


def kernel(**changes: Any) -> InspectedKernel:
    opcodes = {"LDG.E.128": Opcode(4, "", None), "MUFU.EX2": Opcode(1, "", None)}
    facts = {
        "mangled": "_ZN1a4copyEPf",
        "arch": "9.0a",
        "unit": "launcher.cu",
        "registers": 40,
        "shared": 256,
        "local": 0,
        "spill_stores": 0,
        "spill_loads": 0,
        "barriers": 1,
        "threads": 256,
        "place": SourcePlace("a.cuh", 7),
        "opcodes": opcodes,
        "code": "c0de",
    }
    return InspectedKernel(**{**facts, **changes})


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Any]]:
    """Answer with these instead of compiling; the list fills with what was asked."""

    def answer(*modules: Inspected, before: tuple[Inspected, ...] = ()) -> list[Any]:
        calls: list[Any] = []

        def inspect(names, archs, observer):
            calls.append((names, list(map(str, archs))))
            return list(modules)

        monkeypatch.setattr("fictl.inspect.report.inspect", inspect)
        monkeypatch.setattr(
            "fictl.inspect.report.inspect_revision", lambda *_: ("HEAD (abc)", list(before))
        )
        return calls

    return answer


def module(*kernels: InspectedKernel, **more: Any) -> Inspected:
    return Inspected("family.copy", ("9.0a",), "flag", kernels=kernels, **more)


def test_a_row_for_each_kernel(fictl, repo: Path, found) -> None:
    found(module(kernel(), kernel(mangled="_ZN1a4moveEPf", threads=None, spill_stores=None)))
    answer = fictl("inspect", "copy")
    assert answer.code == 0
    title, columns, first, second = answer.out.splitlines()
    assert title == "family.copy  9.0a (flag)"
    assert columns.split()[:4] == ["kernel", "arch", "registers", "spill"]
    assert first.split() == [
        "copy",
        "9.0a",
        "40",
        "0",
        "0",
        "256",
        "1",
        "75%",
        "6",
        "blocks",
        "of",
        "256",
        "at",
        "most:",
        "registers",
        "5",
        "LDG.128:4",
        "MUFU:1",
    ]
    assert second.split()[:8] == ["move", "9.0a", "40", "-", "0", "256", "1", "-"]


def test_pipes_registers_after_setmaxnreg_and_remarks_are_shown(fictl, repo: Path, found) -> None:
    names = ("HGMMA.64x8x16", "UTMALDG.2D", "UTMASTG.2D", "SYNCS.EXCH.64")
    opcodes = {name: Opcode(2, "", None) for name in names}
    remarks = ("C7519: warpgroup.arrive is injected",)
    found(module(kernel(opcodes=opcodes, setmaxnreg=(24, 240), remarks=remarks)))
    answer = fictl("inspect", "copy")
    _, _, row, remark = answer.out.splitlines()
    assert " 40 → 24/240 " in row
    assert row.endswith("tensor(HGMMA:2) TMA(UTMALDG:2 UTMASTG:2) SYNCS:2")
    assert remark == "  ! copy  9.0a: ptxas C7519: warpgroup.arrive is injected"


def test_the_launch_can_be_named(fictl, repo: Path, found) -> None:
    found(module(kernel(threads=None)))
    answer = fictl("inspect", "copy", "--threads", "128", "--dynamic-shared", "100000")
    assert "12% 2 blocks of 128: shared memory" in answer.out


def test_the_block_size_that_occupancy_assumes_is_said(fictl, repo: Path, found) -> None:
    """The launcher's, unless it cannot be: a kernel is never launched beyond its bounds."""
    found(module(kernel(launched=128), kernel(launched=512), kernel(threads=None, launched=None)))
    out = fictl("inspect", "copy").out
    assert "blocks of 128: " in out
    assert "blocks of 256 at most: " in out
    assert "- (unknown block size: --threads)" in out
    kernels = fictl("inspect", "copy", "--json").document["data"]["modules"][0]["kernels"]
    assert [(one["threads"], one["threads_from"]) for one in kernels] == [
        (128, "launcher"),
        (256, "launch bounds"),
        (None, None),
    ]


def test_what_is_asked_is_handed_on(fictl, repo: Path, found) -> None:
    calls = found(module(kernel()))
    fictl("inspect", "copy", "a.cubin", "--arch", "8.0 9.0a")
    assert calls == [(("copy", "a.cubin"), ["8.0", "9.0a"])]


def test_gates_that_hold_are_said_to(fictl, repo: Path, found) -> None:
    found(module(kernel()))
    answer = fictl("inspect", "copy", "--gate", "registers<=64, LDL==0", "--gate", "spill_bytes==0")
    assert answer.code == 0
    assert answer.out.splitlines()[-1] == (
        "✓ registers<=64, LDL==0, spill_bytes==0: holds for 1 kernel"
    )


def test_a_gate_that_does_not_hold_is_exit_code_1(fictl, repo: Path, found) -> None:
    spill = {"STL": Opcode(3, "STL [R1], R4", SourcePlace("/a.cuh", 12))}
    found(module(kernel(spill_stores=8, spill_loads=4, opcodes=spill)))
    answer = fictl("inspect", "copy", "--gate", "spill_bytes==0")
    assert answer.code == 1
    assert answer.out.splitlines()[-3:] == [
        "✗ a::copy for 9.0a: spill_bytes is 12, wanted ==0",
        "  /a.cuh:12",
        "  STL [R1], R4",
    ]


def test_a_gate_is_read_before_anything_is_compiled(fictl, repo: Path, found) -> None:
    calls = found(module(kernel()))
    answer = fictl("inspect", "copy", "--gate", "spills==0")
    assert answer.code == 2
    assert "there is nothing named 'spills'" in answer.err
    assert calls == []


def test_a_gate_without_a_kernel_is_an_error(fictl, repo: Path, found) -> None:
    found(module(note="it has no kernel"))
    answer = fictl("inspect", "copy", "--gate", "spill_bytes==0")
    assert answer.code == 2
    assert "there is no kernel to hold spill_bytes==0 against" in answer.err
    assert "family.copy: it has no kernel" in answer.err


def test_what_there_is_to_say_is_said(fictl, repo: Path, found) -> None:
    found(module(note="it has no kernel", warning="12.9 lacks it: it is left out"))
    lines = fictl("inspect", "copy").out.splitlines()
    assert lines[1:] == ["  ! 12.9 lacks it: it is left out", "  ! it has no kernel"]


@pytest.mark.parametrize(("error", "code"), [(FictlError("no", "log"), 1), (SetupError("no"), 3)])
def test_a_module_that_fails_leaves_the_others_alone(fictl, repo, found, error, code) -> None:
    found(Inspected("family.bad", error=error), module(kernel()))
    answer = fictl("inspect")
    assert answer.code == code
    assert "error: no" in answer.err
    assert "copy" in answer.out


def test_without_ops_there_is_nothing_to_show(fictl, repo: Path, found) -> None:
    found()
    answer = fictl("inspect")
    assert answer.code == 0
    assert answer.out


def test_what_changed_since_a_revision(fictl, repo: Path, found) -> None:
    old = module(kernel(registers=32), kernel(mangled="_Z4gonev"))
    found(module(kernel(code="new"), kernel(mangled="_Z4samev")), before=(old,))
    answer = fictl("inspect", "copy", "--against", "HEAD", "--json")
    assert answer.code == 0
    assert answer.document["data"]["against"] == "HEAD (abc)"
    told = {each["kernel"]: each for each in answer.document["data"]["differences"]}
    assert told["a::copy"]["status"] == "changed"
    assert told["a::copy"]["changes"]["registers"] == [32, 40]
    assert (told["gone"]["status"], told["same"]["status"]) == ("gone", "new")
    lines = fictl("inspect", "copy", "--against", "HEAD").out.splitlines()
    at = lines.index("since HEAD (abc)")
    changed = next(line for line in lines[at:] if line.startswith("a::copy"))
    assert "changed" in changed
    assert "registers 32 → 40" in changed


def test_json_is_one_document(fictl, repo: Path, found) -> None:
    found(module(kernel()))
    document = fictl("inspect", "copy", "--gate", "registers<=32", "--json").document
    assert (document["schema"], document["ok"]) == ("fictl.inspect/1", False)
    (shown,) = document["data"]["modules"]
    (row,) = shown["kernels"]
    assert (row["kernel"], row["registers"], row["occupancy"]) == ("a::copy", 40, 75.0)
    assert (row["limited_by"], row["mix"]) == (["registers"], {"LDG.128": 4, "MUFU": 1})
    assert document["data"]["violations"][0]["gate"] == "registers<=32"


@dataclass(frozen=True)
class Unit:
    """Code that nobody compiled."""

    kernels: tuple[InspectedKernel, ...]

    def sass(self) -> dict[str, tuple[SassInstruction, ...]]:
        load = SassInstruction(0, "LDG.E", "LDG.E R4, [R2]", SourcePlace("/a.cuh", 3))
        return {each.mangled: (load,) for each in self.kernels}

    def ptx(self) -> str:
        return "\n".join(f".entry {each.mangled}()\n{{\n\tret;\n}}" for each in self.kernels)

    def portable(self, path: str) -> str:
        return path


def test_the_document_has_the_code_that_was_asked_for(fictl, repo: Path, found) -> None:
    found(module(kernel(), units=(Unit((kernel(),)),), sources=KernelSources.nowhere()))
    answer = fictl("inspect", "copy", "--sass", "--ptx", "--json")
    ((row,),) = [one["kernels"] for one in answer.document["data"]["modules"]]
    assert row["sass"] == [{"offset": 0, "text": "LDG.E R4, [R2]", "place": "/a.cuh:3"}]
    assert row["ptx"].startswith(".entry _ZN1a4copyEPf()")
    assert "sass" not in fictl("inspect", "copy", "--json").out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("halv",), "there is no op 'halv'"),
        (("nothere.cu",), "does not exist"),
        (("nothere.so",), "nothere.so cannot be read"),
        (("halve", "--arch", "9x"), "unknown architecture '9x'"),
        (("halve", "--against", "HEAD", "--ptx"), "--against shows changes of SASS"),
        (("halve", "--threads", "0"), "--threads"),
        (("a.so", "--against", "HEAD"), "a.so"),
    ],
)
def test_a_request_that_means_nothing_is_exit_code_2(fictl, repo: Path, words, said) -> None:
    answer = fictl("inspect", *words)
    assert answer.code == 2
    assert said in answer.err


# With kernels that nvcc compiles.


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """nvcc runs once for all of them."""
    return tmp_path_factory.mktemp("inspected")


@pytest.fixture
def faults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path) -> Iterator[Path]:
    if find_tool("nvdisasm") is None:
        pytest.skip("needs nvdisasm")
    root = shutil.copytree(PLANTED, tmp_path / "planted")
    monkeypatch.setenv("FICTL_WORKSPACE_BASE", str(cache))
    monkeypatch.chdir(root)
    yield root
    for name in [name for name in sys.modules if name.split(".")[0] == "planted"]:
        del sys.modules[name]


@pytest.mark.needs_nvcc
def test_spills_and_local_memory_are_found_at_their_line(fictl, faults: Path) -> None:
    answer = fictl("inspect", "faults", "--gate", "spill_bytes==0, local_bytes==0", "--json")
    assert answer.code == 1
    lines = (faults / "kernels/include/planted/planted/faults.cuh").read_text().splitlines()
    found = set()
    for each in answer.document["data"]["violations"]:
        place, _, line = each["place"].rpartition(":")
        assert place == "kernels/include/planted/planted/faults.cuh"
        assert "values[j] = input[(i + j) % n];" in lines[int(line) - 1]
        assert each["instruction"].startswith(("STL", "LDL"))
        found.add((each["kernel"].rpartition("::")[2], each["gate"]))
    assert found == {
        ("SpillingKernel", "spill_bytes==0"),
        ("SpillingKernel", "local_bytes==0"),
        ("LocalArrayKernel", "local_bytes==0"),
    }


@pytest.mark.needs_nvcc
def test_code_is_shown_with_lines_of_the_source(fictl, faults: Path) -> None:
    out = fictl("inspect", "faults", "--kernel", "Lost", "--sass", "--source", "--ptx").out
    sass, source, ptx = out.split("\nLostThreadsKernel  9.0a\n")[1:]
    place = "kernels/include/planted/planted/faults.cuh:41"
    line = f"{place}  if (threadIdx.x < 40) __syncthreads();"
    assert f"  // {line}\n" in sass
    assert "BAR.SYNC" in sass
    below = source.partition(f"  {line}\n")[2].partition(place[:-2])[0]
    assert "BAR.SYNC" in below
    assert f"// {line}\n" in ptx
    assert "bar.sync" in ptx or "barrier.sync" in ptx
    assert "SpillingKernel" not in out


@pytest.mark.needs_nvcc
def test_what_does_not_compile_is_told_as_by_build(fictl, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "half.cu").write_text("__global__ void half() { done; }\n")
    answer = fictl("inspect", "half.cu", "--arch", "9.0a")
    assert answer.code == (1 if find_tool("nvdisasm") else 3)
    if answer.code == 1:
        assert "half does not build: " in answer.err
        assert "half.cu(1)" in answer.err
        assert "log: " in answer.err
    assert "Traceback" not in answer.err
